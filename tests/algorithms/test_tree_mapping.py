import numpy as np
import pytest
from hypothesis import given, settings

from groundling.algorithms.tree_mapping import best_mapping, mapping_totals
from groundling.errors import DataError
from groundling.structures import Tree
from oracles.random_trees import small_trees
from oracles.struct_iou import descendants, total_by_enumeration, total_by_recursion

words, times = small_trees(), small_trees(timed=True)


@given(times, times)
@settings(max_examples=250, deadline=None)
def test_total_equals_exhaustive_search_and_the_recursion_of_the_thesis(a: Tree, b: Tree) -> None:
    for labels in (True, False):
        expected = total_by_enumeration(a, b, labels)
        assert total_by_recursion(a, b, labels) == pytest.approx(expected)
        assert best_mapping(a, b, labels=labels).total == pytest.approx(expected)


big = small_trees(max_words=12, max_nodes=25, labels="ABC")


@given(big, big)
@settings(max_examples=100, deadline=None)
def test_total_equals_the_recursion_on_larger_trees(a: Tree, b: Tree) -> None:
    assert best_mapping(a, b).total == pytest.approx(total_by_recursion(a, b))


@given(big, big)
@settings(max_examples=100, deadline=None)
def test_the_pairs_are_a_valid_mapping_with_the_total_they_claim(a: Tree, b: Tree) -> None:
    mapping = best_mapping(a, b)
    below_a, below_b = descendants(a), descendants(b)
    assert mapping.total == pytest.approx(mapping_totals([a, b], [(0, 1)])[0])
    for i, j, iou in mapping.matches:
        assert a.labels[i] == b.labels[j] and iou > 0
        for k, m, _ in mapping.matches:
            assert (i == k) == (j == m)
            assert (k in below_a[i]) == (m in below_b[j])


@given(words, words)
@settings(max_examples=100, deadline=None)
def test_total_is_symmetric_and_largest_with_itself(a: Tree, b: Tree) -> None:
    there, back, self_a = mapping_totals([a, b], [(0, 1), (1, 0), (0, 0)])
    assert there == pytest.approx(back)
    assert self_a == pytest.approx(len(a.labels)) and there <= self_a + 1e-9


def test_both_decompositions_agree_on_left_and_right_branching_trees() -> None:
    left = Tree.from_brackets("(X (X (X (T a) (T b)) (T c)) (T d))")
    right = Tree.from_brackets("(X (T a) (X (T b) (X (T c) (T d))))")
    for a, b in [(left, left), (right, right), (left, right)]:
        assert best_mapping(a, b).total == pytest.approx(total_by_recursion(a, b))


def test_terminals_any_lets_tags_match_tags_but_not_phrases() -> None:
    a, b = Tree.from_brackets("(S (N dogs) (V bark))"), Tree.from_brackets("(S (N dogs) (N bark))")
    assert best_mapping(a, b).total == 2.0
    assert best_mapping(a, b, terminals="any").total == 3.0
    phrase = Tree.from_brackets("(S (N dogs) (X (V bark)))")
    assert [m.second for m in best_mapping(b, phrase, terminals="any").matches] == [0, 1, 3]


def test_threshold_forbids_weak_pairs() -> None:
    a, b = Tree.from_brackets("(X a (Y b c))"), Tree.from_brackets("(X a b (Y c))")
    assert best_mapping(a, b).total == pytest.approx(1.5)
    assert best_mapping(a, b, threshold=0.5).total == pytest.approx(1.5)
    assert best_mapping(a, b, threshold=0.51).total == pytest.approx(1.0)


def test_long_and_deep_trees_work() -> None:
    chain = Tree.from_brackets("(X " * 1000 + "w" + ")" * 1000)
    assert best_mapping(chain, chain).total == 1000
    right = Tree.from_brackets("(X (T w) " * 399 + "(T w)" + ")" * 399)
    left = Tree.from_brackets("(X " * 399 + "(T w)" + " (T w))" * 399)
    assert best_mapping(right, right).total == pytest.approx(799)
    assert 400 < best_mapping(left, right).total < 799


def test_many_pairs_of_different_sizes_in_one_call_equal_one_by_one() -> None:
    texts = ["(S (N dogs) (V bark))", "(S (N dogs) (VP (V see) (NP (D a) (N cat))))", "(N dogs)", "(S a (X b c) d)"]
    trees = [Tree.from_brackets(text) for text in texts]
    index = [(i, j) for i in range(4) for j in range(4)]
    one_by_one = [best_mapping(trees[i], trees[j]).total for i, j in index]
    assert np.allclose(mapping_totals(trees, index), one_by_one)
    assert mapping_totals(trees, []).shape == (0,)


def test_different_units_are_an_error() -> None:
    tree = Tree.from_brackets("(S a b)")
    with pytest.raises(DataError, match="one tree is measured in words, the other in characters"):
        best_mapping(tree, tree.in_characters())
    with pytest.raises(DataError, match="Put both on the same axis"):
        mapping_totals([tree, tree.in_characters()], [(0, 0), (0, 1)])
