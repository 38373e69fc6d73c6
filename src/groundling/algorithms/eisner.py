"""The best projective dependency tree (Eisner, 1996), with exactly one word under the root, in O(n^3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.algorithms.compiled import compiled
from groundling.errors import DataError


def best_projective_tree(scores: NDArray[Any]) -> NDArray[np.int64]:
    """Return heads as `maximum_arborescence` does, of the best tree without crossing arcs.

    >>> best_projective_tree(np.array([[0, 0, 0], [5, 0, 1], [4, 3, 0]])).tolist()
    [-1, 0, 1]
    """
    weights = np.array(scores, dtype=np.float64)
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1] or not len(weights):
        raise DataError(f"scores must be a square matrix (dependent, head), not of shape {weights.shape}.")
    if np.isnan(weights).any():
        raise DataError("scores hold nan. Check the model's output.")
    return _eisner(weights)


@compiled
def _eisner(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """complete/incomplete[left, right, d]: d=1 the head is at the left end, d=0 at the right end."""
    n = weights.shape[0]
    incomplete = np.full((n, n, 2), -np.inf)
    complete = np.full((n, n, 2), -np.inf)
    cut_i = np.zeros((n, n), dtype=np.int64)
    cut_c = np.zeros((n, n, 2), dtype=np.int64)
    for i in range(n):
        complete[i, i] = 0.0
    for width in range(1, n):
        for left in range(n - width):
            right = left + width
            if left == 0 and right < n - 1:
                continue  # the root takes one dependent only: it is joined once, over the whole sentence
            _join(weights, incomplete, complete, cut_i, cut_c, left, right)
    heads = np.full(n, -1)
    if n > 1:
        _finish_root(weights, complete, cut_i, cut_c, heads)
    return heads


@compiled
def _join(
    weights: NDArray[np.float64],
    incomplete: NDArray[np.float64],
    complete: NDArray[np.float64],
    cut_i: NDArray[np.int64],
    cut_c: NDArray[np.int64],
    left: int,
    right: int,
) -> None:
    if left == 0:
        return
    best, cut = -np.inf, left
    for k in range(left, right):
        value = complete[left, k, 1] + complete[k + 1, right, 0]
        if value > best:
            best, cut = value, k
    cut_i[left, right] = cut
    incomplete[left, right, 1] = best + weights[right, left]
    incomplete[left, right, 0] = best + weights[left, right]
    for k in range(left + 1, right + 1):
        value = incomplete[left, k, 1] + complete[k, right, 1]
        if value > complete[left, right, 1]:
            complete[left, right, 1], cut_c[left, right, 1] = value, k
    for k in range(left, right):
        value = complete[left, k, 0] + incomplete[k, right, 0]
        if value > complete[left, right, 0]:
            complete[left, right, 0], cut_c[left, right, 0] = value, k


@compiled
def _finish_root(
    weights: NDArray[np.float64],
    complete: NDArray[np.float64],
    cut_i: NDArray[np.int64],
    cut_c: NDArray[np.int64],
    heads: NDArray[np.int64],
) -> None:
    """Choose the word under the root, then walk the back-pointers with a stack of our own."""
    n = len(heads)
    best, root = -np.inf, 1
    for word in range(1, n):
        value = weights[word, 0] + complete[1, word, 0] + complete[word, n - 1, 1]
        if value > best:
            best, root = value, word
    heads[root] = 0
    stack = np.empty((4 * n + 4, 4), dtype=np.int64)  # left, right, direction, complete?
    stack[0] = np.array([1, root, 0, 1])
    stack[1] = np.array([root, n - 1, 1, 1])
    size = 2
    while size:
        size -= 1
        left, right, direction, whole = stack[size]
        if left == right:
            continue
        if whole:
            k = cut_c[left, right, direction]
            if direction:
                stack[size] = np.array([left, k, 1, 0])
                stack[size + 1] = np.array([k, right, 1, 1])
            else:
                stack[size] = np.array([left, k, 0, 1])
                stack[size + 1] = np.array([k, right, 0, 0])
        else:
            if direction:
                heads[right] = left
            else:
                heads[left] = right
            k = cut_i[left, right]
            stack[size] = np.array([left, k, 1, 1])
            stack[size + 1] = np.array([k + 1, right, 0, 1])
        size += 2
