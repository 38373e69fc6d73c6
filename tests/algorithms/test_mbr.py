from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.algorithms.mbr import expected_losses, loss_matrix, select, select_from_matrix
from groundling.errors import DataError

losses = st.floats(0, 10, allow_nan=False)


def tables(most: int = 6):
    return st.integers(1, most).flatmap(
        lambda n: st.lists(st.lists(losses, min_size=n, max_size=n), min_size=n, max_size=n)
    )


@settings(max_examples=100, deadline=None)
@given(tables())
def test_choice_has_the_least_exact_risk(table: list[list[float]]) -> None:
    exact = [sum(map(Fraction, row)) for row in table]
    chosen = select_from_matrix(table)
    assert float(exact[chosen]) == float(min(exact))


@settings(max_examples=100, deadline=None)
@given(tables(), st.data())
def test_reordering_candidates_keeps_the_choice(table: list[list[float]], data: st.DataObject) -> None:
    n = len(table)
    scores = data.draw(st.permutations(range(n)))  # distinct, so that every tie is decided
    order = data.draw(st.permutations(range(n)))
    shuffled = [[table[i][j] for j in order] for i in order]
    chosen = select_from_matrix(shuffled, tie_break=[scores[i] for i in order])
    assert order[chosen] == select_from_matrix(table, tie_break=scores)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=9))
def test_zero_one_loss_chooses_the_majority(candidates: list[str]) -> None:
    chosen = candidates[select(candidates, lambda a, b: a != b)]
    assert candidates.count(chosen) == max(map(candidates.count, candidates))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.data())
def test_weights_are_repetition(candidates: list[int], data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(1, 3), min_size=len(candidates), max_size=len(candidates)))
    repeated = [c for c, count in zip(candidates, counts, strict=True) for _ in range(count)]

    def loss(a: int, b: int) -> float:
        return abs(a - b)

    by_weight = candidates[select(candidates, loss, tie_break=[-c for c in candidates], weights=counts)]
    assert by_weight == repeated[select(repeated, loss, tie_break=[-c for c in repeated])]


def test_ties_go_to_the_score_then_to_the_first() -> None:
    assert select(["a", "b", "c"], lambda a, b: a != b) == 0
    assert select(["a", "b", "c"], lambda a, b: a != b, tie_break=[0.1, 0.9, 0.9]) == 1


def test_equal_sums_in_another_order_are_a_tie() -> None:
    table = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.3, 0.1]]  # plain sums differ in the last bit
    assert len({float(np.sum(row)) for row in np.array(table)} | {0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1}) > 1
    assert select_from_matrix(table, tie_break=[1, 0, 0]) == 0
    assert select_from_matrix(table, tie_break=[0, 0, 1]) == 2


def test_loss_is_called_with_the_choice_first() -> None:
    assert loss_matrix([1, 5], lambda choice, truth: choice - truth).tolist() == [[0, -4], [4, 0]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: select([], lambda a, b: 0), "at least one candidate"),
        (lambda: select_from_matrix([[0, 1]]), r"square table .* shape \(1, 2\)"),
        (lambda: select([1, 2], lambda a, b: 0, tie_break=[1.0]), "2 candidates but 1 tie-break scores"),
        (lambda: select([1, 2], lambda a, b: 0, weights=[1.0]), "2 candidates but 1 weights"),
        (lambda: select([1, 2], lambda a, b: float("nan")), "must be finite"),
        (lambda: expected_losses([[0]], weights=[-1]), "weights not negative"),
    ],
)
def test_bad_input_is_named(call, message: str) -> None:
    with pytest.raises(DataError, match=message):
        call()
