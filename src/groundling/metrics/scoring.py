"""Score several systems on one gold set with several metrics in one pass over the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from groundling.algorithms.parallel import spread
from groundling.errors import ConfigError, DataError, GroundlingError
from groundling.metrics.base import Metric, Score, Statistics
from groundling.metrics.compare import Comparison, Method, compare
from groundling.metrics.pairing import Case, Mismatches

_CHUNK = 256
Result = tuple[Case, list[Statistics] | str]  # one row of statistics a metric, or why there is none


@dataclass(frozen=True)
class Options:
    """How to score, whatever the kind of data."""

    bootstrap: int = 1000
    seed: int = 0
    n_jobs: int = 1
    skip_mismatched: bool = False
    paired: bool = False
    method: Method = "bootstrap"
    backend: str | None = None  # of joblib: a name that `algorithms.parallel.BACKENDS` lists
    watch: Callable[[Iterable[Case]], Iterable[Case]] = iter  # sees every case pass, e.g. to show progress


@dataclass(frozen=True)
class SystemScores:
    """One system: a score a metric, the keys of the items scored, and their statistics (n, k), one table a metric."""

    name: str
    scores: tuple[Score, ...]
    keys: tuple[str, ...]
    tables: tuple[Statistics, ...]
    skipped: Mismatches


@dataclass(frozen=True)
class Report:
    """All that a call of `groundling score` found."""

    metrics: tuple[Metric[Any], ...]
    systems: tuple[SystemScores, ...]
    comparisons: tuple[tuple[str, str, str, Comparison], ...] = ()  # baseline, system, metric, result
    notes: tuple[str, ...] = field(default=())

    def per_item(self) -> Iterator[tuple[str, str, list[float]]]:
        """(item, system, its value by each metric)."""
        for system in self.systems:
            for row, key in enumerate(system.keys):
                pairs = zip(self.metrics, system.tables, strict=True)
                yield key, system.name, [float(metric.value(table[row])) for metric, table in pairs]

    def to_dict(self, per_item: bool = False) -> dict[str, Any]:
        """The object that `--json` prints."""
        plain: dict[str, Any] = {"scores": [score.to_dict(s.name) for s in self.systems for score in s.scores]}
        skipped = {s.name: list(s.skipped.faults) for s in self.systems if s.skipped.faults}
        if skipped:
            plain["skipped"] = skipped
        if self.comparisons:
            plain["comparisons"] = [
                {"baseline": a, "system": b, "name": name} | result.to_dict() for a, b, name, result in self.comparisons
            ]
        if per_item:
            names = [metric.name for metric in self.metrics]
            rows = ((key, system, dict(zip(names, values, strict=True))) for key, system, values in self.per_item())
            plain["items"] = [{"item": key, "system": system, "values": values} for key, system, values in rows]
        return plain | {"notes": list(self.notes)} if self.notes else plain


def score_cases(
    cases: Iterable[Case], metrics: Sequence[Metric[Any]], names: Sequence[str], options: Options | None = None
) -> Report:
    """Score the systems called `names`; only statistics are kept of what streams by.

    An item that does not fit is an error that names it, or with `skip_mismatched` is left out and reported.
    """
    options = options or Options()
    if options.paired and len(names) < 2:
        raise ConfigError("a paired test needs two systems. Give at least two files of predictions.")
    keys: list[list[str]] = [[] for _ in names]
    rows: list[list[list[Statistics]]] = [[] for _ in names]
    faults: list[list[str]] = [[] for _ in names]
    for case, result in _results(options.watch(cases), metrics, options):
        if isinstance(result, str):
            faults[case.system].append(result)
        else:
            keys[case.system].append(case.key)
            rows[case.system].append(result)
    skipped = [Mismatches(name, tuple(found)) for name, found in zip(names, faults, strict=True)]
    _refuse(skipped, options.skip_mismatched)
    parts = zip(names, keys, rows, skipped, strict=True)
    systems = tuple(_system(name, metrics, k, r, s, options) for name, k, r, s in parts)
    return Report(tuple(metrics), systems, tuple(_compared(systems, metrics, options)) if options.paired else ())


def _refuse(skipped: Sequence[Mismatches], allowed: bool) -> None:
    found = [str(one) for one in skipped if one.faults]
    if found and not allowed:
        raise DataError(f"{'. '.join(found)}. Correct the files, or leave such items out with `--skip-mismatched`.")


def _system(
    name: str,
    metrics: Sequence[Metric[Any]],
    keys: list[str],
    rows: list[list[Statistics]],
    skipped: Mismatches,
    options: Options,
) -> SystemScores:
    if not rows:
        raise DataError(f"{name}: there is nothing to score.")
    tables = tuple(np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    pairs = zip(metrics, tables, strict=True)
    scores = tuple(metric.aggregate(table, bootstrap=options.bootstrap, seed=options.seed) for metric, table in pairs)
    return SystemScores(name, scores, tuple(keys), tables, skipped)


def _compared(
    systems: Sequence[SystemScores], metrics: Sequence[Metric[Any]], options: Options
) -> Iterator[tuple[str, str, str, Comparison]]:
    """Each system against the first, on the items that both have."""
    base = systems[0]
    places = {key: row for row, key in enumerate(base.keys)}
    resamples = options.bootstrap or 1000
    for other in systems[1:]:
        shared = [(places[key], row) for row, key in enumerate(other.keys) if key in places]
        if not shared:
            raise DataError(f"{base.name} and {other.name} share no item, so a paired test cannot be made.")
        left, right = (list(side) for side in zip(*shared, strict=True))
        for metric, a, b in zip(metrics, base.tables, other.tables, strict=True):
            result = compare(metric, a[left], b[right], method=options.method, resamples=resamples, seed=options.seed)
            yield base.name, other.name, metric.name, result


def _results(cases: Iterable[Case], metrics: Sequence[Metric[Any]], options: Options) -> Iterator[Result]:
    work, chunks = _Work(tuple(metrics)), _chunks(iter(cases))
    for chunk in spread(work, chunks, n_jobs=options.n_jobs, backend=options.backend, batch=1):
        yield from chunk


def _chunks(cases: Iterator[Case]) -> Iterator[list[Case]]:
    while chunk := list(islice(cases, _CHUNK)):
        yield chunk


@dataclass(frozen=True)
class _Work:
    """What a worker does with a chunk: a class, because it travels to other processes."""

    metrics: tuple[Metric[Any], ...]

    def __call__(self, cases: list[Case]) -> list[Result]:
        good = [case for case in cases if not case.fault]
        try:
            rows = iter(self._rows(good))
        except GroundlingError:
            return [self._one(case) for case in cases]
        # Items are not sent back: the statistics are all that is needed.
        return [(_light(case), case.fault or next(rows)) for case in cases]

    def _rows(self, cases: list[Case]) -> list[list[Statistics]]:
        pairs = [(number, case.gold, case.pred) for number, case in enumerate(cases, 1)]
        columns = [metric.rows(pairs) for metric in self.metrics]
        return [list(row) for row in zip(*columns, strict=True)]

    def _one(self, case: Case) -> Result:
        if case.fault:
            return _light(case), case.fault
        try:
            return _light(case), [metric.statistics(case.gold, case.pred) for metric in self.metrics]
        except DataError as error:
            return _light(case), f"{case.key}: {error}"
        except GroundlingError as error:  # a setting that cannot be, not an item that does not fit
            raise error.at(case.key) from None


def _light(case: Case) -> Case:
    return case._replace(gold=None, pred=None)
