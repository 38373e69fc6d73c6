"""read(write(x)) == x, for every format and every structure, plain and compressed."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundling.formats import aligned, brackets, conllu, ctm, pharaoh, samples, textgrid, wa
from groundling.structures import Dependencies, Segment, Segmentation
from oracles.structure_strategies import (
    ALIGNMENTS,
    MICROSECONDS,
    SAMPLES,
    TOKENS,
    aligned_pairs,
    dependencies,
    segmentations,
    trees,
)

MANY = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
SUFFIX = st.sampled_from(["", ".gz", ".xz"])


@pytest.fixture(autouse=True)
def no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


@MANY
@given(st.lists(trees(), max_size=4), SUFFIX)
def test_brackets_come_back(tmp_path: Path, items: list, suffix: str) -> None:
    path = tmp_path / f"x.trees{suffix}"
    brackets.write(path, items)
    assert list(brackets.read(path)) == items


@MANY
@given(st.lists(trees(labels=TOKENS), max_size=4))
def test_labelled_brackets_come_back_whatever_the_labels(tmp_path: Path, items: list) -> None:
    brackets.write(tmp_path / "x.trees", items)
    assert list(brackets.read(tmp_path / "x.trees", labelled=True)) == items


@MANY
@given(st.lists(trees(), min_size=1, max_size=4))
def test_pretty_printed_brackets_are_the_same_trees(tmp_path: Path, items: list) -> None:
    text = "\n\n".join("# a comment\n( " + str(tree).replace("(", "\n  (") + "\n  )" for tree in items)
    (tmp_path / "x.mrg").write_text(text, encoding="utf-8")
    read = list(brackets.read(tmp_path / "x.mrg"))
    assert [tree.words for tree in read] == [tree.words for tree in items]
    assert [tree.spans()[1:] for tree in read] == [tree.spans() for tree in items]


@MANY
@given(st.lists(dependencies(), max_size=3), SUFFIX)
def test_conllu_comes_back(tmp_path: Path, items: list, suffix: str) -> None:
    path = tmp_path / f"x.conllu{suffix}"
    conllu.write(path, items)
    assert list(conllu.read(path)) == items


@MANY
@given(st.lists(dependencies(), max_size=3))
def test_conllu_without_rows_keeps_words_heads_labels_tags(tmp_path: Path, items: list[Dependencies]) -> None:
    bare = [Dependencies(x.words, x.heads, x.labels, x.tags) for x in items]
    conllu.write(tmp_path / "x.conllu", bare)
    read = list(conllu.read(tmp_path / "x.conllu"))
    assert [Dependencies(x.words, x.heads, x.labels, x.tags) for x in read] == bare


@MANY
@given(st.lists(ALIGNMENTS, max_size=4), SUFFIX, st.sampled_from([0, 1]))
def test_pharaoh_comes_back(tmp_path: Path, items: list, suffix: str, base: int) -> None:
    path = tmp_path / f"x.pharaoh{suffix}"
    pharaoh.write(path, items, base=base)
    assert list(pharaoh.read(path, base=base)) == items


@MANY
@given(st.lists(ALIGNMENTS, max_size=4))
def test_wa_comes_back(tmp_path: Path, items: list) -> None:
    wa.write(tmp_path / "x.wa", items)
    assert list(wa.read(tmp_path / "x.wa", count=len(items))) == items


@MANY
@given(st.lists(aligned_pairs(), max_size=4))
def test_aligned_pairs_come_back(tmp_path: Path, items: list) -> None:
    aligned.write(tmp_path / "x.tsv", items)
    assert list(aligned.read(tmp_path / "x.tsv")) == items


@MANY
@given(st.lists(segmentations(MICROSECONDS), min_size=1, max_size=3), SUFFIX)
def test_textgrid_comes_back(tmp_path: Path, items: list[Segmentation], suffix: str) -> None:
    end = max([1.0, *(s.end for item in items for s in item.segments)])
    items = [Segmentation(item.segments, end, item.id) for item in items]
    textgrid.write(tmp_path / f"x.TextGrid{suffix}", items)
    assert list(textgrid.read(tmp_path / f"x.TextGrid{suffix}")) == items


@MANY
@given(st.lists(segmentations(MICROSECONDS | st.floats(1e-6, 1e6), 1), max_size=3, unique_by=lambda s: s.id))
def test_ctm_comes_back_to_the_last_bit(tmp_path: Path, items: list) -> None:
    items = [item for item in items if not item.id.startswith(";;")]
    ctm.write(tmp_path / "x.ctm", items)
    assert list(ctm.read(tmp_path / "x.ctm")) == [replace(item, segments=silent(item.segments)) for item in items]


def silent(segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
    """`<eps>` is how CTM writes no word."""
    return tuple(s._replace(word="") if s.word == "<eps>" else s for s in segments)


@MANY
@given(st.lists(SAMPLES, max_size=3, unique_by=lambda s: s.task_id), SUFFIX)
def test_samples_come_back(tmp_path: Path, items: list, suffix: str) -> None:
    path = tmp_path / f"x.jsonl{suffix}"
    samples.write(path, items)
    assert list(samples.read(path)) == items
