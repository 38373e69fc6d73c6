"""Segment insertion (thesis 4.2.1): short segments in long gaps, for the function words that attention passes over."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from groundling.algorithms.attention_segments import middles
from groundling.errors import ConfigError
from groundling.structures.segmentation import Segment, Segmentation

Seconds = tuple[float, float]  # start and end
LONE = 0.05  # seconds of the one segment that a voiced region without any receives
_ROUNDING = 1e-9


def insert_segments(
    segments: Sequence[Seconds],  # in order, not overlapping
    voiced: Sequence[Seconds],  # voiced regions, in order, not overlapping
    gap: float,  # s: the longest stretch of voice that may stay empty, in seconds
    length: float = 0.04,  # of an inserted segment: two frames of 20 ms
) -> list[Seconds]:
    """Drop segments outside voiced regions, then fill each gap over `gap` with short segments every `gap` / 2.

    A region left without a segment gets one in its middle. A given segment belongs to the region of its middle and is
    cut to it.

    >>> insert_segments([(0.0, 0.2), (0.9, 1.0)], [(0.0, 1.0)], gap=0.5)
    [(0.0, 0.2), (0.43, 0.47), (0.9, 1.0)]
    """
    if gap <= 2 * length:
        raise ConfigError(
            f"the insertion gap is {gap} s, but it must be over twice a segment's length, {2 * length} s."
        )
    found: list[Seconds] = []
    for region in voiced:
        inside = _within(segments, region) or [_lone(region)]
        edges = [(region[0], region[0]), *inside, (region[1], region[1])]
        new = [s for a, b in pairwise(edges) for s in _fill(a[1], b[0], gap, length)]
        found += sorted([*inside, *new])
    return found


def _within(segments: Sequence[Seconds], region: Seconds) -> list[Seconds]:
    """The segments whose middle lies in the region, cut to it."""
    inside = [s for s in segments if region[0] <= (s[0] + s[1]) / 2 < region[1]]
    return [(max(s[0], region[0]), min(s[1], region[1])) for s in inside]


def _fill(start: float, end: float, gap: float, length: float) -> list[Seconds]:
    """Segments centred at start + gap/2, start + gap ... that leave gap/2 before `end`; none in a gap that is short."""
    count = int((end - start + _ROUNDING) / (gap / 2)) - 1 if end - start > gap + _ROUNDING else 0
    centres = [start + gap / 2 * (k + 1) for k in range(count)]
    return [(round(c - length / 2, 6), round(c + length / 2, 6)) for c in centres]


def _lone(region: Seconds) -> Seconds:
    middle, half = (region[0] + region[1]) / 2, min(LONE, region[1] - region[0]) / 2
    return middle - half, middle + half


def words_between(
    segments: Sequence[Seconds], voiced: Sequence[Seconds], duration: float | None = None
) -> Segmentation:
    """Words that fill the voiced regions: each boundary is the middle between neighbouring segments of a region.

    A region without segments is no word. Segments outside all regions are not used.

    >>> words_between([(0.1, 0.2), (0.4, 0.5)], [(0.0, 0.6)]).boundaries
    (0.0, 0.30000000000000004, 0.6)
    """
    words: list[Segment] = []
    for region in voiced:
        inside = _within(segments, region)
        if inside:
            words += [Segment(a, b) for a, b in pairwise(middles(inside, *region))]
    return Segmentation(tuple(words), duration)


def uniform_words(count: int, voiced: Sequence[Seconds], duration: float | None = None) -> Segmentation:
    """Cut the time from the first voice to the last into `count` equal parts (thesis 4.4.3, ablation 1).

    >>> uniform_words(2, [(0.0, 0.4), (0.6, 1.0)]).boundaries
    (0.0, 0.5, 1.0)
    """
    start, end = voiced[0][0], voiced[-1][1]
    edges = [start + (end - start) * k / count for k in range(count)] + [end]
    return Segmentation(tuple(Segment(a, b) for a, b in pairwise(edges)), duration)
