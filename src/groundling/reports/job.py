"""The report of a command: settings, data, scores with intervals, curves, worst examples, signature."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

from groundling.drawing.charts import draw_bars, draw_curves
from groundling.metrics.base import Score
from groundling.reports.page import write_page
from groundling.reports.sections import Picture, Section, Table
from groundling.training.store import hash_file

_SHOWN = 40  # characters of a setting or a hash


def write_report(
    path: str | os.PathLike[str],
    title: str,
    *,
    command: str = "",
    model: str | os.PathLike[str] | None = None,
    data: Iterable[str | os.PathLike[str] | None] = (),
    scores: Sequence[tuple[str, Score]] = (),
    curves: bool = False,
    more: Sequence[Section] = (),
    worst: Sequence[Picture] = (),
    lead: str = "",
) -> None:
    """Write one page about what a command did; whatever is not given is left out.

    `model` is a model folder: its settings, seed and versions are shown, and with `curves` what its training wrote.
    """
    folder = None if model is None else Path(model)
    sections = [
        *([scores_section(scores)] if scores else []),
        *more,
        *(curve_sections(folder) if folder is not None and curves else []),
        *([Section("Worst examples", "The lowest scores, lowest first.", pictures=worst)] if worst else []),
        *data_sections(data),
        *(settings_sections(folder) if folder is not None else []),
    ]
    sections += [Section("The command", command=command)] if command else []
    write_page(path, title, sections, lead=lead)


def scores_section(scores: Sequence[tuple[str, Score]]) -> Section:
    """Scores by system, with intervals, drawn and signed."""
    rows = [
        [system, score.name or score.signature.partition("|")[0], score.number(), score.interval or None, score.n]
        for system, score in scores
    ]
    bars = [
        {
            "name": system if len({name for _, name, *_ in rows}) == 1 else f"{name}, {system}",
            "value": scaled(score, score.value),
        }
        | {"low": scaled(score, score.low), "high": scaled(score, score.high)}
        for (system, score), (_, name, *_) in zip(scores, rows, strict=True)
    ]
    signatures = "\n".join(f"- `{signature}`" for signature in dict.fromkeys(score.signature for _, score in scores))
    return Section(
        "Scores",
        f"Two numbers can be compared if their signatures are equal:\n\n{signatures}",
        tables=[Table(["system", "metric", "score", "95% interval", "n"], rows)],
        pictures=[Picture(draw_bars(bars, digits=2), "Whiskers are 95% intervals.")],
    )


def scaled(score: Score, value: float | None) -> float | None:
    """A score, or its `low` or `high`, as it is printed; None where there is no number."""
    return None if value is None or isnan(value) else value * score.scale


def curve_sections(folder: Path) -> list[Section]:
    """One section for each `metrics.jsonl` in the folder or one below it: losses, then measures."""
    found = [*folder.glob("metrics.jsonl"), *sorted(folder.glob("*/metrics.jsonl"))]
    sections: list[Section] = []
    for path in found:
        lines = path.read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines if line.strip()]
        name = "" if path.parent == folder else f", {path.parent.name}"
        if records:
            sections.append(Section(f"Curves{name}", tables=[_last(records)], pictures=_charts(records)))
    return sections


def _charts(records: Sequence[Mapping[str, Any]]) -> list[Picture]:
    keys = [key for key in records[-1] if key not in ("step", "epoch") and isinstance(records[-1][key], int | float)]
    losses = [key for key in keys if "loss" in key]
    measures = [key for key in keys if key not in losses and all(0 <= one.get(key, 0) <= 1 for one in records)]
    groups = {"loss": losses, "measures": measures, "parts": [k for k in keys if k not in (*losses, *measures)]}
    axis = "epoch" if "epoch" in records[-1] else "step"
    xs = [one.get(axis, i + 1) for i, one in enumerate(records)]
    return [
        Picture(
            draw_curves(
                [{"name": key, "x": xs, "y": [one.get(key) for one in records]} for key in names],
                x_label=axis,
                y_label=title,
            )
        )
        for title, names in groups.items()
        if names
    ]


def _last(records: Sequence[Mapping[str, Any]]) -> Table:
    header = list(records[-1])
    return Table(
        header, [[record.get(key) for key in header] for record in (records[0], records[-1])], "First and last"
    )


def data_sections(paths: Iterable[str | os.PathLike[str] | None]) -> list[Section]:
    """The files that went in, by name, size and hash; folders by the number of their files."""
    rows = [_file_row(path) for path in paths if path is not None and str(path)]
    return [Section("Data", tables=[Table(["file", "size", "sha256"], rows)])] if rows else []


def _file_row(path: str | os.PathLike[str]) -> list[Any]:
    place = Path(path)
    if place.is_dir():
        return [place.name, f"{sum(1 for _ in place.iterdir())} files", None]
    if not place.is_file():  # standard input, or a pipe: it was read once and is gone
        return ["standard input" if str(path) == "-" else place.name, None, None]
    return [place.name, f"{place.stat().st_size:,} bytes", f"`{hash_file(place)[:16]}`"]


def settings_sections(folder: Path) -> list[Section]:
    """What a model folder says of itself: settings, seed, versions."""
    config, run = folder / "config.toml", folder / "run.json"
    tables: list[Table] = []
    if config.is_file():
        settings = tomllib.loads(config.read_text(encoding="utf-8"))
        tables.append(Table(["setting", "value"], [[key, f"`{_short(value)}`"] for key, value in settings.items()]))
    facts: dict[str, Any] = json.loads(run.read_text(encoding="utf-8")) if run.is_file() else {}
    plain = {key: value for key, value in facts.items() if isinstance(value, str | int | float) and key != "format"}
    for key in ("versions", "data", "sha256"):
        plain |= {f"{key}: {name}": value for name, value in (facts.get(key) or {}).items()}
    if plain:
        tables.append(Table(["fact", "value"], [[key, f"`{_short(value)}`"] for key, value in plain.items()]))
    return [Section("Settings", tables=tables)] if tables else []


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
