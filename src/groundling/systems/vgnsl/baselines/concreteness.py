"""Trees from the concreteness of words (thesis algorithm 3.2): human norms, or an estimate from images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from groundling.errors import ConfigError
from groundling.systems.vgnsl.baselines.shape import Options, Parser, Spans
from groundling.systems.vgnsl.concreteness import read_norms
from groundling.systems.vgnsl.data import Captions
from groundling.systems.vgnsl.words import Vocabulary

HEAD_INITIAL = 20.0  # tau; the thesis gives no value, this is the lambda of VG-NSL's bias
NEIGHBOURS = 50  # k of Hessel et al.
BLOCK = 512  # images compared with all others at once


def spans_by_concreteness(values: Sequence[float], tau: float = 1.0) -> Spans:
    """Join the neighbours with the largest a_j + tau a_j+1; what they make is as concrete as their mean.

    tau 1 is the plain algorithm; a larger tau looks at the right neighbour, so that an abstract word waits for what
    follows it (head-initial). Of equals the leftmost is joined. Scaling and shifting all values changes nothing.

    Reference: Shi (2024), algorithm `vgnsl-concreteness-tree`.

    >>> spans_by_concreteness([0.0, 5.0, 1.0, 4.0])
    [(1, 3), (1, 4), (0, 4)]
    >>> spans_by_concreteness([0.0, 5.0, 1.0, 4.0], tau=20)
    [(0, 2), (2, 4), (0, 4)]
    """
    a, edges = list(values), list(range(len(values) + 1))
    found: Spans = []
    while len(a) > 1:
        p = max(range(len(a) - 1), key=lambda j: a[j] + tau * a[j + 1])
        found.append((edges[p], edges[p + 2]))
        a[p : p + 2] = [(a[p] + a[p + 1]) / 2]
        del edges[p + 1]
    return found


@dataclass(frozen=True)
class ConcretenessTrees(Parser):
    """Concreteness of each word; a word without any is as abstract as the most abstract."""

    values: Mapping[str, float]
    tau: float = 1.0

    def spans(self, sentences: Sequence[Sequence[str]]) -> list[Spans]:
        """Algorithm 3.2."""
        least = min(self.values.values())
        return [
            spans_by_concreteness([self.values.get(word.lower(), least) for word in words], self.tau)
            for words in sentences
        ]


def mutual_neighbours(
    sentences: Sequence[Sequence[str]],
    images: NDArray[np.int64],
    features: NDArray[np.float32],
    neighbours: int = NEIGHBOURS,
    min_count: int = 3,
) -> dict[str, float]:
    """Concreteness of words in the manner of Hessel et al. (2018): the images of a concrete word lie together.

    How many of the `neighbours` nearest images of an image with the word have the word too, over what a random set of
    images of that size would give. One is added to both sums, so that rare words stay near 1 unless they insist.
    """
    seen = np.unique(images)
    near = _nearest(features[seen], min(neighbours, len(seen) - 1))
    vocabulary = Vocabulary.of(sentences, min_count)
    cells = {
        (n, i) for words, i in zip(sentences, images.tolist(), strict=True) for n in vocabulary.encode(words).tolist()
    }
    rows, columns = np.array(sorted(cells)).T
    shape = (len(vocabulary), len(seen))
    has = sparse.csr_matrix((np.ones(len(rows)), (rows, np.searchsorted(seen, columns))), shape=shape)
    together: Any = has @ near
    observed = np.asarray(together.multiply(has).sum(1)).ravel()
    counts = np.asarray(has.sum(1)).ravel()
    # A given image with the word is itself not among its neighbours.
    expected = counts * near[0].sum() * np.maximum(counts - 1, 0) / max(len(seen) - 1, 1)
    ratio = (observed + 1) / (expected + 1)
    return {word: float(value) for word, value in zip(vocabulary.words[2:], ratio[2:], strict=True)}


def _nearest(features: NDArray[np.float32], count: int) -> sparse.csr_matrix:
    """(images, images): 1 where the column is among the `count` nearest of the row by cosine, itself left out."""
    centred = features - features.mean(0)
    units = centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-9)
    total = len(units)
    chosen = np.empty((total, count), dtype=np.int64)
    for begin in range(0, total, BLOCK):
        similarity = units[begin : begin + BLOCK] @ units.T
        similarity[np.arange(len(similarity)), np.arange(begin, begin + len(similarity))] = -np.inf
        chosen[begin : begin + BLOCK] = np.argpartition(-similarity, count - 1, axis=1)[:, :count]
    starts = np.arange(0, total * count + 1, count)
    return sparse.csr_matrix((np.ones(total * count), chosen.ravel(), starts), shape=(total, total))


def learn_norms(captions: Captions, seed: int, options: Options) -> ConcretenessTrees:
    """Human ratings (Brysbaert et al. 2014)."""
    if options.norms is None:
        raise ConfigError("this baseline reads ratings of concreteness. Give the table of Brysbaert et al. as `norms`.")
    return ConcretenessTrees(read_norms(options.norms))


def learn_norms_head_initial(captions: Captions, seed: int, options: Options) -> ConcretenessTrees:
    """Human ratings, head-initial variant."""
    return ConcretenessTrees(learn_norms(captions, seed, options).values, HEAD_INITIAL)


def learn_images(captions: Captions, seed: int, options: Options) -> ConcretenessTrees:
    """What the images of a word have in common."""
    return ConcretenessTrees(mutual_neighbours(captions.sentences, captions.images, captions.features))


def learn_images_head_initial(captions: Captions, seed: int, options: Options) -> ConcretenessTrees:
    """The same, head-initial variant."""
    return ConcretenessTrees(learn_images(captions, seed, options).values, HEAD_INITIAL)
