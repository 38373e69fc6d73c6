"""Growing alignments, EM by agreement, words of raw text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.algorithms.link_agreement import agree
from groundling.algorithms.link_growing import grow
from groundling.algorithms.mutual_argmax import argmax
from groundling.algorithms.word_tokens import word_tokens


def grow_plainly(base: np.ndarray, score: np.ndarray, bar: float) -> np.ndarray:
    links = {(int(i), int(j)) for i, j in np.argwhere(base)}
    cells = sorted(np.ndindex(*score.shape), key=lambda c: -score[c])
    while True:
        size = len(links)
        for i, j in cells:
            row, column = {b for a, b in links if a == i}, {a for a, b in links if b == j}
            if score[i, j] <= bar or (i, j) in links or (row and column):
                continue
            if (not row and not column) or row & {j - 1, j + 1} or column & {i - 1, i + 1}:
                links.add((i, j))
        if len(links) == size:
            break
    result = np.zeros(score.shape, dtype=bool)
    for cell in links:
        result[cell] = True
    return result


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6), st.floats(0, 1))
def test_growing_equals_the_plain_loop(seed: int, rows: int, columns: int, bar: float) -> None:
    score = np.random.default_rng(seed).random((rows, columns))
    base = argmax(score)
    grown = grow(base, score, bar)
    assert (grown == grow_plainly(base, score, bar)).all()
    assert (base <= grown).all()


def test_a_bar_of_one_adds_nothing_and_the_base_is_not_changed() -> None:
    score = np.random.default_rng(0).random((5, 5))
    base = argmax(score)
    before = base.copy()
    assert (grow(base, score, 1.0) == base).all()
    grow(base, score, 0.0)
    assert (base == before).all()


def test_agreement_finds_the_dictionary_of_a_toy_language() -> None:
    rng = np.random.default_rng(0)
    sources = [rng.permutation(30)[:6] for _ in range(300)]
    targets = [rng.permutation(s) + 100 for s in sources]  # word k translates to 100 + k, order is free
    found = agree(sources, targets, diagonal=0.0)
    best = {int(s): int(found.target[found.source == s][found.linked[found.source == s].argmax()]) for s in range(30)}
    assert best == {k: 100 + k for k in range(30)}
    assert found.together.sum() == 300 * 36
    assert found.linked.sum() <= 300 * 6 + 1e-6  # a word has at most one partner's worth of links


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("Don't stop John's well-known dog…", ["Do", "n't", "stop", "John", "'s", "well-known", "dog", "…"]),
        ("dell’Europa, l'agenda", ["dell’", "Europa", ",", "l'", "agenda"]),
        ("हिन्दी में क्या?", ["हिन्दी", "में", "क्या", "?"]),
        ("太郎はカメラを買った。", ["太", "郎", "は", "カメラ", "を", "買", "った", "。"]),
        ("3,50 at 10:30 in A4", ["3,50", "at", "10:30", "in", "A4"]),
    ],
)
def test_words_of_raw_text(text: str, words: list[str]) -> None:
    assert word_tokens(text) == words


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
def test_words_lose_nothing_but_space(text: str) -> None:
    assert "".join(word_tokens(text)) == "".join(text.split())
