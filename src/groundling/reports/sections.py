"""What a report is made of: sections of text, tables and pictures. Plain data, no HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Table:
    """Rows under a header; numbers are set right, None is a dash, anything else is written with `str`."""

    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""


@dataclass(frozen=True)
class Picture:
    """An SVG from `groundling.drawing` (or figures.py) and a line under it."""

    svg: str
    caption: str = ""


@dataclass(frozen=True)
class Section:
    """One part of a report.

    `text` is markdown-lite: blank lines part paragraphs, lines that begin with `- ` are a list, a line between
    triple backquotes is shown as it is, and `code` and **bold** work inside. `command` is what a reader types to
    repeat this part; `seconds` is what it took; `failed` marks a part that broke.

    >>> Section("Trees", "One **tree**.", pictures=["<svg/>"]).title
    'Trees'
    """

    title: str
    text: str = ""
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture | str] = ()
    command: str = ""
    seconds: float | None = None
    failed: bool = False
