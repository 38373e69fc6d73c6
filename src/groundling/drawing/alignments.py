"""Word alignments as a grid or as lines between two sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import cos, radians, sin
from typing import Any

from groundling.drawing import svg
from groundling.drawing.rows import MARGIN, WORD_LIMIT, lay_words
from groundling.drawing.text import shorten, width
from groundling.drawing.trees import draw_words

CELL = 24.0
SLANT = 50  # degrees by which the column heads lean
AlignmentDict = Mapping[str, Any]  # what `Alignment.to_dict(source, target)` gives


def words_of(alignment: AlignmentDict) -> tuple[list[str], list[str]]:
    """Source and target words; positions stand in where no words are given."""
    links = [*alignment["sure"], *alignment["possible"]]
    sides: list[list[str]] = []
    for side, name in enumerate(("source", "target")):
        words = [str(word) for word in alignment[name]]
        count = max([len(words), *(link[side] + 1 for link in links)])
        sides.append(words + [str(i) for i in range(len(words), count)])
    return sides[0], sides[1]


def _marks(alignment: AlignmentDict) -> list[tuple[int, int, bool, float | None]]:
    p = {(i, j): float(value) for i, j, value in alignment.get("probabilities") or ()}
    sure = [(i, j, True, p.get((i, j))) for i, j in alignment["sure"]]
    return sure + [(i, j, False, p.get((i, j))) for i, j in alignment["possible"]]


def _tip(source: Sequence[str], target: Sequence[str], mark: tuple[int, int, bool, float | None]) -> str:
    i, j, sure, p = mark
    kind = "" if sure else " (possible)"
    return svg.element("title", svg.escape(f"{source[i]} – {target[j]}{kind}{'' if p is None else f' {p:.3f}'}"))


def draw_grid(alignment: AlignmentDict, *, title: str = "") -> str:
    """Draw an alignment as a grid: source words down, target words across; possible links hollow.

    >>> grid = {"source": ["a"], "target": ["un"], "sure": [[0, 0]], "possible": [], "probabilities": []}
    >>> draw_grid(grid).count("data-link")
    1
    """
    source, target = words_of(alignment)
    side = max((width(shorten(word, WORD_LIMIT)) for word in source), default=0) + 10
    lean = [width(shorten(word, WORD_LIMIT)) for word in target] or [0.0]
    left, top = MARGIN + side, MARGIN + max(lean) * sin(radians(SLANT)) + 18
    overhang = max(CELL * j + w * cos(radians(SLANT)) + 22 for j, w in enumerate(lean))
    right, bottom = left + CELL * len(target), top + CELL * len(source)
    parts = [svg.line(left, top + CELL * i, right, top + CELL * i, "gl-rule-s") for i in range(len(source) + 1)] + [
        svg.line(left + CELL * j, top, left + CELL * j, bottom, "gl-rule-s") for j in range(len(target) + 1)
    ]
    for i, word in enumerate(source):
        parts.append(svg.label(left - 8, top + CELL * i + 17, word, anchor="end", limit=WORD_LIMIT))
    for j, word in enumerate(target):
        x, y = left + CELL * (j + 0.5), top - 8
        turn = f"rotate(-{SLANT} {svg.num(x)} {svg.num(y)})"
        parts.append(svg.label(x, y, word, anchor="start", limit=WORD_LIMIT, transform=turn))
    for mark in _marks(alignment):
        i, j, sure, p = mark
        look: dict[str, Any] = {"class_": "gl-accent", "fill_opacity": svg.opacity(1 if p is None else p, 0.15, 1)}
        hollow: dict[str, Any] = {
            "class_": "gl-accent-s",
            "stroke_width": "2",
            "stroke_opacity": svg.opacity(1 if p is None else p, 0.45, 1),
        }
        shape = svg.box(left + CELL * j + 4, top + CELL * i + 4, CELL - 8, CELL - 8, **(look if sure else hollow))
        parts.append(svg.element("g", shape + _tip(source, target, mark), data_link=f"{i}-{j}"))
    text = f"{len(alignment['sure'])} sure and {len(alignment['possible'])} possible links"
    name = title or f"Alignment of {len(source)} and {len(target)} words"
    return svg.picture(max(right, left + overhang) + MARGIN, bottom + MARGIN, parts, name, text)


def draw_links(alignment: AlignmentDict, *, title: str = "") -> str:
    """Draw an alignment as lines between two sentences; possible links are dashed, opacity is probability.

    >>> links = {"source": ["a"], "target": ["un"], "sure": [[0, 0]], "possible": [], "probabilities": []}
    >>> draw_links(links).count("data-link")
    1
    """
    source, target = words_of(alignment)
    rows = [lay_words(source), lay_words(target)]
    total = max(row.total for row in rows)
    shift = [(total - row.total) / 2 for row in rows]
    top, bottom = MARGIN + 24.0, MARGIN + 116.0
    parts: list[str] = []
    for mark in _marks(alignment):
        i, j, sure, p = mark
        x1, x2 = rows[0].centre(i) + shift[0], rows[1].centre(j) + shift[1]
        middle = (top + bottom) / 2
        n = svg.num
        path = f"M{n(x1)} {n(top)}C{n(x1)} {n(middle)} {n(x2)} {n(middle)} {n(x2)} {n(bottom)}"
        shape = svg.element(
            "path", d=path, class_="gl-accent-s", stroke_width="2", stroke_dasharray=None if sure else "3 4",
            opacity=svg.opacity(1 if p is None else p, 0.15, 1),
        )  # fmt: skip
        for x, y in ((x1, top), (x2, bottom)):
            fill = "gl-accent" if sure else "gl-accent-s"
            shape += svg.element("circle", cx=x, cy=y, r=3.0, class_=fill)
        parts.append(svg.element("g", shape + _tip(source, target, mark), data_link=f"{i}-{j}"))
    for words, row, move, y in ((source, rows[0], shift[0], top - 10), (target, rows[1], shift[1], bottom + 20)):
        parts.append(svg.element("g", "".join(draw_words(words, row, y)), transform=f"translate({svg.num(move)} 0)"))
    name = title or f"Alignment of {len(source)} and {len(target)} words"
    text = f"{' '.join(source)} – {' '.join(target)}"
    return svg.picture(total, bottom + 20 + MARGIN, parts, name, text)
