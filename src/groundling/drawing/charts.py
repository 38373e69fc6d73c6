"""Curves and bars, for reports that must not need matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

from groundling.drawing import svg
from groundling.drawing.text import shorten, width
from groundling.drawing.ticks import tick_text, ticks

Series = Mapping[str, Any]  # name, x, y and, for a band, low and high
_DASHES = (None, "7 3", "2 3", "9 3 2 3", None, "7 3", "2 3")


class Frame(NamedTuple):
    """The field of a chart in pixels and in data."""

    left: float
    top: float
    right: float
    bottom: float
    x_range: tuple[float, float]
    y_range: tuple[float, float]

    def x(self, value: float) -> float:
        low, high = self.x_range
        return self.left + (self.right - self.left) * (value - low) / (high - low)

    def y(self, value: float) -> float:
        low, high = self.y_range
        return self.bottom - (self.bottom - self.top) * (value - low) / (high - low)


def _numbers(values: Sequence[float | None]) -> list[float]:
    return [float(v) for v in values if v is not None and isfinite(v)]


def _range(values: Sequence[float], share: float) -> tuple[float, float]:
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    spare = (high - low) * share or abs(high) * 0.1 or 0.5
    return (low - (spare if share or low == high else 0), high + (spare if share or low == high else 0))


def draw_axes(frame: Frame, x_label: str, y_label: str) -> list[str]:
    """Ruled field with round numbers on both sides."""
    parts: list[str] = []
    across = ticks(*frame.x_range, 8)
    upward = ticks(*frame.y_range, 5)
    for value in upward:
        y = frame.y(value)
        parts.append(svg.line(frame.left, y, frame.right, y, "gl-rule-s"))
        parts.append(svg.label(frame.left - 8, y + 4, tick_text(value, upward), "gl-muted", anchor="end", font_size=12))
    for value in across:
        x = frame.x(value)
        parts.append(svg.line(x, frame.bottom, x, frame.bottom + 4))
        parts.append(svg.label(x, frame.bottom + 18, tick_text(value, across), "gl-muted", font_size=12))
    parts.append(svg.line(frame.left, frame.bottom, frame.right, frame.bottom))
    middle = (frame.left + frame.right) / 2
    parts.append(svg.label(middle, frame.bottom + 38, x_label, "gl-ink", limit=80, font_size=13))
    parts.append(svg.label(14, frame.top - 16, y_label, "gl-ink", limit=80, font_size=13, anchor="start"))
    return parts


def _stretches(series: Series, point: Callable[[float, float], str]) -> list[list[str]]:
    """Points without a gap between them; None and NaN break a curve."""
    stretches: list[list[str]] = [[]]
    for x, y in zip(series["x"], series["y"], strict=True):
        if y is None or not isfinite(y):
            stretches.append([])
        else:
            stretches[-1].append(point(x, y))
    return [stretch for stretch in stretches if stretch]


def _draw_series(frame: Frame, series: Series, index: int) -> str:
    hue = svg.SERIES[index % len(svg.SERIES)]

    def point(x: float, y: float) -> str:
        return f"{svg.num(frame.x(x))} {svg.num(frame.y(y))}"

    parts: list[str] = []
    if series.get("low") is not None and series.get("high") is not None:
        rows = zip(series["x"], series["low"], series["high"], strict=True)
        band = [(x, a, b) for x, a, b in rows if len(_numbers([a, b])) == 2]
        outline = [point(x, b) for x, _, b in band] + [point(x, a) for x, a, _ in reversed(band)]
        if outline:
            parts.append(svg.element("path", d=f"M{'L'.join(outline)}Z", class_=f"gl-{hue}", fill_opacity="0.16"))
    stretches = _stretches(series, point)
    path = "".join(f"M{'L'.join(stretch)}" for stretch in stretches if len(stretch) > 1)
    dash = _DASHES[index % len(_DASHES)]
    if path:
        parts.append(svg.element("path", d=path, class_=f"gl-{hue}-s", stroke_width="2", stroke_dasharray=dash))
    for stretch in stretches:
        for place in stretch if len(series["x"]) <= 30 else stretch[: len(stretch) == 1]:
            x, y = place.split()
            parts.append(svg.element("circle", cx=x, cy=y, r=3.0, class_=f"gl-{hue}"))
    return svg.element("g", "".join(parts) + svg.element("title", svg.escape(series["name"])), data_series=index)


def _draw_legend(names: Sequence[str], left: float, top: float, right: float) -> tuple[list[str], float]:
    """Names in rows; the second value is where the next thing may begin."""
    parts: list[str] = []
    x, y = left, top
    for i, name in enumerate(names):
        wide = width(shorten(name, 40), 13) + 48
        if x > left and x + wide > right:
            x, y = left, y + 20
        hue = svg.SERIES[i % len(svg.SERIES)]
        dash = _DASHES[i % len(_DASHES)]
        parts.append(svg.line(x, y - 4, x + 24, y - 4, f"gl-{hue}-s", stroke_width="2.5", stroke_dasharray=dash))
        parts.append(svg.label(x + 30, y, name, anchor="start", limit=40, font_size=13))
        x += wide
    return parts, y + 28


def draw_curves(
    series: Sequence[Series],
    *,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    y_range: tuple[float, float] | None = None,
    size: tuple[float, float] = (640, 340),
) -> str:
    """Draw curves, each with `name`, `x`, `y` and, if it has a band, `low` and `high`; None breaks a curve.

    >>> draw_curves([{"name": "loss", "x": [1, 2, 3], "y": [3.0, 2.0, 1.5]}]).count("data-series")
    1
    """
    xs = _numbers([x for one in series for x in one["x"]])
    ys = _numbers([y for one in series for key in ("y", "low", "high") for y in one.get(key) or ()])
    legend, top = _draw_legend([str(one["name"]) for one in series], 14, 24, size[0] - 14)
    y_range = y_range or _range(ys, 0.06)
    marks = ticks(*y_range, 5)
    left = 22 + max(width(tick_text(mark, marks), 12) for mark in marks)
    frame = Frame(left, top + 16, size[0] - 24, size[1] - 52, _range(xs, 0), y_range)
    parts = legend + draw_axes(frame, x_label, y_label)
    parts += [_draw_series(frame, one, i) for i, one in enumerate(series)]
    text = "; ".join(f"{one['name']}: {len(one['x'])} points" for one in series)
    return svg.picture(*size, parts, title or f"{y_label or 'Curves'} against {x_label or 'x'}", text)


def draw_bars(
    bars: Sequence[Mapping[str, Any]], *, title: str = "", unit: str = "", digits: int = 1, wide: float = 640
) -> str:
    """Draw bars across, each with `name` and `value`; `low` and `high` are whiskers, `reference` (the thesis) a mark.

    >>> draw_bars([{"name": "ours", "value": 71.4, "reference": 72.0}]).count("data-bar")
    1
    """
    names = max((width(shorten(str(bar["name"]), 32)) for bar in bars), default=0)
    every = [bar.get(key) for bar in bars for key in ("value", "low", "high", "reference")]
    low, high = min([0.0, *_numbers(every)]), max([*_numbers(every), 0.0]) or 1.0
    left, right = 14 + names + 12, wide - 90
    frame = Frame(left, 14, right, 14 + 30.0 * len(bars), (low, high), (0, 1))
    parts = [svg.line(frame.x(0), 10, frame.x(0), frame.bottom + 2)]
    parts += [_draw_bar(frame, bar, i, unit, digits) for i, bar in enumerate(bars)]
    marked = any(bar.get("reference") is not None for bar in bars)
    if marked:
        parts.append(svg.line(left, frame.bottom + 8, left, frame.bottom + 24, "gl-warm-s", stroke_width="3"))
        parts.append(svg.label(left + 8, frame.bottom + 21, "thesis", "gl-muted", anchor="start", font_size=12))
    text = "; ".join(f"{bar['name']} {_bar_text(bar['value'], unit, digits)}" for bar in bars)
    return svg.picture(wide, frame.bottom + (34 if marked else 14), parts, title or "Bars", text)


def _bar_text(value: float | None, unit: str, digits: int) -> str:
    return "–" if value is None or not isfinite(value) else f"{value:.{digits}f}{unit}"


def _draw_bar(frame: Frame, bar: Mapping[str, Any], index: int, unit: str, digits: int) -> str:
    y = frame.top + 30 * index
    value: float = bar["value"] if _numbers([bar["value"]]) else 0.0
    near, far = sorted((frame.x(0), frame.x(value)))
    parts = [
        svg.label(frame.left - 10, y + 17, str(bar["name"]), anchor="end", limit=32),
        svg.box(near, y + 3, far - near, 18, "gl-accent", 2, fill_opacity="0.75"),
    ]
    edge = far
    if len(_numbers([bar.get("low"), bar.get("high")])) == 2:
        a, b = frame.x(bar["low"]), frame.x(bar["high"])
        n = svg.num
        whisker = f"M{n(a)} {n(y + 12)}H{n(b)}M{n(a)} {n(y + 8)}v8M{n(b)} {n(y + 8)}v8"
        parts.append(svg.element("path", d=whisker, class_="gl-ink-s", stroke_width="1.4"))
        edge = max(edge, b)
    if bar.get("reference") is not None:
        x = frame.x(bar["reference"])
        parts.append(svg.line(x, y, x, y + 24, "gl-warm-s", stroke_width="3"))
        edge = max(edge, x)
    parts.append(svg.label(edge + 8, y + 17, _bar_text(bar["value"], unit, digits), anchor="start", font_size=13))
    return svg.element("g", "".join(parts), data_bar=index)
