"""CTM word times: `recording channel start duration word [confidence]`, in seconds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from decimal import Decimal

from groundling.errors import FormatError, GroundlingError
from groundling.formats.files import Source, TextLines, open_text, raise_faults, write_lines
from groundling.formats.numbers import minus, plus, seconds
from groundling.structures import Segment, Segmentation

_NOTHING = "<eps>"  # how a segment without a word is written


def read(source: Source) -> Iterator[Segmentation]:
    r"""Read one segmentation a recording: lines of one recording follow each other. Lines with `;;` are comments.

    >>> import io
    >>> next(read(io.BytesIO(b"rec1 1 0.1 0.2 cat\n"))).segments
    (Segment(start=0.1, end=0.3, word='cat'),)
    """
    with open_text(source) as lines:
        yield from raise_faults(scan(lines))


def write(path: str | os.PathLike[str], segmentations: Iterable[Segmentation]) -> None:
    """Write segmentations; each needs an id of its own, and at least one segment. The duration is not written."""
    write_lines(path, _lines(segmentations))


def scan(lines: TextLines) -> Iterator[Segmentation | GroundlingError]:
    """Yield each recording, and what is wrong with any line."""
    key: tuple[str, str] | None = None
    segments: list[Segment] = []
    for line in lines:
        columns = line.split()
        if not columns or line.startswith(";;"):
            continue
        try:
            segment = _segment(columns)
        except GroundlingError as error:
            yield error.at(lines.where)
            continue
        if key is not None and key != (columns[0], columns[1]):
            yield Segmentation(tuple(segments), id=key[0])
            segments = []
        key = (columns[0], columns[1])
        if segments and segment.start < segments[-1].end:
            yield FormatError(
                f"{lines.where}: recording {key[0]!r}: {segment.word!r} begins at {segment.start}, before the last "
                f"word ends at {segments[-1].end}. Sort the lines by time, and let words not overlap."
            )
            continue
        segments.append(segment)
    if key is not None:
        yield Segmentation(tuple(segments), id=key[0])


def _segment(columns: list[str]) -> Segment:
    if len(columns) not in (5, 6):
        raise FormatError(
            f"{len(columns)} columns instead of 5 or 6. Write `recording channel start duration word [confidence]`."
        )
    start, duration = seconds(columns[2]), seconds(columns[3])
    segment = Segment(float(start), plus(start, duration), "" if columns[4] == _NOTHING else columns[4])
    if segment.end <= segment.start:
        raise FormatError(f"recording {columns[0][:40]!r}: the word {segment.word[:40]!r} takes no time. Remove it.")
    return segment


def _lines(segmentations: Iterable[Segmentation]) -> Iterator[str]:
    last: str | None = None
    for segmentation in segmentations:
        name = segmentation.id
        if name.split() != [name] or name.startswith(";;") or name == last or not segmentation.segments:
            raise FormatError(
                f"the segmentation {name!r} cannot be written as CTM: it needs a name of its own without spaces, and "
                "at least one segment."
            )
        last = name
        for start, end, word in segmentation.segments:
            if word and word.split() != [word]:
                raise FormatError(f"recording {name!r}: the word {word!r} has spaces. Replace them first.")
            yield f"{name} 1 {Decimal(repr(float(start))):f} {minus(end, start)} {word or _NOTHING}"
