"""matplotlib figures: whole files, the same bytes each time, and a clear word when the extra is missing."""

from __future__ import annotations

import sys
from xml.etree import ElementTree

import pytest

from groundling.errors import MissingExtraError
from groundling.reports.figures import curves_figure, scatter_figure

SERIES = [
    {"name": "ours", "x": [1, 2, 3], "y": [0.1, None, 0.3], "low": [0.0, 0.1, 0.2], "high": [0.2, 0.3, 0.4]},
    {"name": "thesis", "x": [1, 2, 3], "y": [0.2, 0.2, 0.2]},
]


def test_curves_figure_is_svg_and_deterministic() -> None:
    pytest.importorskip("matplotlib")
    first = curves_figure(SERIES, x_label="epoch", y_label="F1")
    assert ElementTree.fromstring(first).tag.endswith("svg")
    assert b"<dc:date>" not in first and first == curves_figure(SERIES, x_label="epoch", y_label="F1")


def test_scatter_figure_writes_png_and_pdf() -> None:
    pytest.importorskip("matplotlib")
    points = {"en": [(0.1, 0.2), (0.3, 0.4)], "de": [(0.2, 0.2)]}
    assert scatter_figure(points, kind="png").startswith(b"\x89PNG")
    assert scatter_figure(points, kind="pdf").startswith(b"%PDF")


def test_figures_name_the_extra_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"groundling\[plot\]"):
        curves_figure(SERIES)
