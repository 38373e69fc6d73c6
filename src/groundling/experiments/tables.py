"""Rows of a thesis table beside ours, kept one by one on disk, so that a killed run goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from groundling.formats.files import atomic_write


class ResultRow(NamedTuple):
    """One number: what it is, what the thesis prints (None: not printed), what we measured."""

    name: str
    thesis: float | None
    ours: float
    note: str = ""


class Results:
    """The rows of one experiment under `folder`, a JSON file each."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def rows(self, key: str, compute: Callable[[], Iterable[ResultRow]]) -> list[ResultRow]:
        """The rows stored as `key`, computed and stored first where there are none."""
        path = self.folder / f"{key}.json"
        if not path.exists():
            made = list(compute())
            with atomic_write(path) as handle:
                handle.write(json.dumps([row._asdict() for row in made], indent=1) + "\n")
        return [ResultRow(**row) for row in json.loads(path.read_text(encoding="utf-8"))]


def print_rows(rows: Iterable[ResultRow]) -> str:
    """A plain table.

    >>> print(print_rows([ResultRow("F1", 27.1, 27.25, "five seeds")]))
    what  thesis   ours  note
    F1     27.10  27.25  five seeds
    """
    rows = list(rows)
    wide = max(len("what"), *(len(row.name) for row in rows))
    lines = [f"{'what':<{wide}}  {'thesis':>6} {'ours':>6}  note"]
    for row in rows:
        thesis = "-" if row.thesis is None else f"{row.thesis:.2f}"
        lines.append(f"{row.name:<{wide}}  {thesis:>6} {row.ours:>6.2f}  {row.note}".rstrip())
    return "\n".join(lines)
