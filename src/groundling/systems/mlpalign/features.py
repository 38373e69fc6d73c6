"""What the MLP sees of each pair of words, and the ternary labels it learns from (thesis 8.2.2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.algorithms.link_growing import grow
from groundling.algorithms.mutual_argmax import argmax, itermax, softmax
from groundling.systems.mlpalign.config import Config
from groundling.systems.mlpalign.counts import ALIGNED, LINKED, ONE_TO_ONE, TOGETHER, CellCounts, Counts
from groundling.systems.mlpalign.similarity import similarity, vectors_of, word_cells
from groundling.systems.mlpalign.streams import Pair, Words

Cells = NDArray[np.float64]  # (source, target)
COUNTS = slice(2, 7)  # the features that enter as log(x + |b|)
THESIS = ("cosine", "dot", "one to one", "aligned", "together", "source count", "target count")
EXTRA = (
    "pieces", "words", "lexicon", "fused", "row rival", "column rival", "diagonal", "neighbours",
    "same text", "shared prefix", "punctuation", "row taken", "column taken", "touches",
)  # fmt: skip
_PREFIX = 5  # letters: cognates share their beginnings
STRICT_BAR, WIDE_BAR = 0.05, 0.15  # of the fused score, for the labels of the extended form; from XL-WA's dev sets


class Evidence(NamedTuple):
    """All that is known of a pair of sentences, in word cells."""

    cosine: Cells
    dot: Cells
    pieces: Cells  # probability of a link by the encoder's pieces
    words: Cells  # by its words
    lexicon: Cells  # log p(target | source) p(source | target), shrunk towards none
    fused: Cells  # all of them


def evidence(pair: Pair, counts: CellCounts, config: Config) -> Evidence:
    """Weigh a pair of sentences. The softmax in both directions, geometric mean, is the probability of a link."""
    assert pair.encoded is not None
    source, target = pair.encoded
    rows, columns = vectors_of(source, "word"), vectors_of(target, "word")
    words = similarity(rows, columns, config.centre).astype(np.float64)
    dot = (rows @ columns.T).cpu().numpy().astype(np.float64) / rows.shape[1]
    fine = similarity(vectors_of(source, "subword"), vectors_of(target, "subword"), config.centre)
    pieces = word_cells(both_ways(fine, config.sharpness), source.owner, target.owner)
    by_words = both_ways(words, config.sharpness)
    lexicon = _lexicon(counts, config.shrinkage)
    fused = _fuse((pieces + by_words) / 2, lexicon, config.trust)
    return Evidence(2 * words - 1, dot, pieces, by_words, lexicon, fused)


def both_ways(values: NDArray[np.floating], sharpness: float) -> Cells:
    """The geometric mean of the softmax over rows and over columns."""
    scaled = sharpness * values.astype(np.float64)
    return np.sqrt(softmax(scaled, 1) * softmax(scaled, 0))


def features(source: Words, target: Words, found: Evidence, counts: CellCounts, config: Config) -> NDArray[np.float32]:
    """(source, target, features): the thesis' seven, and ours after them if asked for."""
    shape = found.cosine.shape
    seven = [found.cosine, found.dot, *(counts.values[..., k] for k in (ONE_TO_ONE, ALIGNED, TOGETHER))]
    seven += [np.broadcast_to(counts.source[:, None], shape), np.broadcast_to(counts.target[None], shape)]
    if config.features == "thesis":
        return np.stack(seven, -1).astype(np.float32)
    more = [_log(found.pieces), _log(found.words), found.lexicon, _log(found.fused)]
    more += [_rival(found.fused, 1), _rival(found.fused, 0), _distance(*shape), _log(_neighbours(found.fused))]
    more += [*_spelling(source, target), *_taken(strict_links(found))]
    return np.stack([*seven, *more], -1).astype(np.float32)


def labels(found: Evidence, config: Config) -> NDArray[np.int64]:
    """0, 1 or 2 a cell. Thesis: in argmax + in itermax. Extended: in the strict set + in the wide set.

    The strict set is the mutual argmax of the fused score that the encoder's pieces agree with; the wide set grows
    from it (`algorithms.link_growing`).
    """
    if config.features == "thesis":
        return argmax(found.cosine).astype(np.int64) + itermax(found.cosine)
    strict = strict_links(found)
    return strict.astype(np.int64) + grow(strict, found.fused, WIDE_BAR)


def strict_links(found: Evidence) -> NDArray[np.bool_]:
    """Mutual argmax of the fused score, where the encoder alone would say so too."""
    strict = argmax(found.fused) & (found.fused > STRICT_BAR)
    return strict & (argmax(found.pieces) | argmax(found.words))


def cell_counts(pair: Pair, counts: Counts) -> CellCounts:
    """The counts of one pair of sentences."""
    return counts.cells(pair.source, pair.target)


def _lexicon(counts: CellCounts, shrinkage: float) -> Cells:
    linked = counts.values[..., LINKED]
    rows, columns = linked.shape
    there = (linked + shrinkage / columns) / (counts.source[:, None] + shrinkage)
    back = (linked + shrinkage / rows) / (counts.target[None] + shrinkage)
    return np.log(there) + np.log(back)


def _fuse(encoder: Cells, lexicon: Cells, trust: float) -> Cells:
    """The product of both, each row and column as heavy as the encoder made it."""
    product = encoder * np.exp(trust * lexicon)
    before, after = encoder**2, product**2
    rows = before.sum(1, keepdims=True) / after.sum(1, keepdims=True)
    columns = before.sum(0, keepdims=True) / after.sum(0, keepdims=True)
    return product * (rows * columns) ** 0.25


def _log(values: Cells) -> Cells:
    return np.log(values + 1e-4)


def _rival(values: Cells, axis: int) -> Cells:
    """How far a cell is above the best other one of its row (1) or column (0), in logarithms."""
    if values.shape[axis] < 2:
        return np.full(values.shape, 5.0)
    ordered = np.partition(values, -2, axis=axis)
    second, best = np.take(ordered, [-2], axis=axis), np.take(ordered, [-1], axis=axis)
    return np.clip(_log(values) - _log(np.where(values >= best, second, best)), -5, 5)


def _neighbours(values: Cells) -> Cells:
    """The better of the two diagonal neighbours: links run in parallel."""
    wide = np.pad(values, 1)
    return np.maximum(wide[:-2, :-2], wide[2:, 2:])


def _taken(strict: NDArray[np.bool_]) -> list[Cells]:
    """Whether the row, the column has its strict link elsewhere, and whether a strict link lies beside the cell."""
    rows, columns = strict.any(1, keepdims=True) & ~strict, strict.any(0, keepdims=True) & ~strict
    wide = np.pad(strict, 1)
    beside = wide[:-2, 1:-1] | wide[2:, 1:-1] | wide[1:-1, :-2] | wide[1:-1, 2:]
    return [rows.astype(np.float64), columns.astype(np.float64), beside.astype(np.float64)]


def _distance(rows: int, columns: int) -> Cells:
    return np.abs((np.arange(rows)[:, None] + 0.5) / rows - (np.arange(columns)[None] + 0.5) / columns)


def _spelling(source: Words, target: Words) -> list[Cells]:
    first, second = [w.lower() for w in source], [w.lower() for w in target]
    same = np.array([[a == b for b in second] for a in first], dtype=np.float64)
    equal = _first_letters(first, 1)[:, None] == _first_letters(second, 2)[None]
    prefix = np.cumprod(equal, axis=-1).sum(-1) / _PREFIX
    marks = (np.array([not any(c.isalnum() for c in w) for w in side]) for side in (first, second))
    return [same, prefix, np.not_equal.outer(*marks).astype(np.float64)]


def _first_letters(words: Words, filler: int) -> NDArray[np.int64]:
    return np.array([[ord(c) for c in w[:_PREFIX]] + [filler] * (_PREFIX - len(w)) for w in words])
