import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.algorithms.span_cky import best_binary_spans
from groundling.errors import DataError

Spans = list[tuple[int, int]]


def every_tree(i: int, j: int) -> list[Spans]:
    if j - i == 1:
        return [[]]
    return [[(i, j), *left, *right] for k in range(i + 1, j) for left in every_tree(i, k) for right in every_tree(k, j)]


@given(st.integers(1, 7), st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_cky_equals_enumeration(n: int, seed: int) -> None:
    scores = np.random.default_rng(seed).normal(size=(n + 1, n + 1))
    found = best_binary_spans(scores)
    trees = every_tree(0, n)
    assert sorted(found) in [sorted(tree) for tree in trees]
    assert sum(scores[s] for s in found) == pytest.approx(max(sum(scores[s] for s in tree) for tree in trees))
    assert found == sorted(found, key=lambda s: (s[0], -s[1])), "preorder"


def test_tables_that_are_not_square_are_refused() -> None:
    with pytest.raises(DataError, match="square table"):
        best_binary_spans(np.zeros((2, 3)))
    with pytest.raises(DataError, match="finite"):
        best_binary_spans(np.full((3, 3), np.nan))
