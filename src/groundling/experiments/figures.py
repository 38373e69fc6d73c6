"""The thesis' figures from stored rows: which rows are points, drawn for reports (SVG) and papers (matplotlib)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from groundling.drawing.charts import draw_bars, draw_curves
from groundling.errors import ConfigError
from groundling.experiments.catalogue import Entry
from groundling.experiments.tables import ResultRow
from groundling.formats.files import atomic_write
from groundling.reports.figures import curves_figure, scatter_figure
from groundling.reports.job import write_report
from groundling.reports.sections import Picture, Section, Table

_DEVIATION = re.compile(r"(?:sd|±) ?(\d+(?:\.\d+)?)")
_MOST_BARS = 40


class Curve(NamedTuple):
    """How a figure's rows read: `series` and `x` are groups of the pattern; a row without x stands at `last`."""

    pattern: str
    x_label: str
    y_label: str
    last: float = 0.0


CURVES: dict[str, Curve] = {
    "figure-3.4": Curve(
        r"VG-NSL\+AI,(?: (?P<x>\d+) % of images,)? (?P<series>(?:self )?F1)$", "training images (%)", "F1 (%)", 100.0
    ),
    "figure-5.5": Curve(r"(?P<series>noise|insert|delete) (?P<x>[\d.]+)$", "delta", "Struct-IoU (%)"),
    "figure-7.2": Curve(r"(?P<series>.+), N = (?P<x>\d+)$", "samples a task", "accuracy (%)"),
    "figure-9.4": Curve(r"curve (?P<series>.+), (?P<x>\d+) pairs, UAS$", "sentence pairs", "UAS (%)"),
}
SCATTER = {"figure-5.7": ("ParsEval F1", "Struct-IoU")}


def series_of(curve: Curve, rows: Sequence[ResultRow]) -> list[dict[str, Any]]:
    """The curves, with a band of one deviation where every point has one.

    >>> rows = [ResultRow("noise 0.1", None, 93.4, "sd 0.5"), ResultRow("noise 0.0", None, 100.0, "sd 0.0")]
    >>> series_of(CURVES["figure-5.5"], rows)[0]["y"]
    [100.0, 93.4]
    """
    points: dict[str, list[tuple[float, float, float | None]]] = {}
    for row in rows:
        if found := re.match(curve.pattern, row.name):
            spread = _DEVIATION.search(row.note)
            x = float(found["x"]) if found["x"] else curve.last
            points.setdefault(found["series"], []).append((x, row.ours, float(spread[1]) if spread else None))
    return [_series(name, sorted(own, key=lambda point: point[0])) for name, own in points.items()]


def _series(name: str, points: list[tuple[float, float, float | None]]) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "x": [x for x, _, _ in points], "y": [y for _, y, _ in points]}
    spreads = [sd for _, _, sd in points if sd is not None]
    if len(spreads) == len(points):
        found["low"] = [y - sd for y, sd in zip(found["y"], spreads, strict=True)]
        found["high"] = [y + sd for y, sd in zip(found["y"], spreads, strict=True)]
    return found


def points_of(names: tuple[str, str], rows: Sequence[ResultRow]) -> list[tuple[float, float]]:
    """Pairs of two numbers that the same system has."""
    sides = [{row.name.rpartition(": ")[0]: row.ours for row in rows if row.name.endswith(f": {n}")} for n in names]
    return [(value, sides[1][system]) for system, value in sides[0].items() if system in sides[1]]


def write_figure(path: Path, entry: Entry, rows: Sequence[ResultRow]) -> None:
    """Draw with matplotlib; the suffix says as what.

    >>> write_figure(Path("x.gif"), Entry("5.1", "", "", (), ""), [])
    Traceback (most recent call last):
    groundling.errors.ConfigError: x.gif: a figure is .svg, .png or .pdf.
    """
    kind = path.suffix.removeprefix(".").lower()
    if kind not in ("svg", "png", "pdf"):
        raise ConfigError(f"{path}: a figure is .svg, .png or .pdf.")
    if entry.name in SCATTER:
        x_label, y_label = SCATTER[entry.name]
        groups = {"systems": points_of(SCATTER[entry.name], rows)}
        drawn = scatter_figure(groups, x_label=f"{x_label} (%)", y_label=f"{y_label} (%)", kind=kind)
    elif entry.name in CURVES:
        curve = CURVES[entry.name]
        drawn = curves_figure(series_of(curve, rows), x_label=curve.x_label, y_label=curve.y_label, kind=kind)
    else:
        raise ConfigError(f"{entry.name} is a table. Figures are {', '.join((*CURVES, *SCATTER))}.")
    with atomic_write(path, binary=True) as file:
        file.write(drawn)


def entry_section(entry: Entry, rows: Sequence[ResultRow], seed: int) -> Section:
    """One table or figure as a part of a report."""
    cells = [[row.name, row.thesis, round(row.ours, 2), _difference(row), row.note] for row in rows]
    return Section(
        f"{entry.name}  {entry.title}",
        f"What differs: {entry.differs}." if entry.differs else "",
        tables=[Table(["what", "thesis", "ours", "difference", "note"], cells)],
        pictures=[Picture(svg) for svg in _drawn(entry, rows)],
        command=f"groundling reproduce {entry.name} --seed {seed}",
    )


def _difference(row: ResultRow) -> float | None:
    return None if row.thesis is None else round(row.ours - row.thesis, 2)


def _drawn(entry: Entry, rows: Sequence[ResultRow]) -> list[str]:
    if curve := CURVES.get(entry.name):
        return [draw_curves(series_of(curve, rows), x_label=curve.x_label, y_label=curve.y_label)]
    known = [row for row in rows if row.thesis is not None]
    if not known or len(known) > _MOST_BARS:
        return []
    bars: list[dict[str, Any]] = []
    for row in known:
        spread = _DEVIATION.search(row.note)
        whisker = {"low": row.ours - float(spread[1]), "high": row.ours + float(spread[1])} if spread else {}
        bars.append({"name": row.name, "value": row.ours, "reference": row.thesis} | whisker)
    return [draw_bars(bars, digits=2)]


def write_results(path: Path, done: Sequence[tuple[Entry, Sequence[ResultRow]]], seed: int) -> None:
    """`reproduce --report`: one section a table or figure."""
    sections = [entry_section(entry, rows, seed) for entry, rows in done]
    write_report(path, "The thesis beside ours", more=sections, lead="Thesis, ours, difference; notes give the spread.")
