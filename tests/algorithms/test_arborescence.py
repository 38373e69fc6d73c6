import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from groundling.algorithms.arborescence import maximum_arborescence
from groundling.algorithms.eisner import best_projective_tree
from groundling.errors import DataError
from oracles.dependency_trees import all_trees, is_projective, reaches_root, total

TREES = {n: list(all_trees(n)) for n in range(1, 6)}
FORESTS = {n: list(all_trees(n, single_root=False)) for n in range(1, 5)}
small = st.integers(1, 5).flatmap(
    lambda n: arrays(np.float64, (n + 1, n + 1), elements=st.integers(-6, 6).map(float) | st.floats(-50, 50))
)


@settings(max_examples=300, deadline=None)
@given(small)
def test_arborescence_equals_enumeration(scores: np.ndarray) -> None:
    heads = maximum_arborescence(scores)
    assert tuple(heads) in set(TREES[len(scores) - 1])
    assert total(scores, heads) == pytest.approx(max(total(scores, t) for t in TREES[len(scores) - 1]), abs=1e-7)


@settings(max_examples=100, deadline=None)
@given(small.filter(lambda s: len(s) <= 5))
def test_arborescence_with_many_roots_equals_enumeration(scores: np.ndarray) -> None:
    heads = maximum_arborescence(scores, single_root=False)
    assert total(scores, heads) == pytest.approx(max(total(scores, t) for t in FORESTS[len(scores) - 1]), abs=1e-7)


@settings(max_examples=200, deadline=None)
@given(small)
def test_eisner_equals_enumeration(scores: np.ndarray) -> None:
    heads = best_projective_tree(scores)
    rivals = [t for t in TREES[len(scores) - 1] if is_projective(t)]
    assert tuple(heads) in set(rivals)
    assert total(scores, heads) == pytest.approx(max(total(scores, t) for t in rivals), abs=1e-7)


@pytest.mark.parametrize("n", [10, 25, 60])
def test_arborescence_equals_networkx(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(3):
        scores = rng.normal(size=(n + 1, n + 1))
        graph = nx.DiGraph()
        toll = 10.0 * n * 10  # one root arc only
        for word in range(1, n + 1):
            for head in range(n + 1):
                if head != word:
                    graph.add_edge(head, word, weight=scores[word, head] - (toll if head == 0 else 0))
        best = nx.maximum_spanning_arborescence(graph)
        expected = sum(scores[w, h] for h, w in best.edges)
        heads = maximum_arborescence(scores)
        assert (heads == 0).sum() == 1
        assert total(scores, heads) == pytest.approx(expected)


def test_adding_to_a_row_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(30, 30))
    assert (maximum_arborescence(scores) == maximum_arborescence(scores + rng.normal(size=(30, 1)))).all()


def test_forbidden_arcs_are_avoided_and_long_sentences_work() -> None:
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(400, 400))
    scores[np.tril_indices(400, -1)] = -np.inf  # only heads to the right, but for the last word's
    scores[399, 0] = 0.0
    heads = maximum_arborescence(scores)
    assert all(np.isfinite(scores[w, heads[w]]) for w in range(1, 400))
    assert all(reaches_root(heads, w) for w in range(1, 400))


@pytest.mark.parametrize("function", [maximum_arborescence, best_projective_tree])
def test_bad_scores_are_refused(function) -> None:
    with pytest.raises(DataError, match="square matrix"):
        function(np.zeros((2, 3)))
    with pytest.raises(DataError, match="nan"):
        function(np.full((4, 4), np.nan))
    assert function(np.zeros((1, 1))).tolist() == [-1]
    assert function(np.zeros((2, 2))).tolist() == [-1, 0]
