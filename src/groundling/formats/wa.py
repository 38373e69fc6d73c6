"""Word alignments of the WPT shared tasks: one link a line, `sentence source target [S|P]`, all counted from 1."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from groundling.errors import DataError, FormatError, GroundlingError
from groundling.formats.files import Source, TextLines, open_text, raise_faults, write_lines
from groundling.structures import Alignment
from groundling.structures.alignment import Link

_LINE = re.compile(r"\s*(\d{1,9})\s+(\d{1,9})\s+(\d{1,9})(?:\s+([SP]))?(?:\s+[0-9.eE+-]+)?\s*\Z", re.ASCII)
_MAX_GAP = 10_000  # sentences without a link in a row; more is a damaged number
_NO_LINKS = Alignment(frozenset())


def read(source: Source, count: int | None = None) -> Iterator[Alignment]:
    r"""Read the alignments of sentences 1, 2, 3 ...; sentences without a line have no links.

    Position 0 stands for the empty word in these files: such lines are no links and are dropped. The file does not say
    how many sentences there are: give `count` where the last ones may have no links.

    >>> import io
    >>> [str(alignment) for alignment in read(io.BytesIO(b"0001 1 1 S\n0003 2 1 P\n"), count=4)]
    ['0-0', '', '1p0', '']
    """
    number = 0
    with open_text(source) as lines:
        for alignment in raise_faults(scan(lines)):
            number += 1
            yield alignment
    if count is not None and number > count:
        raise DataError(f"{lines.name}: sentence {number} has links, but there are {count} sentences.")
    for _ in range(number, count or 0):
        yield _NO_LINKS


def write(path: str | os.PathLike[str], alignments: Iterable[Alignment]) -> None:
    """Write one link a line, sure ones with S, possible ones with P."""
    numbered = enumerate(alignments, 1)
    write_lines(
        path,
        (
            f"{number:04d} {i + 1} {j + 1} {'S' if (i, j) in alignment.sure else 'P'}"
            for number, alignment in numbered
            for i, j in sorted(alignment.possible)
        ),
    )


def scan(lines: TextLines) -> Iterator[Alignment | GroundlingError]:
    """Yield the alignment of each sentence, and what is wrong with any line."""
    current = 0
    sure: set[Link] = set()
    possible: set[Link] = set()
    for line in lines:
        match = _LINE.match(line)
        if not line or line.isspace():
            continue
        if not match:
            yield FormatError(
                f"{lines.where}: {line[:40]!r} is not a link. Write `sentence source target S` (or P), counted from 1."
            )
            continue
        number = int(match[1])
        if not current <= number <= current + _MAX_GAP or number == 0:
            yield FormatError(
                f"{lines.where}: sentence {number} after sentence {current}. Sentences count from 1 and stand in order."
            )
            continue
        if number > current:
            if current:
                yield Alignment(frozenset(sure), frozenset(possible))
            yield from [_NO_LINKS] * (number - current - 1)
            current, sure, possible = number, set[Link](), set[Link]()
        link = (int(match[2]) - 1, int(match[3]) - 1)
        if min(link) >= 0:
            (possible if match[4] == "P" else sure).add(link)
    if current:
        yield Alignment(frozenset(sure), frozenset(possible))
