"""Every fault of a file, not only the first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from groundling.errors import FormatError, GroundlingError
from groundling.formats import format_of, load_format
from groundling.formats.files import Source, TextLines, name_of, open_text

_PLACE = re.compile(r":(\d+): (.*)", re.DOTALL)


@dataclass(frozen=True)
class Fault:
    """What is wrong, at which line (0: the whole file)."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}" if self.line else f"{self.file}: {self.message}"


@dataclass
class Checked:
    """A file with all its faults; `items` counts what is right."""

    file: str
    format: str
    items: int = 0
    faults: list[Fault] = field(default_factory=list[Fault])

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        faults = [{"line": fault.line, "message": fault.message} for fault in self.faults]
        return {"file": self.file, "format": self.format, "items": self.items, "faults": faults}


def check_file(source: Source, format: str | None = None) -> Checked:
    r"""Read a whole file and gather its faults, in the order of lines.

    >>> import io
    >>> [str(fault) for fault in check_file(io.BytesIO(b"0-0\n0_0\n"), "pharaoh").faults]
    ["<memory>:2: '0_0' is not a link. Links look like 0-0 (sure) or 1p2 (possible)."]
    """
    name = name_of(source)
    report = Checked(name, format_of(name, format))
    unreadable: list[GroundlingError] = []
    with open_text(source, unreadable) as lines:
        for item in _scan(lines, report.format):
            if isinstance(item, GroundlingError):
                report.faults.append(_fault(name, item))
            else:
                report.items += 1
    report.faults.extend(_fault(name, error) for error in unreadable)
    report.faults.sort(key=lambda fault: fault.line)
    return report


def _scan(lines: TextLines, format: str) -> Iterator[Any]:
    options = {"trees": True} if format == "conllu" else {}
    try:
        yield from load_format(format).scan(lines, **options)
    except FormatError as error:  # damage that ends the reading
        yield error


def _fault(name: str, error: GroundlingError) -> Fault:
    match = _PLACE.fullmatch(str(error).removeprefix(name))
    return Fault(name, int(match[1]), match[2]) if match else Fault(name, 0, str(error))
