"""Word-like stretches from the attention of a [CLS] token (thesis 4.2.1; Peng and Harwath, 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from groundling.errors import ConfigError

Frames = tuple[int, int]  # first frame, and the frame after the last
Keep = Literal["mass", "quantile"]
Heads = Literal["union", "separate"]


def keep_mass(weights: NDArray[np.floating], share: float) -> NDArray[np.bool_]:
    """The fewest frames, highest first, that hold `share` of the attention: "the top p% of the overall magnitude".

    >>> keep_mass(np.array([0.1, 0.6, 0.3]), 0.7).tolist()
    [False, True, True]
    """
    order: NDArray[np.int64] = np.argsort(-weights, kind="stable")
    total: NDArray[np.float64] = np.cumsum(weights[order], dtype=np.float64)
    count = int(np.count_nonzero(total < share * total[-1] * (1 - 1e-12))) + 1 if len(total) else 0
    kept = np.zeros(len(weights), dtype=np.bool_)
    kept[order[:count]] = True
    return kept


def keep_quantile(weights: NDArray[np.floating], quantile: float) -> NDArray[np.bool_]:
    """Frames whose weight is over this quantile of all frames (VG-HuBERT's program).

    >>> keep_quantile(np.array([0.1, 0.6, 0.3, 0.0]), 0.5).tolist()
    [False, True, True, False]
    """
    return weights > np.quantile(weights, quantile) if len(weights) else np.zeros(0, dtype=np.bool_)


def attention_segments(
    attention: NDArray[np.floating], threshold: float, keep: Keep = "mass", heads: Heads = "union"
) -> list[Frames]:
    """Runs of frames that any head keeps; `attention` is (heads, frames) or (frames,), from [CLS] to the frames.

    `heads="separate"` also ends a run where another head becomes the strongest, each measured by its own maximum:
    where heads look for different kinds of words, neighbours such as "red" and "square" do not run together. Runs
    of one frame are dropped unless nothing is left. Where all weights are equal a quantile keeps nothing.

    >>> attention_segments(np.array([[0, 4, 4, 0, 1, 1, 0], [0, 0, 0, 0, 5, 5, 0]]), 0.8)
    [(1, 3), (4, 6)]
    """
    if not 0 < threshold < 1:
        raise ConfigError(
            f"the threshold of attention is {threshold}, but it must lie between 0 and 1 (0.9 is 90 percent)."
        )
    rule = keep_mass if keep == "mass" else keep_quantile
    table = np.atleast_2d(attention)
    kept = np.zeros(table.shape[1], dtype=np.bool_)
    for weights in table:
        kept |= rule(weights, threshold)
    found = runs(kept)
    if heads == "separate":
        strongest = (table / np.maximum(table.max(axis=1, keepdims=True), 1e-30)).argmax(axis=0)
        found = [part for run in found for part in _same(strongest, *run)]
    return without_single_frames(found)


def _same(values: NDArray[np.int64], start: int, end: int) -> list[Frames]:
    """Cut frames start .. end-1 where the value changes."""
    changes = np.flatnonzero(np.diff(values[start:end])) + start + 1
    return list(pairwise([start, *(int(place) for place in changes), end]))


def runs(mask: NDArray[np.bool_]) -> list[Frames]:
    """Stretches of True.

    >>> runs(np.array([True, False, True, True]))
    [(0, 1), (2, 4)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def without_single_frames(found: Sequence[Frames]) -> list[Frames]:
    """Drop runs of one frame, unless there is nothing else."""
    longer = [run for run in found if run[1] - run[0] > 1]
    return longer or list(found)


def middles(segments: Sequence[tuple[float, float]], start: float, end: float) -> list[float]:
    """Word boundaries: `start`, the middle between each two neighbouring segments, `end`.

    >>> middles([(1, 3), (5, 6)], 0, 10)
    [0, 4.0, 10]
    """
    return [start, *((a[1] + b[0]) / 2 for a, b in pairwise(segments)), end]
