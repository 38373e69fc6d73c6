"""Pearson correlation, e.g. of estimated and rated concreteness (thesis 3.3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite, nan, sqrt
from typing import ClassVar

import numpy as np

from groundling.errors import DataError
from groundling.metrics.base import Metric, Statistics


@dataclass(frozen=True)
class Pearson(Metric[float]):
    """Correlation of two columns of numbers, in -1 .. 1; NaN where a column is constant.

    >>> print(Pearson().corpus([1, 2, 3], [2, 4, 7], bootstrap=0))
    Pearson|v:0.1.0 = 0.9934 (n=3)
    """

    name: ClassVar[str] = "Pearson"
    scale: ClassVar[float] = 1.0

    def statistics(self, gold: float, pred: float) -> Statistics:
        """(1, x, y, xx, yy, xy)."""
        x, y = float(gold), float(pred)
        if not (isfinite(x) and isfinite(y)):
            raise DataError(f"({x}, {y}) is not a pair of finite numbers. Leave out the words without a rating.")
        return np.array([1.0, x, y, x * x, y * y, x * y])

    def matrix(self, golds: Iterable[float], preds: Iterable[float], *, n_jobs: int = 1) -> Statistics:
        """The statistics around the means: the correlation is the same, and large numbers keep their digits."""
        rows = super().matrix(golds, preds, n_jobs=n_jobs)
        x, y = (rows[:, column] - rows[:, column].mean() for column in (1, 2))
        return np.column_stack([rows[:, 0], x, y, x * x, y * y, x * y])

    def value(self, total: Statistics) -> float:
        """Covariance over the product of deviations."""
        n, x, y, xx, yy, xy = (float(part) for part in total)
        spread_x, spread_y = n * xx - x * x, n * yy - y * y
        # A constant column leaves only rounding noise, in proportion to its squares.
        if spread_x <= 1e-12 * n * xx or spread_y <= 1e-12 * n * yy:
            return nan
        return max(-1.0, min(1.0, (n * xy - x * y) / sqrt(spread_x * spread_y)))
