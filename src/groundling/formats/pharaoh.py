"""Word alignments, one sentence pair a line: `0-0 1-2`, with `1p2` or `1?2` for a possible link."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from groundling.errors import GroundlingError
from groundling.formats.files import Source, TextLines, open_text, raise_faults, write_lines
from groundling.structures import Alignment


def read(source: Source, base: int = 0) -> Iterator[Alignment]:
    r"""Read alignments one by one; a blank line is a pair without links. `base=1` where positions count from 1.

    >>> import io
    >>> [str(alignment) for alignment in read(io.BytesIO(b"1-1 2?3\n\n"), base=1)]
    ['0-0 1p2', '']
    """
    with open_text(source) as lines:
        yield from raise_faults(scan(lines, base))


def write(
    path: str | os.PathLike[str], alignments: Iterable[Alignment], base: int = 0, probabilities: bool = False
) -> None:
    """Write alignments, one a line."""
    write_lines(path, (alignment.pharaoh(base, probabilities) for alignment in alignments))


def scan(lines: TextLines, base: int = 0) -> Iterator[Alignment | GroundlingError]:
    """Yield each alignment, or in its place what is wrong with it."""
    for line in lines:
        try:
            yield Alignment.from_pharaoh(line, base)
        except GroundlingError as error:
            yield error.at(lines.where)
