"""Self-agreement F1: how much runs from different random starts agree (thesis 3.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from groundling.errors import DataError
from groundling.metrics.base import Metric, Score, Statistics, f1, ratio
from groundling.metrics.parseval import ParsEval
from groundling.structures.tree import Tree


@dataclass(frozen=True)
class SelfF1(Metric[Tree]):
    """The ParsEval F1 between runs, averaged over all pairs of different runs.

    Two runs are `.corpus(a, b)`; any number `.runs([a, b, c])`. Symmetric in the runs; 1 where all agree.

    >>> a, b = Tree.from_brackets("( a ( black cat ) )"), Tree.from_brackets("( ( a black ) cat )")
    >>> SelfF1().runs([[a], [a], [b]]).value
    0.6666666666666666
    """

    name: ClassVar[str] = "SelfF1"
    convention: str = "vgnsl"
    punctuation: bool = True

    def statistics(self, gold: Tree, pred: Tree) -> Statistics:
        """(matched, brackets of one, brackets of the other)."""
        return ParsEval(self.convention, punctuation=self.punctuation, types=()).statistics(gold, pred)[:3]

    def value(self, total: Statistics) -> float:
        """Mean F1 over pairs of runs: the total holds three numbers for each pair."""
        scores = [f1(ratio(m, b), ratio(m, a)) for m, a, b in total.reshape(-1, 3).tolist()]
        return float(np.mean(scores))

    def runs(self, runs: Sequence[Iterable[Tree]], *, bootstrap: int = 1000, seed: int = 0) -> Score:
        """Score three or more runs over the same sentences; resamples are over sentences."""
        trees = [list(run) for run in runs]
        if len(trees) < 2:
            raise DataError(f"self-agreement needs at least two runs, but {len(trees)} was given. Train more seeds.")
        pairs = [self.matrix(a, b) for a, b in combinations(trees, 2)]
        return self.aggregate(np.concatenate(pairs, axis=1), bootstrap=bootstrap, seed=seed)
