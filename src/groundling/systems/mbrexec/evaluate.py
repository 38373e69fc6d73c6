"""Accuracies of the selection methods: a row each, and curves over the number of samples (thesis 7.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from groundling.errors import DataError
from groundling.metrics.base import Metric, Score, Statistics, ratio
from groundling.metrics.passing import pass_at_k
from groundling.systems.mbrexec.methods import PREFIX, Pool, expected

ALL = 0  # inputs: all of them
# (method, inputs); the thesis' figures 702, 705 and 706
ROWS: tuple[tuple[str, int], ...] = (
    ("random", ALL),
    ("ml", ALL),
    ("mall", ALL),
    ("mbr-charbleu", ALL),
    ("mbr-tokenbleu", ALL),
    ("executable", 1),
    ("executable", ALL),
    (PREFIX + "ml", ALL),
    (PREFIX + "mall", ALL),
    (PREFIX + "mbr-charbleu", ALL),
    (PREFIX + "mbr-tokenbleu", ALL),
    ("mbr-exec", 1),
    ("mbr-exec", 2),
    ("mbr-exec", ALL),
    ("mbr-exec-soft", 2),
    ("mbr-exec-soft", ALL),
    ("mbr-exec-text", ALL),
    ("dual", ALL),
)


@dataclass(frozen=True)
class SelectionAccuracy(Metric[Any]):
    """Share of tasks whose chosen program is right; ties count by the share of right ones among them.

    The gold says which candidates are right, the prediction which may be chosen.
    """

    name: ClassVar[str] = "SelectionAccuracy"
    method: str = "mbr-exec"
    inputs: str = "all"
    samples: int = 0
    ties: str = "expected"
    sandbox: str = ""
    seconds: float = 3.0

    def statistics(self, gold: Sequence[bool], pred: Sequence[bool]) -> Statistics:
        """(share of right ones among those that may be chosen, 1)."""
        chosen = [right for right, may in zip(gold, pred, strict=True) if may]
        return np.array([float(np.mean(chosen)) if chosen else 0.0, 1.0])

    def value(self, total: Statistics) -> float:
        """The mean over tasks."""
        return ratio(total[0], total[1])


@dataclass(frozen=True)
class Graded:
    """A task's pool, and which of its programs are right."""

    pool: Pool
    passed: tuple[bool, ...]


def accuracies(graded: Sequence[Graded], method: str, inputs: int = ALL) -> list[float]:
    """The chance of a right choice, task by task; `oracle` is whether any program is right."""
    if method == "oracle":
        return [float(any(item.passed)) for item in graded]
    pools = [item.pool.first_inputs(inputs) if inputs else item.pool for item in graded]
    return [expected(pool, list(item.passed), method) for pool, item in zip(pools, graded, strict=True)]


def table(graded: Sequence[Graded], *, sandbox: str, seconds: float, seed: int = 0) -> list[tuple[str, Score]]:
    """Every method that these samples allow (likelihoods and generated tests may be missing), and the oracle."""
    if not graded:
        raise DataError("there is no task with samples and tests. Do their task_ids match?")
    rows: list[tuple[str, Score]] = []
    most = max(len(run.keys) for item in graded for run in item.pool.runs)
    for method, inputs in (*ROWS, ("oracle", ALL)):
        if inputs > 1 and inputs >= most:
            continue
        try:
            values = accuracies(graded, method, inputs)
        except DataError:
            continue  # no likelihood, or no generated tests: the row cannot be
        metric = SelectionAccuracy(
            method, str(inputs or "all"), max(len(i.passed) for i in graded), sandbox=sandbox, seconds=seconds
        )
        matrix = np.stack([values, np.ones(len(values))], axis=1)
        rows.append((f"{method} ({inputs or 'all'})", metric.aggregate(matrix, seed=seed)))
    return rows


@dataclass(frozen=True)
class Point:
    """One point of a curve: mean and standard deviation over draws."""

    method: str
    inputs: int
    size: int
    mean: float
    deviation: float


def curves(
    graded: Sequence[Graded],
    rows: Sequence[tuple[str, int]],
    sizes: Sequence[int],
    rng: np.random.Generator,
    draws: int = 5,
) -> list[Point]:
    """Accuracy by sample size: each draw takes that many programs of each task, without putting back."""
    points: list[Point] = []
    for size in sizes:
        groups = [_drawn(graded, size, rng) for _ in range(draws)]
        for method, inputs in rows:
            means = [100 * float(np.mean(accuracies(group, method, inputs))) for group in groups]
            points.append(
                Point(method, inputs, size, float(np.mean(means)), float(np.std(means, ddof=1)) if draws > 1 else 0.0)
            )
    return points


def _drawn(graded: Sequence[Graded], size: int, rng: np.random.Generator) -> list[Graded]:
    group: list[Graded] = []
    for item in graded:
        chosen = sorted(int(i) for i in rng.permutation(len(item.passed))[:size])
        group.append(Graded(item.pool.among(chosen), tuple(item.passed[i] for i in chosen)))
    return group


def expected_pass_at_k(graded: Sequence[Graded], k: int) -> float:
    """ExPass@K (thesis 7.3.5), estimated without bias from all samples."""
    return float(np.mean([pass_at_k(len(item.passed), sum(item.passed), min(k, len(item.passed))) for item in graded]))
