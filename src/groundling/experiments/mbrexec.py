"""The tables and curves of thesis ch. 7, on the programs of `$GROUNDLING_DATA`, printed beside their reference."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from groundling.drawing.charts import draw_curves
from groundling.errors import DataError
from groundling.execution import Limits, Runner
from groundling.experiments.tables import ResultRow
from groundling.formats.files import atomic_write
from groundling.metrics.base import Score
from groundling.systems.mbrexec import Cache, Graded, Pool, corpora, curves, dual, execute, table
from groundling.systems.mbrexec.evaluate import ALL, Point, expected_pass_at_k
from groundling.training.progress import Progress

CURVES: tuple[tuple[str, int], ...] = (
    ("random", ALL),
    ("mbr-tokenbleu", ALL),
    ("executable", ALL),
    ("mbr-exec", 1),
    ("mbr-exec", ALL),
    ("mbr-exec-soft", ALL),
    ("mbr-exec-text", ALL),
)
# A loaded machine must not decide what counts as too slow: 3 s of CPU, and a wall clock that only stops sleepers.
LIMITS = Limits(seconds=9, cpu_seconds=3)
# Accuracies measured elsewhere with fork-per-program isolation (not the thesis': its Codex samples are not public).
_COLUMNS: tuple[str, ...] = ("random (all)", "executable (all)", "mbr-exec (1)", "mbr-exec (all)", "oracle (all)")
_NUMBERS: dict[str, tuple[float | None, ...]] = {
    "mbpp": (61.8, 65.7, 72.2, 74.1, 86.0),
    "humaneval": (22.3, 24.9, 30.5, 34.7, 74.4),
    "mistral": (31.8, 32.8, 34.0, 35.0, 42.1),
    "spider": (75.2, 76.9, None, 82.6, 92.4),
    "nl2bash": (22.6, 28.5, None, 31.0, 55.0),
}
REFERENCE: dict[str, dict[str, float | None]] = {
    name: dict(zip(_COLUMNS, row, strict=True)) for name, row in _NUMBERS.items()
}


def reproduce(name: str, data: Path, folder: Path, *, seed: int = 0, workers: int = 2) -> list[ResultRow]:
    """Run one corpus (`mbpp`, `humaneval`, `mistral`, `spider`, `nl2bash`); results in `folder`, so that it resumes.

    The thesis' Codex samples are not public, so its numbers have no row here; notes name the reference instead.
    """
    if name not in REFERENCE:
        raise DataError(f"no corpus of programs is called {name!r}. There are: {', '.join(REFERENCE)}.")
    with Runner(workers=workers) as runner, Cache(folder / f"{name}.results.jsonl") as cache:
        graded = graded_corpus(name, data, runner, cache)
        rows = [
            ResultRow(label, None, 100 * score.value, _note(REFERENCE[name].get(label), score))
            for label, score in table(graded, sandbox=runner.level, seconds=3.0, seed=seed)
        ]
    points = curves(graded, CURVES, _sizes(graded), np.random.default_rng(seed))
    passing = {k: 100 * expected_pass_at_k(graded, k) for k in _sizes(graded)}
    with atomic_write(folder / f"{name}.json") as file:
        kept: dict[str, Any] = {"rows": rows, "curves": [asdict(point) for point in points], "pass_at_k": passing}
        file.write(json.dumps(kept, indent=1))
    with atomic_write(folder / f"{name}.svg") as file:
        file.write(draw(points))
    return rows


def _note(reference: float | None, score: Score) -> str:
    known = f"reference {reference}; " if reference is not None else ""
    return f"{known}95% {score.interval}, n={score.n}"


def graded_corpus(name: str, data: Path, runner: Runner, cache: Cache) -> list[Graded]:
    """Run and grade every candidate of a corpus; HumanEval also on the tests that a model wrote."""
    loaders: dict[str, Callable[[], list[corpora.Pair]]] = {
        "mbpp": lambda: corpora.mbpp(data, runner),
        "humaneval": lambda: corpora.humaneval(data, runner),
        "mistral": lambda: corpora.humaneval(data, runner, "mistral7b_n10"),
        "spider": lambda: corpora.spider(data),
        "nl2bash": lambda: corpora.nl2bash(data),
    }
    pairs = loaders[name]()
    limits = LIMITS if name not in ("spider", "nl2bash") else Limits(seconds=3)
    with Progress(f"{name}: running programs", sum(len(pile) for pile, _ in pairs)) as progress:
        found = []
        for item in execute(pairs, runner, limits=limits, cache=cache, grade=True):
            found.append(item)
            progress.advance(len(item.runs))
    pools = [Pool.of(item) for item in found]
    if name == "humaneval":
        pools = dual.with_generated_tests(found, corpora.humaneval_generated_tests(data), runner, limits, cache)
    return [Graded(pool, item.passed or ()) for pool, item in zip(pools, found, strict=True)]


def _sizes(graded: Sequence[Graded]) -> list[int]:
    most = max(len(item.passed) for item in graded)
    return [size for size in (1, 2, 3, 5, 7, 9, 10, 25, 50, 100) if size <= most]


def draw(points: Sequence[Point]) -> str:
    """The thesis' figure: accuracy by sample size, mean and deviation of the draws."""
    series: list[dict[str, Any]] = []
    for key in dict.fromkeys((point.method, point.inputs) for point in points):
        mine = [point for point in points if (point.method, point.inputs) == key]
        series.append(
            {
                "name": _label(*key),
                "x": [point.size for point in mine],
                "y": [point.mean for point in mine],
                "low": [point.mean - point.deviation for point in mine],
                "high": [point.mean + point.deviation for point in mine],
            }
        )
    return draw_curves(series, title="Accuracy by sample size", x_label="samples a task", y_label="accuracy (%)")


def _label(method: str, inputs: int) -> str:
    return f"{method} ({inputs or 'all'})"


def table_text(rows: Sequence[tuple[str, Score]]) -> str:
    """The table of all methods, and the signature that they share."""
    wide = max(len(name) for name, _ in rows)
    lines = [f"{'method (inputs)':{wide}}  accuracy  95% interval"]
    lines += [f"{name:{wide}}  {100 * score.value:8.2f}  {score.interval}" for name, score in rows]
    _, last = rows[-1]
    shared = "|".join(part for part in last.signature.split("|") if not part.startswith(("method:", "inputs:")))
    return "\n".join([*lines, f"{shared}, n={last.n}"])


def curves_text(points: Sequence[Point]) -> str:
    """Mean and standard deviation of the draws, a line a method."""
    sizes = list(dict.fromkeys(point.size for point in points))
    known = {(_label(p.method, p.inputs), p.size): f"{p.mean:.1f} ± {p.deviation:.1f}" for p in points}
    names = list(dict.fromkeys(name for name, _ in known))
    wide = max(len(name) for name in names)
    lines = [" " * wide + "".join(f"{f'N = {size}':>14}" for size in sizes)]
    return "\n".join(lines + [f"{n:{wide}}" + "".join(f"{known[n, s]:>14}" for s in sizes) for n in names])


def run(data: Path, out: Path, seed: int = 0) -> list[ResultRow]:
    """Every corpus, one after another, for `groundling reproduce`."""
    rows: list[ResultRow] = []
    for name in REFERENCE:
        rows += [row._replace(name=f"{name}: {row.name}") for row in reproduce(name, data, out, seed=seed)]
    return rows
