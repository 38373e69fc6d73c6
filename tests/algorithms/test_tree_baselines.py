"""Branching, perturbed and ambiguous trees."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.algorithms.ambiguity import plausible_trees
from groundling.algorithms.branching import left_branching, random_binary, right_branching
from groundling.algorithms.perturbation import PERTURBATIONS, boundaries, delete, insert, noise, without_silence
from groundling.metrics import ParsEval, StructIoU
from groundling.structures import Tree
from oracles.random_trees import small_trees


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_baselines_are_binary_over_all_words(count: int) -> None:
    words = [f"w{i}" for i in range(count)]
    rng = np.random.default_rng(0)
    for tree in (left_branching(words), right_branching(words), random_binary(words, rng)):
        assert tree.words == tuple(words)
        assert len(tree.labels) == max(count - 1, 1)
        assert len(set(zip(tree.starts, tree.ends, strict=True))) == len(tree.labels)


def test_random_trees_join_random_neighbours() -> None:
    rng = np.random.default_rng(0)
    drawn = Counter(str(random_binary("abcd", rng)) for _ in range(6000))
    # Three merges of 3 x 2 x 1 orders: the balanced tree has two of them, the four others one each.
    assert len(drawn) == 5
    assert drawn["( ( a b ) ( c d ) )"] == pytest.approx(2000, abs=150)
    assert drawn["( a ( b ( c d ) ) )"] == pytest.approx(1000, abs=120)


def test_plausible_trees_are_distinct_and_follow_the_grammar() -> None:
    trees = plausible_trees(4)
    assert len({str(tree) for tree in trees}) == len(trees) == 14
    for tree in trees:
        children: dict[int, list[str]] = {}
        for node, parent in enumerate(tree.parents):
            children.setdefault(parent, []).append(tree.labels[node])
        rules = {(tree.labels[p], *kids) for p, kids in children.items() if p >= 0}
        assert rules <= {("NP", "N"), ("NP", "NP", "PP"), ("PP", "P", "NP")}


def test_lowest_parseval_of_two_plausible_trees_is_12_5() -> None:
    trees = [tree.unlabelled() for tree in plausible_trees(8)]
    spans = [set(zip(tree.starts, tree.ends, strict=True)) for tree in trees]
    lowest = min(2 * len(spans[0] & other) / (len(spans[0]) + len(other)) for other in spans)
    assert lowest == 0.125
    worst = min(range(len(trees)), key=lambda i: len(spans[0] & spans[i]))
    assert ParsEval("vgnsl").score(trees[0], trees[worst]).value == 0.125


timed = small_trees(max_words=6, max_nodes=9, timed=True)


@given(timed, st.sampled_from(sorted(PERTURBATIONS)), st.floats(0, 1), st.integers(0, 99))
@settings(max_examples=150, deadline=None)
def test_perturbed_trees_are_trees_over_the_same_stretch(tree: Tree, kind: str, delta: float, seed: int) -> None:
    perturbed = PERTURBATIONS[kind](tree, delta, np.random.default_rng(seed))
    Tree(perturbed.words, perturbed.labels, perturbed.starts, perturbed.ends, perturbed.times, perturbed.unit)  # checks
    edges, new = boundaries(tree), boundaries(perturbed)
    assert new[0] == edges[0] and new[-1] == pytest.approx(edges[-1])
    assert perturbed == PERTURBATIONS[kind](tree, delta, np.random.default_rng(seed))


@given(timed, st.integers(0, 99))
@settings(max_examples=50, deadline=None)
def test_no_perturbation_changes_nothing_and_the_extremes_are_extreme(tree: Tree, seed: int) -> None:
    rng = np.random.default_rng(seed)
    smooth = without_silence(tree)
    for perturb in PERTURBATIONS.values():
        assert StructIoU().score(smooth, perturb(tree, 0.0, rng)).value == pytest.approx(1)
    assert len(insert(tree, 1.0, rng).words) == 2 * len(tree.words)
    assert len(delete(tree, 1.0, rng).words) == 1
    assert len(noise(tree, 1.0, rng).words) == len(tree.words)


def test_insert_splits_the_word_and_keeps_longer_constituents() -> None:
    tree = Tree.from_brackets("(S (NP (D a) (N cat)) (V runs))")
    assert str(insert(tree, 1.0, np.random.default_rng(0))) == (
        "(S (NP (D a) (D a) (N cat) (N cat)) (V runs) (V runs))"
    )


def test_delete_joins_words_and_drops_what_is_left_empty() -> None:
    tree = Tree.from_brackets("(S (NP (D a) (N cat)) (VP (V runs)))")
    joined = delete(tree, 1.0, np.random.default_rng(0))
    assert str(joined) == "(S (NP (D a)))" and joined.times == ((0.0, 3.0),)
