from math import hypot, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from groundling.errors import ConfigError
from groundling.metrics import Boundaries
from groundling.metrics.boundaries import count_matches, r_value, speech
from groundling.structures import Segment, Segmentation

# Whole milliseconds, so that the oracle can compare without rounding.
points = st.lists(st.integers(0, 300), unique=True, max_size=9).map(sorted)
segmentations = st.lists(st.integers(0, 1000), unique=True, min_size=2, max_size=9).map(
    lambda edges: Segmentation.from_boundaries([edge / 1000 for edge in sorted(edges)])
)


def most_matches(wanted: list[int], found: list[int], tolerance: int) -> int:
    if not wanted or not found:
        return 0
    near = np.array([[abs(a - b) <= tolerance for b in found] for a in wanted], dtype=float)
    return int(near[linear_sum_assignment(near, maximize=True)].sum())


@settings(max_examples=200, deadline=None)
@given(points, points)
def test_greedy_matching_is_a_maximum_matching(wanted: list[int], found: list[int]) -> None:
    greedy = count_matches([x / 1000 for x in wanted], [x / 1000 for x in found], 0.02)
    assert greedy == most_matches(wanted, found, 20)


@settings(max_examples=50, deadline=None)
@given(segmentations)
def test_a_segmentation_scores_one_against_itself(item: Segmentation) -> None:
    for measure in ("f1", "precision", "recall", "r-value"):
        for edges in (True, False):
            assert Boundaries(measure, edges=edges).score(item, item).value == 1


@settings(max_examples=50, deadline=None)
@given(segmentations, segmentations)
def test_swapping_sides_swaps_precision_and_recall(a: Segmentation, b: Segmentation) -> None:
    there, back = Boundaries().score(a, b), Boundaries().score(b, a)
    assert there.value == pytest.approx(back.value)
    assert there.details["precision"] == back.details["recall"]


def test_exactly_twenty_milliseconds_counts_and_more_does_not() -> None:
    gold = Segmentation.from_boundaries([0.0, 0.10, 1.0])
    assert Boundaries().score(gold, Segmentation.from_boundaries([0.0, 0.12, 1.0])).value == 1
    assert Boundaries().score(gold, Segmentation.from_boundaries([0.0, 0.121, 1.0])).value == 0


def test_one_boundary_is_not_found_twice() -> None:
    gold = Segmentation.from_boundaries([0.0, 0.5, 1.0])
    pred = Segmentation.from_boundaries([0.0, 0.49, 0.51, 1.0])
    assert Boundaries("precision").score(gold, pred).value == 0.5


def test_edges_are_counted_only_when_asked() -> None:
    gold = Segmentation.from_boundaries([0.0, 0.5, 1.0])
    pred = Segmentation.from_boundaries([0.0, 0.7, 1.0])
    assert Boundaries().score(gold, pred).value == 0
    assert Boundaries(edges=True).score(gold, pred).value == pytest.approx(2 / 3)


def test_silence_is_dropped_where_words_are_named() -> None:
    spoken = Segmentation(
        (Segment(0, 0.2, "sil"), Segment(0.2, 0.5, "a"), Segment(0.5, 0.9, "cat"), Segment(0.9, 1, ""))
    )
    assert speech(spoken).words == ("a", "cat")
    bare = Segmentation.from_boundaries([0.2, 0.5, 0.9])
    assert speech(bare) is bare
    assert Boundaries(edges=True).score(spoken, bare).value == 1


def test_r_value_follows_its_definition() -> None:
    # Räsänen et al. (2009): hit rate 0.75, over-segmentation 0.2.
    first = hypot(0.25, 0.2)
    second = (-0.2 + 0.75 - 1) / sqrt(2)
    assert r_value(0.75, 0.2) == pytest.approx(1 - (abs(first) + abs(second)) / 2)


def test_r_value_punishes_oversegmentation_more_than_f1() -> None:
    gold = Segmentation.from_boundaries([0.0, 0.5, 1.0, 1.5])
    flood = Segmentation.from_boundaries(np.arange(0, 1.51, 0.04).tolist())
    score = Boundaries().score(gold, flood)
    assert score.details["recall"] == 1
    assert score.details["r-value"] < 0 < score.value


def test_no_inner_boundary_anywhere_is_perfect_and_a_spurious_one_is_not() -> None:
    one = Segmentation.from_boundaries([0.0, 1.0])
    two = Segmentation.from_boundaries([0.0, 0.5, 1.0])
    assert Boundaries().score(one, one).value == 1
    assert Boundaries().score(one, two).value == 0
    assert Boundaries("r-value").score(one, two).value < 1


def test_impossible_settings_are_errors() -> None:
    with pytest.raises(ConfigError, match="no measure is called 'F1'"):
        Boundaries("F1")
    for tolerance in (-0.1, float("nan"), float("inf")):
        with pytest.raises(ConfigError, match="the tolerance is"):
            Boundaries(tolerance=tolerance)


def test_counts_are_pooled_over_the_corpus() -> None:
    a = Segmentation.from_boundaries([0.0, 0.5, 1.0])
    b = Segmentation.from_boundaries([0.0, 0.2, 0.4, 0.6, 1.0])
    wrong = Segmentation.from_boundaries([0.0, 0.3, 1.0])
    score = Boundaries().corpus([a, b], [a, wrong], bootstrap=0)
    assert (score.details["precision"], score.details["recall"]) == (0.5, 0.25)
