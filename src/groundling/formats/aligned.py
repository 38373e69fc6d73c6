"""Aligned sentence pairs, one a line: source words TAB target words TAB links, counted from 0."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from groundling.errors import FormatError, GroundlingError
from groundling.formats.files import Source, TextLines, open_text, raise_faults, write_lines
from groundling.structures import Alignment


class AlignedPair(NamedTuple):
    """Two sentences and the links between their words."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: Alignment


def read(source: Source) -> Iterator[AlignedPair]:
    r"""Read pairs one by one.

    >>> import io
    >>> [pair] = read(io.BytesIO("a cat\tun chat\t0-0 1-1\n".encode()))
    >>> pair.target, str(pair.alignment)
    (('un', 'chat'), '0-0 1-1')
    """
    with open_text(source) as lines:
        yield from raise_faults(scan(lines))


def write(path: str | os.PathLike[str], pairs: Iterable[AlignedPair]) -> None:
    """Write pairs, one a line."""
    write_lines(path, map(_line, pairs))


def scan(lines: TextLines) -> Iterator[AlignedPair | GroundlingError]:
    """Yield each pair, or in its place what is wrong with it."""
    for line in lines:
        try:
            yield _pair(line)
        except GroundlingError as error:
            yield error.at(lines.where)


def _pair(line: str) -> AlignedPair:
    columns = line.split("\t")
    if len(columns) != 3:
        raise FormatError(f"{len(columns)} columns instead of 3. Write source words, target words and links with tabs.")
    source, target = (tuple(word for word in column.split(" ") if word) for column in columns[:2])
    alignment = Alignment.from_pharaoh(columns[2])
    for i, j in alignment.possible:
        if i >= len(source) or j >= len(target):
            raise FormatError(
                f"the link {i}-{j} lies outside a pair of {len(source)} and {len(target)} words. Words are cut at "
                "spaces and count from 0."
            )
    return AlignedPair(source, target, alignment)


def _line(pair: AlignedPair) -> str:
    for word in (*pair.source, *pair.target):
        if not word or any(mark in word for mark in " \t\r\n"):
            raise FormatError(f"the word {word!r} cannot stand in a line of words. Replace its spaces first.")
    return f"{' '.join(pair.source)}\t{' '.join(pair.target)}\t{pair.alignment}"
