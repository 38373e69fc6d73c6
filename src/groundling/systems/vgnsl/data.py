"""Captions with the images they describe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundling.errors import DataError, FormatError, GroundlingError
from groundling.formats.arrays import read_arrays
from groundling.formats.files import open_text

Sentence = tuple[str, ...]


@dataclass(frozen=True)
class Captions:
    """Sentence i describes the picture whose vector is `features[images[i]]`."""

    sentences: tuple[Sentence, ...]
    images: NDArray[np.int64]
    features: NDArray[np.float32]

    def __post_init__(self) -> None:
        if len(self.sentences) != len(self.images):
            raise DataError(f"{len(self.sentences)} captions but {len(self.images)} image numbers. Give one a caption.")
        if len(self.images) and not 0 <= int(self.images.min()) <= int(self.images.max()) < len(self.features):
            raise DataError(
                f"captions name the images {self.images.min()} .. {self.images.max()}, but there are features of "
                f"{len(self.features)} images. Image numbers count from 0."
            )

    def take(self, chosen: NDArray[np.int64]) -> Captions:
        """Some of the captions, with all features."""
        return Captions(tuple(self.sentences[i] for i in chosen), self.images[chosen], self.features)

    def shuffled(self, rng: np.random.Generator) -> Captions:
        """The same captions under the wrong pictures: what is learned then does not come from seeing."""
        return Captions(self.sentences, rng.permutation(self.images), self.features)


def read_captions(captions: str | Path, features: str | Path, rows: str | Path | None = None) -> Captions:
    """Read tokenised captions, one a line, and image vectors.

    Without `rows` the captions of an image follow each other, equally many for each image (as in MSCOCO); with it,
    line i is the number of the image (from 0) of caption i.
    """
    sentences = tuple(tuple(line.split()) for line in open_text(captions))
    vectors = read_features(features)
    empty = [number for number, sentence in enumerate(sentences, 1) if not sentence]
    if empty:
        raise DataError(
            f"{captions}:{empty[0]}: an empty caption cannot be learned from. Remove it and its image number."
        )
    if rows is not None:
        return Captions(sentences, _read_rows(rows), vectors)
    if not len(vectors) or not sentences or len(sentences) % len(vectors):
        raise DataError(
            f"{captions}: {len(sentences)} captions cannot be shared by the {len(vectors)} images of {features}. "
            "Give the image number of each caption with `--rows FILE`."
        )
    return Captions(sentences, np.arange(len(sentences)) // (len(sentences) // len(vectors)), vectors)


def read_features(path: str | Path) -> NDArray[np.float32]:
    """Image vectors (images, dim) from .npy, or the array `features` of an .npz."""
    try:
        array = _load(path)
    except KeyError as error:
        raise FormatError(
            f"{path}: holds no array called 'features'. Save it as `np.savez(path, features=...)`."
        ) from error
    except GroundlingError as error:
        raise FormatError(f"{path}: no readable .npy or .npz of numbers ({error}).") from error
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        raise FormatError(
            f"{path}: features have shape {array.shape}, type {array.dtype}; expected (images, dim) numbers."
        )
    if not np.isfinite(array).all():
        raise FormatError(f"{path}: features hold NaN or infinity. Extract them again.")
    return array.astype(np.float32)


def _load(path: str | Path) -> NDArray[np.float32]:
    found = read_arrays(path)
    return found[""] if "" in found else found["features"]


def _read_rows(path: str | Path) -> NDArray[np.int64]:
    numbers: list[int] = []
    with open_text(path) as lines:
        for line in lines:
            if not line.strip().isdecimal():
                raise FormatError(f"{lines.where}: {line!r} is not an image number. Write one number from 0 a line.")
            numbers.append(int(line))
    return np.array(numbers, dtype=np.int64)


def by_length(lengths: Sequence[int], size: int) -> Iterator[NDArray[np.int64]]:
    """Batches of captions of equal or similar length, longest last: for parsing, where order does not matter."""
    order = np.argsort(np.asarray(lengths), kind="stable")
    yield from (order[begin : begin + size] for begin in range(0, len(order), size))
