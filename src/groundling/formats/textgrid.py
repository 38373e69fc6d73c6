"""Praat TextGrids, long or short, UTF-8 or UTF-16: each interval tier is a segmentation.

Praat's rule makes both forms one language: texts in quotes, `<exists>` and free-standing numbers count, all else
(`xmin =`, `intervals [3]:`) is decoration. So the reader is ours: it names the line of a fault, where praatio drops
what follows a cut. praatio writes, and the tests read the same files with both.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from groundling.errors import FormatError, GroundlingError
from groundling.formats.files import Source, TextLines, open_text, raise_faults, write_lines
from groundling.formats.numbers import is_number
from groundling.names import load
from groundling.structures import Segment, Segmentation

MAX_TEXT = 64 * 2**20  # characters; hours of speech take one
_TOKEN = re.compile(r'"((?:[^"]++|"")*+)"|(")|(<\w{1,20}>)|!.*|([^\s"!=]+)')


def read(source: Source, tier: str | None = None) -> Iterator[Segmentation]:
    """Read the interval tiers in order, or the one called `tier`; the tier's name is the `id`.

    Intervals without text are gaps and tiers of points are passed over. Blanks around a label are dropped.
    """
    found = False
    with open_text(source) as lines:
        for segmentation in raise_faults(scan(lines)):
            if tier in (None, segmentation.id):
                found = True
                yield segmentation
    if tier is not None and not found:
        raise FormatError(f"{lines.name}: no interval tier is called {tier!r}. Leave the name out to read all.")


def write(path: str | os.PathLike[str], segmentations: Iterable[Segmentation]) -> None:
    """Write a long TextGrid with one tier a segmentation; all tiers last as long as the longest.

    Times that differ from a whole number by less than 1e-14 of it are written as that number.
    """
    every = list(segmentations)
    end = max((x for s in every for x in (s.duration or 0.0, *(segment.end for segment in s.segments))), default=0.0)
    if not 0 < end < float("inf"):
        raise FormatError("a TextGrid needs at least one segment or a finite duration.")
    grid: dict[str, Any] = {"xmin": 0.0, "xmax": float(end), "tiers": [_tier(s, float(end)) for s in every]}
    as_text = load("praatio.utilities.textgrid_io:getTextgridAsStr")  # on demand: it costs 0.1 s
    write_lines(path, [as_text(grid, "long_textgrid", True, minimumIntervalLength=None).rstrip("\n")])


def _tier(segmentation: Segmentation, end: float) -> dict[str, Any]:
    entries = [(float(start), float(end), word) for start, end, word in segmentation.segments]
    return {"class": "IntervalTier", "name": segmentation.id, "xmin": 0.0, "xmax": end, "entries": entries}


def scan(lines: TextLines) -> Iterator[Segmentation | GroundlingError]:
    """Yield each interval tier, and what is wrong with the file."""
    pieces: list[str] = []
    size = 0
    for line in lines:
        pieces.append(line)
        size += len(line) + 1
        if size > MAX_TEXT:
            yield FormatError(f"{lines.where}: a TextGrid of over {MAX_TEXT:,} characters. Cut the recording.")
            return
    grid = _Grid("\n".join(pieces), lines.name)
    try:
        yield from grid.tiers()
    except GroundlingError as error:
        yield error


class _Grid:
    """The tokens of a TextGrid, taken one by one."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name
        self.tokens = _TOKEN.finditer(text)
        self.offset = 0

    def error(self, what: str) -> FormatError:
        return FormatError(f"{self.name}:{self.text.count(chr(10), 0, self.offset) + 1}: {what}")

    def take(self, wanted: str) -> str:
        """The next token that counts, which must be a `text`, a `number` or a `flag`."""
        for match in self.tokens:
            self.offset = match.start()
            if match.lastindex == 2:
                raise self.error("this text is not closed. Add its second quotation mark.")
            kind = {1: "text", 3: "flag", 4: "number"}.get(match.lastindex or 0)
            if kind is None or (kind == "number" and not is_number(match[4])):
                continue
            if kind != wanted:
                raise self.error(f"{match[0][:40]!r} stands where a {wanted} should. Is something missing before it?")
            return match[match.lastindex or 0]
        self.offset = len(self.text)
        raise self.error(f"the file ends where a {wanted} should come. Is it cut off?")

    def number(self) -> float:
        return float(self.take("number"))

    def count(self) -> int:
        text = self.take("number")
        if not text.isdigit():
            raise self.error(f"{text} stands where a count should.")
        return int(text)

    def domain(self) -> float:
        """Take xmin and xmax; every tier lasts as long as the recording, so xmin is of no use."""
        self.number()
        return self.number()

    def point(self) -> None:
        self.number()
        self.take("text")

    def tiers(self) -> Iterator[Segmentation | GroundlingError]:
        if not self.take("text").startswith("ooTextFile") or self.take("text") != "TextGrid":
            raise self.error(
                'not a TextGrid. Its first lines are `File type = "ooTextFile"`, `Object class = "TextGrid"`.'
            )
        self.domain()
        for _ in range(self.count() if self.take("flag") == "<exists>" else 0):
            kind, name = self.take("text"), self.take("text").replace('""', '"')
            end = self.domain()
            if kind == "IntervalTier":
                yield from self.intervals(name, end)
            elif kind == "TextTier":
                for _ in range(self.count()):
                    self.point()
            else:
                raise self.error(f"the tier {name[:40]!r} is a {kind[:40]!r}, neither IntervalTier nor TextTier.")
        self.finish()

    def intervals(self, name: str, duration: float) -> Iterator[Segmentation | GroundlingError]:
        segments: list[Segment] = []
        last, faults = 0.0, 0
        for _ in range(self.count()):
            start, end = self.number(), self.number()
            word = self.take("text").replace('""', '"').strip()
            if not last <= start < end or not end <= duration:
                faults += 1
                yield self.error(
                    f"tier {name[:40]!r}: the interval ({start}, {end}) is empty, overlaps the one before it (which "
                    f"ends at {last}) or goes past the tier's end at {duration}."
                )
                continue
            last = end
            if word:
                segments.append(Segment(start, end, word))
        if not faults:
            yield Segmentation(tuple(segments), duration, name)

    def finish(self) -> None:
        for match in self.tokens:
            if match.lastindex in (1, 2) or (match.lastindex == 4 and is_number(match[4])):
                self.offset = match.start()
                raise self.error("more text after the last tier. Is a count too small?")
