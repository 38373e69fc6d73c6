from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.algorithms.mutual_argmax import (
    argmax,
    drop_weak,
    itermax,
    itermax_simalign,
    match,
    softmax_links,
)


def matrix(seed: int, n: int, m: int, ties: bool) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, (n, m)).astype(float) if ties else rng.random((n, m))


cases = st.builds(matrix, st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 5), st.booleans())


def argmax_plainly(s: np.ndarray) -> np.ndarray:
    links = np.zeros(s.shape, dtype=bool)
    for i in range(s.shape[0]):
        for j in range(s.shape[1]):
            links[i, j] = list(s[i]).index(max(s[i])) == j and list(s[:, j]).index(max(s[:, j])) == i
    return links


def itermax_plainly(s: np.ndarray) -> np.ndarray:
    s, links = s.copy(), np.zeros(s.shape, dtype=bool)
    while (s > -1).any():
        new = argmax_plainly(s) & (s > -1)
        if not new.any():
            break
        links |= new
        s[new.any(1)] = -1
        s[:, new.any(0)] = -1
    return links


@settings(max_examples=200, deadline=None)
@given(cases)
def test_argmax_and_itermax_equal_the_definitions(s: np.ndarray) -> None:
    assert (argmax(s) == argmax_plainly(s)).all()
    assert (itermax(s) == itermax_plainly(s)).all()


def itermax_simalign_plainly(s: np.ndarray) -> np.ndarray:
    links = argmax_plainly(s)
    if min(s.shape) <= 2:
        return links
    rows, columns = links.any(1)[:, None], links.any(0)[None]
    weight = np.where(rows & columns, 0.0, np.where(rows | columns, 0.9, 1.0))
    return links | (argmax_plainly(s * weight) & ~(rows & columns))


@settings(max_examples=300, deadline=None)
@given(cases)
def test_simaligns_itermax_equals_its_definition(s: np.ndarray) -> None:
    assert (itermax_simalign(s) == itermax_simalign_plainly(s)).all()


@settings(max_examples=200, deadline=None)
@given(cases)
def test_laws(s: np.ndarray) -> None:
    assert (argmax(s) <= itermax(s)).all() and (argmax(s) <= itermax_simalign(s)).all()
    assert itermax(s).sum() == match(s).sum() == min(s.shape)
    assert itermax(s).sum(1).max() <= 1 and itermax(s).sum(0).max() <= 1


@settings(max_examples=100, deadline=None)
@given(cases)
def test_match_equals_enumeration(s: np.ndarray) -> None:
    s = s if s.shape[0] <= s.shape[1] else s.T
    best = max(sum(s[i, j] for i, j in enumerate(p)) for p in permutations(range(s.shape[1]), s.shape[0]))
    assert s[match(s)].sum() == pytest.approx(best)


def test_transposing_transposes_when_nothing_ties() -> None:
    s = np.random.default_rng(0).random((20, 30))
    for method in (argmax, itermax, itermax_simalign, match, softmax_links):
        assert (method(s.T) == method(s).T).all()


def test_simalign_form_adds_a_second_link_to_a_word() -> None:
    s = np.array([[0.9, 0.1, 0.1], [0.2, 0.8, 0.7], [0.1, 0.3, 0.2], [0.1, 0.1, 0.1]])
    assert argmax(s).sum() == 2
    assert itermax_simalign(s)[1].tolist() == [False, True, True]


def test_weak_links_are_dropped_and_empty_sides_give_no_links() -> None:
    assert not drop_weak(np.array([[True]]), np.array([[0.2]]), 0.5).any()
    assert argmax(np.zeros((0, 3))).shape == itermax(np.zeros((0, 3))).shape == (0, 3)
    assert itermax(np.array([[np.nan, 1.0], [0.5, np.nan]])).shape == (2, 2)  # ends
