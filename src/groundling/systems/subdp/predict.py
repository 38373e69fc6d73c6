"""From scores to trees and distributions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groundling.algorithms.arborescence import maximum_arborescence
from groundling.algorithms.eisner import best_projective_tree
from groundling.systems.subdp.parser import Parser, Scored
from groundling.systems.subdp.silver import Inventory
from groundling.systems.subdp.vectors import Vectors


class Parse(NamedTuple):
    """The best tree of a sentence: heads from 1, numbers of labels and tags."""

    heads: NDArray[np.int64]  # (n,)
    labels: NDArray[np.int64]
    tags: NDArray[np.int64]


class SoftParse(NamedTuple):
    """The distributions of a sentence, position 0 the root."""

    arcs: NDArray[np.float32]  # (n+1, n+1), row 0 is zero
    labels: NDArray[np.float16]  # (n+1, n+1, labels)
    tags: NDArray[np.float32]  # (n, tags)


def groups(lengths: Sequence[int] | NDArray[np.int64], words: int) -> list[NDArray[np.int64]]:
    """Numbers of sentences in batches of like length, at most `words` with their padding.

    >>> [g.tolist() for g in groups([3, 1, 2], 4)]
    [[1, 2], [0]]
    """
    order = np.argsort(lengths, kind="stable")
    made: list[NDArray[np.int64]] = []
    start = 0
    for k in range(1, len(order) + 1):
        if k == len(order) or (k + 1 - start) * lengths[order[k]] > words:
            made.append(order[start:k])
            start = k
    return made


@torch.no_grad()
def parse_vectors(
    parser: Parser, vectors: Vectors, inventory: Inventory, *, projective: bool = False, batch_words: int = 5000
) -> list[Parse]:
    """The best trees, exactly one word under the root of each; the label `root` is given there and nowhere else."""
    device = parser.root.device
    results: dict[int, Parse] = {}
    for group in groups(vectors.lengths, batch_words):
        scored = parser(vectors.batch(group, device))
        lengths = vectors.lengths[group]
        heads = [decode(arcs[: n + 1, : n + 1], projective) for arcs, n in _rows(scored.arcs, lengths)]
        labels = _labels(parser, scored, heads, inventory.labels.index("root"))
        tags = scored.tags.argmax(-1).cpu().numpy() if scored.tags.shape[-1] else np.zeros((len(group), 0), int)
        for row, k in enumerate(group):
            results[int(k)] = Parse(heads[row], labels[row], tags[row, : lengths[row]])
    return [results[k] for k in range(len(vectors))]


def decode(log_probabilities: NDArray[np.float32], projective: bool = False) -> NDArray[np.int64]:
    """The heads of words 1..n of the best tree."""
    return (best_projective_tree if projective else maximum_arborescence)(log_probabilities)[1:]


@torch.no_grad()
def soft_parses(
    parser: Parser, vectors: Vectors, sentences: Sequence[int] | NDArray[np.int64], batch_words: int = 5000
) -> Iterator[tuple[int, SoftParse]]:
    """Arc, label and tag distributions of some sentences, in batches of like length: (number, distributions)."""
    chosen = np.asarray(sentences, dtype=np.int64)
    for group in groups(vectors.lengths[chosen], batch_words):
        scored = parser(vectors.batch(chosen[group], parser.root.device))
        labels = parser.label_scorer.all_pairs(scored.dependents, scored.heads).float().softmax(-1).half().cpu().numpy()
        arcs = scored.arcs.exp().cpu().numpy()
        arcs[:, 0] = 0
        tags = scored.tags.exp().cpu().numpy()
        for row, k in enumerate(chosen[group]):
            n = int(vectors.lengths[k])
            yield int(k), SoftParse(arcs[row, : n + 1, : n + 1], labels[row, : n + 1, : n + 1], tags[row, :n])


def _rows(values: Tensor, lengths: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.float32], int]]:
    return zip(values.cpu().numpy(), lengths.tolist(), strict=True)


def _labels(parser: Parser, scored: Scored, heads: list[NDArray[np.int64]], root: int) -> list[NDArray[np.int64]]:
    sizes = [len(h) for h in heads]
    sentence = np.repeat(np.arange(len(heads)), sizes)
    dependent = np.concatenate([np.arange(1, n + 1) for n in sizes])
    head = np.concatenate(heads)
    device = parser.root.device
    arcs = tuple(torch.from_numpy(part).to(device) for part in (sentence, dependent, head))
    scores = parser.labels(scored, (arcs[0], arcs[1], arcs[2])).cpu().numpy()
    scores[:, root] = np.where(head == 0, np.inf, -np.inf)
    return np.split(scores.argmax(1), np.cumsum(sizes)[:-1])
