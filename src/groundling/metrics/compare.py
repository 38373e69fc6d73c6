"""Is one system better than another? Paired tests on per-item statistics, for every metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from groundling.errors import ConfigError, DataError
from groundling.metrics.base import CONFIDENCE, Metric, Statistics, percentile_interval, resampled_totals

Method = Literal["bootstrap", "randomisation"]
_ROUNDING = 1e-12  # sums in another order differ in the last bits; equal differences must count as equal
_CHUNK_CELLS = 2_000_000


@dataclass(frozen=True)
class Comparison:
    """System b minus system a, in the metric's 0-1 scale, with its two-sided p-value."""

    difference: float
    p: float
    method: Method
    resamples: int
    n: int
    signature: str
    low: float | None = None  # the bootstrap's 95% interval of the difference
    high: float | None = None
    scale: float = 100.0

    def __str__(self) -> str:
        interval = ""
        if self.low is not None and self.high is not None:
            interval = f", {CONFIDENCE:.0%} CI {self.low * self.scale:+.2f} to {self.high * self.scale:+.2f}"
        return f"{self.difference * self.scale:+.2f} (p={self.p:.4f}{interval}, paired {self.method}, n={self.n})"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {
            "difference": self.difference,
            "p": self.p,
            "low": self.low,
            "high": self.high,
            "method": self.method,
            "resamples": self.resamples,
            "n": self.n,
            "signature": self.signature,
        }


def compare(
    metric: Metric[Any],
    a: Statistics,
    b: Statistics,
    *,
    method: Method = "bootstrap",
    resamples: int = 1000,
    seed: int = 0,
) -> Comparison:
    """Compare two systems by `metric.matrix(...)` of each, shape (n, k), on the same items in the same order.

    "bootstrap" resamples items (Koehn 2004) and asks how often the difference strays from the observed one by at
    least its size; "randomisation" swaps the two systems' outputs item by item (Riezler and Maxwell 2005). Both give
    p = (1 + count) / (1 + resamples): it is never 0, and 1 for equal systems.
    """
    if a.shape != b.shape:
        raise DataError(f"the systems have {len(a)} and {len(b)} items. A paired test needs the same items for both.")
    if resamples < 1:
        raise ConfigError(f"resamples is {resamples}. A test needs at least 1; 1000 is usual.")
    rng = np.random.default_rng(seed)
    observed = metric.value(b.sum(0)) - metric.value(a.sum(0))
    low: float | None = None
    high: float | None = None
    if method == "bootstrap":
        differences = _bootstrap(metric, a, b, resamples, rng)
        low, high = percentile_interval(differences)
        strayed = np.abs(differences - observed)
    else:
        strayed = np.abs(_swapped(metric, a, b, resamples, rng))
    p = (1 + int((strayed >= abs(observed) - _ROUNDING).sum())) / (1 + resamples)
    return Comparison(observed, p, method, resamples, len(a), metric.signature, low, high, metric.scale)


def _bootstrap(
    metric: Metric[Any], a: Statistics, b: Statistics, resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    totals = resampled_totals(np.hstack([a, b]), resamples, rng)
    return metric.values(totals[:, a.shape[1] :]) - metric.values(totals[:, : a.shape[1]])


def _swapped(
    metric: Metric[Any], a: Statistics, b: Statistics, resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    parts: list[NDArray[np.float64]] = []
    step = max(1, _CHUNK_CELLS // len(a))
    for first in range(0, resamples, step):
        swaps = rng.integers(2, size=(min(step, resamples - first), len(a))).astype(np.float64)
        moved = swaps @ (b - a)
        parts.append(metric.values(b.sum(0) - moved) - metric.values(a.sum(0) + moved))
    return np.concatenate(parts)
