"""Spread work over processes or a cluster through joblib: the order stays, memory stays flat, one option to scale."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

from groundling.errors import ConfigError, GroundlingError
from groundling.names import did_you_mean, load, require

A = TypeVar("A")
B = TypeVar("B")
BACKENDS = ("loky", "threading", "ray", "dask")
TASKS_A_WORKER = 8  # tasks under way for each worker: enough that all end a window at about the same time


def spread(
    function: Callable[[A], B],
    items: Iterable[A],
    *,
    n_jobs: int = 1,
    backend: str | None = None,
    batch: int = 64,
) -> Iterator[B]:
    """Yield `function(item)` for each item, in their order; `-1` jobs is one a core.

    Items are read and results given in a stream, a window of `n_jobs * 8 * batch` at a time, so that a file of any
    length can pass. `function` must be pure: what a killed worker did is done again. With one job and no backend it
    is `map`, without any copying.

    >>> list(spread(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    if backend is not None and backend not in BACKENDS:
        raise ConfigError(
            f"no backend is called {backend!r}.{did_you_mean(backend, BACKENDS)} There are: {', '.join(BACKENDS)}."
        )
    if n_jobs < -1 or n_jobs == 0 or batch < 1:
        raise ConfigError(f"{n_jobs} jobs with batches of {batch} cannot be. Use jobs 1, 2, ... or -1 for all cores.")
    if n_jobs == 1 and backend is None:
        return map(function, items)
    jobs = (os.cpu_count() or 1) if n_jobs == -1 else n_jobs
    return _windows(function, iter(items), jobs, _prepared(backend, jobs), batch)


def _windows(
    function: Callable[[A], B], stream: Iterator[A], jobs: int, backend: str | None, batch: int
) -> Iterator[B]:
    while window := list(islice(stream, jobs * TASKS_A_WORKER * batch)):
        chunks = [window[start : start + batch] for start in range(0, len(window), batch)]
        for results in _run(function, chunks, jobs, backend):
            yield from results


def _run(function: Callable[[A], B], chunks: list[list[A]], jobs: int, backend: str | None) -> list[list[B]]:
    joblib = load("joblib")  # on demand: half the callers have one job and need no 50 ms import
    killed = load("joblib.externals.loky.process_executor:TerminatedWorkerError")
    for _ in range(2):
        try:
            with joblib.parallel_config(backend=backend or "loky", n_jobs=jobs):
                return joblib.Parallel(batch_size=1)(joblib.delayed(_apply)(function, chunk) for chunk in chunks)
        except killed:  # killed from outside, most often for memory: a new pool, once
            continue
    raise GroundlingError(
        f"workers were killed twice on the same work, most likely for memory. Use fewer than {jobs} jobs."
    )


def _apply(function: Callable[[A], B], chunk: list[A]) -> list[B]:
    return [function(item) for item in chunk]


def _prepared(backend: str | None, jobs: int) -> str | None:
    """Connect to the cluster: RAY_ADDRESS or DASK_SCHEDULER_ADDRESS names it, else one is started on this machine."""
    if backend == "ray":
        require("ray", "ray", "backend 'ray'")
        require("ray.util.joblib", "ray", "backend 'ray'").register_ray()
    elif backend == "dask":
        dask = require("distributed", "dask", "backend 'dask'")
        try:
            dask.get_client()
        except ValueError:
            address = os.environ.get("DASK_SCHEDULER_ADDRESS")
            dask.Client(address) if address else dask.Client(n_workers=jobs, threads_per_worker=1)
    return backend
