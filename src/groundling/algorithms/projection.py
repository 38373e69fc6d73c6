"""Project dependency distributions through word alignments (SubDP, thesis 9.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.errors import DataError
from groundling.structures import Alignment, SoftDependencies

Array = NDArray[np.floating[Any]]


class AlignmentMatrices(NamedTuple):
    """Right-stochastic matrices over positions: 0 the root, words from 1, last the null position."""

    src_to_tgt: Array  # A^{s->t}, (src+2, tgt+2)
    tgt_to_src: Array  # A^{t->s}, (tgt+2, src+2)


def add_dummy_position(matrix: Array) -> Array:
    """The operator Delta: one more row and column; an all-zero row gets its mass in the new column.

    >>> add_dummy_position(np.array([[1.0, 1.0], [0.0, 0.0]])).tolist()
    [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    """
    rows, columns = matrix.shape
    larger = np.zeros((rows + 1, columns + 1), dtype=matrix.dtype)
    larger[:rows, :columns] = matrix
    larger[:rows, columns] = ~matrix.any(axis=1)
    larger[rows, columns] = 1
    return larger


def normalise_rows(matrix: Array) -> Array:
    """The operator N^R: divide each row by its sum.

    >>> normalise_rows(np.array([[1.0, 3.0]])).tolist()
    [[0.25, 0.75]]
    """
    return matrix / matrix.sum(axis=1, keepdims=True)


def alignment_matrices(links: Array) -> AlignmentMatrices:
    """A^{s->t} and A^{t->s} from link weights (src, tgt) between words; root is aligned with root.

    Reference: Shi (2024), section 9.2.2.
    """
    rooted = np.zeros((links.shape[0] + 1, links.shape[1] + 1), dtype=np.float64)
    rooted[0, 0] = 1
    rooted[1:, 1:] = links
    return AlignmentMatrices(normalise_rows(add_dummy_position(rooted)), normalise_rows(add_dummy_position(rooted.T)))


def one_to_one(alignment: Alignment) -> Alignment:
    """Keep only the links whose two words have no other link (the filter of table 9.2).

    >>> str(one_to_one(Alignment.from_pharaoh("0-0 1-1 1-2")))
    '0-0'
    """
    sources, targets = Counter(i for i, _ in alignment.sure), Counter(j for _, j in alignment.sure)
    kept = frozenset((i, j) for i, j in alignment.sure if sources[i] == targets[j] == 1)
    return Alignment(kept)


def project_arcs(arcs: Array, tgt_to_src: Array, src_to_tgt: Array) -> Array:
    """P2 = A^{t->s} P1 A^{s->t}. If the three inputs are right-stochastic, so is the result.

    Shapes: arcs (src, src) with arcs[i, j] = P(head of i is j), tgt_to_src (tgt, src), src_to_tgt (src, tgt).
    Reference: Shi (2024), section 9.2.3, eq. `3-matrices-prob`.

    >>> eye = np.eye(2)
    >>> project_arcs(eye[::-1], eye, eye).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return tgt_to_src @ arcs @ src_to_tgt


def project_labels(labels: Array, tgt_to_src: Array) -> Array:
    """P2(l | q -> p) = sum_ij A^{t->s}[p, i] P1(l | j -> i) A^{t->s}[q, j]: a distribution over labels for every pair.

    Shapes: labels (src, src, L) with labels[i, j] = P(label | arc j -> i); the result is (tgt, tgt, L).

    >>> project_labels(np.full((2, 2, 3), 1 / 3), np.eye(2)).shape
    (2, 2, 3)
    """
    halfway = np.tensordot(tgt_to_src, labels, axes=(1, 0))  # (tgt, src, L)
    return np.ascontiguousarray(np.swapaxes(np.tensordot(tgt_to_src, halfway, axes=(1, 1)), 0, 1))


def project(source: SoftDependencies, alignment: Alignment, words: tuple[str, ...]) -> SoftDependencies:
    """Carry soft dependencies over to the target sentence; mass that falls on the null position is dropped.

    The rows of the result sum to at most 1: the partial losses of thesis 9.2.4 use them as they are.
    """
    links = alignment.matrix(len(source.words), len(words))
    matrices = alignment_matrices(links)
    arcs = project_arcs(_with_null(source.arcs), matrices.tgt_to_src, matrices.src_to_tgt)[:-1, :-1]
    arcs[0] = 0
    labels = None
    if source.label_probabilities is not None:
        padded = _labels_with_null(source.label_probabilities)
        labels = project_labels(padded, matrices.tgt_to_src)[:-1, :-1]
    return SoftDependencies(words, arcs, labels, source.label_names, source.id)


def _with_null(arcs: Array) -> Array:
    """Add the null position, which is its own head; the root row, which has none, points there too."""
    padded = np.zeros((len(arcs) + 1, len(arcs) + 1))
    padded[:-1, :-1] = arcs
    padded[0] = 0
    padded[:, -1] = 1 - padded[:, :-1].sum(axis=1)
    if padded.min() < -1e-4:
        raise DataError("the arc rows of the source sum to more than 1. They must be distributions.")
    return padded.clip(0)


def _labels_with_null(labels: Array) -> Array:
    side, _, count = labels.shape
    padded = np.full((side + 1, side + 1, count), 1 / count)
    padded[:-1, :-1] = labels
    return padded


class SparseArcs(NamedTuple):
    """Some arcs of a sentence with their weights: all that a partial loss needs of a soft tree."""

    dependent: NDArray[np.int64]  # (arcs,), words from 1
    head: NDArray[np.int64]  # (arcs,), 0 is the root
    weight: NDArray[np.float32]  # (arcs,)
    labels: NDArray[np.float32]  # (arcs, labels), each row a distribution


def project_sparse(arcs: Array, labels: Array, links: Array, least: float = 0.01) -> SparseArcs:
    """`project` for training: only the arcs of probability over `least`, and the labels of these arcs only.

    Shapes: arcs (src+1, src+1), labels (src+1, src+1, L), links (src, tgt). Self-loops are dropped, as in the
    thesis (fig. 9.1). With `least=0` the arcs kept hold all that `project` gives.

    >>> tree = project_sparse(np.array([[0, 0], [1.0, 0]]), np.ones((2, 2, 1)), np.ones((1, 1)))
    >>> tree.dependent.tolist(), tree.head.tolist(), tree.weight.tolist()
    ([1], [0], [1.0])
    """
    rooted = np.zeros((links.shape[0] + 1, links.shape[1] + 1))
    rooted[0, 0] = 1
    rooted[1:, 1:] = links
    # Null positions get no row here: what would fall on them is lost either way, and the rest is the same.
    src_to_tgt = rooted / np.maximum(rooted.sum(1, keepdims=True), 1)
    tgt_to_src = (rooted / np.maximum(rooted.sum(0, keepdims=True), 1)).T
    projected = tgt_to_src @ arcs @ src_to_tgt
    projected[0] = 0
    np.fill_diagonal(projected, 0)
    dependent, head = np.nonzero(projected > least)
    kept = _labels_of(labels, tgt_to_src, dependent, head)
    return SparseArcs(dependent, head, projected[dependent, head].astype(np.float32), kept)


def _labels_of(
    labels: Array, tgt_to_src: Array, dependent: NDArray[np.int64], head: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Sum over the aligned source words alone: one or two for almost every word. Both ends of an arc are aligned."""
    rows, columns = tgt_to_src[dependent], tgt_to_src[head]
    total = np.zeros((len(dependent), labels.shape[2]), dtype=np.float32)
    first, second = _places(rows), _places(columns)
    for i, a in first:
        for j, b in second:
            total += (a * b)[:, None] * labels[i, j]
    return total


def _places(rows: Array) -> list[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    """The k-th aligned word of each row and its share, for k = 0, 1, ...; share 0 where there is none."""
    order = np.argsort(-rows, axis=1, kind="stable")[:, : int((rows > 0).sum(1).max(initial=0))]
    shares = np.take_along_axis(rows, order, axis=1).astype(np.float32)
    return [(order[:, k], shares[:, k]) for k in range(order.shape[1])]


def project_hard(heads: Sequence[int], alignment: Alignment, length: int) -> NDArray[np.int64]:
    """Heads of the target words, -1 where none is projected (Hard; Lacroix et al., 2016).

    An arc is carried over if both its ends are linked one to one; the root is linked with the root. Returns an array
    of `length` heads that count from 1.

    >>> project_hard([2, 0], Alignment.from_pharaoh("0-1 1-0"), 3).tolist()
    [0, 1, -1]
    """
    partner = {i: j for i, j in one_to_one(alignment).sure}
    projected = np.full(length, -1, dtype=np.int64)
    for i, j in partner.items():
        head = heads[i]
        if head == 0:
            projected[j] = 0
        elif head - 1 in partner:
            projected[j] = partner[head - 1] + 1
    return projected


def mean_of_sources(trees: Sequence[SparseArcs], length: int) -> SparseArcs:
    """One soft tree from several source languages: the mean over those that say anything about a word's head.

    A word's weights sum to the mean of the sums; the labels of an arc are the mean by weight.
    """
    voices = np.zeros(length + 1, dtype=np.float32)
    for tree in trees:
        voices[np.unique(tree.dependent)] += 1
    total = _sum(trees, length)
    return total._replace(weight=total.weight / voices[total.dependent])


def fill_missing(tree: SparseArcs, arcs: Array, labels: Array, least: float = 0.01) -> SparseArcs:
    """Give the mass that projection lost to another distribution over the same words: each row then sums to 1.

    Shapes: arcs (n+1, n+1), labels (n+1, n+1, L). Arcs that get no more than `least` this way are left out.
    """
    missing = 1 - np.bincount(tree.dependent, tree.weight, len(arcs))
    missing[0] = 0
    extra = missing.clip(0)[:, None] * arcs
    dependent, head = np.nonzero(extra > least)
    other = SparseArcs(
        dependent, head, extra[dependent, head].astype(np.float32), labels[dependent, head].astype(np.float32)
    )
    return _sum([tree, other], len(arcs) - 1)


def _sum(trees: Sequence[SparseArcs], length: int) -> SparseArcs:
    """Add weights arc by arc; the labels of an arc are their mean by weight."""
    width = length + 1
    total = np.zeros(width * width, dtype=np.float32)
    mass = np.zeros((width * width, trees[0].labels.shape[1]), dtype=np.float32)
    for tree in trees:
        cell = tree.dependent * width + tree.head
        total[cell] += tree.weight
        mass[cell] += tree.weight[:, None] * tree.labels
    kept = np.flatnonzero(total)
    dependent, head = np.divmod(kept, width)
    return SparseArcs(dependent, head, total[kept], mass[kept] / total[kept, None])
