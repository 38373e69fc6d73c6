"""Alignment error rate (Och and Ney 2003; thesis 2.1.4 and ch. 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from groundling.metrics.base import Metric, Statistics, f1, ratio
from groundling.structures import Alignment


@dataclass(frozen=True)
class AER(Metric[Alignment]):
    """AER = 1 - (|A & S| + |A & P|) / (|A| + |S|), lower is better; 0 where both A and S are empty.

    A is every predicted link, S the sure and P the possible gold links (P includes S). Precision counts A against
    P, recall counts A against S. All counts are summed over the corpus, as the shared tasks do.

    >>> gold, pred = Alignment.from_pharaoh("0-0 1-1 1p2"), Alignment.from_pharaoh("0-0 1-2 2-2")
    >>> score = AER().score(gold, pred)
    >>> print(score)
    AER|v:0.1.0 = 40.00 (n=1)
    >>> score.details["precision"], score.details["recall"]
    (0.6666666666666666, 0.5)
    """

    name: ClassVar[str] = "AER"

    def statistics(self, gold: Alignment, pred: Alignment) -> Statistics:
        """(|A & S|, |A & P|, |A|, |S|)."""
        links = pred.possible
        counts = (len(links & gold.sure), len(links & gold.possible), len(links), len(gold.sure))
        return np.array(counts, dtype=np.float64)

    def value(self, total: Statistics) -> float:
        """The error rate."""
        right_sure, right_possible, links, sure = total
        return 1 - ratio(right_sure + right_possible, links + sure)

    def details(self, total: Statistics) -> dict[str, float]:
        """Precision, recall, their F1, and the counts."""
        right_sure, right_possible, links, sure = (float(count) for count in total)
        precision, recall = ratio(right_possible, links), ratio(right_sure, sure)
        measures = {"precision": precision, "recall": recall, "f1": f1(precision, recall)}
        return measures | {"links": links, "sure": sure}
