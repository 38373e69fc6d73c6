"""Stored results as text: thesis | ours | difference, on the terminal and as docs/results.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from groundling.experiments.catalogue import ENTRIES, Entry, stored
from groundling.experiments.tables import ResultRow

HEAD = """# Results

Thesis, ours, difference: every table and figure that was run, from the stored results. Written by
`groundling reproduce --write-docs`; do not edit. Notes give seeds, spread and data of each row.
"""


def number(value: float | None) -> str:
    """Two decimals, or a dash.

    >>> number(None), number(3.14159)
    ('-', '3.14')
    """
    return "-" if value is None else f"{value:.2f}"


def difference(row: ResultRow) -> str:
    """Ours minus the thesis', with its sign.

    >>> difference(ResultRow("F1", 27.1, 27.25)), difference(ResultRow("F1", None, 3.0))
    ('+0.15', '-')
    """
    return "-" if row.thesis is None else f"{row.ours - row.thesis:+.2f}"


def as_text(rows: Sequence[ResultRow]) -> str:
    """A table for the terminal.

    >>> print(as_text([ResultRow("F1", 27.1, 27.25, "five seeds")]))
    what  thesis    ours    diff  note
    F1     27.10   27.25   +0.15  five seeds
    """
    wide = max(len("what"), *(len(row.name) for row in rows)) if rows else 4
    lines = [f"{'what':<{wide}}  {'thesis':>6}  {'ours':>6}  {'diff':>6}  note"]
    for row in rows:
        cells = f"{number(row.thesis):>6}  {number(row.ours):>6}  {difference(row):>6}  {row.note}"
        lines.append(f"{row.name:<{wide}}  {cells}".rstrip())
    return "\n".join(lines)


def as_markdown(entry: Entry, rows: Sequence[ResultRow], seed: int) -> str:
    """One section of docs/results.md."""
    kind = "Figure" if entry.name.startswith("figure-") else "Table"
    lines = [f"## {kind} {entry.name.removeprefix('figure-')}: {entry.title.partition(': ')[2] or entry.title}", ""]
    system = entry.title.partition(": ")[0]
    lines.append(f"{system}. Repeat it: `groundling reproduce {entry.name} --seed {seed}`.")
    if entry.differs:
        lines.append(f"What differs: {entry.differs}.")
    lines += ["", "| what | thesis | ours | difference | note |", "|---|---:|---:|---:|---|"]
    for row in rows:
        cells = (row.name, number(row.thesis), number(row.ours), difference(row), row.note)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def results_page(out: Path) -> str:
    """The whole page: what was run, and what was not."""
    parts, absent = [HEAD], []
    for entry in ENTRIES.values():
        kept = stored(entry, out)
        if kept is None:
            absent.append(f"- `{entry.name}` {entry.title}" + ("" if entry.runnable else f" ({entry.differs})"))
        else:
            parts.append(as_markdown(entry, kept["rows"], kept["seed"]))
    if absent:
        parts.append("## Not run yet\n\n" + "\n".join(absent) + "\n")
    return "\n".join(parts)
