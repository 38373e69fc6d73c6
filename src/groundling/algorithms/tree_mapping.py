"""The maximally IoU-weighted alignment of two trees (thesis problem 5.1), exactly.

Two matched pairs that both overlap in time can never cross in time, so the structured alignment of the thesis is a
maximum-weight *ordered tree mapping*: the mapping of tree edit distance with free deletions and the IoU as gain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.algorithms.mapping_kernels import pairs, totals
from groundling.algorithms.node_tables import NodeTable, Terminals, node_table
from groundling.errors import DataError
from groundling.structures.tree import Tree


class Match(NamedTuple):
    """Node `first` of one tree (preorder number) is matched with node `second` of the other."""

    first: int
    second: int
    iou: float


class Mapping(NamedTuple):
    """The matched nodes, in preorder of the first tree, and the sum of their IoU."""

    matches: tuple[Match, ...]
    total: float


def best_mapping(
    a: Tree, b: Tree, *, labels: bool = True, terminals: Terminals = "same", threshold: float = 0.0
) -> Mapping:
    """Find the mapping of largest total IoU between the nodes of `a` and `b` (A* of thesis problem 5.1).

    Nodes match when their labels are equal; `labels=False` lets all match, `terminals="any"` lets any two nodes
    without nodes below match whatever their labels. Pairs with IoU under `threshold` never match, nor do pairs of
    IoU 0. Ancestors stay ancestors. Time O(key-root cells), memory O(nm).

    >>> gold = Tree.from_brackets("(S (NP (N dogs)) (VP (V bark)))")
    >>> best_mapping(gold, Tree.from_brackets("(S (N dogs) (V bark))")).matches
    (Match(first=0, second=0, iou=1.0), Match(first=2, second=1, iou=1.0), Match(first=4, second=2, iou=1.0))
    """
    check_units(a, b)
    table = node_table([a, b], labels, terminals)
    first, second = pairs(*table, threshold)
    order = np.argsort(first)  # not in the kernel: a compiled sort takes seconds to compile
    first, second = first[order], second[order]
    ious = _ious(table, first, second + len(a.labels))
    matches = zip(first.tolist(), second.tolist(), ious.tolist(), strict=True)
    return Mapping(tuple(Match(*match) for match in matches), float(ious.sum()))


def _ious(table: NodeTable, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
    l1, r1, l2, r2 = table.left[first], table.right[first], table.left[second], table.right[second]
    shared = np.minimum(r1, r2) - np.maximum(l1, l2)
    return shared / ((r1 - l1) + (r2 - l2) - shared)


def mapping_totals(
    trees: Sequence[Tree],
    pairs_of_trees: Sequence[tuple[int, int]] | NDArray[np.int64],
    *,
    labels: bool = True,
    terminals: Terminals = "same",
    threshold: float = 0.0,
) -> NDArray[np.float64]:
    """Total IoU of the best mapping for many pairs (i, j) of `trees`, in one compiled call.

    >>> trees = [Tree.from_brackets("(S (N dogs) (V bark))"), Tree.from_brackets("(S (N dogs) (N bark))")]
    >>> mapping_totals(trees, [(0, 0), (0, 1)]).tolist()
    [3.0, 2.0]
    """
    index = np.asarray(pairs_of_trees, dtype=np.int64).reshape(-1, 2)
    for i, j in {(trees[i].unit, trees[j].unit): (i, j) for i, j in index.tolist()}.values():
        check_units(trees[i], trees[j])
    table = node_table(trees, labels, terminals)
    return totals(*table, index[:, 0].copy(), index[:, 1].copy(), threshold)


def check_units(a: Tree, b: Tree) -> None:
    """Both trees must be measured in the same unit."""
    if a.unit != b.unit:
        raise DataError(
            f"one tree is measured in {a.unit}, the other in {b.unit}. Put both on the same axis: "
            "`Tree.from_segments` for seconds, `.in_characters()` for characters."
        )
