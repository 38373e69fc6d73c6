"""Dependency arcs above words, hard and soft."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from groundling.drawing import svg
from groundling.drawing.rows import MARGIN, Row, lay_words
from groundling.drawing.text import shorten, width
from groundling.drawing.trees import draw_words

STEP = 26.0  # from one level of arcs to the next
PORT = 9.0  # between two arcs that end at the same word
LABEL_LIMIT = 16


class Arc(NamedTuple):
    """An arrow from a head to a dependent, both counted from 0; head -1 is the root."""

    head: int
    dependent: int
    label: str = ""
    weight: float = 1.0


def levels_of(arcs: Sequence[Arc]) -> list[int]:
    """The height of each arc: over every shorter arc that shares ground with it; the root's are highest.

    >>> levels_of([Arc(0, 1), Arc(0, 2), Arc(2, 3)])
    [1, 2, 1]
    """
    spans = [(min(a.head, a.dependent), max(a.head, a.dependent)) for a in arcs]
    order = sorted(range(len(arcs)), key=lambda k: (arcs[k].head < 0, spans[k][1] - spans[k][0], k))
    levels = [0] * len(arcs)
    busy = [0] * (max((high for _, high in spans), default=0) + 1)  # highest level over the gap right of each word
    for k in order:
        low, high = spans[k]
        ground = range(max(low, 0), high) if low >= 0 else range(len(busy))
        levels[k] = 1 + max((busy[i] for i in ground), default=0)
        for i in ground if low >= 0 else ():
            busy[i] = levels[k]
    top = max((level for level, arc in zip(levels, arcs, strict=True) if arc.head >= 0), default=0) + 1
    return [level if arc.head >= 0 else top for level, arc in zip(levels, arcs, strict=True)]


def ports_of(arcs: Sequence[Arc], row: Row) -> dict[tuple[int, int], float]:
    """Where each end of each arc meets its word: (arc, word) -> x. Longer arcs end nearer to the middle."""
    ends: defaultdict[int, list[tuple[float, int]]] = defaultdict(list)
    for k, arc in enumerate(arcs):
        for here, there in ((arc.head, arc.dependent), (arc.dependent, arc.head)):
            if here >= 0:
                reach = row.centre(there) - row.centre(here) if there >= 0 else 0.0
                ends[here].append((1 / reach if reach else 0.0, k))  # sorts short leftward .. long .. short rightward
    ports: dict[tuple[int, int], float] = {}
    for word, reaches in ends.items():
        room = min(PORT, (row.right[word] - row.left[word] - 6) / len(reaches))
        for i, (_, k) in enumerate(sorted(reaches)):
            ports[k, word] = row.centre(word) + room * (i - (len(reaches) - 1) / 2)
    return ports


def lay_arcs(words: Sequence[str], arcs: Sequence[Arc]) -> Row:
    """Place the words so that every arc is long enough for its label and every word wide enough for its arcs."""
    ends = Counter(word for arc in arcs for word in (arc.head, arc.dependent) if word >= 0)
    inner = [(min(a.head, a.dependent), max(a.head, a.dependent), a.label) for a in arcs if a.head >= 0]
    distances = [
        (low, high, width(shorten(text, LABEL_LIMIT), 12) + 28 + PORT * (ends[low] + ends[high] - 2) / 2)
        for low, high, text in inner
    ]
    needs = [(i, i + 1, PORT * n + 10) for i, n in ends.items()]
    needs += [(a.dependent, a.dependent + 1, width(a.label, 12) + PORT * ends[a.dependent]) for a in arcs if a.head < 0]
    return lay_words(words, needs, distances, gap=18)


def _draw_arc(arc: Arc, y: float, base: float, start: float, end: float, soft: bool) -> str:
    radius = min(10.0, abs(start - end) / 2, base - y)
    turn = radius if end > start else -radius
    n = svg.num
    bend = (
        f"M{n(start)} {n(base)}V{n(y + radius)}Q{n(start)} {n(y)} {n(start + turn)} {n(y)}"
        f"H{n(end - turn)}Q{n(end)} {n(y)} {n(end)} {n(y + radius)}V{n(base - 5)}"
    )
    path = bend if arc.head >= 0 else f"M{n(end)} {n(y)}V{n(base - 5)}"
    hue = "accent" if arc.head >= 0 else "warm"
    stroke = {"stroke_width": f"{0.6 + 2.9 * arc.weight:.2f}" if soft else "1.5"}
    arrow = f"M{n(end - 4)} {n(base - 7)}L{n(end + 4)} {n(base - 7)}L{n(end)} {n(base)}Z"
    shape = svg.element("path", d=path, class_=f"gl-{hue}-s", **stroke)
    shape += svg.element("path", d=arrow, class_=f"gl-{hue}")
    return svg.element("g", shape, opacity=svg.opacity(arc.weight, 0.3, 1) if soft else None)


def _draw_label(arc: Arc, y: float, start: float, end: float) -> str:
    if not arc.label:
        return ""
    x = (start + end) / 2 if arc.head >= 0 else end
    wide = width(shorten(arc.label, LABEL_LIMIT), 12) + 2
    gap = svg.box(x - wide / 2, y - 7, wide, 14, "gl-paper", 2)  # the line pauses behind its label
    return gap + svg.label(x, y + 4, arc.label, "gl-muted", limit=LABEL_LIMIT, font_size=12)


def _draw(words: Sequence[str], arcs: Sequence[Arc], title: str, soft: bool) -> str:
    row = lay_arcs(words, arcs)
    levels = levels_of(arcs)
    base = MARGIN + 8 + STEP * max(levels, default=0)
    ports = ports_of(arcs, row)
    parts: list[str] = []
    labels: list[str] = []  # drawn last, over every line
    for k in sorted(range(len(arcs)), key=lambda k: arcs[k].weight):
        arc = arcs[k]
        end = ports[k, arc.dependent]
        start, y = ports.get((k, arc.head), end), base - STEP * levels[k]
        shape = _draw_arc(arc, y, base, start, end, soft)
        labels.append(_draw_label(arc, y, start, end))
        tip = f"{words[arc.dependent]} ← {words[arc.head] if arc.head >= 0 else 'root'}"
        tip += f" {arc.label}" if not soft else f" {arc.weight:.3f}"
        parts.append(
            svg.element("g", shape + svg.element("title", svg.escape(tip)), data_arc=f"{arc.head}-{arc.dependent}")
        )
    parts += labels + draw_words(words, row, base + 20)
    parts += [svg.label(row.centre(i), base + 36, str(i + 1), "gl-muted", font_size=10) for i in range(len(words))]
    return svg.picture(row.total, base + 36 + MARGIN, parts, title, " ".join(words))


def draw_arcs(tree: Mapping[str, Any], *, title: str = "") -> str:
    """Draw a dependency tree (`Dependencies.to_dict()`), projective or not.

    >>> draw_arcs({"words": ["dogs", "bark"], "heads": [2, 0], "labels": ["nsubj", "root"]}).count("data-arc")
    2
    """
    labels = tree.get("labels") or [""] * len(tree["words"])
    arcs = [Arc(head - 1, i, labels[i]) for i, head in enumerate(tree["heads"])]
    return _draw(tree["words"], arcs, title or f"Dependency tree over {len(tree['words'])} words", soft=False)


def draw_soft_arcs(tree: Mapping[str, Any], *, least: float = 0.1, title: str = "") -> str:
    """Draw arc distributions (`SoftDependencies.to_dict()`): thickness and opacity are the probability.

    Arcs under `least` are left out; `arcs[i][j]` = P(head of i is j), position 0 the root.

    >>> draw_soft_arcs({"words": ["a"], "arcs": [[0, 0], [0.9, 0]]}).count("data-arc")
    1
    """
    table = tree["arcs"]
    arcs = [
        Arc(head - 1, i - 1, f"{'' if head else 'root '}{p:.2f}".replace("0.", "."), min(float(p), 1.0))
        for i in range(1, len(table))
        for head, p in enumerate(table[i])
        if p >= least and head != i
    ]
    return _draw(tree["words"], arcs, title or f"Arc probabilities over {len(tree['words'])} words", soft=True)
