"""Word boundaries in speech: precision, recall, F1 and R-value within a tolerance (thesis 4.3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from typing import ClassVar, Literal, get_args

import numpy as np

from groundling.errors import ConfigError
from groundling.metrics.base import Metric, Statistics, f1, ratio
from groundling.structures import Segmentation

Measure = Literal["f1", "precision", "recall", "r-value"]
_ROUNDING = 1e-9  # seconds: 0.12 - 0.10 must count as 0.02


@dataclass(frozen=True)
class Boundaries(Metric[Segmentation]):
    """Boundaries found within `tolerance` seconds, matched one to one.

    A boundary is every start and end of a word, each time once. `edges=False` leaves out the first and the last of
    each side, which a system gets for nothing. Where a side names its words, its silences are dropped first.
    `measure` chooses the value; the others are in `details`. The R-value (Räsänen et al. 2009) is 1 for a perfect
    system and, unlike F1, does not reward too many boundaries; it can fall below 0.

    >>> gold = Segmentation.from_boundaries([0.0, 0.30, 0.55, 1.0])
    >>> pred = Segmentation.from_boundaries([0.0, 0.31, 0.60, 0.80, 1.0])
    >>> print(Boundaries().score(gold, pred))
    Boundaries|measure:f1|tolerance:0.02s|edges:no|v:0.1.0 = 40.00 (n=1)
    """

    name: ClassVar[str] = "Boundaries"
    measure: Measure = "f1"
    tolerance: float = 0.02
    edges: bool = False

    def __post_init__(self) -> None:
        if self.measure not in get_args(Measure):
            raise ConfigError(f"no measure is called {self.measure!r}. There are: {', '.join(get_args(Measure))}.")
        if not 0 <= self.tolerance < float("inf"):
            raise ConfigError(f"the tolerance is {self.tolerance}. Give seconds, 0 or more; 0.02 is usual.")

    def choices(self) -> dict[str, object]:
        """All fields; the tolerance with its unit."""
        return {"measure": self.measure, "tolerance": f"{self.tolerance:g}s", "edges": self.edges}

    def statistics(self, gold: Segmentation, pred: Segmentation) -> Statistics:
        """(matched, gold boundaries, predicted boundaries)."""
        wanted, found = self._points(gold), self._points(pred)
        return np.array([count_matches(wanted, found, self.tolerance), len(wanted), len(found)], dtype=np.float64)

    def value(self, total: Statistics) -> float:
        """The chosen measure."""
        return self.details(total)[self.measure]

    def details(self, total: Statistics) -> dict[str, float]:
        """All four measures and the counts."""
        matched, wanted, found = (float(count) for count in total)
        precision, recall = ratio(matched, found), ratio(matched, wanted)
        measures = {"precision": precision, "recall": recall, "f1": f1(precision, recall)}
        measures["r-value"] = r_value(recall, ratio(found, wanted, empty=1 + found) - 1)
        return measures | {"matched": matched, "gold": wanted, "predicted": found}

    def _points(self, segmentation: Segmentation) -> Sequence[float]:
        points = speech(segmentation).boundaries
        return points if self.edges else points[1:-1]


def speech(segmentation: Segmentation) -> Segmentation:
    """Without silences where words are named; a segmentation without any word is all speech."""
    return segmentation.without_silence() if any(segmentation.words) else segmentation


def count_matches(wanted: Sequence[float], found: Sequence[float], tolerance: float) -> int:
    """Size of the largest one-to-one matching of sorted points at most `tolerance` apart.

    Taking the earliest partner first is optimal on a line: any matching can be uncrossed.

    >>> count_matches([1.00, 1.03], [1.01, 1.02], 0.02)
    2
    """
    matched = i = j = 0
    while i < len(wanted) and j < len(found):
        if abs(wanted[i] - found[j]) <= tolerance + _ROUNDING:
            matched, i, j = matched + 1, i + 1, j + 1
        elif wanted[i] < found[j]:
            i += 1
        else:
            j += 1
    return matched


def r_value(recall: float, over_segmentation: float) -> float:
    """R = 1 - (|r1| + |r2|) / 2, with `over_segmentation` = predicted / gold - 1.

    >>> r_value(1.0, 0.0), round(r_value(1.0, 1.0), 4)
    (1.0, 0.1464)
    """
    to_ideal = hypot(1 - recall, over_segmentation)
    to_line = (recall - 1 - over_segmentation) / sqrt(2)
    return 1 - (to_ideal + abs(to_line)) / 2
