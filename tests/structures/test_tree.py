"""Laws of trees."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.errors import DataError, FormatError
from groundling.structures import Segmentation, Span, Tree
from groundling.structures.nesting import child_spans
from oracles.structure_strategies import trees

MANY = settings(max_examples=150, deadline=None)


@MANY
@given(trees())
def test_spans_and_brackets_rebuild_the_tree(tree: Tree) -> None:
    assert Tree.from_spans(tree.words, tree.spans()) == tree
    assert Tree.from_brackets(str(tree)) == tree
    Tree(tree.words, tree.labels, tree.starts, tree.ends)  # passes its own checks


@MANY
@given(trees(), st.randoms(use_true_random=False))
def test_from_spans_takes_spans_in_any_order_where_none_are_equal(tree: Tree, rng) -> None:
    spans = list({(s.start, s.end): s for s in tree.spans()}.values())
    shuffled = rng.sample(spans, len(spans))
    assert Tree.from_spans(tree.words, shuffled) == Tree.from_spans(tree.words, spans)


@MANY
@given(trees())
def test_parents_are_the_smallest_nodes_around(tree: Tree) -> None:
    spans = tree.spans()
    assert tree.parents[0] == -1
    for node, parent in enumerate(tree.parents[1:], 1):
        around = [k for k in range(node) if spans[k].start <= spans[node].start and spans[node].end <= spans[k].end]
        assert parent == around[-1]


@MANY
@given(trees())
def test_arrays_say_the_same_as_the_fields(tree: Tree) -> None:
    arrays = tree.arrays
    assert arrays is tree.arrays  # computed once
    assert arrays.left.tolist() == list(tree.starts) and arrays.right.tolist() == list(tree.ends)
    assert arrays.parent.tolist() == list(tree.parents)
    for i, a in enumerate(tree.labels):
        for j, b in enumerate(tree.labels):
            assert (arrays.label[i] == arrays.label[j]) == (a == b)
    assert [k for k, leaf in enumerate(arrays.terminal) if leaf] == [
        k for k in range(len(tree.labels)) if k not in tree.parents
    ]


@MANY
@given(trees(), st.sampled_from(["left", "right"]))
def test_binarised_keeps_words_and_nodes_and_has_two_children_at_most(tree: Tree, direction: str) -> None:
    binary = tree.binarised(direction)
    assert binary.words == tree.words
    assert [s for s in binary.spans() if s in tree.spans()] == tree.spans() or set(tree.spans()) <= set(binary.spans())
    assert all(len(c) <= 2 for c in child_spans(binary.starts, binary.ends, binary.parents))
    more = sum(max(len(c) - 2, 0) for c in child_spans(tree.starts, tree.ends, tree.parents))
    assert len(binary.labels) == len(tree.labels) + more
    assert binary.binarised(direction) == binary


def test_binarised_branches_to_the_given_side() -> None:
    tree = Tree.from_brackets("(S a b c d)")
    assert str(tree.binarised("right")) == "(S a ( b ( c d)))"
    assert str(tree.binarised("left")) == "(S ( ( a b) c) d)"


@MANY
@given(trees(), st.data())
def test_without_drops_words_and_empty_nodes_only(tree: Tree, data: st.DataObject) -> None:
    drop = data.draw(st.sets(st.integers(0, len(tree.words) - 1)))
    rest = tree.without(drop)
    kept = [i for i in range(len(tree.words)) if i not in drop]
    if not kept:
        assert rest is None
        return
    assert rest is not None and rest.words == tuple(tree.words[i] for i in kept)
    alive = [s for s in tree.spans() if any(s.start <= i < s.end for i in kept)]
    assert [tuple(kept[i] for i in range(s.start, s.end)) for s in rest.spans()] == [
        tuple(i for i in kept if s.start <= i < s.end) for s in alive
    ]


@MANY
@given(trees())
def test_unlabelled_has_each_span_once_and_no_label(tree: Tree) -> None:
    bare = tree.unlabelled()
    expected = {(s.start, s.end) for s in tree.spans() if s.end - s.start > 1 or len(tree.words) == 1}
    assert not any(bare.labels)
    assert sorted(zip(bare.starts, bare.ends, strict=True)) == sorted(expected)


@MANY
@given(trees())
def test_characters_lie_side_by_side(tree: Tree) -> None:
    times = tree.in_characters().times
    assert times is not None
    assert [end - start for start, end in times] == [len(word) for word in tree.words]
    assert times[-1][1] == sum(map(len, tree.words))


def test_tags_and_preterminals() -> None:
    tree = Tree.from_brackets("(S (NP (D a) cat) (VP (V (X sleeps))))")
    assert tree.tags == ("D", "", "X")
    assert [label for label, is_tag in zip(tree.labels, tree.preterminals, strict=True) if is_tag] == ["D", "X"]
    assert tree.relabelled(str.lower).labels == ("s", "np", "d", "vp", "v", "x")


def test_times_come_from_segments_and_travel() -> None:
    tree = Tree.from_segments(Tree.from_brackets("(S a b c)"), Segmentation.from_boundaries([0.0, 0.5, 0.75, 2.0]))
    assert tree.unit == "seconds"
    assert tree.arrays.right.tolist() == [2.0]
    part = tree.without([0])
    assert part is not None and part.times == ((0.5, 0.75), (0.75, 2.0))
    assert tree.binarised().times == tree.times == tree.unlabelled().times
    assert tree.to_dict()["times"] == [[0.0, 0.5], [0.5, 0.75], [0.75, 2.0]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Tree(("a",), (), (), ()), "one entry a node"),
        (lambda: Tree(("a", "b"), ("S",), (0,), (1,)), "the first node must be the root over all 2 words"),
        (lambda: Tree.from_spans(["a", "b"], [(0, 3)]), "(0, 3) does not lie inside the 2 words"),
        (lambda: Tree.from_spans([], []), "does not lie inside the 0 words"),
        (lambda: Tree.from_spans("abc", [(0, 2), (1, 3)]), "(1, 3) crosses another"),
        (lambda: Tree(("a", "b"), ("S", "B", "A"), (0, 1, 0), (2, 2, 1)), "(0, 1) crosses another"),
        (lambda: Tree(("a",), ("S",), (0,), (1,), times=()), "1 words but 0 time intervals"),
        (lambda: Tree(("a",), ("S",), (0,), (1,), times=((1.0, 1.0),)), "the interval (1.0, 1.0) of 'a' is empty"),
        (lambda: Tree(("a",), ("S",), (0,), (1,), times=((0.0, float("nan")),)), "of 'a' is empty"),
        (lambda: str(Tree.from_spans(["a b"], [])), "the word 'a b' cannot stand in brackets"),
        (lambda: str(Tree.from_spans(["a"], [(0, 1, "(")])), "the label '(' cannot stand in brackets"),
        (lambda: str(Tree.from_spans([""], [])), "the word '' cannot stand in brackets"),
        (lambda: Tree.from_brackets(""), "no tree here"),
        (lambda: Tree.from_brackets("(a (b c)"), "1 bracket(s) are not closed"),
        (lambda: Tree.from_brackets("a (b c)"), "column 1: the word 'a' stands outside the tree"),
    ],
)
def test_what_is_no_tree_is_refused(make, message: str) -> None:
    with pytest.raises(FormatError, match=re.escape(message)):
        make()


def test_a_segmentation_of_another_length_is_refused() -> None:
    with pytest.raises(DataError, match="the tree has 2 words but the segmentation has 1 segments"):
        Tree.from_segments(Tree.from_brackets("(S a b)"), Segmentation.from_boundaries([0, 1]))


def test_a_bare_word_is_a_tree_and_a_missing_root_is_added() -> None:
    assert Tree.from_brackets("dog").spans() == [Span(0, 1, "")]
    assert Tree.from_spans(["a", "b"], [(1, 2, "B")]).spans() == [Span(0, 2, ""), Span(1, 2, "B")]
    assert Tree.from_brackets("(S (-LRB- -LRB-) (X -RRB-))").words == ("(", ")")
