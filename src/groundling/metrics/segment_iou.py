"""Mean IoU of matched word segments (thesis 4.2.3, mIoU)."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from groundling.errors import ConfigError
from groundling.metrics.base import Metric, Statistics, ratio
from groundling.metrics.boundaries import speech
from groundling.structures import Segmentation

_TIE = 1e-7  # share of a second that a whole unit of IoU weighs: it decides only between equal overlaps


@dataclass(frozen=True)
class SegmentIoU(Metric[Segmentation]):
    """Mean IoU over the segment pairs of the one-to-one matching with the largest total overlap in time.

    `over="matched"` averages over matched pairs as the thesis does, so a system is not punished for segments that it
    misses; `over="all"` divides twice the sum by the number of segments on both sides, as Struct-IoU does.
    `average="utterance"` is the mean over utterances, `"corpus"` pools all pairs.

    >>> gold = Segmentation.from_boundaries([0.0, 0.4, 1.0])
    >>> pred = Segmentation.from_boundaries([0.0, 0.5, 1.0])
    >>> print(SegmentIoU().score(gold, pred))
    SegmentIoU|over:matched|average:utterance|v:0.1.0 = 81.67 (n=1)
    """

    name: ClassVar[str] = "SegmentIoU"
    over: Literal["matched", "all"] = "matched"
    average: Literal["utterance", "corpus"] = "utterance"

    def __post_init__(self) -> None:
        if self.over not in ("matched", "all") or self.average not in ("utterance", "corpus"):
            raise ConfigError(
                f"over is {self.over!r} and average {self.average!r}. "
                "Use over 'matched' or 'all', average 'utterance' or 'corpus'."
            )

    def statistics(self, gold: Segmentation, pred: Segmentation) -> Statistics:
        """(IoU sum, pairs), or (mean, 1) for the average over utterances."""
        ious = [iou for _, _, iou in match_segments(speech(gold), speech(pred))]
        segments = len(speech(gold).segments) + len(speech(pred).segments)
        pairs = len(ious) if self.over == "matched" else segments / 2
        if self.average == "corpus":
            return np.array([sum(ious), pairs])
        # No pair at all: right where both are silent, wrong where segments exist.
        return np.array([ratio(sum(ious), pairs, empty=float(not segments)), 1.0])

    def value(self, total: Statistics) -> float:
        """The mean."""
        return ratio(total[0], total[1], empty=0.0)


def match_segments(gold: Segmentation, pred: Segmentation) -> list[tuple[int, int, float]]:
    """(gold index, predicted index, IoU) of each matched pair; pairs that do not overlap are not matched.

    The edge weight is the overlap in seconds (thesis 4.2.3); among matchings of equal overlap the one of larger
    total IoU is taken, so that the result does not depend on the order of the two sides.
    """
    overlap, union = _overlaps(gold, pred)
    iou = overlap / union
    optimize: Any = import_module("scipy.optimize")  # importing it costs 200 ms
    rows, columns = optimize.linear_sum_assignment(overlap + _TIE * iou, maximize=True)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return [(i, j, float(iou[i, j])) for i, j in pairs if overlap[i, j] > 0]


def _overlaps(gold: Segmentation, pred: Segmentation) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    a = np.array([segment[:2] for segment in gold.segments], dtype=np.float64).reshape(-1, 1, 2)
    b = np.array([segment[:2] for segment in pred.segments], dtype=np.float64).reshape(1, -1, 2)
    overlap = np.maximum(0.0, np.minimum(a[..., 1], b[..., 1]) - np.maximum(a[..., 0], b[..., 0]))
    lengths = (a[..., 1] - a[..., 0]) + (b[..., 1] - b[..., 0])
    return overlap, lengths - overlap
