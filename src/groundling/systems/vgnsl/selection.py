"""Choosing models without looking at any gold tree: runs that agree are runs that have learned (thesis 3.3.7)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Spans = NDArray[np.integer]  # (all spans of all sentences, 2)
MARGIN = 2  # delta of the thesis: checkpoints closer than this are compared


def span_keys(spans: Sequence[Spans]) -> NDArray[np.int64]:
    """The spans of many sentences as one sorted list of numbers, so that two checkpoints can be compared at once."""
    counts = [len(one) for one in spans]
    owners = np.repeat(np.arange(len(spans), dtype=np.int64), counts)
    flat = np.concatenate([np.zeros((0, 2), dtype=np.int64), *spans]).astype(np.int64)
    return np.unique((owners << 32) | (flat[:, 0] << 16) | flat[:, 1])


def agreement(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """Corpus F1 between two lists of `span_keys`: 0 to 1.

    >>> agreement(span_keys([np.array([[0, 3], [0, 2]])]), span_keys([np.array([[0, 3], [1, 3]])]))
    0.5
    """
    return 2 * len(np.intersect1d(first, second, assume_unique=True)) / max(len(first) + len(second), 1)


def agreements(runs: Sequence[Sequence[NDArray[np.int64]]]) -> dict[tuple[int, int], NDArray[np.float64]]:
    """F1 (checkpoints of i, checkpoints of k) between every two runs i < k, given `span_keys` of each checkpoint."""
    return {
        (i, k): np.array([[agreement(a, b) for b in runs[k]] for a in runs[i]])
        for i, k in combinations(range(len(runs)), 2)
    }


def tuning_score(table: dict[tuple[int, int], NDArray[np.float64]], margin: int = MARGIN) -> float:
    """What hyperparameters are tuned for: mean over pairs of runs of the best F1 of nearby checkpoints.

    The thesis writes the sum over pairs; the mean ranks alike and can be read as a score.
    """
    best = [_near(one, margin).max() for one in table.values()]
    return float(np.mean(best)) if best else 1.0


def select_checkpoints(table: dict[tuple[int, int], NDArray[np.float64]], counts: Sequence[int]) -> list[int]:
    """One checkpoint a run, so that the sum of F1 over all pairs of runs is as large as it can be made.

    The thesis asks for the argmax over all combinations. Coordinate ascent from every common checkpoint finds it or a
    near one: each start improves one run at a time until none gains, and the best end wins (ties: the earliest).

    >>> table = {(0, 1): np.array([[0.1, 0.2], [0.9, 0.3]])}
    >>> select_checkpoints(table, [2, 2])
    [1, 0]
    """
    ends = [_climb(table, [min(start, count - 1) for count in counts], counts) for start in range(max(counts))]
    return max(ends, key=lambda chosen: total_agreement(table, chosen))


def total_agreement(table: dict[tuple[int, int], NDArray[np.float64]], chosen: Sequence[int]) -> float:
    """Self F1 of the chosen checkpoints: the mean over pairs of runs."""
    return float(np.mean([one[chosen[i], chosen[k]] for (i, k), one in table.items()])) if table else 1.0


def _climb(table: dict[tuple[int, int], NDArray[np.float64]], chosen: list[int], counts: Sequence[int]) -> list[int]:
    while True:
        before = list(chosen)
        for run in range(len(counts)):
            gains = np.zeros(counts[run])
            for (i, k), one in table.items():
                gains += one[:, chosen[k]] if i == run else one[chosen[i]] if k == run else 0.0
            if gains.max() > gains[chosen[run]] + 1e-12:
                chosen[run] = int(gains.argmax())
        if chosen == before:
            return chosen


def _near(one: NDArray[np.float64], margin: int) -> NDArray[np.float64]:
    i, k = np.indices(one.shape)
    return one[np.abs(i - k) < margin]
