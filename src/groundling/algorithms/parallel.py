"""Spread work over processes or a cluster through joblib: the order stays, memory stays flat, one option to scale."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from groundling.errors import ConfigError, GroundlingError
from groundling.names import did_you_mean, load, require

A = TypeVar("A")
B = TypeVar("B")
BACKENDS = ("loky", "threading", "ray", "dask")
_CLIENTS: list[object] = []  # dask's: it forgets, and closes, a client that nobody holds
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
    with _Pool(jobs, backend or "loky") as pool:
        while window := list(islice(stream, jobs * TASKS_A_WORKER * batch)):
            chunks = [window[start : start + batch] for start in range(0, len(window), batch)]
            for results in pool.run(function, chunks):
                yield from results


class _Pool:
    """Workers that stay for all windows, so that what each has loaded, or locked up, is used again."""

    def __init__(self, jobs: int, backend: str) -> None:
        self._jobs, self._backend = jobs, backend
        self._parallel: Any = None

    def run(self, function: Callable[[A], B], chunks: list[list[A]]) -> list[list[B]]:
        delayed = load("joblib").delayed(_apply)
        for _ in range(2):
            try:
                self._parallel = self._parallel or self._started()
                return self._parallel(delayed(function, chunk) for chunk in chunks)
            except _killed(self._backend):  # from outside, most often for memory: a new pool, once
                self.__exit__()
        raise GroundlingError(
            f"workers were killed twice on the same work, most likely for memory. Use fewer than {self._jobs} jobs."
        )

    def _started(self) -> Any:
        joblib = load("joblib")  # on demand: half the callers have one job and need no 50 ms import
        with joblib.parallel_config(backend=self._backend, n_jobs=self._jobs):
            return joblib.Parallel(batch_size=1).__enter__()

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        if self._parallel is not None:
            self._parallel.__exit__(None, None, None)
            self._parallel = None


def _killed(backend: str) -> tuple[type[BaseException], ...]:
    """The errors that say that a worker died; dask does its work again by itself, three times."""
    if backend == "ray":
        return load("ray.exceptions:RayActorError"), load("ray.exceptions:WorkerCrashedError")
    if backend == "dask":
        return (load("distributed:KilledWorker"),)
    return (load("joblib.externals.loky.process_executor:TerminatedWorkerError"),)


def _apply(function: Callable[[A], B], chunk: list[A]) -> list[B]:
    return [function(item) for item in chunk]


def _prepared(backend: str | None, jobs: int) -> str | None:
    """Connect to the cluster: RAY_ADDRESS or DASK_SCHEDULER_ADDRESS names it, else one is started on this machine."""
    if backend == "ray":
        ray = require("ray", "ray", "backend 'ray'")
        require("ray.util.joblib", "ray", "backend 'ray'").register_ray()
        if not ray.is_initialized():
            here = {} if "RAY_ADDRESS" in os.environ else {"num_cpus": jobs, "include_dashboard": False}
            ray.init(log_to_driver=False, logging_level="error", **here)
    elif backend == "dask":
        _connect_dask(jobs)
    return backend


def _connect_dask(jobs: int) -> None:
    dask = require("distributed", "dask", "backend 'dask'")
    try:
        dask.get_client()
    except ValueError:
        address = os.environ.get("DASK_SCHEDULER_ADDRESS")
        here = {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": None}
        _CLIENTS.append(dask.Client(address) if address else dask.Client(**here))
