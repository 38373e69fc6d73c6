from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.algorithms.segment_insertion import insert_segments, uniform_words, words_between
from groundling.errors import ConfigError


@st.composite
def stretches(draw: st.DrawFn, most: int) -> list[tuple[float, float]]:
    points = sorted(draw(st.sets(st.integers(0, 200), max_size=2 * most)))
    return [(a / 50, b / 50) for a, b in zip(points[::2], points[1::2], strict=False)]


@given(stretches(6), stretches(3), st.sampled_from([0.1, 0.2, 0.5]))
@settings(max_examples=150, deadline=None)
def test_insertion_leaves_no_long_gap_in_voice(
    segments: list[tuple[float, float]], voiced: list[tuple[float, float]], gap: float
) -> None:
    found = insert_segments(segments, voiced, gap)
    assert found == sorted(found)
    for start, end in voiced:
        inside = [s for s in found if start <= (s[0] + s[1]) / 2 < end]
        assert inside, "at least one segment a voiced region"
        edges = [(start, start), *inside, (end, end)]
        assert all(b[0] - a[1] <= gap + 1e-6 for a, b in pairwise(edges))
    kept = [(max(a, s[0]), min(b, s[1])) for s in segments for a, b in voiced if a <= (s[0] + s[1]) / 2 < b]
    assert set(kept) <= set(found)
    assert all(b[0] >= a[1] - 1e-6 for a, b in pairwise(found)), "none overlap"


@given(stretches(6), stretches(3))
@settings(max_examples=60, deadline=None)
def test_words_fill_the_voiced_regions_that_have_segments(
    segments: list[tuple[float, float]], voiced: list[tuple[float, float]]
) -> None:
    found = insert_segments(segments, voiced, 0.2)
    words = words_between(found, voiced)
    assert len(words.segments) == len(found)
    assert sum(s.end - s.start for s in words.segments) == pytest.approx(sum(b - a for a, b in voiced))


def test_no_gap_means_nothing_is_inserted() -> None:
    assert insert_segments([(0.0, 0.5), (0.6, 1.0)], [(0.0, 1.0)], 0.3) == [(0.0, 0.5), (0.6, 1.0)]


def test_segments_in_silence_are_dropped() -> None:
    assert insert_segments([(0.0, 0.2), (2.0, 2.2)], [(0.0, 0.25)], 0.3) == [(0.0, 0.2)]


def test_a_gap_under_two_segments_is_refused() -> None:
    with pytest.raises(ConfigError, match="over twice"):
        insert_segments([], [], 0.05)


def test_uniform_words_are_equally_long() -> None:
    words = uniform_words(4, [(0.2, 0.5), (0.7, 1.0)], 1.2)
    assert [s.end - s.start for s in words.segments] == pytest.approx([0.2] * 4)
    assert words.segments[-1].end == 1.0 and words.duration == 1.2
