"""Given word vectors, fixed beside the trained ones (thesis 3.3.4: FastText, 300 numbers, beside 212 trained)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundling.algorithms.word_vectors import word_vectors
from groundling.errors import FormatError
from groundling.formats.files import atomic_write, open_text
from groundling.systems.vgnsl.words import Vocabulary


@dataclass(frozen=True)
class Vectors:
    """One vector of unit length a word."""

    words: tuple[str, ...]
    matrix: NDArray[np.float32]  # (words, dim)

    @property
    def dim(self) -> int:
        """Numbers a vector."""
        return self.matrix.shape[1]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The row of each word."""
        return {word: row for row, word in enumerate(self.words)}

    def rows(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Vectors (words, dim) of these words; zero for a word that has none."""
        found = np.zeros((len(words), self.dim), dtype=np.float32)
        for row, word in enumerate(words):
            if word in self.numbers:
                found[row] = self.matrix[self.numbers[word]]
        return found


def learn_vectors(
    sentences: Iterable[Sequence[str]], dim: int = 300, min_count: int = 3, lowercase: bool = True
) -> Vectors:
    """Make vectors from text alone: captions without images say which words behave alike."""
    text = [tuple(sentence) for sentence in sentences]
    vocabulary = Vocabulary.of(text, min_count, lowercase)
    matrix = word_vectors([vocabulary.encode(sentence) for sentence in text], len(vocabulary), dim)
    return Vectors(vocabulary.words[2:], matrix[2:])


def read_vectors(path: str | Path, only: frozenset[str] | None = None, lowercase: bool = True) -> Vectors:
    """Read a .vec text file (word2vec, FastText): `word number number ...` a line, a first line of counts allowed.

    `only` keeps these words: a file of millions then costs the memory of the few that are used.
    """
    words: list[str] = []
    rows: list[NDArray[np.float32]] = []
    seen: set[str] = set()
    with open_text(path) as lines:
        for line in lines:
            word, *numbers = line.rstrip().split(" ")
            if lines.number == 1 and len(numbers) == 1 and word.isdecimal():
                continue
            word = word.lower() if lowercase else word
            if word in seen or (only is not None and word not in only):
                continue
            rows.append(_row(numbers, rows[0] if rows else None, lines.where))
            seen.add(word)
            words.append(word)
    if not words:
        raise FormatError(f"{path}: holds no vector of a word that is asked for. Is it a .vec text file?")
    matrix = np.stack(rows)
    return Vectors(tuple(words), matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-6))


def write_vectors(path: str | Path, vectors: Vectors) -> None:
    """Write a .vec text file."""
    with atomic_write(path) as file:
        file.write(f"{len(vectors.words)} {vectors.dim}\n")
        for word, row in zip(vectors.words, vectors.matrix.tolist(), strict=True):
            file.write(f"{word} {' '.join(f'{number:.5f}' for number in row)}\n")


def _row(numbers: list[str], first: NDArray[np.float32] | None, where: str) -> NDArray[np.float32]:
    try:
        row = np.array(numbers, dtype=np.float32)
    except ValueError as error:
        raise FormatError(f"{where}: not a word and its numbers ({error}). Give a .vec text file.") from error
    if not len(row) or (first is not None and len(row) != len(first)) or not np.isfinite(row).all():
        expected = "at least one" if first is None else str(len(first))
        raise FormatError(f"{where}: {len(row)} numbers, expected {expected}, all finite. Is the file cut off?")
    return row
