"""Constituency trees: one alone, or gold and prediction face to face."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from groundling.drawing import svg
from groundling.drawing.rows import MARGIN, WORD_LIMIT, Row, lay_words
from groundling.drawing.text import shorten, width

ROW = 46.0  # from one level of nodes to the next
CHIP = 22.0  # height of one line of a node
CODE_LIMIT = 44  # characters of a program at a node
TreeDict = Mapping[str, Any]  # what `Tree.to_dict()` gives
Match = tuple[int, int, float]  # gold node, predicted node, IoU


class Layout(NamedTuple):
    """Where each node stands: centre, half its width, and its level (1 is just over the words)."""

    row: Row
    x: tuple[float, ...]
    half: tuple[float, ...]
    level: tuple[int, ...]
    step: float  # from level to level

    @property
    def height(self) -> float:
        """From the words to over the root."""
        return max(self.level) * self.step + CHIP / 2


def lines_of(node: Mapping[str, Any]) -> list[str]:
    """The lines written at a node: `lines` if it has them, else its label."""
    return [str(text) for text in node.get("lines") or ([node["label"]] if node["label"] else [])]


def chip_width(node: Mapping[str, Any]) -> float:
    """How wide a node is drawn; a node without label is a dot."""
    first, *code = lines_of(node) or [""]
    # Fixed-width letters take the same room each, and narrow ones are most of what programs are made of.
    rooms = [14 * 0.63 * min(len(text), CODE_LIMIT) for text in code]
    return max([width(shorten(first, WORD_LIMIT)), *rooms]) + 12 if first or code else 8.0


def needs_of(tree: TreeDict) -> list[tuple[int, int, float]]:
    """How wide each node's words must be together, for its own text to fit over them."""
    return [(node["start"], node["end"], chip_width(node) + 10) for node in tree["nodes"]]


def lay_tree(tree: TreeDict, row: Row | None = None) -> Layout:
    """Place the nodes over a row of words: each over its own words only, so that siblings never overlap.

    >>> tree = {"words": ["a"], "nodes": [{"label": "N", "start": 0, "end": 1, "parent": -1}]}
    >>> lay_tree(tree).level
    (1,)
    """
    nodes: list[Mapping[str, Any]] = tree["nodes"]
    row = row or lay_words(tree["words"], needs_of(tree))
    level = [1] * len(nodes)
    for k in reversed(range(1, len(nodes))):  # preorder: children come after their parent
        parent = int(nodes[k]["parent"])
        level[parent] = max(level[parent], level[k] + 1)
    text_lines = max((len(lines_of(node)) for node in nodes), default=1)
    return Layout(
        row,
        tuple(row.centre(node["start"], node["end"]) for node in nodes),
        tuple(chip_width(node) / 2 for node in nodes),
        tuple(level),
        ROW + CHIP * 0.8 * max(0, text_lines - 1),
    )


def loose_words(tree: TreeDict) -> list[tuple[int, int]]:
    """Pairs (node, word) for each word that hangs from a node directly: the smallest node over it."""
    lowest = [0] * len(tree["words"])
    for k, node in enumerate(tree["nodes"]):  # preorder: a later node is lower
        lowest[node["start"] : node["end"]] = [k] * (node["end"] - node["start"])
    return [(k, word) for word, k in enumerate(lowest)]


def draw_edges(tree: TreeDict, at: Layout, base: float, up: bool = True) -> list[str]:
    """Lines from each node to its children and words: aslant in the band under the node, then straight.

    All bends lie between two levels, so a line never runs through another node's text.
    """
    sign = -1.0 if up else 1.0
    ends = [(int(node["parent"]), at.x[k], at.level[k]) for k, node in enumerate(tree["nodes"]) if node["parent"] >= 0]
    ends += [(k, at.row.centre(word), 0) for k, word in loose_words(tree)]
    reach = [CHIP / 2 if lines_of(node) else 4.0 for node in tree["nodes"]]
    foot = [reach[k] + CHIP * 0.8 * max(0, len(lines_of(node)) - 1) for k, node in enumerate(tree["nodes"])]
    below = [reach[k] for k, node in enumerate(tree["nodes"]) if node["parent"] >= 0] + [4.0] * len(tree["words"])
    parts: list[str] = []
    for (parent, x, level), touch in zip(ends, below, strict=True):
        top = base + sign * (at.level[parent] * at.step - foot[parent])
        bend = base + sign * ((at.level[parent] - 1) * at.step + (touch if level == at.level[parent] - 1 else CHIP / 2))
        end = base + sign * (level * at.step + touch)
        straight = f"V{svg.num(end)}" if abs(end - bend) > 1 else ""
        parts.append(f"M{svg.num(at.x[parent])} {svg.num(top)}L{svg.num(x)} {svg.num(bend)}{straight}")
    return [svg.element("path", d="".join(parts), class_="gl-muted-s", stroke_width="1.2")]


def draw_node(
    node: Mapping[str, Any],
    x: float,
    y: float,
    half: float,
    *,
    share: float | None,
    hue: str,
    more: str = "",
    **data: object,
) -> str:
    """One node: its text in a chip, tinted by `share` in 0-1 if there is one; a dot when it has no text."""
    texts = lines_of(node)
    tint: dict[str, Any] = (
        {"class_": f"gl-{hue}", "fill_opacity": svg.opacity(share)} if share is not None else {"class_": "gl-paper"}
    )
    if not texts:
        dot = {"class_": f"gl-{hue}", "fill_opacity": svg.opacity(share, 0.15, 1)} if share is not None else {}
        shape = svg.element("circle", cx=float(x), cy=float(y), r=5.0, **({"class_": "gl-muted"} | dot))
        return svg.element("g", shape + more, **data)
    tall = CHIP + CHIP * 0.8 * (len(texts) - 1)  # the first line stands at y, the others under it
    shape = svg.box(x - half, y - CHIP / 2, 2 * half, tall, "gl-paper") + svg.box(
        x - half, y - CHIP / 2, 2 * half, tall, **tint
    )
    rows = [
        svg.label(x, y + 5 + i * CHIP * 0.8, text, look, limit=limit)
        for i, text in enumerate(texts)
        for look, limit in [("gl-ink gl-b", WORD_LIMIT) if i == 0 else ("gl-muted gl-code", CODE_LIMIT)]
    ]
    return svg.element("g", shape + "".join(rows) + more, **data)


def draw_words(words: Sequence[str], row: Row, y: float, shares: Sequence[float | None] | None = None) -> list[str]:
    """The words of a row on one line, tinted where there is a number."""
    parts: list[str] = []
    for i, word in enumerate(words):
        share = shares[i] if shares is not None else None
        if share is not None:
            half = min(width(shorten(word, WORD_LIMIT)) / 2 + 5, (row.right[i] - row.left[i]) / 2 - 1)
            parts.append(
                svg.box(row.centre(i) - half, y - 16, 2 * half, CHIP, "gl-warm", fill_opacity=svg.opacity(share))
            )
        parts.append(svg.label(row.centre(i), y, word, limit=WORD_LIMIT))
    return parts


def draw_tree(
    tree: TreeDict, colours: Sequence[float | None] | None = None, *, by: str = "words", title: str = ""
) -> str:
    """Draw one tree. `colours` are numbers in 0-1, one a word (or one a node with `by="nodes"`).

    >>> tree = {"words": ["cats"], "nodes": [{"label": "NP", "start": 0, "end": 1, "parent": -1}]}
    >>> draw_tree(tree).count("<text")
    2
    """
    at = lay_tree(tree)
    base = MARGIN + at.height
    shares = colours if colours is not None and by == "nodes" else [None] * len(tree["nodes"])
    parts = draw_edges(tree, at, base)
    for k, node in enumerate(tree["nodes"]):
        y = base - at.level[k] * at.step
        parts.append(draw_node(node, at.x[k], y, at.half[k], share=shares[k], hue="warm", data_node=k))
    parts += draw_words(tree["words"], at.row, base + 18, colours if by == "words" else None)
    return svg.picture(at.row.total, base + 18 + MARGIN, parts, title or describe(tree), " ".join(tree["words"]))


def describe(tree: TreeDict) -> str:
    """One line for who cannot see the picture."""
    return f"Tree with {len(tree['nodes'])} nodes over {len(tree['words'])} words"


def draw_tree_pair(gold: TreeDict, pred: TreeDict, matches: Iterable[Match], *, title: str = "") -> str:
    """Draw two trees face to face, gold above; nodes of a match carry the colour of its IoU (Struct-IoU, thesis 5.3).

    Each node has `data-node` (`gold-3`, `pred-2`) and, when matched, `data-match`, the node it is matched with.
    Trees over the same words share them; trees over different words share the axis of their times.

    >>> tree = {"words": ["cats"], "nodes": [{"label": "NP", "start": 0, "end": 1, "parent": -1}]}
    >>> 'data-match="pred-0"' in draw_tree_pair(tree, tree, [(0, 0, 1.0)])
    True
    """
    pairs = [(int(g), int(p), float(iou)) for g, p, iou in matches]
    same = list(gold["words"]) == list(pred["words"]) and gold.get("times") == pred.get("times")
    rows = _facing_rows(gold, pred, same, {p for _, p, iou in pairs if iou < 0.995})
    above, below = lay_tree(gold, rows[0]), lay_tree(pred, rows[1])
    base = MARGIN + 14 + above.height
    middle = base + (26 if same else 52)
    parts = [svg.label(MARGIN, MARGIN + 8, "gold", "gl-muted", anchor="start")]
    parts += draw_edges(gold, above, base) + draw_edges(pred, below, middle, up=False)
    parts += _matched_nodes(gold, above, base, -1, "gold", {g: (f"pred-{p}", iou) for g, p, iou in pairs})
    parts += _matched_nodes(pred, below, middle, 1, "pred", {p: (f"gold-{g}", iou) for g, p, iou in pairs})
    parts += draw_words(gold["words"], rows[0], base + 18)
    parts += [] if same else draw_words(pred["words"], rows[1], base + 44)
    bottom = middle + below.height + 20
    parts.append(svg.label(MARGIN, bottom, "predicted", "gl-muted", anchor="start"))
    total = max(rows[0].total, rows[1].total, 360)
    parts += _legend(total, bottom)
    text = f"{len(pairs)} of {len(gold['nodes'])} gold and {len(pred['nodes'])} predicted nodes are matched"
    return svg.picture(total, bottom + MARGIN, parts, title or "Two trees and the alignment of their nodes", text)


def _facing_rows(gold: TreeDict, pred: TreeDict, same: bool, numbered: Collection[int]) -> tuple[Row, Row]:
    """Where the words of both trees stand; `numbered` nodes of the prediction have their IoU beside them."""
    extra = [(a, b, wide + (48 if k in numbered else 0)) for k, (a, b, wide) in enumerate(needs_of(pred))]
    if same:
        row = lay_words(gold["words"], [*needs_of(gold), *extra])
        return row, row
    if gold.get("times") and pred.get("times"):
        needs = [
            (tree["times"][a][0], tree["times"][b - 1][1], w) for tree in (gold, pred) for a, b, w in needs_of(tree)
        ]
        first, last = min(start for start, _, _ in needs), max(end for _, end, _ in needs)
        scale = min(max(w / (end - start) for start, end, w in needs), 1400 / (last - first))
        return _timed_row(gold, first, scale), _timed_row(pred, first, scale)
    return lay_words(gold["words"], needs_of(gold)), lay_words(pred["words"], extra)


def _timed_row(tree: TreeDict, first: float, scale: float) -> Row:
    times: list[list[float]] = tree["times"]
    left, right = (tuple(MARGIN + (pair[side] - first) * scale for pair in times) for side in (0, 1))
    return Row(left, right, right[-1] + MARGIN)


def _matched_nodes(
    tree: TreeDict, at: Layout, base: float, sign: int, side: str, match: Mapping[int, tuple[str, float]]
) -> list[str]:
    parts: list[str] = []
    for k, node in enumerate(tree["nodes"]):
        other, iou = match.get(k, (None, None))
        x, y, half = at.x[k], base + sign * at.level[k] * at.step, at.half[k]
        tip = svg.element("title", f"matched, IoU {iou:.2f}" if iou is not None else "not matched")
        frame: dict[str, Any] = {"class_": "gl-accent-s"} if iou is not None else _UNMATCHED
        edge = svg.box(x - half, y - CHIP / 2, 2 * half, CHIP, **frame) if lines_of(node) else ""
        number = f"{iou:.2f}".lstrip("0") if side == "pred" and iou is not None and iou < 0.995 else ""
        edge += svg.label(x + half + 3, y + 4, number, "gl-muted", anchor="start", font_size=11) if number else ""
        parts.append(
            draw_node(
                node, x, y, half, share=iou, hue="accent", more=edge + tip, data_node=f"{side}-{k}", data_match=other
            )
        )
    return parts


_UNMATCHED: dict[str, Any] = {"class_": "gl-rose-s", "stroke_dasharray": "3 3", "stroke_width": "1.5"}


def _legend(total: float, y: float) -> list[str]:
    left = total - MARGIN - 84
    parts = [svg.label(left - 6, y, "IoU 0", "gl-muted", anchor="end", font_size=12)]
    for i in range(5):
        parts.append(svg.box(left + 14 * i, y - 10, 14, 12, "gl-accent", 0, fill_opacity=svg.opacity(i / 4)))
    parts.append(svg.label(left + 75, y, "1", "gl-muted", anchor="start", font_size=12))
    parts.append(svg.box(left - 158, y - 11, 22, 14, rx=4, **_UNMATCHED))
    return [*parts, svg.label(left - 130, y, "no match", "gl-muted", anchor="start", font_size=12)]
