"""Run every candidate of every task on the task's inputs (and tests), in any language, through the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from groundling.execution import Limits, Outcome, Runner
from groundling.execution.values import agreement_key
from groundling.structures import Samples
from groundling.systems.mbrexec.cache import Cache, content_key
from groundling.systems.mbrexec.tasks import Task

_SHOWN = 120


@dataclass(frozen=True)
class Run:
    """One program's outcome as it is kept: a key for each input (None: failed, equals nothing), and how it looked."""

    status: str
    keys: tuple[str | None, ...]
    shown: tuple[str, ...]
    ms: float = 0.0

    @property
    def executable(self) -> bool:
        return self.status == "ok"


Job = tuple[str, Sequence[str]]


def run_all(
    jobs: Sequence[Job], runner: Runner, limits: Limits, cache: Cache, progress: Callable[[int], Any] | None = None
) -> list[Run]:
    """Run (program text, inputs) pairs; equal pairs and those in the cache run once."""
    names = [content_key(runner.signature, asdict(limits), text, list(inputs)) for text, inputs in jobs]
    missing = {name: job for name, job in zip(names, jobs, strict=True) if name not in cache}
    outcomes = runner.run_many(missing.values(), limits)
    for done, (name, outcome) in enumerate(zip(missing, outcomes, strict=True)):
        if outcome.status != "refused":  # the sandbox's failure, not the program's: try again next time
            cache.put(name, _kept(outcome))
        else:
            cache.values[name] = _kept(outcome)
        if progress:
            progress(done + 1)
    return [_run(cache[name]) for name in names]


def _kept(outcome: Outcome) -> dict[str, Any]:
    keys = [_short(agreement_key(r.data)) if r.status == "ok" else None for r in outcome.results]
    shown = [
        _look(value) if r.status == "ok" else r.error for r, value in zip(outcome.results, outcome.value, strict=False)
    ]
    return {
        "status": outcome.status,
        "keys": keys or [None] * len(outcome.value),
        "shown": [text[:_SHOWN] for text in shown],
        "ms": round(outcome.ms, 1),
    }


def _short(key: str | None) -> str | None:
    return key if key is None or len(key) <= 64 else content_key(key)


def _look(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:  # an integer of over 4,300 digits
        return "a huge integer"


def _run(kept: dict[str, Any]) -> Run:
    return Run(kept["status"], tuple(kept["keys"]), tuple(kept["shown"]), kept["ms"])


@dataclass(frozen=True)
class Executed:
    """All candidates of one task, run: `runs[i]` answers the inputs; `passed[i]` is None where there are no tests."""

    samples: Samples
    task: Task
    runs: tuple[Run, ...]
    passed: tuple[bool, ...] | None = None


def execute(
    pairs: Iterable[tuple[Samples, Task]],
    runner: Runner,
    *,
    limits: Limits | None = None,
    cache: Cache | None = None,
    grade: bool = False,
    progress: Callable[[int], Any] | None = None,
) -> Iterator[Executed]:
    """Run Python candidates on their tasks' inputs; with `grade`, on the tests too, each in a process of its own."""
    limits, cache, done = limits or Limits(), cache or Cache(), 0
    for samples, task in pairs:
        texts = [task.program_text(program, samples.prompt) for program in samples.programs]
        runs = run_all([(text, task.inputs) for text in texts], runner, limits, cache)
        passed = None
        if grade:
            graded = run_all([(text, task.tests) for text in texts], runner, limits, cache)
            passed = tuple(run.executable for run in graded)
        done += len(texts)
        if progress:
            progress(done)
        yield Executed(samples, task, tuple(runs), passed)
