"""The thesis' curves as matplotlib figures, for papers: vector or pixels, the same bytes each time.

Needs `pip install 'groundling[plot]'`. Reports themselves use `groundling.drawing.charts`, which needs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any, Literal

from groundling.drawing.svg import COLOURS, SERIES
from groundling.names import require

Kind = Literal["svg", "png", "pdf"]
_MARKERS = "osD^vPX"


def _new_figure(size: tuple[float, float]) -> Any:
    """A figure of its own, outside pyplot: no window, no global state."""
    return require("matplotlib.figure", "plot", "drawing a figure").Figure(figsize=size, layout="constrained")


def _finish(figure: Any, axes: Any, labels: tuple[str, str, str], kind: Kind) -> bytes:
    title, x_label, y_label = labels
    axes.set(title=title, xlabel=x_label, ylabel=y_label)
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(frameon=False)
    handle = BytesIO()
    matplotlib = require("matplotlib", "plot", "drawing a figure")
    # Without salt and with a date, two runs would differ in their bytes.
    with matplotlib.rc_context({"svg.hashsalt": "groundling"}):
        stamp = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}[kind]
        figure.savefig(handle, format=kind, dpi=200, metadata=stamp)
    return handle.getvalue()


def curves_figure(
    series: Sequence[Mapping[str, Any]],
    *,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    kind: Kind = "svg",
    size: tuple[float, float] = (5.0, 3.2),
) -> bytes:
    """Draw curves from the same series as `drawing.charts.draw_curves`: name, x, y and, for a band, low and high."""
    figure = _new_figure(size)
    axes = figure.add_subplot()
    for i, one in enumerate(series):
        colour = COLOURS[SERIES[i % len(SERIES)]][0]
        ys = [float("nan") if y is None else y for y in one["y"]]
        axes.plot(one["x"], ys, color=colour, marker=_MARKERS[i % len(_MARKERS)], markersize=3.5, label=one["name"])
        if one.get("low") is not None and one.get("high") is not None:
            axes.fill_between(one["x"], one["low"], one["high"], color=colour, alpha=0.16, linewidth=0)
    return _finish(figure, axes, (title, x_label, y_label), kind)


def scatter_figure(
    groups: Mapping[str, Sequence[tuple[float, float]]],
    *,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    kind: Kind = "svg",
    size: tuple[float, float] = (4.0, 3.6),
) -> bytes:
    """Draw points in groups, as in the correlation figures of thesis chapter 5."""
    figure = _new_figure(size)
    axes = figure.add_subplot()
    for i, (name, points) in enumerate(groups.items()):
        colour = COLOURS[SERIES[i % len(SERIES)]][0]
        xs, ys = [x for x, _ in points], [y for _, y in points]
        axes.scatter(xs, ys, s=12, alpha=0.6, color=colour, marker=_MARKERS[i % len(_MARKERS)], label=name)
    return _finish(figure, axes, (title, x_label, y_label), kind)
