import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.algorithms.dpdp import dpdp
from groundling.errors import DataError


def cost_of(edges: list[int], distances: np.ndarray, weight: float) -> float:
    return sum(distances[a:b].sum(0).min() - weight * (b - a - 1) for a, b in itertools.pairwise(edges))


def every_cut(count: int, longest: int) -> list[list[int]]:
    """All ways to cut `count` frames into stretches of at most `longest`."""
    if count == 0:
        return [[0]]
    return [[*cut, count] for d in range(1, min(longest, count) + 1) for cut in every_cut(count - d, longest)]


@given(st.integers(1, 8), st.integers(1, 4), st.integers(1, 5), st.floats(0, 3), st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_dpdp_equals_enumeration(frames: int, codes: int, longest: int, weight: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    z, e = rng.normal(size=(frames, 2)), rng.normal(size=(codes, 2))
    distances = ((z[:, None] - e) ** 2).sum(2)
    found = dpdp(z, e, weight, longest)
    least = min(cost_of(cut, distances, weight) for cut in every_cut(frames, longest))
    assert found.cost == pytest.approx(least, abs=1e-9)
    assert cost_of(found.edges.tolist(), distances, weight) == pytest.approx(least, abs=1e-9)
    assert np.diff(found.edges).max() <= longest and found.edges[0] == 0 and found.edges[-1] == frames
    chosen = [distances[a:b].sum(0)[k] for a, b, k in zip(found.edges, found.edges[1:], found.codes, strict=False)]
    best = [distances[a:b].sum(0).min() for a, b in zip(found.edges, found.edges[1:], strict=False)]
    assert chosen == pytest.approx(best)


def test_a_larger_weight_never_gives_more_stretches() -> None:
    rng = np.random.default_rng(1)
    z, e = rng.normal(size=(60, 3)), rng.normal(size=(8, 3))
    counts = [len(dpdp(z, e, weight).codes) for weight in (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)]
    assert counts == sorted(counts, reverse=True) and counts[0] > counts[-1]


def test_no_frames_give_no_stretch() -> None:
    assert dpdp(np.zeros((0, 2)), np.zeros((1, 2))).edges.tolist() == [0]


def test_tables_that_do_not_fit_are_refused() -> None:
    with pytest.raises(DataError, match="two tables of equal width"):
        dpdp(np.zeros((3, 2)), np.zeros((4, 3)))
    with pytest.raises(DataError, match="at least 1"):
        dpdp(np.zeros((3, 2)), np.zeros((4, 2)), longest=0)
