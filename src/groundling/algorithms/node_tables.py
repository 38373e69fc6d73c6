"""Many trees side by side in flat arrays: what the compiled tree kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.algorithms.compiled import compiled
from groundling.structures.tree import Tree

Terminals = Literal["same", "any"]


class NodeTable(NamedTuple):
    """The nodes of many trees in preorder, tree t at offsets[t] .. offsets[t+1]-1."""

    offsets: NDArray[np.int64]
    left: NDArray[np.float64]  # where a node begins, in its tree's unit
    right: NDArray[np.float64]
    kind: NDArray[np.int64]  # nodes may match if and only if their kinds are equal
    size: NDArray[np.int64]  # nodes in the subtree, itself included
    depth: NDArray[np.int64]
    cost: NDArray[np.float64]  # [tree, 2]: forest cells by leftmost and by rightmost paths


def node_table(trees: Sequence[Tree], labels: bool = True, terminals: Terminals = "same") -> NodeTable:
    """Put trees side by side.

    Kinds: the label, or one kind for all nodes with `labels=False`; with `terminals="any"` all nodes with none below
    are of one kind of their own (the authors' `flexible` matching of pre-terminals).

    >>> node_table([Tree.from_brackets("(NP (D a) (N cat))")]).size.tolist()
    [3, 1, 1]
    """
    counts = [len(tree.labels) for tree in trees]
    total = sum(counts)
    offsets = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
    starts = np.fromiter(chain.from_iterable(tree.starts for tree in trees), np.int64, total)
    ends = np.fromiter(chain.from_iterable(tree.ends for tree in trees), np.int64, total)
    size, depth, cost = _shapes(offsets, starts, ends)
    kind = _label_numbers(trees, total) if labels else np.zeros(total, np.int64)
    if terminals == "any":
        kind[size == 1] = -1
    left, right = _times(trees, counts, starts, ends)
    return NodeTable(offsets, left, right, kind, size, depth, cost)


def _label_numbers(trees: Sequence[Tree], total: int) -> NDArray[np.int64]:
    numbers: dict[str, int] = {}
    names = chain.from_iterable(tree.labels for tree in trees)
    return np.fromiter((numbers.setdefault(name, len(numbers)) for name in names), np.int64, total)


def _times(
    trees: Sequence[Tree], counts: list[int], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if all(tree.times is None for tree in trees):
        return starts.astype(np.float64), ends.astype(np.float64)
    leaves = [tree.times or [(i, i + 1) for i in range(len(tree.words))] for tree in trees]
    flat = np.array([pair for tree in leaves for pair in tree], dtype=np.float64).reshape(-1, 2)
    first = np.concatenate([[0], np.cumsum([len(tree) for tree in leaves])[:-1]]).astype(np.int64)
    shift = np.repeat(first, counts)
    return flat[starts + shift, 0].copy(), flat[ends + shift - 1, 1].copy()


@compiled
def _shapes(
    offsets: NDArray[np.int64], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Subtree sizes, depths, and what each path decomposition would cost (the sum of its key roots' sizes)."""
    total = starts.shape[0]
    size = np.ones(total, np.int64)
    depth = np.zeros(total, np.int64)
    cost = np.zeros((offsets.shape[0] - 1, 2), np.float64)
    stack = np.empty(total + 1, np.int64)
    for tree in range(offsets.shape[0] - 1):
        low, high = offsets[tree], offsets[tree + 1]
        top = 0
        for node in range(low, high):
            while top > 0 and ends[stack[top - 1]] <= starts[node]:
                top -= 1
            depth[node] = top
            stack[top] = node
            top += 1
        for node in range(high - 1, low - 1, -1):  # children come after their parent: add up from the back
            inner = node + 1
            while inner < high and depth[inner] > depth[node]:
                inner += size[inner]
            size[node] = inner - node
            # Key roots by leftmost paths: the root and all nodes but first children; by rightmost: all but last ones.
            first_child = node > low and depth[node] == depth[node - 1] + 1
            last_child = node > low and (inner == high or depth[inner] < depth[node])
            cost[tree, 0] += 0 if first_child else size[node]
            cost[tree, 1] += 0 if last_child else size[node]
    return size, depth, cost
