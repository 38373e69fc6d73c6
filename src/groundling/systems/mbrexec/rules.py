"""Scores of candidates from their results: MBR-Exec and what it is compared with (thesis ch. 7). Higher is better.

Results are integers `ids[i, t]`: two programs agree on input t where theirs are equal; -1 is a failure, which agrees
with nothing, itself included. Programs are counted in buckets of equal results, never compared pairwise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from groundling.errors import DataError
from groundling.systems.mbrexec.executing import Run

Ids = NDArray[np.int64]
Scores = NDArray[np.float64]


def result_ids(runs: Sequence[Run]) -> Ids:
    """Number the results of each input, shape (programs, inputs); -1 is a failure.

    >>> result_ids([Run("ok", ("a", "x"), ()), Run("ok", ("b", "x"), ()), Run("error", (None, "x"), ())]).tolist()
    [[0, 0], [1, 0], [-1, 0]]
    """
    columns: list[dict[str, int]] = [{} for _ in (runs[0].keys if runs else ())]
    ids = np.full((len(runs), len(columns)), -1, dtype=np.int64)
    for row, run in enumerate(runs):
        for column, (key, known) in enumerate(zip(run.keys, columns, strict=True)):
            if key is not None:
                ids[row, column] = known.setdefault(key, len(known))
    return ids


def executable(ids: Ids) -> Scores:
    """1 for a program that runs on every input, else 0 (thesis 7.3.4).

    >>> executable(np.array([[0, 0], [-1, 0]])).tolist()
    [1.0, 0.0]
    """
    return np.asarray((ids >= 0).all(axis=1), dtype=np.float64)


def hard_agreement(ids: Ids) -> Scores:
    """How many programs give the same results on all inputs: N minus the risk under the hard loss.

    l(p, q) = max_t 1[p(t) != q(t)], thesis 7.2.2; a program that fails on any input agrees with none.

    >>> hard_agreement(np.array([[0, 0], [0, 0], [0, 1], [-1, 0]])).tolist()
    [2.0, 2.0, 1.0, 0.0]
    """
    if not ids.size:
        return np.zeros(len(ids))
    _, inverse, counts = np.unique(ids, axis=0, return_inverse=True, return_counts=True)
    return counts[inverse.reshape(-1)] * executable(ids)


def soft_agreement(ids: Ids, weights: Scores | None = None) -> Scores:
    """Mean over inputs of how many programs give the same result: N minus the risk under the soft loss.

    l_soft(p, q) = mean_t 1[p(t) != q(t)], thesis 7.3.4. `weights` (inputs) replaces the plain mean.

    >>> soft_agreement(np.array([[0, 0], [0, 0], [0, 1], [-1, 0]])).tolist()
    [3.0, 3.0, 2.0, 1.5]
    """
    counts = bucket_sizes(ids)
    if not ids.size:
        return np.zeros(len(ids))
    return np.average(counts, axis=1, weights=weights)


def bucket_sizes(ids: Ids) -> Scores:
    """`sizes[i, t]`: how many programs give the result of i on input t, 0 for a failure."""
    sizes = np.zeros(ids.shape)
    for column in range(ids.shape[1]):
        good = ids[:, column] >= 0
        sizes[good, column] = np.bincount(ids[good, column])[ids[good, column]]
    return sizes


def dual_agreement(passes: NDArray[np.bool_], power: float = 0.5) -> Scores:
    """Dual agreement with generated tests (CodeT): (solutions in its group) ** power * (tests that the group passes).

    `passes[i, t]`: solution i passes test t. Solutions that pass the same tests form a group; its score grows with both
    numbers. The square root keeps many copies of one wrong program from outweighing the tests.

    >>> dual_agreement(np.array([[True, True], [True, True], [True, False]]), power=1).tolist()
    [4.0, 4.0, 1.0]
    """
    if not passes.size:
        return np.zeros(len(passes))
    _, inverse, sizes = np.unique(passes, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(sizes[inverse.reshape(-1)] ** power * passes.sum(axis=1), dtype=np.float64)


def only_among(allowed: Scores, scores: Scores) -> Scores:
    """Scores with those that are not allowed put last; where none is allowed, all are.

    >>> only_among(np.array([0.0, 1.0]), np.array([5.0, 2.0])).tolist()
    [-inf, 2.0]
    """
    return np.where(allowed > 0, scores, -np.inf) if (allowed > 0).any() else scores


def winners(scores: Scores, likelihood: Sequence[float | None] | None = None) -> NDArray[np.bool_]:
    """The candidates of highest score and, among those, of highest likelihood: one of these is chosen.

    >>> winners(np.array([2.0, 2.0, 1.0]), [-3.0, -1.0, -0.1]).tolist()
    [False, True, False]
    """
    if not len(scores):
        raise DataError("no candidate to choose from. Give at least one program a task.")
    best = np.isclose(scores, scores.max(), rtol=1e-12, atol=0) | (scores == scores.max())
    if likelihood is None or any(value is None for value in likelihood):
        return best
    values = np.array(likelihood, dtype=np.float64)
    return best & (values == values[best].max())


def choose(scores: Scores, likelihood: Sequence[float | None] | None = None) -> int:
    """Index of the chosen candidate: highest score, then likelihood, then first.

    >>> choose(np.array([1.0, 2.0, 2.0]))
    1
    """
    return int(np.argmax(winners(scores, likelihood)))


def expected_accuracy(
    scores: Scores, passed: Sequence[bool], likelihood: Sequence[float | None] | None = None
) -> float:
    """Chance that the chosen program is right when ties are broken by lot.

    >>> expected_accuracy(np.array([2.0, 2.0, 1.0]), [True, False, True])
    0.5
    """
    return float(np.mean(np.asarray(passed, dtype=np.float64)[winners(scores, likelihood)]))
