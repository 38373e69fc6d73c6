"""Figures are drawn from stored rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundling.errors import ConfigError
from groundling.experiments.catalogue import ENTRIES
from groundling.experiments.figures import (
    CURVES,
    SCATTER,
    entry_section,
    points_of,
    series_of,
    write_figure,
    write_results,
)
from groundling.experiments.tables import ResultRow

ROWS = {
    "figure-3.4": [
        ResultRow("VG-NSL+AI, F1", 53.3, 48.8, "sd 0.1; 5 seeds"),
        ResultRow("VG-NSL+AI, 10 % of images, F1", None, 41.0, "3 seeds, sd 0.4"),
        ResultRow("VG-NSL+AI, shuffled images, F1", None, 23.4, "2 seeds"),
    ],
    "figure-5.5": [ResultRow(f"noise {d}", None, 100 - d, "sd 0.5") for d in (0.0, 0.1)],
    "figure-7.2": [ResultRow(f"mbpp: mbr-exec (all), N = {n}", None, 60.0 + n, "sd 1 of the draws") for n in (1, 5)],
    "figure-9.4": [ResultRow(f"curve de_pud, {n} pairs, UAS", None, 70.0 + n, "3 seeds") for n in (0, 50)],
    "figure-5.7": [ResultRow("x: y: ParsEval F1", None, 50.0), ResultRow("x: y: Struct-IoU", None, 80.0)],
}


def test_curves_are_read_in_order_with_their_spread() -> None:
    [whole] = series_of(CURVES["figure-3.4"], ROWS["figure-3.4"])
    assert (whole["x"], whole["y"], whole["low"]) == ([10.0, 100.0], [41.0, 48.8], [40.6, pytest.approx(48.7)])
    assert "low" not in series_of(CURVES["figure-9.4"], ROWS["figure-9.4"])[0]
    assert points_of(SCATTER["figure-5.7"], ROWS["figure-5.7"]) == [(50.0, 80.0)]


@pytest.mark.parametrize("name", [*CURVES, *SCATTER])
def test_every_figure_is_drawn(name: str, tmp_path: Path) -> None:
    assert name in ENTRIES
    path = tmp_path / "figure.svg"
    write_figure(path, ENTRIES[name], ROWS[name])
    assert path.read_bytes().startswith(b"<?xml") and b"</svg>" in path.read_bytes()


def test_a_table_has_no_figure_and_a_gif_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"5\.1 is a table\. Figures are figure-3\.4"):
        write_figure(tmp_path / "f.png", ENTRIES["5.1"], [])
    with pytest.raises(ConfigError, match=r"a figure is \.svg, \.png or \.pdf"):
        write_figure(tmp_path / "f.gif", ENTRIES["figure-5.5"], [])


def test_a_report_sets_ours_beside_the_thesis(tmp_path: Path) -> None:
    rows = [ResultRow("F1", 27.1, 27.25, "sd 0.5"), ResultRow("other", None, 3.0)]
    section = entry_section(ENTRIES["5.1"], rows, 3)
    assert section.tables[0].rows[0][3] == pytest.approx(0.15) and section.tables[0].rows[1][3] is None
    assert "thesis" in section.pictures[0].svg and section.command.endswith("--seed 3")  # type: ignore[union-attr]
    write_results(tmp_path / "r.html", [(ENTRIES["5.1"], rows), (ENTRIES["figure-5.5"], ROWS["figure-5.5"])], 0)
    assert "perturbed word boundaries" in (tmp_path / "r.html").read_text(encoding="utf-8")
