from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.algorithms.attention_segments import attention_segments, keep_mass, keep_quantile, middles, runs
from groundling.algorithms.voice_activity import voiced_by_energy
from groundling.errors import ConfigError

WEIGHTS = st.lists(st.integers(0, 20), min_size=1, max_size=8).filter(any).map(lambda x: np.array(x, dtype=float))


@given(WEIGHTS, st.sampled_from([0.1, 0.5, 0.7, 0.9, 0.99]))
@settings(max_examples=80, deadline=None)
def test_mass_keeps_the_fewest_frames_that_reach_the_share(weights: np.ndarray, share: float) -> None:
    kept = keep_mass(weights, share)
    goal = share * weights.sum() * (1 - 1e-12)
    fewest = next(
        k
        for k in range(1, len(weights) + 1)
        if any(sum(chosen) >= goal for chosen in combinations(weights.tolist(), k))
    )
    assert kept.sum() == fewest
    assert weights[kept].sum() >= goal
    assert weights[kept].min() >= weights[~kept].max(initial=0)


@given(WEIGHTS, st.sampled_from([0.1, 0.5, 0.9]))
@settings(max_examples=40, deadline=None)
def test_quantile_keeps_what_is_over_it(weights: np.ndarray, q: float) -> None:
    assert keep_quantile(weights, q).tolist() == [w > np.quantile(weights, q) for w in weights]


@given(st.lists(st.booleans(), max_size=12))
@settings(max_examples=60, deadline=None)
def test_runs_cover_exactly_the_true_frames(mask: list[bool]) -> None:
    found = runs(np.array(mask, dtype=bool))
    assert [i for a, b in found for i in range(a, b)] == [i for i, on in enumerate(mask) if on]
    assert all(b < c for (_, b), (c, _) in pairwise(found))


def test_heads_are_joined_and_single_frames_go() -> None:
    heads = np.array([[0, 9, 9, 0, 0, 0, 0, 0], [0, 0, 0, 0, 9, 0, 0, 0]], dtype=float)
    assert attention_segments(heads, 0.9) == [(1, 3)]
    assert attention_segments(heads[1], 0.9) == [(4, 5)]  # nothing else is there
    assert attention_segments(heads[:1], 0.5, "quantile") == [(1, 3)]


def test_scaling_attention_changes_nothing() -> None:
    weights = np.random.default_rng(0).random((3, 40))
    assert attention_segments(weights, 0.5) == attention_segments(weights * 7.5, 0.5)


def test_a_threshold_outside_its_range_is_refused() -> None:
    with pytest.raises(ConfigError, match="between 0 and 1"):
        attention_segments(np.ones(3), 90)


def test_boundaries_lie_in_the_middle() -> None:
    assert middles([], 0, 1) == [0, 1]
    assert middles([(0.1, 0.2), (0.3, 0.5), (0.7, 0.8)], 0, 1) == pytest.approx([0, 0.25, 0.6, 1])


def test_energy_finds_voice_and_bridges_short_silence() -> None:
    energy = np.concatenate(
        [np.full(30, 1e-9), np.full(20, 0.1), np.full(5, 1e-9), np.full(20, 0.1), np.full(40, 1e-9)]
    )
    assert voiced_by_energy(energy, 100) == [(0.3, 0.75)]
    assert voiced_by_energy(energy, 100, bridge=0.02) == [(0.3, 0.5), (0.55, 0.75)]
    assert voiced_by_energy(np.zeros(50), 100) == []
    assert voiced_by_energy(np.zeros(0), 100) == []


@given(st.integers(1, 4), st.integers(1, 20), st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_separate_heads_only_cut_what_the_union_keeps(heads: int, frames: int, seed: int) -> None:
    table = np.random.default_rng(seed).random((heads, frames)).round(1)
    table[:, 0] += 0.05
    together = attention_segments(table, 0.6)
    apart = attention_segments(table, 0.6, heads="separate")
    inside = [any(a <= c and d <= b for a, b in runs(_kept(table, 0.6))) for c, d in apart]
    assert all(inside)
    strongest = (table / table.max(1, keepdims=True)).argmax(0)
    assert all(len(set(strongest[a:b])) == 1 for a, b in apart)
    if heads == 1:
        assert together == apart


def _kept(table: np.ndarray, share: float) -> np.ndarray:
    return np.any([keep_mass(row, share) for row in table], axis=0)


def test_separate_heads_part_neighbouring_words() -> None:
    table = np.array([[0, 4, 4, 4, 0, 0, 0], [0, 0, 0, 0, 9, 9, 0]], dtype=float)
    assert attention_segments(table, 0.99) == [(1, 6)]
    assert attention_segments(table, 0.99, heads="separate") == [(1, 4), (4, 6)]
