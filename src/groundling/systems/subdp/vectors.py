"""Frozen word vectors of many sentences: computed once, kept in half precision, read from disk by mapping."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.lib.format import open_memmap
from numpy.typing import NDArray
from torch import Tensor

from groundling.backbones.text import TextEncoder, encode
from groundling.formats.writing import atomic_write
from groundling.training.progress import Progress
from groundling.training.store import make_folder, writing

CHUNK = 512  # sentences encoded at a time: batches of like length, memory flat

Words = Sequence[str]
Index = NDArray[np.int64]


class Batch(NamedTuple):
    """The vectors of some sentences: pieces of all words, and where the words' first and last pieces are."""

    pieces: Tensor  # (pieces, layers, dim)
    first: Tensor  # (batch, words), into pieces; padded with 0
    last: Tensor
    mask: Tensor  # (batch, words + 1), position 0 is the root


class Vectors:
    """The first and the last subword of each word in the chosen layers (endpoint concatenation, thesis 9.3).

    Only these pieces are kept, in float16; `pieces` may be a mapped file or live on a GPU.
    """

    def __init__(self, pieces: Tensor, first: Index, last: Index, starts: Index) -> None:
        self.pieces = pieces  # (pieces, layers, dim)
        self.first, self.last = first, last  # (words of all sentences,)
        self.starts = starts  # (sentences + 1,), into first and last

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Index:
        """Words of each sentence."""
        return np.diff(self.starts)

    def to(self, device: torch.device | str) -> Vectors:
        """The same with the pieces on a device."""
        return Vectors(self.pieces.to(device), self.first, self.last, self.starts)

    def select(self, sentences: Sequence[int] | Index) -> Vectors:
        """Some of the sentences; the pieces are shared."""
        chosen = np.asarray(sentences, dtype=np.int64)
        lengths = self.lengths[chosen]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        words = np.repeat(self.starts[chosen] - starts[:-1], lengths) + np.arange(starts[-1])
        return Vectors(self.pieces, self.first[words], self.last[words], starts)

    def joined(self, other: Vectors) -> Vectors:
        """These sentences, then the other ones; only the pieces in use are copied."""
        a, b = self._compact(), other._compact()
        n = len(a.pieces)
        first, last = np.append(a.first, b.first + n), np.append(a.last, b.last + n)
        return Vectors(torch.cat([a.pieces, b.pieces]), first, last, np.append(a.starts, b.starts[1:] + a.starts[-1]))

    def _compact(self) -> Vectors:
        used, places = np.unique(np.stack([self.first, self.last]), return_inverse=True)
        first, last = places.reshape(2, -1)
        return Vectors(self.pieces[torch.from_numpy(used).to(self.pieces.device)], first, last, self.starts)

    def batch(self, sentences: Sequence[int] | Index, device: torch.device | str) -> Batch:
        """The vectors of the sentences with these numbers, padded to the longest."""
        chosen = self.select(sentences)
        mask = np.arange(chosen.lengths.max() + 1) <= chosen.lengths[:, None]
        used, places = np.unique(np.stack([chosen.first, chosen.last]), return_inverse=True)
        ends = np.zeros((2, len(mask), mask.shape[1] - 1), dtype=np.int64)
        ends[:, mask[:, 1:]] = places.reshape(2, -1)
        pieces = self.pieces[torch.from_numpy(used).to(self.pieces.device)].to(device)
        first, last = torch.from_numpy(ends).to(device)
        return Batch(pieces, first, last, torch.from_numpy(mask).to(device))


def vectors_of(
    encoder: TextEncoder, sentences: Sequence[Words], layers: Sequence[int], into: Path | None = None
) -> Vectors:
    """Encode sentences and keep the endpoints of their words, in memory or in the new `.npy` file `into`."""
    size = sum(min(len(encoder.pieces(word)), 2) for words in sentences for word in words)
    shape = (size, len(layers), encoder.dim)
    room = np.empty(shape, np.float16) if into is None or not size else open_memmap(into, "w+", np.float16, shape)
    pieces = torch.from_numpy(room)
    ends: list[Index] = [np.zeros((2, 0), dtype=np.int64)]
    done = 0
    with Progress("encoding", total=len(sentences)) as progress:
        for window in _windows(sentences):
            for sentence in encode(encoder, window, layers):
                used, places = np.unique(np.stack(sentence.ends()), return_inverse=True)
                pieces[done : done + len(used)] = sentence.vectors[:, torch.from_numpy(used)].transpose(0, 1).cpu()
                ends.append(places.reshape(2, -1) + done)
                done += len(used)
            progress.advance(len(window))
    first, last = np.concatenate(ends, axis=1)
    starts = np.concatenate([[0], np.cumsum([part.shape[1] for part in ends[1:]], dtype=np.int64)])
    return Vectors(pieces, first, last, starts)


def cached_vectors(
    encoder: TextEncoder, sentences: Sequence[Words], layers: Sequence[int], cache: Path | None
) -> Vectors:
    """`vectors_of`, kept in the folder `cache` under a name made from the encoder, the layers and the text."""
    if cache is None:
        return vectors_of(encoder, sentences, layers)
    path = cache / f"{_key(encoder, sentences, layers)}"
    pieces, index = path.with_suffix(".pieces.npy"), path.with_suffix(".index.npz")
    if not index.exists():
        _store(encoder, sentences, layers, pieces, index)
    mapped = np.load(pieces, mmap_mode="c")  # copy on write: torch wants writable memory, and nobody writes
    with np.load(index) as arrays:
        return Vectors(torch.from_numpy(mapped), arrays["first"], arrays["last"], arrays["starts"])


def _store(encoder: TextEncoder, sentences: Sequence[Words], layers: Sequence[int], pieces: Path, index: Path) -> None:
    """The vectors go straight to their file, which may be larger than memory."""
    make_folder(pieces.parent)
    for litter in pieces.parent.glob(f"{pieces.stem}.*.tmp"):
        if not Path("/proc", litter.suffixes[-2][1:]).exists():  # its process was killed
            litter.unlink(missing_ok=True)
    unfinished = pieces.with_suffix(f".{os.getpid()}.tmp")
    with writing(pieces):
        made = vectors_of(encoder, sentences, layers, unfinished)
        if not len(made.pieces):  # nothing to map
            with unfinished.open("wb") as handle:
                np.save(handle, made.pieces.numpy())
        unfinished.replace(pieces)
    with writing(index), atomic_write(index, binary=True) as handle:  # last: it says that both are whole
        np.savez(handle, first=made.first, last=made.last, starts=made.starts)


def _key(encoder: TextEncoder, sentences: Sequence[Words], layers: Sequence[int]) -> str:
    digest = hashlib.sha256(f"{encoder.name}|{list(layers)}|{encoder.dim}\n".encode())
    for words in sentences:
        digest.update("\x1f".join(words).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()[:24]


def _windows(sentences: Sequence[Words]) -> Iterator[Sequence[Words]]:
    for start in range(0, len(sentences), CHUNK):
        yield sentences[start : start + CHUNK]
