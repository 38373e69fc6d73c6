from fractions import Fraction
from itertools import combinations
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.errors import ConfigError, DataError
from groundling.metrics import ExecutionAccuracy, PassAtK, pass_at_k


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 8), st.data())
def test_pass_at_k_equals_drawing_every_subset(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    draws = list(combinations(range(n), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(min(draw) < c for draw in draws) / len(draws))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3000), st.data())
def test_pass_at_k_keeps_its_digits_for_many_samples(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    exact = float(1 - Fraction(comb(n - c, k), comb(n, k)))
    assert pass_at_k(n, c, k) == pytest.approx(exact, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 60), st.data())
def test_pass_at_k_rises_with_k_and_with_right_samples(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n - 1)), data.draw(st.integers(1, n - 1))
    assert pass_at_k(n, c, k) <= pass_at_k(n, c, k + 1) + 1e-12
    assert pass_at_k(n, c, k) <= pass_at_k(n, c + 1, k) + 1e-12


def test_pass_at_one_is_the_share_of_right_samples() -> None:
    assert pass_at_k(100, 37, 1) == pytest.approx(0.37)
    assert pass_at_k(200, 0, 100) == 0
    assert pass_at_k(200, 1, 200) == 1


def test_impossible_counts_are_errors() -> None:
    with pytest.raises(DataError, match="6 of 5 samples cannot be right"):
        pass_at_k(5, 6, 1)
    with pytest.raises(ConfigError, match="pass@10 needs 10 samples a task"):
        pass_at_k(5, 1, 10)
    with pytest.raises(ConfigError, match=r"item 2: pass@2 needs 2 samples"):
        PassAtK(k=2).corpus(["a", "b"], [[True, False], [True]])


def test_pass_at_k_is_averaged_over_tasks_not_samples() -> None:
    score = PassAtK(k=1).corpus(["a", "b"], [[True], [False, False, False, True]], bootstrap=0)
    assert score.value == pytest.approx((1 + 0.25) / 2)
    assert "k:1" in score.signature


@pytest.mark.parametrize(
    ("gold", "pred", "same"),
    [
        (3, 3.0, True),
        (True, 1, False),
        (0, False, False),
        ([1, [2, 3]], (1, (2, 3)), True),
        ([1], [1, 1], False),
        ({"a": 1}, {"a": 1}, True),
        ({"a": True}, {"a": 1}, False),
        ("JUMP JUMP", "JUMP", False),
        (None, None, True),
    ],
)
def test_results_are_equal_only_where_they_should_be(gold: object, pred: object, same: bool) -> None:
    assert ExecutionAccuracy().score(gold, pred).value == same
