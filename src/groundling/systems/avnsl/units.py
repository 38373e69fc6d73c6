"""AV-cPCFG and DPDP-cPCFG (thesis 4.3.2): segments as k-means units, a compound PCFG over them, no pictures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundling.neural.compound_pcfg import CompoundConfig, CompoundPCFG, train_compound_pcfg
from groundling.systems.avnsl.induce import Rows, Spans
from groundling.systems.avnsl.segment import learn_codes


@dataclass(frozen=True)
class UnitGrammar:
    """A codebook (units, dim) and a grammar over its numbers."""

    codes: NDArray[np.float64]
    grammar: CompoundPCFG

    def spans(self, rows: Rows) -> list[Spans]:
        """The spans of each utterance's tree, from segment vectors (segments, dim)."""
        return self.grammar.spans([nearest(row, self.codes) for row in rows])


def nearest(row: NDArray[np.floating], codes: NDArray[np.float64]) -> NDArray[np.int64]:
    """The unit of each segment, counted from 1: 0 is the grammar's padding.

    >>> nearest(np.array([[0.1], [4.0]]), np.array([[0.0], [5.0]])).tolist()
    [1, 2]
    """
    distances = (codes**2).sum(1) - 2 * np.asarray(row, dtype=np.float64) @ codes.T
    return distances.argmin(1).astype(np.int64) + 1


def learn_unit_grammar(
    rows: Rows, units: int, config: CompoundConfig, *, seed: int, device: str = "auto"
) -> UnitGrammar:
    """Cluster the segments of all utterances, then learn a grammar of the units' sequences."""
    codes = learn_codes(rows, units, np.random.default_rng(seed))
    sequences = [nearest(row, codes) for row in rows if len(row)]
    grammar = train_compound_pcfg(sequences, len(codes) + 1, config, seed=seed, device=device)
    return UnitGrammar(codes, grammar.eval())
