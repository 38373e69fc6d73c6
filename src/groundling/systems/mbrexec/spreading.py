"""Spread runs over processes or a cluster: each worker keeps a sandbox of its own (`--backend loky | ray | dask`)."""

from __future__ import annotations

import atexit
import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from groundling.algorithms.parallel import spread
from groundling.execution import Limits, Runner
from groundling.structures import Samples
from groundling.systems.mbrexec.cache import Cache
from groundling.systems.mbrexec.executing import Executed, execute
from groundling.systems.mbrexec.tasks import Task


@functools.cache
def worker_runner(unsafe_local: bool) -> Runner:
    """The runner of one process: started at the first task, closed when the process ends."""
    runner = Runner(workers=1, unsafe_local=unsafe_local)
    atexit.register(runner.close)
    return runner


@functools.cache
def worker_cache(path: str | None) -> Cache:
    """The open cache of one process: read once."""
    return Cache(path)


@dataclass(frozen=True)
class Work:
    """What a worker does with one task; plain data, so that any backend can send it."""

    limits: Limits
    grade: bool
    unsafe_local: bool
    cache_path: str | None

    def __call__(self, pair: tuple[Samples, Task]) -> Executed:
        runner, cache = worker_runner(self.unsafe_local), worker_cache(self.cache_path)
        [done] = execute([pair], runner, limits=self.limits, cache=cache, grade=self.grade)
        return done


def execute_spread(
    pairs: Iterable[tuple[Samples, Task]],
    *,
    limits: Limits,
    grade: bool = False,
    unsafe_local: bool = False,
    n_jobs: int = 2,
    backend: str | None = None,
    cache_path: str | None = None,
) -> Iterator[Executed]:
    """As `execute`, in `n_jobs` workers; on a cluster a `cache_path` must lie in a folder that all of them share."""
    work = Work(limits, grade, unsafe_local, cache_path)
    return spread(work, pairs, n_jobs=n_jobs, backend=backend or "loky", batch=4)
