from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.errors import ConfigError, DataError
from groundling.metrics.aer import AER
from groundling.metrics.compare import compare
from groundling.metrics.execution_accuracy import ExecutionAccuracy

METRIC = ExecutionAccuracy()


def rights(*flags: int) -> np.ndarray:
    return np.array([[float(flag), 1.0] for flag in flags])


def exact_randomisation_p(a: np.ndarray, b: np.ndarray) -> float:
    observed = abs((b - a)[:, 0].mean())
    signs = product((-1, 1), repeat=len(a))
    return float(np.mean([abs(np.mean(np.array(s) * (b - a)[:, 0])) >= observed - 1e-12 for s in signs]))


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=8))
def test_randomisation_agrees_with_all_swaps(pairs: list[tuple[int, int]]) -> None:
    a, b = rights(*(x for x, _ in pairs)), rights(*(y for _, y in pairs))
    found = compare(METRIC, a, b, method="randomisation", resamples=4000).p
    assert found == pytest.approx(exact_randomisation_p(a, b), abs=0.04)


@pytest.mark.parametrize("method", ["bootstrap", "randomisation"])
def test_equal_systems_have_p_one(method) -> None:
    a = rights(*[0, 1] * 20)
    result = compare(METRIC, a, a, method=method)
    assert (result.difference, result.p) == (0.0, 1.0)


@pytest.mark.parametrize("method", ["bootstrap", "randomisation"])
def test_order_of_systems_only_turns_the_sign(method) -> None:
    rng = np.random.default_rng(3)
    a, b = rights(*rng.integers(2, size=80)), rights(*rng.integers(2, size=80))
    there, back = compare(METRIC, a, b, method=method), compare(METRIC, b, a, method=method)
    assert there.difference == -back.difference
    assert there.p == back.p


@pytest.mark.parametrize("method", ["bootstrap", "randomisation"])
def test_a_clear_gap_is_significant_and_p_is_never_zero(method) -> None:
    result = compare(METRIC, rights(*[0] * 60), rights(*[1] * 60), method=method)
    assert result.difference == 1.0
    assert result.p == pytest.approx(1 / 1001)


@pytest.mark.parametrize("method", ["bootstrap", "randomisation"])
def test_false_alarms_stay_near_five_percent(method) -> None:
    rng = np.random.default_rng(0)
    alarms = 0
    for seed in range(200):
        a, b = rights(*rng.integers(2, size=60)), rights(*rng.integers(2, size=60))
        alarms += compare(METRIC, a, b, method=method, resamples=200, seed=seed).p < 0.05
    assert alarms <= 22  # 10 expected; over 22 has a chance below 0.001


def test_corpus_level_metrics_are_compared_on_their_totals() -> None:
    a = np.array([[1.0, 1, 2, 2], [0, 0, 1, 1]])  # AER of the sum, not the mean of two AERs
    b = np.array([[2.0, 2, 2, 2], [1, 1, 1, 1]])
    assert compare(AER(), a, b).difference == pytest.approx(0 - (1 - 2 / 6))


def test_bootstrap_gives_the_interval_of_the_difference() -> None:
    rng = np.random.default_rng(1)
    a, b = rights(*rng.integers(2, size=100)), rights(*rng.integers(2, size=100))
    result = compare(METRIC, a, b)
    assert result.low <= result.difference <= result.high
    assert "paired bootstrap, n=100" in str(result)
    assert str(result).startswith(f"{result.difference * 100:+.2f} (p=")
    assert result.to_dict()["signature"] == METRIC.signature


def test_the_chunk_size_does_not_change_the_number_of_swaps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundling.metrics.compare._CHUNK_CELLS", 50)
    assert compare(METRIC, rights(0, 0, 0), rights(1, 1, 1), method="randomisation", resamples=999).p > 0.15


def test_unpaired_systems_are_an_error() -> None:
    with pytest.raises(DataError, match="3 and 2 items"):
        compare(METRIC, rights(1, 1, 1), rights(1, 0))
    with pytest.raises(ConfigError, match="resamples is 0"):
        compare(METRIC, rights(1), rights(0), resamples=0)
