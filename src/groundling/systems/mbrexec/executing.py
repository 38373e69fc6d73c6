"""Run every candidate of every task on the task's inputs (and tests), in any language, through the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from groundling.execution import Limits, Outcome, Runner
from groundling.execution.bash import BASH_LIMITS, read_tree, run_bash
from groundling.execution.guest.encode import encode
from groundling.execution.sql import as_multiset, is_ordered, run_sql
from groundling.execution.values import agreement_key, parse
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
    raw: tuple[str | None, ...] = (None, None)  # SQL and Bash: results for grading

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
    raw = tuple(kept.get("raw", (None, None)))
    return Run(kept["status"], tuple(kept["keys"]), tuple(kept["shown"]), kept["ms"], raw)


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
    """Run candidates on their tasks' inputs; with `grade`, on the tests too, each in a process of its own."""
    limits, cache, done = limits or Limits(), cache or Cache(), 0
    for samples, task in pairs:
        if task.language == "python":
            yield _python(samples, task, runner, limits, cache, grade)
        else:
            yield _other(samples, task, runner, limits, cache, grade)
        done += len(samples.programs)
        if progress:
            progress(done)


def _python(samples: Samples, task: Task, runner: Runner, limits: Limits, cache: Cache, grade: bool) -> Executed:
    texts = [task.program_text(program, samples.prompt) for program in samples.programs]
    runs = run_all([(text, task.inputs) for text in texts], runner, limits, cache)
    if not grade:
        return Executed(samples, task, tuple(runs))
    graded = run_all([(text, task.tests) for text in texts], runner, limits, cache)
    return Executed(samples, task, tuple(runs), tuple(run.executable for run in graded))


def _other(samples: Samples, task: Task, runner: Runner, limits: Limits, cache: Cache, grade: bool) -> Executed:
    """SQL and Bash: one result a program; right is what gives the gold's result."""
    run = _sql if task.language == "sql" else _bash
    every = [program.code for program in samples.programs] + [task.gold] * grade
    runs: list[Run] = []
    for code in every:
        name = content_key(runner.signature, asdict(limits), task.language, task.database, task.tree, code)
        if name not in cache:
            cache.put(name, run(code, task, runner, limits))
        runs.append(_run(cache[name]))
    if not grade:
        return Executed(samples, task, tuple(runs))
    # keys[1] is the result as a multiset: how a query without an order of its own is graded.
    place = 0 if task.language == "bash" or is_ordered(task.gold) else 1
    wanted = runs.pop()
    passed = tuple(r.raw[place] is not None and r.raw[place] == wanted.raw[place] for r in runs)
    return Executed(samples, task, tuple(runs), passed)


def _sql(code: str, task: Task, runner: Runner, limits: Limits) -> dict[str, Any]:
    outcome = run_sql(code, task.database, limits)
    kept = _kept(outcome)
    if outcome.ok:
        rows = outcome.value[0]
        kept["raw"] = [_short(_key_of(rows)), _short(_key_of(as_multiset(rows)))]
        kept["keys"] = [kept["raw"][0 if is_ordered(code) else 1]]
    return kept


def _bash(code: str, task: Task, runner: Runner, limits: Limits) -> dict[str, Any]:
    """A command agrees with another that prints the same, ends the same way and leaves the same tree."""
    tree = read_tree(task.tree) if task.tree else None
    outcome = run_bash(code, runner, tree, replace(BASH_LIMITS, seconds=limits.seconds))
    kept = _kept(outcome)
    if outcome.ok:
        code_, files = outcome.value[0]
        raw = _short(_key_of([outcome.stdout, files]))
        kept |= {"raw": [raw], "keys": [raw if code_ == 0 else None], "shown": [outcome.stdout[:_SHOWN]]}
        kept["status"] = "ok" if code_ == 0 else "error"
    return kept


def _key_of(value: Any) -> str | None:
    return agreement_key(parse(encode(value)))
