"""Similarity matrices of two encoded sentences, and from piece links to word links (thesis 8.2.2)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groundling.backbones.text import Encoded

Level = Literal["subword", "word"]
Matrix = NDArray[Any]


def vectors_of(sentence: Encoded, level: Level) -> Tensor:
    """The mean over the chosen layers: (pieces, dim), or (words, dim) as means over pieces."""
    pieces = sentence.vectors.mean(0)
    return pieces if level == "subword" else Encoded(pieces[None], sentence.owner).words()


def similarity(source: Tensor, target: Tensor, centre: bool = False) -> NDArray[np.float32]:
    """(cosine + 1) / 2 of every pair of rows; with `centre` the mean vector of both sentences is removed first.

    >>> similarity(torch.tensor([[2.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 3.0]])).tolist()
    [[1.0, 0.5]]
    """
    if centre:
        mean = torch.cat([source, target]).mean(0)
        source, target = source - mean, target - mean
    cosine = torch.nn.functional.normalize(source, dim=1) @ torch.nn.functional.normalize(target, dim=1).T
    return ((cosine + 1) / 2).cpu().numpy()


def word_cells(values: Matrix, source_owner: NDArray[np.int64], target_owner: NDArray[np.int64]) -> Matrix:
    """The greatest value of the pieces of each pair of words: (source words, target words).

    For links (booleans) it is their union, SimAlign's way from pieces to words.

    >>> word_cells(np.array([[0.1, 0.7], [0.3, 0.2]]), np.array([0, 0]), np.array([0, 1])).tolist()
    [[0.3, 0.7]]
    """
    rows = np.flatnonzero(np.diff(source_owner, prepend=-1))
    columns = np.flatnonzero(np.diff(target_owner, prepend=-1))
    return np.maximum.reduceat(np.maximum.reduceat(values, rows, axis=0), columns, axis=1)
