"""Bitext mining: the margin score against its formula, choices, thresholds."""

import numpy as np
import pytest

from groundling.algorithms.bitext_mining import Neighbours, mine


def near(cosines: np.ndarray, k: int) -> Neighbours:
    order = np.argsort(-cosines, axis=1)[:, :k]
    return Neighbours(order, np.take_along_axis(cosines, order, axis=1))


def margin_plainly(c: np.ndarray, i: int, j: int, k: int) -> float:
    rows, columns = np.sort(c[i])[::-1][:k], np.sort(c[:, j])[::-1][:k]
    return c[i, j] / (rows.sum() / (2 * k) + columns.sum() / (2 * k))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("direction", ["forward", "backward", "mutual", "either"])
def test_scores_and_choices_equal_the_definition(seed: int, direction) -> None:
    c, k = np.random.default_rng(seed).random((6, 5)), 3
    found = mine(near(c, k), near(c.T, k), direction, least=0)
    for m in found:
        assert m.score == pytest.approx(margin_plainly(c, m.source, m.target, k), abs=1e-5)
    forward = {i: max(near(c, k).places[i], key=lambda j: margin_plainly(c, i, j, k)) for i in range(6)}
    backward = {j: max(near(c.T, k).places[j], key=lambda i: margin_plainly(c, i, j, k)) for j in range(5)}
    there, back = {(i, j) for i, j in forward.items()}, {(i, j) for j, i in backward.items()}
    pairs = {(m.source, m.target) for m in found}
    expected = {"forward": there, "backward": back, "mutual": there & back}
    if direction == "either":
        assert pairs <= there | back and there & back <= pairs
        assert len({s for s, _ in pairs}) == len({t for _, t in pairs}) == len(pairs)
    else:
        assert pairs == expected[direction]


def test_best_first_over_the_bar_and_only_the_asked_share() -> None:
    c = np.random.default_rng(1).random((30, 30)) + np.eye(30)
    every = mine(near(c, 4), near(c.T, 4))
    assert [m.score for m in every] == sorted((m.score for m in every), reverse=True)
    assert {(m.source, m.target) for m in every} == {(k, k) for k in range(30)}
    assert mine(near(c, 4), near(c.T, 4), share=0.2) == every[:6]
    bar = every[9].score
    assert mine(near(c, 4), near(c.T, 4), least=bar) == every[:9]
