"""What a chart parser saw: the CKY triangle, and one derivation with type and program at each node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundling.drawing import svg
from groundling.drawing.rows import MARGIN, WORD_LIMIT
from groundling.drawing.text import shorten, width
from groundling.drawing.trees import draw_tree

LINE = 17.0
_SHOWN = 3  # entries written in a cell; the others are counted


def draw_chart(chart: Mapping[str, Any], *, title: str = "") -> str:
    """Draw a parse chart: `words`, and `cells` with `start`, `end` and `entries` of `text` and `weight` (0-1).

    The words stand at the foot, each cell over its words; shading is the greatest weight in the cell.

    >>> cell = {"start": 0, "end": 1, "entries": [{"text": "jump: V", "weight": 0.9}]}
    >>> draw_chart({"words": ["jump"], "cells": [cell]}).count("data-cell")
    1
    """
    words: list[str] = [str(word) for word in chart["words"]]
    cells = {(int(cell["start"]), int(cell["end"])): list[Any](cell["entries"]) for cell in chart["cells"]}
    texts = [_entry_text(entry) for entries in cells.values() for entry in entries[:_SHOWN]]
    wide = max([84.0, *(width(shorten(text, WORD_LIMIT), 11) + 16 for text in [*texts, *words])])
    tall = LINE * min(max((len(entries) + (len(entries) > _SHOWN) for entries in cells.values()), default=1), 4) + 12
    count = len(words)
    parts: list[str] = []
    for start in range(count):
        for end in range(start + 1, count + 1):
            x = MARGIN + wide * (start + (end - start - 1) / 2)
            y = MARGIN + tall * (count - (end - start))
            parts.append(_draw_cell(x, y, wide, tall, start, end, cells.get((start, end), [])))
    foot = MARGIN + tall * count
    parts += [svg.label(MARGIN + wide * (i + 0.5), foot + 20, word, "gl-ink gl-b") for i, word in enumerate(words)]
    text = f"{sum(bool(entries) for entries in cells.values())} filled cells"
    name = title or f"Parse chart of {' '.join(words)}"
    return svg.picture(wide * count + 2 * MARGIN, foot + 20 + MARGIN, parts, name, text)


def _entry_text(entry: Mapping[str, Any]) -> str:
    weight = entry.get("weight")
    return str(entry["text"]) if weight is None else f"{entry['text']} {weight:.2f}"


def _draw_cell(x: float, y: float, wide: float, tall: float, start: int, end: int, entries: list[Any]) -> str:
    frame = svg.box(x + 2, y + 2, wide - 4, tall - 4, "gl-rule-s", 5)
    if not entries:
        return svg.element("g", frame, data_cell=f"{start}-{end}", opacity="0.6")
    best = max(float(1 if entry.get("weight") is None else entry["weight"]) for entry in entries)
    tint = svg.box(x + 2, y + 2, wide - 4, tall - 4, "gl-accent", 5, fill_opacity=svg.opacity(best, 0.06, 0.4))
    shown = [_entry_text(entry) for entry in entries[:_SHOWN]]
    shown += [f"and {len(entries) - _SHOWN} more"] if len(entries) > _SHOWN else []
    first = y + tall / 2 - LINE * (len(shown) - 1) / 2 + 4
    rows = [
        svg.label(x + wide / 2, first + LINE * i, text, "gl-ink", limit=WORD_LIMIT, font_size=11)
        for i, text in enumerate(shown)
    ]
    tip = svg.element("title", svg.escape("\n".join(map(_entry_text, entries))))
    return svg.element("g", frame + tint + "".join(rows) + tip, data_cell=f"{start}-{end}")


def draw_derivation(tree: Mapping[str, Any], *, title: str = "") -> str:
    """Draw a derivation: a tree whose nodes have `type` and `program` beside start, end and parent.

    >>> node = {"start": 0, "end": 1, "parent": -1, "type": "V", "program": "I_JUMP"}
    >>> draw_derivation({"words": ["jump"], "nodes": [node]}).count("<text")
    3
    """
    nodes = [
        {**node, "label": str(node["type"]), "lines": [str(node["type"]), str(node.get("program") or "–")]}
        for node in tree["nodes"]
    ]
    return draw_tree(
        {"words": tree["words"], "nodes": nodes}, title=title or f"Derivation of {' '.join(tree['words'])}"
    )
