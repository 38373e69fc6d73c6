"""Attachment scores of a parser on gold trees (thesis 9.3: punctuation is left out)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groundling.metrics.attachment import LAS, UAS
from groundling.metrics.base import Score
from groundling.structures import Dependencies
from groundling.systems.subdp.parser import Parser
from groundling.systems.subdp.predict import Parse, parse_vectors
from groundling.systems.subdp.silver import Inventory
from groundling.systems.subdp.vectors import Vectors


def with_parse(tree: Dependencies, parse: Parse, inventory: Inventory) -> Dependencies:
    """The words of `tree` under the predicted tree; every other column stays."""
    return tree.with_arcs(parse.heads.tolist(), [inventory.labels[x] for x in parse.labels])


def scores(gold: Sequence[Dependencies], found: Sequence[Dependencies], punctuation: bool = False) -> list[Score]:
    """UAS and LAS of the whole corpus."""
    return [metric.corpus(gold, found) for metric in (UAS(punctuation=punctuation), LAS(punctuation=punctuation))]


def attachment(
    parser: Parser, vectors: Vectors, gold: Sequence[Dependencies], inventory: Inventory
) -> dict[str, float]:
    """UAS and LAS in percent, without punctuation and without bootstrap: for tables of many runs."""
    parser.eval()
    found = [with_parse(t, p, inventory) for t, p in zip(gold, parse_vectors(parser, vectors, inventory), strict=True)]
    values: dict[str, float] = {}
    for name, metric in (("uas", UAS(punctuation=False)), ("las", LAS(punctuation=False))):
        counts = np.array([metric.statistics(g, f) for g, f in zip(gold, found, strict=True)])
        values[name] = 100 * metric.value(counts.sum(0))
    return values
