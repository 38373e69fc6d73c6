from hypothesis import given
from hypothesis import strategies as st

from groundling.algorithms.syntactic_distance import spans_from_distances
from groundling.structures.tree import Tree


def recursive(distances: list[float], left: int, right: int) -> set[tuple[int, int]]:
    """Algorithm 3.1 as it is printed, words counted from 0 and ends included."""
    if left == right:
        return set()
    p = max(range(left, right), key=lambda j: distances[j])
    return {(left, right + 1)} | recursive(distances, left, p) | recursive(distances, p + 1, right)


@given(st.lists(st.floats(-5, 5), max_size=9))
def test_spans_equal_the_printed_algorithm(distances: list[float]) -> None:
    spans = spans_from_distances(distances)
    assert set(spans) == recursive(distances, 0, len(distances))
    assert len(spans) == len(set(spans)) == len(distances)
    Tree.from_spans(["w"] * (len(distances) + 1), spans)  # they nest


def test_rising_distances_branch_left_and_falling_right() -> None:
    assert spans_from_distances([1, 2, 3]) == [(0, 4), (0, 3), (0, 2)]
    assert spans_from_distances([3, 2, 1]) == [(0, 4), (1, 4), (2, 4)]


def test_thousands_of_words_do_not_overflow_the_stack() -> None:
    assert len(spans_from_distances(list(range(3000)))) == 3000
