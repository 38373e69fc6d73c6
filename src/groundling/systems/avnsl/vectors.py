"""Segment vectors (thesis 4.2.1): w_i = sum_t a_{i,t} r_{i,t}, the attention-weighted mean of a segment's frames."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from groundling.structures.segmentation import Segmentation

RATE = 50.0


def frame_ranges(segmentation: Segmentation, count: int) -> list[tuple[int, int]]:
    """The frames [first, last+1) of each segment, inside 0 .. count and at least one each."""
    found: list[tuple[int, int]] = []
    for first, last in segmentation.frames(RATE):
        first = min(first, count - 1)
        found.append((first, min(max(last, first + 1), count)))
    return found


def segment_vectors(
    frames: NDArray[np.floating],  # (frames, dim)
    segmentation: Segmentation,
    attention: NDArray[np.floating] | None = None,  # (heads, frames); None: the mean
    parts: int = 1,
) -> NDArray[np.float32]:
    """One vector a segment (segments, parts dim); attention is summed over heads and made to sum to 1 in each part.

    With 3 parts a segment is its beginning, middle and end side by side: one mean of a whole word cannot tell "pal"
    from "lap".

    >>> s = Segmentation.from_frames([(0, 2)], rate=50)
    >>> segment_vectors(np.array([[0.0], [1.0]]), s, np.array([[1, 3]])).tolist()
    [[0.75]]
    """
    weights = np.ones(len(frames)) if attention is None else np.atleast_2d(attention).sum(0) + 1e-9
    rows = [
        np.concatenate([weights[c:d] @ frames[c:d] / weights[c:d].sum() for c, d in _parts(a, b, parts)])
        for a, b in frame_ranges(segmentation, len(frames))
    ]
    return np.array(rows, dtype=np.float32).reshape(len(rows), parts * frames.shape[1])


def _parts(start: int, end: int, count: int) -> list[tuple[int, int]]:
    """Cut frames start .. end-1 into parts of like length, each of at least one frame; few frames are shared.

    >>> _parts(0, 7, 3), _parts(5, 6, 3)
    ([(0, 2), (2, 4), (4, 7)], [(5, 6), (5, 6), (5, 6)])
    """
    edges = [start + (end - start) * k // count for k in range(count + 1)]
    return [(min(a, end - 1), max(b, min(a, end - 1) + 1)) for a, b in pairwise(edges)]
