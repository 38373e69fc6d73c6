"""Statistics per item, then aggregate, then a signed score: what every metric shares (as in sacrebleu)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import islice, zip_longest
from math import isnan
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from groundling import __version__
from groundling.algorithms.parallel import spread
from groundling.errors import ConfigError, DataError, GroundlingError

Statistics = NDArray[np.float64]  # one item: shape (k,); many: (n, k)
Item = TypeVar("Item")

CONFIDENCE = 0.95
_CHUNK_ITEMS = 256  # items handed to a worker at once
_CHUNK_CELLS = 2_000_000  # resampling weights held at once, so that bootstrap memory stays at some 16 MB
_NOTHING = "there is nothing to score: no gold item and no prediction."
_MISSING: Any = object()


@dataclass(frozen=True)
class Score:
    """A number that says how it was made. `value` lies in 0-1; it prints in the field's scale (times 100).

    `low` and `high` are the 95% bootstrap interval, None where none was computed (one item, `bootstrap=0`).

    >>> print(Score(0.7142, 0.708, 0.7203, 5000, "StructIoU|labels:yes|v:0.1.0"))
    StructIoU|labels:yes|v:0.1.0 = 71.42 (95% CI 70.80-72.03, n=5000)
    """

    value: float
    low: float | None
    high: float | None
    n: int
    signature: str
    name: str = ""
    details: Mapping[str, float] = field(default_factory=dict[str, float])
    scale: float = 100.0

    def number(self, value: float | None = None) -> str:
        """A value (this score's, unless given) as it is printed: two decimals in percent, four otherwise."""
        shown = (self.value if value is None else value) * self.scale
        return f"{shown:.2f}" if self.scale == 100 else f"{shown:.4f}"

    @property
    def interval(self) -> str:
        """`70.80-72.03`, or nothing where there is no interval."""
        if self.low is None or self.high is None:
            return ""
        dash = "-" if self.low >= 0 else " to "  # a correlation can be negative: -0.2-0.1 would be a riddle
        return f"{self.number(self.low)}{dash}{self.number(self.high)}"

    def __str__(self) -> str:
        interval = f"{CONFIDENCE:.0%} CI {self.interval}, " if self.interval else ""
        return f"{self.signature} = {self.number()} ({interval}n={self.n})"

    def to_dict(self, system: str = "") -> dict[str, Any]:
        """One entry of `--json`'s "scores"; values stay in 0-1."""
        value = None if isnan(self.value) else self.value  # JSON has no NaN
        plain: dict[str, Any] = {"name": self.name, "system": system, "value": value}
        plain |= {"low": self.low, "high": self.high, "n": self.n, "signature": self.signature}
        return plain | {"details": dict(self.details)} if self.details else plain


class Metric(ABC, Generic[Item]):
    """Base of all metrics: a frozen dataclass whose fields are its choices.

    A subclass gives `name`, `statistics` (one pair -> numbers that add up over items) and `value` (their total ->
    0-1). An average over sentences is the sum of (value, 1). Corpus scores, intervals, significance tests
    (`metrics/compare.py`) and parallel scoring are then the same for all.
    """

    name: ClassVar[str]
    scale: ClassVar[float] = 100.0

    @abstractmethod
    def statistics(self, gold: Item, pred: Item) -> Statistics:
        """The summable numbers of one pair, shape (k,)."""

    @abstractmethod
    def value(self, total: Statistics) -> float:
        """The score of summed statistics; no data is looked at here."""

    def details(self, total: Statistics) -> dict[str, float]:
        """What else the total tells: precision, recall, counts."""
        return {}

    def choices(self) -> dict[str, object]:
        """What the signature lists: every choice that moves the number; by default all fields."""
        return {item.name: getattr(self, item.name) for item in fields(self)}  # type: ignore[arg-type]  # subclasses are dataclasses

    @property
    def signature(self) -> str:
        """Name, choices and version, joined by bars."""
        listed = [f"{key}:{_plain(choice)}" for key, choice in self.choices().items()]
        return "|".join([self.name, *listed, f"v:{__version__}"])

    def score(self, gold: Item, pred: Item) -> Score:
        """Score one pair."""
        return self.aggregate(self.statistics(gold, pred)[None], bootstrap=0)

    def corpus(
        self, golds: Iterable[Item], preds: Iterable[Item], *, n_jobs: int = 1, bootstrap: int = 1000, seed: int = 0
    ) -> Score:
        """Score many pairs, read as a stream: only their statistics are kept; without bootstrap only their sum."""
        if bootstrap:
            return self.aggregate(self.matrix(golds, preds, n_jobs=n_jobs), bootstrap=bootstrap, seed=seed)
        count, total = 0, np.zeros(())
        for table in self._tables(golds, preds, n_jobs):
            count, total = count + len(table), total + table.sum(axis=0)
        if not count:
            raise DataError(_NOTHING)
        return self._scored(total, count, None, None)

    def matrix(self, golds: Iterable[Item], preds: Iterable[Item], *, n_jobs: int = 1) -> Statistics:
        """The statistics of each pair, shape (n, k), in order, whatever `n_jobs` is."""
        tables = list(self._tables(golds, preds, n_jobs))
        if not tables:
            raise DataError(_NOTHING)
        return np.concatenate(tables)

    def _tables(self, golds: Iterable[Item], preds: Iterable[Item], n_jobs: int) -> Iterator[Statistics]:
        for chunk in spread(self.rows, _chunks(_pairs(golds, preds)), n_jobs=n_jobs, batch=1):
            yield np.array(chunk, dtype=np.float64)

    def aggregate(self, matrix: Statistics, *, bootstrap: int = 1000, seed: int = 0) -> Score:
        """The score of per-item statistics (n, k), with the bootstrap interval over items."""
        low: float | None = None
        high: float | None = None
        if bootstrap and len(matrix) > 1:
            low, high = percentile_interval(
                self.values(resampled_totals(matrix, bootstrap, np.random.default_rng(seed)))
            )
        return self._scored(matrix.sum(axis=0), len(matrix), low, high)

    def _scored(self, total: Statistics, count: int, low: float | None, high: float | None) -> Score:
        value, details = float(self.value(total)), self.details(total)
        return Score(value, low, high, count, self.signature, self.name, details, self.scale)

    def values(self, totals: Statistics) -> NDArray[np.float64]:
        """`value` of each row."""
        return np.array([self.value(row) for row in totals])

    def rows(self, pairs: list[tuple[int, Item, Item]]) -> list[Statistics]:
        """The statistics of some (number, gold, prediction), in order; an error names the number."""
        return self._chunk(pairs)

    def _chunk(self, pairs: list[tuple[int, Item, Item]]) -> list[Statistics]:
        return [self._statistics_at(*pair) for pair in pairs]

    def _statistics_at(self, number: int, gold: Item, pred: Item) -> Statistics:
        try:
            return self.statistics(gold, pred)
        except GroundlingError as error:
            raise error.at(f"item {number}") from None


def resampled_totals(matrix: Statistics, count: int, rng: np.random.Generator) -> Statistics:
    """Totals (count, k) of `count` bootstrap resamples: multinomial weights times the statistics.

    >>> resampled_totals(np.ones((5, 1)), 3, np.random.default_rng(0)).ravel().tolist()
    [5.0, 5.0, 5.0]
    """
    if count < 0:
        raise ConfigError(f"bootstrap is {count}. Ask for 0 (no interval) or more resamples; 1000 is usual.")
    n = len(matrix)
    step = max(1, _CHUNK_CELLS // max(n, 1))
    parts = [np.empty((0, matrix.shape[1]))]
    for first in range(0, count, step):
        draws = range(first, min(first + step, count))
        weights = np.stack([np.bincount(rng.integers(n, size=n), minlength=n) for _ in draws])
        parts.append(weights.astype(np.float64) @ matrix)
    return np.concatenate(parts)


def percentile_interval(values: NDArray[np.float64]) -> tuple[float, float] | tuple[None, None]:
    """The middle 95% of the values, undefined ones left out; (None, None) where none is defined.

    >>> percentile_interval(np.full(40, 0.5))
    (0.5, 0.5)
    """
    known = values[~np.isnan(values)]
    if not len(known):
        return None, None
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(known, [tail, 1 - tail])
    return float(low), float(high)


def ratio(part: float, whole: float, empty: float = 1.0) -> float:
    """Share of the whole, and `empty` where the whole is 0.

    >>> ratio(1, 4), ratio(0, 0)
    (0.25, 1.0)
    """
    return float(part / whole) if whole else empty


def f1(precision: float, recall: float) -> float:
    """Harmonic mean, 0 where both are 0.

    >>> f1(0.5, 1.0)
    0.6666666666666666
    """
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _plain(choice: object) -> str:
    if isinstance(choice, bool):
        return "yes" if choice else "no"
    return f"{choice:g}" if isinstance(choice, float) else str(choice)


def _pairs(golds: Iterable[Item], preds: Iterable[Item]) -> Iterator[tuple[int, Item, Item]]:
    for number, (gold, pred) in enumerate(zip_longest(golds, preds, fillvalue=_MISSING), 1):
        if gold is _MISSING or pred is _MISSING:
            short, long = ("gold", "predictions") if gold is _MISSING else ("predictions", "gold")
            raise DataError(
                f"the {short} ends after {number - 1} items but the {long} goes on. "
                "Both must hold the same items in the same order."
            )
        yield number, gold, pred


def _chunks(items: Iterator[Any]) -> Iterator[list[Any]]:
    while chunk := list(islice(items, _CHUNK_ITEMS)):
        yield chunk
