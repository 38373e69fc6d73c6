"""Maximum spanning arborescence with exactly one word under the root, in O(n^2) (thesis 9.2.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.algorithms.compiled import compiled
from groundling.errors import DataError


def maximum_arborescence(scores: NDArray[Any], single_root: bool = True) -> NDArray[np.int64]:
    """Return the head of each position: the tree of greatest total score.

    `scores[dependent, head]`, index 0 is the root; row 0 and the diagonal are not read. The result has -1 at 0.
    `-inf` forbids an arc as long as some tree does without it. With `single_root` exactly one word hangs from 0.

    Chu-Liu/Edmonds in Tarjan's form for dense graphs: one growing path, each contraction merges rows in O(n).
    A single root is had exactly, not by trying roots: root arcs pay a toll greater than any two trees can differ
    by, so the best tree has as few of them as possible, and one is always possible.

    Reference: Shi (2024), section 9.2.1; Tarjan (1977).

    >>> maximum_arborescence(np.array([[0, 0, 0], [5, 0, 1], [4, 3, 0]])).tolist()
    [-1, 0, 1]
    """
    weights = np.array(scores, dtype=np.float64)
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1] or not len(weights):
        raise DataError(f"scores must be a square matrix (dependent, head), not of shape {weights.shape}.")
    if not _prepare(weights, single_root):
        raise DataError("scores hold nan or +inf. Check the model's output; -inf forbids an arc.")
    return _grow(weights)


@compiled
def _prepare(weights: NDArray[np.float64], single_root: bool) -> bool:
    """Make -inf a finite value that no tree takes unless it must, put the toll on root arcs; False for nan, +inf."""
    n = weights.shape[0]
    low, high = np.inf, -np.inf
    forbidden = False
    for value in weights.flat:
        if np.isnan(value) or value == np.inf:
            return False
        if value == -np.inf:
            forbidden = True
        else:
            low, high = min(low, value), max(high, value)
    if forbidden:
        low = (low if low < np.inf else 0.0) - (max(high - low, 0.0) + 1) * n
        for i in range(n):
            for j in range(n):
                weights[i, j] = max(weights[i, j], low)
    if single_root:
        weights[1:, 0] -= (max(high - low, 0.0) + 1) * n
    return True


@compiled
def _find(top: NDArray[np.int64], node: int) -> int:
    root = node
    while top[root] != root:
        root = top[root]
    while top[node] != root:
        top[node], node = root, top[node]
    return root


@compiled
def _grow(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Grow a path of best entering arcs backwards, contracting each cycle; then unpack."""
    n = weights.shape[0]
    size = 2 * n
    into = np.empty((size, n))  # into[c, u]: best adjusted weight of an arc from word u into super-node c
    door = np.empty((size, n), dtype=np.int64)  # the word inside c by which that arc enters
    into[:n] = weights
    for v in range(n):
        door[v, :] = v
    top = np.arange(size, dtype=np.int64)  # union-find: the outermost super-node of each node
    outer = np.full(size, -1)  # the super-node a node was contracted into
    tail = np.full(size, -1)  # chosen arc: from word tail ...
    tip = np.full(size, -1)  # ... to word tip
    gain = np.zeros(size)
    state = np.zeros(size, dtype=np.int64)  # 0 new, 1 on the path, 2 attached to the root
    state[0] = 2
    path = np.empty(size, dtype=np.int64)
    made = n
    for start in range(1, n):
        length = 0
        node = _find(top, start)
        if state[node] == 2:
            continue
        while True:
            if state[node] == 0:
                state[node] = 1
                path[length] = node
                length += 1
            best, word = -np.inf, -1
            for u in range(n):
                if into[node, u] > best and _find(top, u) != node:
                    best, word = into[node, u], u
            tail[node], tip[node], gain[node] = word, door[node, word], best
            before = _find(top, word)
            if state[before] == 2:
                break
            if state[before] == 0:
                node = before
                continue
            new = made  # `before` is on the path: contract the cycle from it to the path's end
            made += 1
            into[new, :] = -np.inf
            while True:
                length -= 1
                member = path[length]
                outer[member] = new
                top[member] = new
                for u in range(n):
                    value = into[member, u] - gain[member]
                    if value > into[new, u]:
                        into[new, u] = value
                        door[new, u] = door[member, u]
                if member == before:
                    break
            node = new
        for k in range(length):
            state[path[k]] = 2
    return _unpack(n, made, outer, tail, tip)


@compiled
def _unpack(
    n: int, made: int, outer: NDArray[np.int64], tail: NDArray[np.int64], tip: NDArray[np.int64]
) -> NDArray[np.int64]:
    """From the newest super-node to the oldest, hand the entering arc to the member it enters."""
    for node in range(made - 1, n - 1, -1):
        member = tip[node]
        while outer[member] != node:
            member = outer[member]
        tail[member], tip[member] = tail[node], tip[node]
    heads = tail[:n].copy()
    heads[0] = -1
    return heads
