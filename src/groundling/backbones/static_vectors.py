"""Word vectors from a .vec file (fastText's text format) as a text encoder of one layer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from groundling.errors import FormatError
from groundling.formats.files import open_text


class StaticVectors:
    """Implements `TextEncoder`: a word is one piece, an unknown one the zero vector; several files make one space."""

    def __init__(self, paths: str, device: str | torch.device = "cpu") -> None:
        self.name, self.device = paths, torch.device(device)
        self.layers, self.max_pieces = 1, 1 << 20
        self.bos = self.eos = self.pad = 0
        rows: list[np.ndarray] = []
        self._numbers: dict[str, int] = {}
        for path in paths.split(","):
            _read(Path(path), self._numbers, rows)
        if not rows:
            raise FormatError(f"{paths}: no word vectors. A line is a word and its numbers, with spaces between.")
        self.dim = len(rows[0])
        if any(len(row) != self.dim for row in rows):
            raise FormatError(f"{paths}: the vectors differ in length.")
        self._table = torch.from_numpy(np.stack([np.zeros(self.dim, dtype=np.float32), *rows])).to(self.device)

    def pieces(self, word: str) -> list[int]:
        """The number of the word, of its lower-cased form, or 0."""
        return [self._numbers.get(word, self._numbers.get(word.lower(), 0))]

    def forward(self, ids: Tensor, mask: Tensor, top: int | None = None) -> list[Tensor]:
        """One layer: the vectors."""
        return [self._table[ids]]


def _read(path: Path, numbers: dict[str, int], rows: list[np.ndarray]) -> None:
    with open_text(path) as lines:
        for line in lines:
            parts = line.rstrip().split(" ")
            if len(parts) <= 2:
                continue  # fastText's first line: count and dimension
            try:
                vector = np.array(parts[1:], dtype=np.float32)
            except ValueError:
                raise FormatError(f"{lines.where}: not a word and its numbers. Give fastText's .vec format.") from None
            if parts[0] not in numbers:
                rows.append(vector)
                numbers[parts[0]] = len(rows)
