"""PMI trees: the less two neighbours attract each other, the farther apart they are (thesis 3.3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundling.algorithms.syntactic_distance import spans_from_distances
from groundling.systems.vgnsl.baselines.shape import Options, Parser, Spans
from groundling.systems.vgnsl.data import Captions
from groundling.systems.vgnsl.words import Vocabulary

SMOOTH = 0.1  # added to every count of a pair; the thesis says nothing of pairs that were never seen


@dataclass(frozen=True)
class PMI(Parser):
    """Counts of neighbours; distances are minus log p(a b) / (p(a .) p(. b))."""

    vocabulary: Vocabulary
    pairs: dict[tuple[int, int], int]
    first: NDArray[np.float64]  # how often a word stands first in a pair
    second: NDArray[np.float64]

    def distances(self, sentence: Sequence[str]) -> NDArray[np.float64]:
        """The n - 1 distances between neighbours."""
        words = self.vocabulary.encode(sentence)
        left, right = words[:-1], words[1:]
        together = np.array([self.pairs.get(pair, 0) for pair in zip(left.tolist(), right.tolist(), strict=True)])
        size = len(self.vocabulary)
        apart = (self.first[left] + SMOOTH * size) * (self.second[right] + SMOOTH * size)
        total = self.first.sum() + SMOOTH * size**2
        return np.log(apart) - np.log((together + SMOOTH) * total)

    def spans(self, sentences: Sequence[Sequence[str]]) -> list[Spans]:
        """Split at the largest distance first (algorithm 3.1)."""
        return [spans_from_distances(self.distances(words).tolist()) for words in sentences]


def learn(captions: Captions, seed: int, options: Options) -> PMI:
    """Count."""
    vocabulary = Vocabulary.of(captions.sentences, min_count=3)
    pairs: dict[tuple[int, int], int] = {}
    first, second = np.zeros(len(vocabulary)), np.zeros(len(vocabulary))
    for sentence in captions.sentences:
        words = vocabulary.encode(sentence)
        np.add.at(first, words[:-1], 1)
        np.add.at(second, words[1:], 1)
        for pair in zip(words[:-1].tolist(), words[1:].tolist(), strict=True):
            pairs[pair] = pairs.get(pair, 0) + 1
    return PMI(vocabulary, pairs, first, second)
