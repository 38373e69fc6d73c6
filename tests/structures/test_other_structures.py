"""Laws of dependencies, alignments, segmentations and programs."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.errors import DataError, FormatError
from groundling.structures import Alignment, Dependencies, Program, Samples, Segmentation, SoftDependencies
from groundling.structures.alignment import union
from oracles.structure_strategies import ALIGNMENTS, MICROSECONDS, dependencies, head_lists, segmentations

MANY = settings(max_examples=150, deadline=None)


def tree_of(heads: list[int]) -> Dependencies:
    return Dependencies(tuple("w" for _ in heads), tuple(heads), tuple("x" for _ in heads))


@MANY
@given(head_lists())
def test_faults_are_empty_exactly_for_trees_with_one_root(heads: list[int]) -> None:
    graph = nx.DiGraph((head, word) for word, head in enumerate(heads, 1))
    is_tree = graph.number_of_nodes() == len(heads) + 1 and nx.is_arborescence(graph)
    assert (tree_of(heads).faults() == []) == (is_tree and heads.count(0) == 1)


@MANY
@given(head_lists())
def test_the_cycle_that_is_named_is_one(heads: list[int]) -> None:
    named = [fault for fault in tree_of(heads).faults() if "cycle" in fault]
    for fault in named:
        loop = [int(word) for word in fault.removeprefix("words ").split(" form")[0].split(" -> ")]
        assert loop[0] == loop[-1]
        assert all(heads[a - 1] == b for a, b in pairwise(loop))


@MANY
@given(dependencies(), st.data())
def test_with_arcs_changes_head_and_deprel_only(tree: Dependencies, data: st.DataObject) -> None:
    heads = data.draw(head_lists(len(tree.words)).filter(lambda h: len(h) == len(tree.words)))
    new = tree.with_arcs(heads, ["y"] * len(heads))
    assert new.heads == tuple(heads) and new.words == tree.words and new.comments == tree.comments
    for old, row in zip(tree.rows, new.rows, strict=True):
        assert old == row if not old[0].isdigit() else (old[:6], old[8:]) == (row[:6], row[8:])
    assert [row[6] for row in new.rows if row[0].isdigit()] == [str(head) for head in heads]


def test_the_sentence_id_is_found() -> None:
    tree = Dependencies(("a",), (0,), ("root",), comments=("# text = sent_id = no", "#sent_id=s 1"))
    assert tree.id == "s 1"
    assert tree_of([0]).id == ""
    assert tree.to_dict() == {"words": ["a"], "heads": [0], "labels": ["root"], "id": "s 1"}
    assert str(tree).splitlines()[2] == "1\ta\t_\t_\t_\t_\t0\troot\t_\t_"


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: Dependencies(("a",), (), ()), FormatError, "must have one entry a word"),
        (lambda: Dependencies(("a",), (0,), ("x",), ("A", "B")), FormatError, "must have one entry a word"),
        (lambda: tree_of([2]), FormatError, "HEAD of word 1"),
        (lambda: tree_of([1]), FormatError, "no word is its own head"),
        (lambda: tree_of([0]).with_arcs([], []), DataError, "1 words but 0 heads and 0 labels"),
        (lambda: SoftDependencies(("a",), np.ones((1, 1))), DataError, "1 words need arcs of shape"),
        (lambda: SoftDependencies(("a",), np.ones((2, 2))), DataError, "arc rows must be distributions"),
        (lambda: SoftDependencies(("a",), np.full((2, 2), np.nan)), DataError, "arc rows must be distributions"),
        (
            lambda: SoftDependencies(("a",), np.eye(2), np.ones((2, 2, 3)), ("x",)),
            DataError,
            "do not fit",
        ),
        (lambda: Alignment(frozenset({(-1, 0)})), FormatError, "a link has a negative position"),
        (lambda: Alignment(frozenset({(0, 3)})).matrix(2, 2), FormatError, "0-3 lies outside a pair of 2 and 2 words"),
        (lambda: Segmentation.from_boundaries([0, 0.5, 0.5]), FormatError, "Times are in seconds and must rise"),
        (lambda: Segmentation.from_boundaries([0, float("inf")]), FormatError, "is not a number"),
        (lambda: Segmentation.from_boundaries([-1, 1]), FormatError, "must rise"),
        (lambda: Segmentation.from_boundaries([0, 1], ["a", "b"]), FormatError, "2 words but 2 boundaries"),
        (lambda: Samples("", ()), FormatError, "a sample has no task_id"),
    ],
)
def test_what_makes_no_sense_is_refused(make, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        make()


def test_soft_dependencies_print_the_likeliest_heads() -> None:
    soft = SoftDependencies(("a", "b"), np.array([[0, 0, 0], [0.25, 0, 0.75], [1, 0, 0]]))
    assert str(soft) == "a<-2:0.75 b<-0:1.00"
    assert soft.to_dict()["arcs"][1] == [0.25, 0.0, 0.75]


@MANY
@given(ALIGNMENTS)
def test_alignment_laws(alignment: Alignment) -> None:
    assert alignment.sure <= alignment.possible
    assert alignment.inverted().inverted() == alignment
    assert Alignment.from_pharaoh(str(alignment)) == alignment
    assert Alignment.from_pharaoh(alignment.pharaoh(base=1), base=1) == alignment
    assert alignment.matrix(100, 100).sum() == len(alignment.sure)
    assert Alignment.from_matrix(alignment.matrix(100, 100)).sure == alignment.sure
    assert union([alignment, alignment.inverted()]) == union([alignment.inverted(), alignment])
    assert union([alignment]) == alignment


def test_probabilities_are_read_and_written() -> None:
    alignment = Alignment.from_pharaoh("0-0:0.25 1?2")
    assert alignment.pharaoh(probabilities=True) == "0-0:0.25 1p2"
    assert alignment.inverted().to_dict(["a"])["probabilities"] == [[0, 0, 0.25]]
    assert union([]) == Alignment(frozenset())


@MANY
@given(segmentations(MICROSECONDS))
def test_segmentation_laws(segmentation: Segmentation) -> None:
    assert list(segmentation.boundaries) == sorted(set(segmentation.boundaries))
    rate = 100.0
    for (first, last), segment in zip(segmentation.frames(rate), segmentation.segments, strict=True):
        assert last > first and abs(first - segment.start * rate) <= 0.5
    assert len(str(segmentation).splitlines()) >= len(segmentation.segments)
    assert segmentation.to_dict()["id"] == segmentation.id


@MANY
@given(st.sets(st.integers(0, 10_000), min_size=2, max_size=8).map(sorted))
def test_frames_come_back(edges: list[int]) -> None:
    frames = list(pairwise(edges))
    assert Segmentation.from_frames(frames, rate=50).frames(50) == frames


def test_silence_is_dropped() -> None:
    segmentation = Segmentation.from_boundaries([0, 1, 2, 3, 4], ["sil", "a", "SP"])
    assert segmentation.without_silence().words == ("a",)


def test_programs_know_their_mean_log_probability() -> None:
    assert Program("x", logprob=-3.0, tokens=2).mean_logprob == -1.5
    assert Program("x", logprob=-3.0).mean_logprob is None
    assert Program("x", logprob=-3.0, tokens=0).mean_logprob is None
    assert str(Program("x")) == "x"
    samples = Samples("t", (Program("x"),))
    assert len(samples) == 1 and str(samples) == "t: 1 programs"
