"""Counts over bitext: of words, of pairs of words; one streaming pass, and two count files add up to one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundling.algorithms.link_agreement import agree
from groundling.algorithms.parallel import spread
from groundling.errors import FormatError
from groundling.formats.arrays import read_arrays
from groundling.formats.files import atomic_write
from groundling.structures import Alignment

Words = Sequence[str]
ONE_TO_ONE, ALIGNED, TOGETHER, LINKED = range(4)  # columns of Counts.values
_SHIFT = 32


class CellCounts(NamedTuple):
    """For the cells of one sentence pair: pair counts (source, target, 4), and the frequency of each word."""

    values: NDArray[np.float64]
    source: NDArray[np.float64]
    target: NDArray[np.float64]


@dataclass(frozen=True)
class Counts:
    """Words are lower-cased. Columns of `values`: aligned one to one, aligned at all, in one sentence pair, expected.

    The last is the expected number of links by co-occurrence alone (`algorithms.link_agreement`).
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    source_count: NDArray[np.float64]
    target_count: NDArray[np.float64]
    keys: NDArray[np.int64]  # source number << 32 | target number, rising
    values: NDArray[np.float64]  # (pairs, 4)

    @cached_property
    def numbers(self) -> tuple[dict[str, int], dict[str, int]]:
        """The number of each word, of both sides."""
        return {w: k for k, w in enumerate(self.source)}, {w: k for k, w in enumerate(self.target)}

    def cells(self, source: Words, target: Words) -> CellCounts:
        """Look up every cell of a sentence pair; what was never seen counts 0."""
        rows, columns = (
            np.array([table.get(word.lower(), -1) for word in words], dtype=np.int64)
            for table, words in zip(self.numbers, (source, target), strict=True)
        )
        wanted = (rows[:, None] << _SHIFT) | columns[None, :]
        places = np.minimum(np.searchsorted(self.keys, wanted), max(len(self.keys) - 1, 0))
        known = (rows[:, None] >= 0) & (columns[None, :] >= 0)
        values = np.zeros((*wanted.shape, 4))
        if len(self.keys):
            hit = known & (self.keys[places] == wanted)
            values[hit] = self.values[places[hit]]
        frequencies = (
            np.where(k >= 0, np.append(counts, 0.0)[k], 0.0)
            for k, counts in ((rows, self.source_count), (columns, self.target_count))
        )
        return CellCounts(values, *frequencies)

    def __add__(self, other: Counts) -> Counts:
        """The counts of both; shards of a corpus add up to the whole."""
        return _merge([self, other])

    def pruned(self, least: float = 0.01) -> Counts:
        """Without the pairs that are never aligned and hardly ever expected to be: most of them."""
        keep = (self.values[:, ALIGNED] > 0) | (self.values[:, LINKED] >= least)
        return Counts(
            self.source, self.target, self.source_count, self.target_count, self.keys[keep], self.values[keep]
        )

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Plain arrays, for files."""
        return {
            "source": _pack(self.source),
            "target": _pack(self.target),
            "source_count": self.source_count,
            "target_count": self.target_count,
            "keys": self.keys,
            "values": self.values,
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[np.generic]]) -> Counts:
        """The inverse of `arrays`."""
        source, target = _unpack(arrays["source"]), _unpack(arrays["target"])
        found = cls(
            source,
            target,
            np.asarray(arrays["source_count"], dtype=np.float64),
            np.asarray(arrays["target_count"], dtype=np.float64),
            np.asarray(arrays["keys"], dtype=np.int64),
            np.asarray(arrays["values"], dtype=np.float64).reshape(-1, 4),
        )
        shapes = (found.source_count.shape, found.target_count.shape, found.keys.shape)
        rows, columns = found.keys >> _SHIFT, found.keys & ((1 << _SHIFT) - 1)
        flat = np.ndim(arrays["source"]) == np.ndim(arrays["target"]) == 1
        known = ((rows >= 0) & (rows < len(source)) & (columns < len(target))).all()
        if shapes != ((len(source),), (len(target),), (len(found.values),)) or not (known and flat):
            raise FormatError("the counts do not fit their words. Count again.")
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a count file (numpy's .npz, no pickle)."""
        with atomic_write(path, binary=True) as handle:
            np.savez_compressed(handle, allow_pickle=False, **self.arrays())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Counts:
        """Read a count file."""
        try:
            return cls.from_arrays(read_arrays(path))
        except (FormatError, ValueError, KeyError) as error:
            raise FormatError(
                f"{os.fspath(path)}: not a count file ({error}). Give a file that `--counts` wrote."
            ) from error


EMPTY = Counts((), (), np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros((0, 4)))


def count(
    pairs: Iterable[tuple[Words, Words, Alignment | None]],
    block: int = 20_000,
    expect: bool = True,
    *,
    n_jobs: int = 1,
    backend: str | None = None,
) -> Counts:
    """Count a stream of sentence pairs, block by block; pairs without an alignment count as co-occurrence only.

    With `expect`, links expected from co-occurrence are counted too, in each block for itself. `n_jobs` and `backend`
    are those of `algorithms.parallel.spread`.
    """
    total, stream = EMPTY, iter(pairs)
    blocks = iter(lambda: list(islice(stream, block)), [])
    for part in spread(partial(_count_block, expect=expect), blocks, n_jobs=n_jobs, backend=backend, batch=1):
        total = total + part if total.source else part
    return total


def _count_block(window: list[tuple[Words, Words, Alignment | None]], expect: bool) -> Counts:
    window = [pair for pair in window if pair[0] and pair[1]]
    tables: tuple[dict[str, int], dict[str, int]] = ({}, {})
    sides = [_numbered([pair[0] for pair in window], tables[0]), _numbered([pair[1] for pair in window], tables[1])]
    found = agree(sides[0], sides[1], rounds=5 if expect else 0)
    keys = (found.source << _SHIFT) | found.target
    values = np.zeros((len(keys), 4))
    values[:, TOGETHER] = found.together
    values[:, LINKED] = found.linked if expect else 0
    for column, key in _aligned(window, sides):
        values[np.searchsorted(keys, key), column] += 1
    source_count, target_count = (
        np.bincount(np.concatenate([*side, np.zeros(0, dtype=np.int64)])).astype(np.float64) for side in sides
    )
    return Counts(tuple(tables[0]), tuple(tables[1]), source_count, target_count, keys, values)


def _numbered(sentences: Iterable[Words], table: dict[str, int]) -> list[NDArray[np.int64]]:
    return [np.array([table.setdefault(word.lower(), len(table)) for word in words]) for words in sentences]


def _aligned(
    window: list[tuple[Words, Words, Alignment | None]], sides: list[list[NDArray[np.int64]]]
) -> Iterable[tuple[int, int]]:
    for (_, _, alignment), source, target in zip(window, *sides, strict=True):
        links = alignment.sure if alignment is not None else frozenset[tuple[int, int]]()
        rows, columns = ([link[side] for link in links] for side in (0, 1))
        for i, j in links:
            key = int(source[i]) << _SHIFT | int(target[j])
            yield ALIGNED, key
            if rows.count(i) == 1 == columns.count(j):
                yield ONE_TO_ONE, key


def _merge(parts: list[Counts]) -> Counts:
    tables: tuple[dict[str, int], dict[str, int]] = ({}, {})
    keys: list[NDArray[np.int64]] = []
    moved: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    for part in parts:
        source, target = (
            np.array([table.setdefault(word, len(table)) for word in words], dtype=np.int64)
            for table, words in zip(tables, (part.source, part.target), strict=True)
        )
        moved.append((source, target))
        keys.append((source[part.keys >> _SHIFT] << _SHIFT) | target[part.keys & ((1 << _SHIFT) - 1)])
    merged, places = np.unique(np.concatenate(keys), return_inverse=True)
    values = np.zeros((len(merged), 4))
    np.add.at(values, places.ravel(), np.concatenate([part.values for part in parts]))
    totals = [np.zeros(len(table)) for table in tables]
    for part, places_of in zip(parts, moved, strict=True):
        totals[0][places_of[0]] += part.source_count
        totals[1][places_of[1]] += part.target_count
    return Counts(tuple(tables[0]), tuple(tables[1]), totals[0], totals[1], merged, values)


def _pack(words: Sequence[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(words).encode("utf-8", "surrogatepass"), dtype=np.uint8)


def _unpack(packed: NDArray[np.generic]) -> tuple[str, ...]:
    text = np.asarray(packed, dtype=np.uint8).tobytes().decode("utf-8", "surrogatepass")
    return tuple(text.split("\n")) if text else ()
