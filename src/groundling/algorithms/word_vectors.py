"""Word vectors from plain text: positive pointwise mutual information with neighbours, then a truncated SVD."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.names import load

Matrix = Any  # scipy ships no types: everything sparse is Any here
sparse: Any = load("scipy.sparse")
svds: Any = load("scipy.sparse.linalg:svds")
# Word order matters next door (grammar), less so further off (topic): four kinds of context, side by side.
OFFSETS = ((-1,), (1,), (-2, 2), (-5, -4, -3, 3, 4, 5))


def word_vectors(sentences: Sequence[Sequence[int] | NDArray[np.int64]], size: int, dim: int) -> NDArray[np.float32]:
    """Vectors (size, dim) of unit length for word numbers 0 .. size-1; a word that never occurs has the zero vector.

    `dim` is cut to what the counts can carry. The same text gives the same vectors.

    >>> text = [[0, 2, 3], [1, 2, 3], [0, 2, 4], [1, 2, 4]] * 3
    >>> v = word_vectors(text, 5, 3)
    >>> bool(v[0] @ v[1] > 0.9 > v[0] @ v[2])
    True
    """
    arrays = [np.asarray(sentence, dtype=np.int64) for sentence in sentences]
    counts = [_cooccurrences(arrays, offsets, size) for offsets in OFFSETS]
    contexts: Matrix = sparse.hstack([_positive_pmi(c) for c in counts]).tocsr()
    rank = min(dim, size - 1)
    vectors, strength, _ = svds(contexts, k=rank, v0=np.ones(size))
    scaled: NDArray[np.float64] = vectors[:, ::-1] * np.sqrt(np.maximum(strength[::-1], 0))
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    unit = np.where(norms > 1e-6, scaled / np.maximum(norms, 1e-6), 0)
    return np.pad(unit, ((0, 0), (0, dim - rank))).astype(np.float32)


def _cooccurrences(sentences: Sequence[NDArray[np.int64]], offsets: Sequence[int], size: int) -> Matrix:
    words: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    others: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    for offset in offsets:
        for sentence in sentences:
            first, second = sentence[: len(sentence) - min(abs(offset), len(sentence))], sentence[abs(offset) :]
            words.append(first if offset > 0 else second)
            others.append(second if offset > 0 else first)
    places = (np.concatenate(words), np.concatenate(others))
    return sparse.coo_matrix((np.ones(len(places[0])), places), shape=(size, size)).tocsr().tocoo()


def _positive_pmi(counts: Matrix, smoothing: float = 0.75) -> Matrix:
    """Log p(word, context) / p(word) p(context)^0.75, where positive; the power keeps rare contexts from dominating."""
    words = np.asarray(counts.sum(1)).ravel()
    contexts = np.asarray(counts.sum(0)).ravel() ** smoothing
    contexts = contexts / max(contexts.sum(), 1e-12)
    values: NDArray[np.float64] = np.log(counts.data / (words[counts.row] * contexts[counts.col]))
    keep = values > 0
    return sparse.csr_matrix((values[keep], (counts.row[keep], counts.col[keep])), shape=counts.shape)
