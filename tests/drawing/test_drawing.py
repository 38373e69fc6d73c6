"""Every picture is well-formed, the same each time, safe with any text, and nothing in it overlaps."""

from __future__ import annotations

import math
from itertools import combinations, pairwise
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing.strategies import HOSTILE, alignments, dependencies, segmentations, trees, words
from groundling.drawing.alignments import draw_grid, draw_links
from groundling.drawing.arcs import Arc, draw_arcs, draw_soft_arcs, lay_arcs, levels_of, ports_of
from groundling.drawing.charts import draw_bars, draw_curves
from groundling.drawing.parse_chart import draw_chart, draw_derivation
from groundling.drawing.programs import draw_agreement
from groundling.drawing.rows import lay_words
from groundling.drawing.scenes import draw_scene
from groundling.drawing.text import shorten, width
from groundling.drawing.ticks import ticks
from groundling.drawing.timeline import draw_segments, draw_timed_tree
from groundling.drawing.trees import chip_width, draw_tree, draw_tree_pair, lay_tree
from groundling.structures import Alignment, Dependencies, Segmentation, SoftDependencies, Tree

SVG = "{http://www.w3.org/2000/svg}"
few = settings(max_examples=40, deadline=None)


def parse(picture: str) -> ElementTree.Element:
    """Parse the picture and check what holds of all of them."""
    picture.encode("utf-8")
    root = ElementTree.fromstring(picture)
    assert root.tag == f"{SVG}svg" and root.get("role") == "img"
    assert root[0].tag == f"{SVG}title" and root[0].text
    allowed = {"svg", "title", "desc", "style", "rect", "text", "path", "g", "circle", "ellipse"}
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in allowed
        assert not any(name.startswith("on") or "href" in name for name in element.keys())  # noqa: SIM118
        for name in ("x", "y", "cx", "cy", "width", "height", "r"):
            assert math.isfinite(float(element.get(name, "0").removesuffix("px")))
        assert "nan" not in element.get("d", "") and "inf" not in element.get("d", "")
    return root


def marked(root: ElementTree.Element, name: str) -> list[str]:
    return [value for element in root.iter() if (value := element.get(name)) is not None]


@few
@given(trees(), st.data())
def test_trees_draw_each_node_and_word_once(tree: Tree, data: st.DataObject) -> None:
    colours = data.draw(st.none() | st.lists(st.none() | st.floats(0, 1), min_size=9, max_size=9))
    picture = draw_tree(tree.to_dict(), colours)
    root = parse(picture)
    assert marked(root, "data-node") == [str(k) for k in range(len(tree.labels))]
    assert picture == draw_tree(tree.to_dict(), colours)


@few
@given(trees())
def test_siblings_and_their_labels_never_overlap(tree: Tree) -> None:
    plain = tree.to_dict()
    at = lay_tree(plain)
    for a, b in combinations(range(len(tree.labels)), 2):
        if at.level[a] == at.level[b]:
            assert abs(at.x[a] - at.x[b]) >= at.half[a] + at.half[b] - 1e-6
        if tree.parents[a] == tree.parents[b] and tree.ends[a] <= tree.starts[b]:
            left, right = sorted(
                [
                    (min(at.row.left[s:e]), max(at.row.right[s:e]))
                    for s, e in ((tree.starts[k], tree.ends[k]) for k in (a, b))
                ]
            )
            assert left[1] <= right[0] + 1e-6
    for k, node in enumerate(plain["nodes"]):
        assert at.half[k] * 2 == chip_width(node)
        parent = tree.parents[k]
        assert parent < 0 or at.level[parent] > at.level[k]
        assert at.x[k] - at.half[k] >= 0 and at.x[k] + at.half[k] <= at.row.total


@few
@given(trees(), trees())
def test_tree_pairs_mark_both_ends_of_a_match(gold: Tree, pred: Tree) -> None:
    matches = [(k, k, 1 / (k + 1)) for k in range(min(len(gold.labels), len(pred.labels)))]
    root = parse(draw_tree_pair(gold.to_dict(), pred.to_dict(), matches))
    assert len(marked(root, "data-node")) == len(gold.labels) + len(pred.labels)
    assert sorted(marked(root, "data-match")) == sorted(
        [f"gold-{k}" for k, _, _ in matches] + [f"pred-{k}" for k, _, _ in matches]
    )


def test_timed_pairs_share_one_axis() -> None:
    spoken = [Segmentation.from_boundaries(edges) for edges in ([0.0, 0.5, 2.0], [0.0, 2.0])]
    bare = [Tree.from_brackets("(S (A a) (B b))"), Tree.from_brackets("(S (C c))")]
    gold, pred = (Tree.from_segments(tree, times).to_dict() for tree, times in zip(bare, spoken, strict=True))
    root = parse(draw_tree_pair(gold, pred, [(0, 0, 1.0)]))
    nodes = {e.get("data-node"): e for e in root.iter() if e.get("data-node")}
    centre = {name: float(node.find(f"{SVG}text").get("x")) for name, node in nodes.items()}  # type: ignore[union-attr]
    assert centre["gold-0"] == centre["pred-0"] == centre["pred-1"]


def test_speech_late_in_a_recording_is_drawn_as_speech_at_its_start() -> None:
    bare = [Tree.from_brackets("(S (A a) (B b))"), Tree.from_brackets("(S (C c))")]

    def drawn(begin: float) -> str:
        spoken = [Segmentation.from_boundaries([begin + t for t in edges]) for edges in ([0.0, 0.5, 2.0], [0.0, 2.0])]
        gold, pred = (Tree.from_segments(tree, times).to_dict() for tree, times in zip(bare, spoken, strict=True))
        return draw_tree_pair(gold, pred, [(0, 0, 1.0)])

    assert drawn(0.0) == drawn(64.0)


@few
@given(dependencies())
def test_arcs_draw_any_heads(tree) -> None:
    root = parse(draw_arcs(tree.to_dict()))
    expected = [f"{head - 1}-{i}" for i, head in enumerate(tree.heads)]
    assert sorted(marked(root, "data-arc")) == sorted(expected)


@few
@given(dependencies())
def test_arcs_on_one_level_share_no_ground_and_no_port(tree) -> None:
    arcs = [Arc(head - 1, i, "x") for i, head in enumerate(tree.heads)]
    levels, ports = levels_of(arcs), ports_of(arcs, lay_arcs(tree.words, arcs))
    for (a, la), (b, lb) in combinations(list(zip(arcs, levels, strict=True)), 2):
        if la == lb and a.head >= 0 and b.head >= 0:
            (low, high), (low2, high2) = sorted(a[:2]), sorted(b[:2])
            assert high <= low2 or high2 <= low
    by_word = sorted((word, x) for (_, word), x in ports.items())
    assert all(w != v or y - x > 1 for (w, x), (v, y) in pairwise(by_word))


def test_soft_arcs_leave_out_the_unlikely_and_keep_the_root() -> None:
    table = {"words": ["a", "b"], "arcs": [[0, 0, 0], [0.95, 0, 0.05], [0.3, 0.7, 0]]}
    assert sorted(marked(parse(draw_soft_arcs(table)), "data-arc")) == ["-1-0", "-1-1", "0-1"]
    assert "1-0" in marked(parse(draw_soft_arcs(table, least=0.01)), "data-arc")


@few
@given(alignments())
def test_alignments_draw_every_link_even_beyond_the_words(alignment: dict) -> None:
    expected = sorted(f"{i}-{j}" for i, j in [*alignment["sure"], *alignment["possible"]])
    for draw in (draw_grid, draw_links):
        assert sorted(marked(parse(draw(alignment)), "data-link")) == expected


@few
@given(segmentations(), st.lists(st.floats(-1, 1), max_size=50))
def test_segments_and_timed_trees_draw_under_any_sound(found: Segmentation, wave: list[float]) -> None:
    root = parse(draw_segments(found.to_dict(), wave, found.to_dict()))
    assert len(marked(root, "data-segment")) == 2 * len(found.segments)
    flat = Tree.from_spans(found.words, [(0, len(found.words), "S")])
    root = parse(draw_timed_tree(Tree.from_segments(flat, found).to_dict(), wave))
    assert marked(root, "data-node") == ["0"]


def test_sound_and_words_share_the_axis() -> None:
    """A click in the middle of the recording is drawn over the word that stands there."""
    wave = [0.0] * 50 + [1.0] + [0.0] * 49
    tree = Tree.from_segments(Tree.from_brackets("(S a)"), Segmentation.from_boundaries([0.9, 1.1])).to_dict()
    root = parse(draw_timed_tree(tree, wave, duration=2.0))
    outline = next(e.get("d", "") for e in root.iter(f"{SVG}path") if e.get("fill-opacity") == "0.6")
    points = [tuple(map(float, point.split())) for point in outline.strip("MZ").split("L")]
    word = next(e for e in root.iter() if e.get("data-segment") == "0").find(f"{SVG}rect")
    assert word is not None
    click, left = min(points, key=lambda point: point[1])[0], float(word.get("x", "0"))
    assert left <= click <= left + float(word.get("width", "0"))


def test_segments_draw_none_at_all() -> None:
    parse(draw_segments({"segments": [], "duration": None}))
    parse(draw_segments({"segments": [], "duration": 2.0}, []))


@few
@given(st.lists(st.tuples(words, st.lists(st.none() | st.floats(), max_size=5)), max_size=4))
def test_curves_and_bars_take_any_numbers(rows) -> None:
    series = [{"name": name, "x": list(range(len(ys))), "y": ys, "low": ys, "high": ys} for name, ys in rows]
    if all(y is None or not math.isfinite(y) or abs(y) < 1e300 for _, ys in rows for y in ys):
        assert len(marked(parse(draw_curves(series)), "data-series")) == len(rows)
        parse(draw_bars([{"name": name, "value": y, "low": y, "reference": 1} for name, ys in rows for y in ys]))


def test_curves_break_where_a_value_is_missing() -> None:
    series = {"name": "f1", "x": [0, 1, 2, 3, 4], "y": [1, 2, None, 3, 4]}
    paths = [e.get("d", "") for e in parse(draw_curves([series])).iter(f"{SVG}path") if e.get("stroke-width") == "2"]
    assert [path.count("M") for path in paths] == [1 + 1]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_picture_lets_text_become_markup(text: str) -> None:
    nodes = [{"label": text, "start": 0, "end": 1, "parent": -1, "type": text, "program": text}]
    thing = {"shape": text, "colour": text, "size": text, "material": text, "x": 0, "y": 0}
    cell = {"start": 0, "end": 1, "entries": [{"text": text, "weight": 0.5}] * 5}
    pictures = [
        draw_tree({"words": [text], "nodes": nodes}, title=text),
        draw_derivation({"words": [text], "nodes": nodes}),
        draw_chart({"words": [text], "cells": [cell]}),
        draw_scene([thing], {0}, title=text),
        draw_agreement(
            [{"result": text, "programs": [0, 1]}, {"result": text, "programs": [2], "failed": True}], chosen=0
        ),
        draw_curves([{"name": text, "x": [1], "y": [1]}], x_label=text, y_label=text),
        draw_bars([{"name": text, "value": 1}]),
    ]
    for picture in pictures:
        parse(picture)
        assert "<script" not in picture and "<img" not in picture


def test_scene_rings_what_is_highlighted_and_fades_the_rest() -> None:
    things = [
        {"shape": s, "color": "red", "size": "large", "material": "metal", "x": i - 1, "y": i}
        for i, s in enumerate(("cube", "sphere", "cylinder"))
    ]
    root = parse(draw_scene(things, {1}))
    rings = [e for e in root.iter(f"{SVG}circle") if e.get("class") == "gl-warm-s"]
    faded = [e for e in root.iter(f"{SVG}g") if e.get("opacity") == "0.35"]
    assert (len(rings), len(faded)) == (1, 2)


def test_agreement_puts_failures_last_and_the_largest_group_first() -> None:
    groups = [
        {"result": "error", "programs": [0, 1, 2], "failed": True},
        {"result": "small", "programs": [3]},
        {"result": "large", "programs": [4, 5]},
    ]
    assert marked(parse(draw_agreement(groups, chosen=4)), "data-program") == ["4", "5", "3", "0", "1", "2"]


def test_chart_has_a_cell_for_every_span() -> None:
    cell = {"start": 0, "end": 2, "entries": [{"text": "V"}]}
    cells = marked(parse(draw_chart({"words": ["a", "b", "c"], "cells": [cell]})), "data-cell")
    assert sorted(cells) == ["0-1", "0-2", "0-3", "1-2", "1-3", "2-3"]


def test_right_to_left_words_run_from_right_to_left() -> None:
    row = lay_words(["الولد", "يقرأ", "الكتاب"])
    assert row.left[0] > row.left[1] > row.left[2]
    assert lay_words(["a", "b"]).left[0] < lay_words(["a", "b"]).left[1]


def test_eighty_words_and_a_deep_chain_draw_at_once() -> None:
    many = Tree.from_spans([f"w{i}" for i in range(80)], [(i, 80, "X") for i in range(79)])
    deep = Tree.from_spans(["w"], [(0, 1, "X")] * 3000)
    for tree in (many, deep):
        assert len(marked(parse(draw_tree(tree.to_dict())), "data-node")) == len(tree.labels)


STRUCTURES = (
    Tree.from_brackets("(NP (D a) (N cat))"),
    Dependencies(("dogs", "bark"), (2, 0), ("nsubj", "root")),
    SoftDependencies(("dogs", "bark"), np.array([[0, 0, 0], [0.1, 0, 0.9], [0.8, 0.2, 0]])),
    Alignment.from_pharaoh("0-0 1p1"),
    Segmentation.from_boundaries([0.0, 0.3, 0.9]),
)


@pytest.mark.parametrize("one", STRUCTURES, ids=[type(one).__name__ for one in STRUCTURES])
def test_a_structure_draws_itself_in_a_notebook(one: Any) -> None:
    parse(one._repr_svg_())


def test_programs_at_nodes_have_room_and_are_not_cut() -> None:
    """Fixed-width letters are wider than the narrow letters that programs are made of."""
    program = "λf.λx.repeat(f(x), times4)"
    node = {"start": 0, "end": 1, "parent": -1, "type": "V", "program": program}
    assert program in draw_derivation({"words": ["around"], "nodes": [node]})
    assert chip_width({**node, "lines": ["V", program]}) >= 14 * 0.6 * len(program)


@given(st.text(max_size=40), st.integers(3, 30))
def test_shortened_text_keeps_its_ends_and_its_limit(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert len(short) <= limit and short[0:1] == text[0:1] and short[-1:] == text[-1:]
    assert width(short) >= 0


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e6), st.integers(1, 12))
def test_ticks_rise_and_stay_inside(low: float, span: float, count: int) -> None:
    marks = ticks(low, low + span, count)
    assert marks == sorted(set(marks)) and len(marks) <= count + 2
    assert all(low - span * 1e-6 - 1e-9 <= mark <= low + span * (1 + 1e-6) + 1e-9 for mark in marks)
