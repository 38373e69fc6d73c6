"""Speech on a time axis: waveform, word segments, trees over seconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from groundling.drawing import svg
from groundling.drawing.rows import MARGIN
from groundling.drawing.text import shorten, width
from groundling.drawing.ticks import tick_text, ticks
from groundling.drawing.trees import lay_tree, lines_of

TIER = 28.0
WAVE = 64.0
_WIDEST, _NARROWEST = 2400.0, 420.0


class Axis(NamedTuple):
    """Seconds to pixels."""

    duration: float
    scale: float  # pixels a second
    left: float

    def x(self, seconds: float) -> float:
        return self.left + seconds * self.scale

    @property
    def right(self) -> float:
        return self.x(self.duration)


def fit_axis(duration: float, pieces: Iterable[tuple[float, float, str]], left: float = MARGIN) -> Axis:
    """Choose a scale at which most words fit into their own stretch of time, within reason."""
    wanted = sorted((width(text) + 6) / (end - start) for start, end, text in pieces if text and end > start)
    most = min(wanted[-1], 2.5 * wanted[len(wanted) // 2]) if wanted else 0.0
    length = min(max(most * duration, _NARROWEST), _WIDEST)
    return Axis(duration, length / duration, left)


def draw_axis(axis: Axis, y: float) -> list[str]:
    """The ruler in seconds."""
    parts = [svg.line(axis.left, y, axis.right, y)]
    marks = ticks(0, axis.duration, max(2, int((axis.right - axis.left) / 90)))
    for value in marks:
        parts.append(svg.line(axis.x(value), y, axis.x(value), y + 4))
        text = tick_text(value, marks) + (" s" if value == marks[-1] else "")
        parts.append(svg.label(axis.x(value), y + 18, text, "gl-muted", font_size=11))
    return parts


def draw_waveform(axis: Axis, waveform: Sequence[float], top: float) -> list[str]:
    """The outline of the sound: the lowest and highest sample of every two pixels.

    The samples spread evenly over the whole duration; any number of them, in any range.
    """
    bins = max(1, min(len(waveform), int((axis.right - axis.left) / 2)))
    edges = [round(i * len(waveform) / bins) for i in range(bins + 1)]
    peaks = [(min(waveform[a:b]), max(waveform[a:b])) for a, b in pairwise(edges) if b > a]
    loudest = max((max(abs(low), abs(high)) for low, high in peaks), default=0) or 1
    middle, step = top + WAVE / 2, (axis.right - axis.left) / max(len(peaks), 1)
    xs = [axis.left + step * (i + 0.5) for i in range(len(peaks))]
    upper = [
        f"{svg.num(x)} {svg.num(middle - high / loudest * WAVE / 2)}" for x, (_, high) in zip(xs, peaks, strict=True)
    ]
    lower = [
        f"{svg.num(x)} {svg.num(middle - low / loudest * WAVE / 2)}" for x, (low, _) in zip(xs, peaks, strict=True)
    ]
    parts = [svg.line(axis.left, middle, axis.right, middle, "gl-rule-s")]
    if peaks:
        outline = "M" + "L".join(upper + lower[::-1]) + "Z"
        parts.append(svg.element("path", d=outline, class_="gl-accent", fill_opacity="0.6"))
    return parts


def _piece(axis: Axis, start: float, end: float, y: float, text: str, hue: str, odd: bool, **more: object) -> str:
    """One box of a tier with as much of its text as fits: in smaller letters first, then cut."""
    room = (end - start) * axis.scale
    size = min(14.0, max(9.0, 14 * (room - 2) / max(width(text), 1)))
    limit = len(text)
    while limit > 1 and width(shorten(text, limit), size) > room:
        limit -= 1
    shape = svg.box(
        axis.x(start) + 0.5, y, max(room - 1, 1), TIER - 4, f"gl-{hue}", 3, fill_opacity="0.26" if odd else "0.16"
    )
    middle = (axis.x(start) + axis.x(end)) / 2
    words = svg.label(middle, y + 17, text, limit=limit, font_size=size) if text and room > 7 else ""
    tip = svg.element("title", svg.escape(f"{text} {start:.2f}–{end:.2f} s".strip()))
    return svg.element("g", shape + words + tip, **more)


def _tier(axis: Axis, pieces: Sequence[Sequence[Any]], y: float, hue: str, name: str) -> list[str]:
    parts = [svg.label(axis.left - 8, y + 17, name, "gl-muted", anchor="end", font_size=12)] if name else []
    for i, piece in enumerate(pieces):
        start, end, word = piece[0], piece[1], str(piece[2]) if len(piece) > 2 else ""
        parts.append(_piece(axis, start, end, y, word, hue, bool(i % 2), data_segment=i))
    return parts


def _boundaries(axis: Axis, pieces: Iterable[Sequence[Any]], top: float, bottom: float) -> list[str]:
    edges = sorted({float(edge) for piece in pieces for edge in piece[:2]})
    return [
        svg.line(axis.x(edge), top, axis.x(edge), bottom, "gl-warm-s", stroke_dasharray="2 3", opacity="0.7")
        for edge in edges
    ]


def draw_segments(
    segmentation: Mapping[str, Any],
    waveform: Sequence[float] | None = None,
    reference: Mapping[str, Any] | None = None,
    *,
    title: str = "",
) -> str:
    """Draw segments (`Segmentation.to_dict()`) on the time axis, under the sound and over a reference.

    >>> draw_segments({"segments": [[0.0, 0.4, "cats"]], "duration": 0.5}).count("data-segment")
    1
    """
    tiers = [("accent", "found", segmentation)] + ([("violet", "reference", reference)] if reference else [])
    pieces = [piece for _, _, tier in tiers for piece in tier["segments"]]
    known = [tier.get("duration") or 0.0 for _, _, tier in tiers]
    duration = max([*known, *(piece[1] for piece in pieces)]) or 1.0
    left = MARGIN + 72 if reference else MARGIN
    axis = fit_axis(duration, [(p[0], p[1], str(p[2]) if len(p) > 2 else "") for p in pieces], left)
    y = MARGIN
    parts: list[str] = []
    if waveform is not None:
        parts += draw_waveform(axis, waveform, y)
        parts += _boundaries(axis, segmentation["segments"], y, y + WAVE)
        y += WAVE + 8
    for hue, name, tier in tiers:
        parts += _tier(axis, tier["segments"], y, hue, name if reference else "")
        y += TIER
    parts += draw_axis(axis, y + 2)
    words = " ".join(str(piece[2]) for piece in segmentation["segments"] if len(piece) > 2)
    name = title or f"{len(segmentation['segments'])} segments in {duration:.2f} s"
    return svg.picture(axis.right + MARGIN + 8, y + 24 + MARGIN, parts, name, words)


def draw_timed_tree(
    tree: Mapping[str, Any],
    waveform: Sequence[float] | None = None,
    *,
    duration: float | None = None,
    title: str = "",
) -> str:
    """Draw a tree over seconds as tiers under the sound: the words first, then each level up to the root.

    The leaves' `times` are the axis; a box is as long as the node lasts, so overlap of two trees can be seen.
    `duration` is that of the waveform, in seconds; without it the sound ends with the last word.

    >>> nodes = [{"label": "NP", "start": 0, "end": 1, "parent": -1}]
    >>> draw_timed_tree({"words": ["cats"], "nodes": nodes, "times": [[0.1, 0.5]]}).count("data-node")
    1
    """
    times: list[list[float]] = tree.get("times") or [[i, i + 1] for i in range(len(tree["words"]))]
    leaves = [(pair[0], pair[1], str(word)) for pair, word in zip(times, tree["words"], strict=True)]
    boxes = [(times[int(n["start"])][0], times[int(n["end"]) - 1][1], " ".join(lines_of(n))) for n in tree["nodes"]]
    axis = fit_axis(max(duration or 0.0, times[-1][1]), leaves + boxes)
    y = MARGIN
    parts: list[str] = []
    if waveform is not None:
        parts += draw_waveform(axis, waveform, y) + _boundaries(axis, leaves, y, y + WAVE)
        y += WAVE + 8
    parts += _tier(axis, leaves, y, "warm", "")
    levels = lay_tree(tree).level
    for k, (start, end, text) in enumerate(boxes):
        place = y + TIER * levels[k]
        parts.append(_piece(axis, start, end, place, text, "accent", bool(levels[k] % 2), data_node=k))
    y += TIER * (max(levels) + 1)
    parts += draw_axis(axis, y + 2)
    name = title or f"Tree with {len(tree['nodes'])} nodes over {times[-1][1]:.2f} s"
    return svg.picture(axis.right + MARGIN + 8, y + 24 + MARGIN, parts, name, " ".join(tree["words"]))
