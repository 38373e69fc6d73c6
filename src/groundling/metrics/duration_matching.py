"""The max-duration bipartite F1 of Tseng et al. (2023): a warning, not a recommendation (thesis figure 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from groundling.algorithms.tree_mapping import check_units
from groundling.metrics.base import Metric, Statistics, f1, ratio
from groundling.structures.tree import Tree

_PAIR = 1e-9  # share of the whole duration that one more pair weighs: it decides only between equal sums


@dataclass(frozen=True)
class DurationMatching(Metric[Tree]):
    """F1 where spans count as right when a bipartite matching of largest summed overlap pairs them.

    It ignores the tree: the two trees of thesis figure 4.1 share little structure and score 1. Kept to reproduce
    published numbers and to show what Struct-IoU mends.

    >>> left, right = Tree.from_brackets("( ( a b ) c )"), Tree.from_brackets("( a ( b c ) )")
    >>> DurationMatching().score(left, right).value
    1.0
    """

    name: ClassVar[str] = "DurationMatching"

    def statistics(self, gold: Tree, pred: Tree) -> Statistics:
        """(matched pairs, gold nodes, predicted nodes)."""
        check_units(gold, pred)
        a, b = gold.arrays, pred.arrays
        overlap = np.minimum(a.right[:, None], b.right) - np.maximum(a.left[:, None], b.left)
        gain = np.where(overlap > 0, overlap + _PAIR * (a.right[0] - a.left[0]), 0.0)
        optimize: Any = import_module("scipy.optimize")  # importing it costs 200 ms
        rows, columns = optimize.linear_sum_assignment(gain, maximize=True)
        return np.array([np.count_nonzero(gain[rows, columns]), len(a.left), len(b.left)], dtype=np.float64)

    def value(self, total: Statistics) -> float:
        """F1 over all spans."""
        return f1(ratio(total[0], total[2]), ratio(total[0], total[1]))
