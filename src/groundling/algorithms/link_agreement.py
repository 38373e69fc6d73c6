"""Which words translate each other, from co-occurrence alone: IBM model 1 in both directions, trained to agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.algorithms.compiled import compiled

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class WordPairs(NamedTuple):
    """For each pair of words that meet in a sentence pair: how often they do, and how often they are linked."""

    source: Ints
    target: Ints
    together: Floats  # sentence pairs' cells in which both stand
    linked: Floats  # expected number of links


def agree(
    sources: Sequence[Ints], targets: Sequence[Ints], *, rounds: int = 5, diagonal: float = 3.0, prior: float = 1.0
) -> WordPairs:
    """Expected links between word numbers, by EM over sentence pairs.

    Each round multiplies the two directions' posteriors (Liang, Taskar and Klein 2006). Positions far from the
    diagonal are less likely by exp(-`diagonal` * distance), as in fast_align; `prior` pseudo-counts keep words seen
    once from claiming everything they stood with.

    >>> found = agree([np.array([0, 1]), np.array([0, 2])], [np.array([5, 6]), np.array([5, 7])])
    >>> [(int(s), int(t)) for s, t, n in zip(found.source, found.target, found.linked) if n > 0.4]
    [(0, 5), (1, 6), (2, 7)]
    """
    rows, columns = (np.array([len(words) for words in side], dtype=np.int64) for side in (sources, targets))
    starts = np.concatenate([[0], np.cumsum(rows * columns)])
    width = 1 + max((int(words.max()) for words in targets if len(words)), default=0)
    keys = np.empty(starts[-1], dtype=np.int64)
    for k, (s, t) in enumerate(zip(sources, targets, strict=True)):
        keys[starts[k] : starts[k + 1]] = (s[:, None] * width + t[None, :]).ravel()
    pairs, cells, together = np.unique(keys, return_inverse=True, return_counts=True)
    cells = cells.ravel()
    source, target = pairs // width, pairs % width
    counts = together / np.sqrt(np.bincount(source, together)[source] * np.bincount(target, together)[target])
    for _ in range(rounds):
        there = (counts + 1e-6) / (np.bincount(source, counts)[source] + prior)
        back = (counts + 1e-6) / (np.bincount(target, counts)[target] + prior)
        counts = _expect(cells, starts, rows, columns, there, back, diagonal)
    return WordPairs(source, target, together.astype(np.float64), counts)


@compiled
def _expect(
    cells: Ints, starts: Ints, rows: Ints, columns: Ints, there: Floats, back: Floats, diagonal: float
) -> Floats:
    counts = np.zeros(len(there))
    for k in range(len(rows)):
        n, m, start = rows[k], columns[k], starts[k]
        near = np.empty((n, m))
        row_sum, column_sum = np.full(n, 1e-6), np.full(m, 1e-6)
        for i in range(n):
            for j in range(m):
                pair = cells[start + i * m + j]
                near[i, j] = np.exp(-diagonal * abs((i + 0.5) / n - (j + 0.5) / m))
                column_sum[j] += there[pair] * near[i, j]
                row_sum[i] += back[pair] * near[i, j]
        for i in range(n):
            for j in range(m):
                pair = cells[start + i * m + j]
                both = there[pair] * back[pair] * near[i, j] * near[i, j]
                counts[pair] += both / (column_sum[j] * row_sum[i])
    return counts
