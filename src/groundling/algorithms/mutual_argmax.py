"""Word links from a similarity matrix: argmax, itermax, match, softmax thresholds (thesis 8.2.2)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.algorithms.compiled import compiled

Matrix = NDArray[Any]
Links = NDArray[np.bool_]  # (src, tgt)


def argmax(similarity: Matrix) -> Links:
    """Link i-j where S[i, j] is the greatest of its row and of its column; the first of equal ones counts.

    >>> argmax(np.array([[3.0, 1.0], [2.0, 1.0]])).tolist()
    [[True, False], [False, False]]
    """
    links = np.zeros(similarity.shape, dtype=np.bool_)
    if similarity.size:
        rows = similarity.argmax(axis=1)
        kept = similarity.argmax(axis=0)[rows] == np.arange(len(rows))
        links[kept, rows[kept]] = True
    return links


def itermax(similarity: Matrix) -> Links:
    """Argmax again and again on the rows and columns not yet linked, until none is left (thesis form).

    Each word is linked at most once, and argmax(S) is a subset. The result is what greedy best-first matching gives.

    >>> itermax(np.array([[3.0, 1.0], [2.0, 1.0]])).tolist()
    [[True, False], [False, True]]
    """
    return _itermax(np.ascontiguousarray(similarity, dtype=np.float64))


@compiled
def _itermax(similarity: NDArray[np.float64]) -> NDArray[np.bool_]:
    rows, columns = similarity.shape
    links = np.zeros((rows, columns), dtype=np.bool_)
    row_free = np.ones(rows, dtype=np.bool_)
    column_free = np.ones(columns, dtype=np.bool_)
    best_row = np.empty(columns, dtype=np.int64)
    left = min(rows, columns)
    while left > 0:
        best_row[:] = -1
        best_column = np.full(rows, -1)
        for i in range(rows):
            if not row_free[i]:
                continue
            for j in range(columns):
                if not column_free[j]:
                    continue
                if best_column[i] < 0 or similarity[i, j] > similarity[i, best_column[i]]:
                    best_column[i] = j
                if best_row[j] < 0 or similarity[i, j] > similarity[best_row[j], j]:
                    best_row[j] = i
        found = 0
        for i in range(rows):
            j = best_column[i]
            if j >= 0 and best_row[j] == i:
                links[i, j] = True
                row_free[i] = False
                column_free[j] = False
                found += 1
        if found == 0:  # only nan can stop the greatest free cell from being mutual
            break
        left -= found
    return links


def itermax_simalign(similarity: Matrix, rounds: int = 2, decay: float = 0.9) -> Links:
    """SimAlign's form: argmax, then further rounds on S weighted 1 / `decay` / 0 for both / one / no side free.

    Plain argmax when a side has at most two words. Links may share a word. Similarities should be non-negative.
    Deviation: kept as an option beside the thesis' form, because published SimAlign numbers use it.
    """
    if min(similarity.shape, default=0) <= 2:
        return argmax(similarity)
    return _itermax_simalign(np.ascontiguousarray(similarity, dtype=np.float64), rounds, decay)


@compiled
def _itermax_simalign(similarity: NDArray[np.float64], rounds: int, decay: float) -> NDArray[np.bool_]:
    # The greatest of each column is found without a branch, so that eight columns go at once; then only the rows so
    # chosen are looked through.
    rows, columns = similarity.shape
    links = np.zeros((rows, columns), dtype=np.bool_)
    row_taken = np.zeros(rows, dtype=np.bool_)
    of_free_row, of_taken_row = np.ones(columns), np.full(columns, decay)  # weights of the columns
    best_row = np.empty(columns, dtype=np.int64)
    best_value = np.empty(columns)
    for _ in range(rounds):
        best_value[:] = -np.inf
        best_row[:] = -1
        for i in range(rows):
            weight = of_taken_row if row_taken[i] else of_free_row
            for j in range(columns):
                value = similarity[i, j] * weight[j]
                better = value > best_value[j]
                best_value[j] = value if better else best_value[j]
                best_row[j] = i if better else best_row[j]
        found = 0
        for j in range(columns):
            i = best_row[j]
            weight = of_taken_row if row_taken[i] else of_free_row
            if i < 0 or links[i, j] or weight[j] == 0.0:
                continue
            if _is_first_greatest(similarity[i], weight, j, best_value[j]):
                links[i, j] = True
                found += 1
        if found == 0:
            break
        for i in range(rows):
            for j in range(columns):
                if links[i, j]:
                    row_taken[i] = True
                    of_free_row[j] = decay
                    of_taken_row[j] = 0.0
    return links


@compiled
def _is_first_greatest(row: NDArray[np.float64], weight: NDArray[np.float64], place: int, value: float) -> bool:
    over = 0
    for k in range(len(row)):
        over += row[k] * weight[k] > value
    for k in range(place):
        over += row[k] * weight[k] == value
    return over == 0


def match(similarity: Matrix) -> Links:
    """The one-to-one matching of greatest total similarity; min(src, tgt) links.

    >>> match(np.array([[3.0, 2.0], [2.5, 0.0]])).tolist()
    [[False, True], [True, False]]
    """
    links = np.zeros(similarity.shape, dtype=np.bool_)
    optimize: Any = import_module("scipy.optimize")  # importing it costs 200 ms
    links[optimize.linear_sum_assignment(similarity, maximize=True)] = True
    return links


def softmax_links(similarity: Matrix, threshold: float = 0.001) -> Links:
    """Link i-j where its softmax probability passes the threshold in both directions (awesome-align's rule)."""
    return np.minimum(softmax(similarity, 1), softmax(similarity, 0)) > threshold


def softmax(values: Matrix, axis: int) -> NDArray[np.float64]:
    """A softmax that does not overflow."""
    shifted = np.exp(values - values.max(axis=axis, keepdims=True))
    return shifted / shifted.sum(axis=axis, keepdims=True)


def drop_weak(links: Links, similarity: Matrix, null: float) -> Links:
    """The null option: a link whose similarity is at most `null` is no link."""
    return links & (similarity > null)
