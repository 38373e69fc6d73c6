from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.metrics.parseval import ParsEval
from groundling.structures.tree import Tree
from groundling.systems.vgnsl.selection import (
    agreement,
    agreements,
    select_checkpoints,
    span_keys,
    total_agreement,
    tuning_score,
)


def random_table(seed: int, runs: int, checkpoints: int) -> dict[tuple[int, int], np.ndarray]:
    rng = np.random.default_rng(seed)
    return {(i, k): rng.random((checkpoints, checkpoints)) for i in range(runs) for k in range(i + 1, runs)}


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_selection_comes_near_the_best_combination(seed: int) -> None:
    table = random_table(seed, 3, 4)
    chosen = select_checkpoints(table, [4, 4, 4])
    every = [total_agreement(table, combination) for combination in product(range(4), repeat=3)]
    assert total_agreement(table, chosen) >= np.quantile(every, 0.9)


def test_two_runs_meet_at_their_best_pair() -> None:
    table = random_table(7, 2, 5)
    chosen = select_checkpoints(table, [5, 5])
    assert table[0, 1][tuple(chosen)] == table[0, 1].max()


def test_tuning_compares_nearby_checkpoints_only() -> None:
    table = {(0, 1): np.array([[0.1, 0.3, 0.9], [0.2, 0.4, 0.5], [0.9, 0.6, 0.2]])}
    assert tuning_score(table) == pytest.approx(0.6)
    assert tuning_score(table, margin=3) == pytest.approx(0.9)


def test_agreement_is_the_metric_of_the_thesis() -> None:
    words = [["a", "b", "c", "d"], ["e", "f", "g"]]
    first = [np.array([[0, 2], [2, 4], [0, 4]]), np.array([[0, 2], [0, 3]])]
    second = [np.array([[0, 2], [0, 3], [0, 4]]), np.array([[0, 2], [0, 3]])]
    trees = [[Tree.from_spans(w, s.tolist()) for w, s in zip(words, side, strict=True)] for side in (first, second)]
    expected = ParsEval("vgnsl").corpus(trees[0], trees[1], bootstrap=0).value
    assert agreement(span_keys(first), span_keys(second)) == pytest.approx(expected)


def test_agreements_cover_all_pairs_of_runs() -> None:
    run = [span_keys([np.array([[0, 2]])]), span_keys([np.array([[0, 3]])])]
    table = agreements([run, run, run[:1]])
    assert set(table) == {(0, 1), (0, 2), (1, 2)}
    assert table[0, 1].tolist() == [[1, 0], [0, 1]] and table[1, 2].shape == (2, 1)
