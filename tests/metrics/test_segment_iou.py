from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.errors import ConfigError
from groundling.metrics import SegmentIoU
from groundling.metrics.segment_iou import match_segments
from groundling.structures import Segment, Segmentation


def segmentation(edges: list[int]) -> Segmentation:
    """Every second stretch may be a gap: the drawn points are starts and ends in turn."""
    return Segmentation(tuple(Segment(a / 100, b / 100) for a, b in zip(edges[::2], edges[1::2], strict=False)))


def edge_lists(most: int):
    return st.lists(st.integers(0, 60), unique=True, min_size=2, max_size=most).map(sorted)


segmentations = st.one_of(
    edge_lists(8).map(segmentation),
    edge_lists(5).map(lambda edges: Segmentation.from_boundaries([edge / 100 for edge in edges])),
)


def overlap_and_iou(a: Segment, b: Segment) -> tuple[float, float]:
    shared = max(0.0, min(a.end, b.end) - max(a.start, b.start))
    return shared, shared / (a.end - a.start + b.end - b.start - shared)


def best_matching(gold: Segmentation, pred: Segmentation) -> tuple[float, float]:
    """(total overlap, total IoU) of the best of all one-to-one matchings, overlap first."""
    few, many = sorted((gold.segments, pred.segments), key=len)
    choices = []
    for order in permutations(many, len(few)):
        cells = [overlap_and_iou(a, b) for a, b in zip(few, order, strict=True)]
        choices.append((round(sum(c[0] for c in cells), 9), sum(c[1] for c in cells)))
    return max(choices)


@settings(max_examples=150, deadline=None)
@given(segmentations, segmentations)
def test_matching_equals_exhaustive_search(gold: Segmentation, pred: Segmentation) -> None:
    pairs = match_segments(gold, pred)
    total = sum(overlap_and_iou(gold.segments[i], pred.segments[j])[0] for i, j, _ in pairs)
    best_overlap, best_iou = best_matching(gold, pred)
    assert total == pytest.approx(best_overlap)
    assert sum(iou for _, _, iou in pairs) == pytest.approx(best_iou)
    assert all(iou > 0 for _, _, iou in pairs)
    assert len({i for i, _, _ in pairs}) == len({j for _, j, _ in pairs}) == len(pairs)


@settings(max_examples=60, deadline=None)
@given(segmentations, segmentations)
def test_symmetric_within_bounds_and_one_for_itself(a: Segmentation, b: Segmentation) -> None:
    for metric in (SegmentIoU(), SegmentIoU("all"), SegmentIoU(average="corpus")):
        assert metric.score(a, a).value == pytest.approx(1)
        assert metric.score(a, b).value == pytest.approx(metric.score(b, a).value)
        assert 0 <= metric.score(a, b).value <= 1 + 1e-12


@settings(max_examples=60, deadline=None)
@given(segmentations, segmentations)
def test_counting_all_segments_never_helps(a: Segmentation, b: Segmentation) -> None:
    assert SegmentIoU("all").score(a, b).value <= SegmentIoU().score(a, b).value + 1e-12


def test_worked_example() -> None:
    gold = Segmentation.from_boundaries([0.0, 1.0, 2.0])
    pred = Segmentation.from_boundaries([0.0, 1.5, 2.0])  # IoU 1/1.5 and 0.5/1
    assert SegmentIoU().score(gold, pred).value == pytest.approx((2 / 3 + 1 / 2) / 2)


def test_a_missed_segment_costs_only_when_all_count() -> None:
    gold = Segmentation.from_boundaries([0.0, 1.0, 2.0, 3.0])
    pred = Segmentation.from_boundaries([0.0, 1.0])
    assert SegmentIoU().score(gold, pred).value == 1
    assert SegmentIoU("all").score(gold, pred).value == pytest.approx(2 / 4)


def test_impossible_settings_are_errors() -> None:
    with pytest.raises(ConfigError, match="over is 'gold' and average 'utterance'"):
        SegmentIoU("gold")


def test_silent_recordings() -> None:
    silent, spoken = Segmentation(()), Segmentation.from_boundaries([0.0, 1.0])
    assert SegmentIoU().score(silent, silent).value == 1
    assert SegmentIoU().score(spoken, silent).value == 0


def test_utterance_and_corpus_averages_differ_as_defined() -> None:
    golds = [Segmentation.from_boundaries([0.0, 1.0]), Segmentation.from_boundaries([0.0, 1.0, 2.0, 3.0])]
    preds = [Segmentation.from_boundaries([0.0, 0.5]), golds[1]]
    assert SegmentIoU().corpus(golds, preds, bootstrap=0).value == pytest.approx((0.5 + 1) / 2)
    assert SegmentIoU(average="corpus").corpus(golds, preds, bootstrap=0).value == pytest.approx((0.5 + 3) / 4)
