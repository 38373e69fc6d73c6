import subprocess
import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import groundling.metrics
from groundling.errors import ConfigError, DataError
from groundling.metrics import METRICS, load_metric
from groundling.metrics.base import Metric, Score, percentile_interval, resampled_totals


@dataclass(frozen=True)
class Share(Metric[int]):
    """Share of equal numbers: small enough to be checked by hand."""

    name: ClassVar[str] = "Share"
    strict: bool = True
    bonus: float = 0.5

    def statistics(self, gold: int, pred: int):
        if pred < 0:
            raise DataError("a negative number.")
        return np.array([float(gold == pred), 1.0])

    def value(self, total):
        return float(total[0] / total[1])


def test_corpus_value_n_and_signature() -> None:
    score = Share().corpus([1, 2, 3, 4], [1, 2, 0, 4])
    assert (score.value, score.n, score.name) == (0.75, 4, "Share")
    assert score.signature == f"Share|strict:yes|bonus:0.5|v:{groundling.__version__}"
    assert score.low <= score.value <= score.high


def test_a_choice_that_moves_the_number_is_in_the_signature() -> None:
    assert Share(strict=False).signature != Share().signature != Share(bonus=1.0).signature


def test_score_prints_percent_interval_and_count() -> None:
    assert str(Score(0.5, 0.25, 0.75, 12, "X|v:1")) == "X|v:1 = 50.00 (95% CI 25.00-75.00, n=12)"
    assert str(Score(0.5, None, None, 1, "X|v:1")) == "X|v:1 = 50.00 (n=1)"
    assert str(Score(-0.5, -0.75, 0.25, 3, "R|v:1", scale=1.0)) == "R|v:1 = -0.5000 (95% CI -0.7500 to 0.2500, n=3)"


def test_json_entry_has_the_fixed_keys() -> None:
    plain = Score(0.5, 0.25, 0.75, 12, "X|v:1", "X").to_dict("mine")
    assert plain == {
        "name": "X",
        "system": "mine",
        "value": 0.5,
        "low": 0.25,
        "high": 0.75,
        "n": 12,
        "signature": "X|v:1",
    }


def test_one_item_and_no_bootstrap_have_no_interval() -> None:
    assert Share().score(1, 1).low is None
    assert Share().corpus([1, 2], [1, 1], bootstrap=0).high is None


def test_same_seed_same_interval_and_another_seed_another() -> None:
    rng = np.random.default_rng(0)
    gold, pred = rng.integers(2, size=200), rng.integers(2, size=200)
    first, again, other = (Share().corpus(gold, pred, seed=seed) for seed in (1, 1, 2))
    assert (first.low, first.high) == (again.low, again.high)
    assert (first.low, first.high) != (other.low, other.high)


def test_bootstrap_interval_agrees_with_the_normal_approximation() -> None:
    gold = np.zeros(2000, dtype=int)
    pred = (np.arange(2000) < 600).astype(int)  # 70 % right
    score = Share().corpus(gold, pred, bootstrap=2000)
    half = 1.96 * (0.7 * 0.3 / 2000) ** 0.5
    assert score.low == pytest.approx(0.7 - half, abs=0.003)
    assert score.high == pytest.approx(0.7 + half, abs=0.003)


def test_resampling_does_not_depend_on_the_chunk_size(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.random.default_rng(0).random((50, 3))
    whole = resampled_totals(matrix, 20, np.random.default_rng(5))
    monkeypatch.setattr("groundling.metrics.base._CHUNK_CELLS", 60)
    assert np.allclose(resampled_totals(matrix, 20, np.random.default_rng(5)), whole)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=12))
def test_resampled_totals_are_sums_of_n_items(items: list[int]) -> None:
    matrix = np.column_stack([np.array(items, float), np.ones(len(items))])
    totals = resampled_totals(matrix, 30, np.random.default_rng(0))
    assert (totals[:, 1] == len(items)).all()
    assert (totals[:, 0] >= min(items) * len(items)).all() and (totals[:, 0] <= max(items) * len(items)).all()


def test_undefined_resamples_are_left_out() -> None:
    assert percentile_interval(np.array([np.nan, 0.5, np.nan])) == (0.5, 0.5)
    assert percentile_interval(np.array([np.nan])) == (None, None)


def test_parallel_scoring_keeps_order_and_value() -> None:
    gold = list(range(1000))
    pred = [x if x % 3 else 0 for x in gold]
    assert (Share().matrix(gold, pred, n_jobs=2) == Share().matrix(gold, pred)).all()


def test_corpus_reads_a_stream() -> None:
    alive = 0
    most = 0

    class Big(int):
        def __init__(self, *_: int) -> None:
            nonlocal alive, most
            alive += 1
            most = max(most, alive)

        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    Share().corpus((Big(x) for x in range(5000)), (Big(x) for x in range(5000)), bootstrap=0)
    assert most < 2000


@pytest.mark.parametrize(
    ("gold", "pred", "message"),
    [
        ([1, 2], [1], "the predictions ends after 1 items but the gold goes on"),
        ([1], [1, 2], "the gold ends after 1 items but the predictions goes on"),
        ([], [], "there is nothing to score"),
        ([1, 2], [1, -2], "item 2: a negative number."),
    ],
)
def test_mismatched_inputs_are_named(gold: list[int], pred: list[int], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Share().corpus(gold, pred)


def test_a_negative_bootstrap_is_an_error() -> None:
    with pytest.raises(ConfigError, match="bootstrap is -1"):
        Share().corpus([1, 2], [1, 2], bootstrap=-1)


def test_every_name_of_the_table_loads() -> None:
    for name in METRICS:
        assert issubclass(load_metric(name), Metric), name


def test_fixed_names_are_exported() -> None:
    for name in groundling.metrics.__all__:
        assert getattr(groundling.metrics, name) is not None
    assert groundling.metrics.pass_at_k(2, 1, 1) == 0.5


def test_a_wrong_name_answers_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'struct-iou'"):
        load_metric("structiou")
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        groundling.metrics.Nothing  # noqa: B018


def test_importing_metrics_is_light() -> None:
    code = (
        "import sys, groundling.metrics; print([m for m in ('numba', 'scipy', 'joblib', 'torch') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "[]"
