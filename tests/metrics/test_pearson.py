from math import isnan

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from groundling.errors import DataError
from groundling.metrics import Pearson

numbers = st.integers(-50, 50)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(numbers, numbers), min_size=2, max_size=20))
def test_pearson_equals_numpy(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, dtype=float).T
    assume(np.ptp(x) and np.ptp(y))
    assert Pearson().corpus(x, y, bootstrap=0).value == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.lists(numbers, min_size=2, max_size=10, unique=True))
def test_a_line_correlates_fully(x: list[int]) -> None:
    assert Pearson().corpus(x, [3 * v + 7 for v in x], bootstrap=0).value == pytest.approx(1)
    assert Pearson().corpus(x, [-v for v in x], bootstrap=0).value == pytest.approx(-1)


def test_pearson_prints_in_its_own_scale_with_interval() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    score = Pearson().corpus(x, x + rng.normal(size=500))
    assert score.low < score.value < score.high
    fisher = [np.tanh(np.arctanh(score.value) + side * 1.96 / np.sqrt(497)) for side in (-1, 1)]
    assert [score.low, score.high] == pytest.approx(fisher, abs=0.02)
    assert f" = {score.value:.4f} (95% CI " in str(score)


def test_large_numbers_keep_their_digits() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 50))
    far = Pearson().corpus(x + 1e9, y - 1e9)
    assert far.value == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-6)


def test_a_constant_column_has_no_correlation() -> None:
    score = Pearson().corpus([0.1, 0.1, 0.1], [1, 2, 3])
    assert isnan(score.value)
    assert score.low is None
    assert score.to_dict()["value"] is None


def test_missing_ratings_are_an_error() -> None:
    with pytest.raises(DataError, match=r"item 2: .* is not a pair of finite numbers"):
        Pearson().corpus([1.0, float("nan")], [1.0, 2.0])
