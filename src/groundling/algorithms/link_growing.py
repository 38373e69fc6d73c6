"""Grow an alignment link by link, best score first (the greedy form of MLPAlign's inference)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.algorithms.compiled import compiled


def grow(base: NDArray[np.bool_], score: NDArray[Any], threshold: float) -> NDArray[np.bool_]:
    """Add links to `base` by falling score, as long as it is over the threshold.

    A link is added where both words are free, or where one is free and the new link touches a link of the other:
    words without a partner join their neighbour's. Passes are repeated until nothing is added.

    >>> base = np.array([[True, False], [False, False], [False, False]])
    >>> grow(base, np.array([[0.9, 0.1], [0.8, 0.3], [0.2, 0.7]]), 0.5).astype(int).tolist()
    [[1, 0], [1, 0], [0, 1]]
    """
    values = np.ascontiguousarray(score, dtype=np.float64)
    order = np.argsort(-values, axis=None, kind="stable")
    return _grow(base.copy(), values, order, threshold)


@compiled
def _grow(
    links: NDArray[np.bool_], score: NDArray[np.float64], order: NDArray[np.int64], threshold: float
) -> NDArray[np.bool_]:
    rows, columns = links.shape
    row_taken = np.zeros(rows, dtype=np.bool_)
    column_taken = np.zeros(columns, dtype=np.bool_)
    for i in range(rows):
        for j in range(columns):
            if links[i, j]:
                row_taken[i] = True
                column_taken[j] = True
    changed = True
    while changed:
        changed = False
        for cell in order:
            i, j = cell // columns, cell % columns
            if not score[i, j] > threshold:
                break
            if links[i, j] or (row_taken[i] and column_taken[j]):
                continue
            if row_taken[i]:
                fits = (j > 0 and links[i, j - 1]) or (j + 1 < columns and links[i, j + 1])
            elif column_taken[j]:
                fits = (i > 0 and links[i - 1, j]) or (i + 1 < rows and links[i + 1, j])
            else:
                fits = True
            if fits:
                links[i, j] = True
                row_taken[i] = True
                column_taken[j] = True
                changed = True
    return links
