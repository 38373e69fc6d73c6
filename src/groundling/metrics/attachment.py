"""Attachment scores of dependency trees (thesis 2.1.2 and 9.3; CoNLL 2018 conventions)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from groundling.errors import DataError
from groundling.metrics.base import Metric, Statistics, ratio
from groundling.structures import Dependencies


@dataclass(frozen=True)
class UAS(Metric[Dependencies]):
    """Share of words with the right head.

    `punctuation=True` counts every word, as the UD shared tasks do; False leaves out the words that the gold tags
    call PUNCT, as the thesis does (9.3).

    >>> gold = Dependencies(("dogs", "bark", "!"), (2, 0, 2), ("nsubj", "root", "punct"), ("NOUN", "VERB", "PUNCT"))
    >>> pred = gold.with_arcs([2, 0, 1], ["obj", "root", "punct"])
    >>> print(UAS().score(gold, pred))
    UAS|punctuation:yes|v:0.1.0 = 66.67 (n=1)
    >>> UAS(punctuation=False).score(gold, pred).value
    1.0
    """

    name: ClassVar[str] = "UAS"
    punctuation: bool = True

    def statistics(self, gold: Dependencies, pred: Dependencies) -> Statistics:
        """(right words, words)."""
        _check_words(gold.words, pred.words)
        counted = [i for i in range(len(gold.words)) if self.punctuation or _tags(gold)[i] != "PUNCT"]
        return np.array([sum(self._right(gold, pred, i) for i in counted), len(counted)], dtype=np.float64)

    def value(self, total: Statistics) -> float:
        """Right words / words."""
        return ratio(total[0], total[1])

    def details(self, total: Statistics) -> dict[str, float]:
        """The counts."""
        return {"correct": float(total[0]), "words": float(total[1])}

    def _right(self, gold: Dependencies, pred: Dependencies, word: int) -> bool:
        return gold.heads[word] == pred.heads[word]


@dataclass(frozen=True)
class LAS(UAS):
    """Share of words with the right head and label; `subtypes=False` reads `nsubj:pass` as `nsubj` (UD's convention).

    >>> gold = Dependencies(("it", "fell"), (2, 0), ("nsubj:pass", "root"))
    >>> pred = gold.with_arcs([2, 0], ["nsubj", "root"])
    >>> LAS().score(gold, pred).value, LAS(subtypes=True).score(gold, pred).value
    (1.0, 0.5)
    """

    name: ClassVar[str] = "LAS"
    subtypes: bool = False

    def _right(self, gold: Dependencies, pred: Dependencies, word: int) -> bool:
        same = self._label(gold.labels[word]) == self._label(pred.labels[word])
        return same and super()._right(gold, pred, word)

    def _label(self, label: str) -> str:
        return label if self.subtypes else label.partition(":")[0]


def _tags(gold: Dependencies) -> Sequence[str]:
    if not gold.tags:
        raise DataError("punctuation is to be left out, but the gold sentence has no UPOS tags to tell it by.")
    return gold.tags


def _check_words(gold: Sequence[str], pred: Sequence[str]) -> None:
    if len(gold) != len(pred):
        raise DataError(f"the gold has {len(gold)} words but the prediction {len(pred)}. Both need the same words.")
    for number, (wanted, found) in enumerate(zip(gold, pred, strict=True), 1):
        if wanted != found:
            raise DataError(f"word {number} is {wanted!r} in the gold but {found!r} in the prediction.")
