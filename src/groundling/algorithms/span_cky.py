"""The binary tree of the highest total span score (thesis 4.2.2: Benepar's decoding, for s-Benepar)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groundling.algorithms.compiled import compiled
from groundling.errors import DataError


def best_binary_spans(scores: NDArray[np.floating]) -> list[tuple[int, int]]:
    """Spans over two words or more of argmax_T sum_{(i, j) in T} scores[i, j], in preorder; CKY in O(n^3).

    `scores` is (n + 1, n + 1); scores[i, j] is that of words i .. j-1 and is read for j - i > 1 only. Among equals the
    leftmost split wins. A single word has no span.

    >>> best_binary_spans(np.array([[0, 0, 1, 0], [0, 0, 0, 2], [0, 0, 0, 0], [0, 0, 0, 0]]))
    [(0, 3), (1, 3)]
    """
    if scores.ndim != 2 or scores.shape[0] != scores.shape[1] or len(scores) < 2 or not np.isfinite(scores).all():
        raise DataError(f"span scores must be a square table (n + 1, n + 1) of finite numbers; this is {scores.shape}.")
    split = _splits(np.ascontiguousarray(scores, dtype=np.float64))
    found: list[tuple[int, int]] = []
    stack = [(0, len(scores) - 1)]
    while stack:
        i, j = stack.pop()
        if j - i > 1:
            found.append((i, j))
            stack += [(int(split[i, j]), j), (i, int(split[i, j]))]
    return found


@compiled
def _splits(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Where the best tree of each span is cut."""
    n = scores.shape[0] - 1
    best = np.zeros((n + 1, n + 1))
    split = np.zeros((n + 1, n + 1), dtype=np.int64)
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            j = i + width
            most = -np.inf
            for k in range(i + 1, j):
                total = best[i, k] + best[k, j]
                if total > most:
                    most, split[i, j] = total, k
            best[i, j] = most + scores[i, j]
    return split
