"""Minimum Bayes risk: the candidate that agrees most with all the others (thesis 4.2.3 and ch. 7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundling.errors import DataError

Candidate = TypeVar("Candidate")


def select(
    candidates: Sequence[Candidate],
    loss: Callable[[Candidate, Candidate], float],
    tie_break: Sequence[float] | None = None,
    weights: Sequence[float] | None = None,
) -> int:
    """Index of the candidate of least expected loss, argmin_i sum_j w_j loss(c_i, c_j).

    The sum runs over all candidates, itself included, as in the thesis. Among equals the highest `tie_break`
    (e.g. log-probability) wins, then the first. Reordering the candidates never changes which value is chosen,
    save among equals with equal `tie_break`.

    Reference: Shi (2024), section 4.2.3, the equation of consistency-based decoding; chapter 7, MBR-Exec.

    >>> select(["cat", "dog", "cat"], lambda a, b: a != b)
    0
    >>> select(["cat", "dog"], lambda a, b: a != b, tie_break=[-2.5, -1.0])
    1
    """
    return select_from_matrix(loss_matrix(candidates, loss), tie_break, weights)


def loss_matrix(candidates: Sequence[Candidate], loss: Callable[[Candidate, Candidate], float]) -> NDArray[np.float64]:
    """`losses[i, j] = loss(candidates[i], candidates[j])`, shape (n, n).

    >>> loss_matrix([1, 3], lambda a, b: abs(a - b)).tolist()
    [[0.0, 2.0], [2.0, 0.0]]
    """
    rows = [[float(loss(chosen, other)) for other in candidates] for chosen in candidates]
    return np.array(rows, dtype=np.float64).reshape(len(candidates), len(candidates))


def select_from_matrix(
    losses: ArrayLike, tie_break: Sequence[float] | None = None, weights: Sequence[float] | None = None
) -> int:
    """`select` from losses[i, j] already computed: what the choice i costs where j is right, shape (n, n).

    >>> select_from_matrix([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
    1
    """
    risks = expected_losses(losses, weights)
    scores = [0.0] * len(risks) if tie_break is None else [float(score) for score in tie_break]
    _check_length(scores, len(risks), "tie-break scores")
    # max() keeps the first of equals, which is the last rule.
    return max(range(len(risks)), key=lambda i: (-risks[i], scores[i]))


def expected_losses(losses: ArrayLike, weights: Sequence[float] | None = None) -> list[float]:
    """The weighted sum of each row; weights default to 1 and need not sum to 1.

    >>> expected_losses([[0, 1], [1, 0]], weights=[3, 1])
    [1.0, 3.0]
    """
    table: NDArray[np.float64] = np.asarray(losses, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not len(table):
        raise DataError(f"losses must be a square table with at least one candidate; this one has shape {table.shape}.")
    shares = [1.0] * len(table) if weights is None else [float(weight) for weight in weights]
    _check_length(shares, len(table), "weights")
    if not np.isfinite(table).all() or not np.isfinite(shares).all() or min(shares) < 0:
        raise DataError("losses and weights must be finite numbers, and weights not negative. Give NaN a large loss.")
    # fsum rounds once, so the sum does not depend on the order of the candidates and equals stay equal.
    return [fsum(row) for row in (table * np.array(shares)).tolist()]


def _check_length(given: Sequence[Any], wanted: int, kind: str) -> None:
    if len(given) != wanted:
        raise DataError(f"{wanted} candidates but {len(given)} {kind}. Give one a candidate.")
