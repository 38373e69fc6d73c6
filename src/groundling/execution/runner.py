"""Run untrusted programs: a few warm servers behind the strongest wall there is."""

from __future__ import annotations

import queue
import secrets
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from groundling.errors import ExecutionError
from groundling.execution import replies
from groundling.execution.crew import Crew
from groundling.execution.launch import Level
from groundling.execution.outcome import Limits, Outcome
from groundling.execution.server import Server, ServerLostError, wait

Job = tuple[str, Sequence[str]]


class Runner:
    """A context manager that holds `workers` warm servers.

    `level` is the wall in use; `signature` says it in one word for scores and caches.

    >>> with Runner(workers=1, unsafe_local=True) as runner:
    ...     runner.run("def f(x): return x + 1", ["f(1)", "f(2)"]).value
    (2, 3)
    """

    def __init__(self, *, workers: int = 2, unsafe_local: bool = False, level: Level | None = None) -> None:
        self.workers = workers
        self._servers: queue.SimpleQueue[Server | None] = queue.SimpleQueue()  # the free ones
        self._crews: list[Crew] = []  # those at work
        self._streams = 0  # loops over many that have begun
        first, chosen = _strongest(unsafe_local) if level is None else (_started(level), level)
        self.level: Level = chosen
        self._servers.put(first)
        for _ in range(workers - 1):
            self._servers.put(None)  # started when first needed

    @property
    def signature(self) -> str:
        return f"sandbox:{self.level}"

    def run(self, program: str, inputs: Sequence[str] = (), limits: Limits | None = None, **extra: Any) -> Outcome:
        """Run one program and evaluate each input (an expression, or an assert) in it."""
        request = replies.request(program, inputs, limits or Limits(), secrets.token_hex(8), **extra)
        [outcome] = self._outcomes(iter([request]), 1)
        return outcome

    def run_many(self, jobs: Iterable[Job], limits: Limits | None = None) -> Iterator[Outcome]:
        """Run many (program, inputs) pairs on all servers; outcomes come in the order of the jobs.

        Jobs are read a little ahead, never all of them. While the loop over it lives its servers are its own, and
        `run` starts another where none is free.
        """
        limits = limits or Limits()
        requests = (replies.request(code, inputs, limits, secrets.token_hex(8)) for code, inputs in jobs)
        self._streams += 1
        try:
            yield from self._outcomes(requests, self.workers)
        finally:
            self._streams -= 1

    def _outcomes(self, requests: Iterator[replies.Request], most: int) -> Iterator[Outcome]:
        lent = self._servers.empty() and self._streams > 0  # none may ever come back if we wait for one
        places: list[Server | None] = [None] if lent else self._take(most)
        crew = Crew(places, lambda processes: _started(self.level, processes=processes))
        self._crews.append(crew)
        try:
            yield from crew.outcomes(requests)
        finally:
            self._crews.remove(crew)
            for server in crew.dismiss():
                if not lent:
                    self._servers.put(server)
                elif server is not None:
                    server.close()

    def _take(self, most: int) -> list[Server | None]:
        """One server at least, the free ones up to `most`."""
        found = [self._servers.get()]
        while len(found) < most:
            try:
                found.append(self._servers.get_nowait())
            except queue.Empty:
                break
        return found

    def close(self) -> None:
        """End all servers, also those whose programs nobody waits for any more."""
        for server in [server for crew in self._crews for server in crew.servers]:
            if server is not None:
                server.close()
        while not self._servers.empty():
            server = self._servers.get()
            if server is not None:
                server.close()

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _strongest(unsafe_local: bool) -> tuple[Server, Level]:
    reasons: list[str] = []
    levels: tuple[Level, ...] = ("bubblewrap", "landlock")
    for level in levels:
        try:
            return _started(level), level
        except ExecutionError as error:
            reasons.append(f"{level}: {error}")
    if unsafe_local:
        return _started("none"), "none"
    raise ExecutionError(
        "no sandbox works here (" + "; ".join(reasons) + "). Install bubblewrap, or, if you trust every program, "
        "pass --unsafe-local (unsafe_local=True): then only time and memory are limited."
    )


def _started(level: Level, *, processes: bool = False) -> Server:
    """Start a server and prove with one program that its walls stand."""
    try:
        server = Server(level, processes=processes)
    except OSError as error:
        raise ExecutionError(f"cannot start: {error}") from error
    try:
        server.submit(replies.request("", ["1 + 1"], Limits(), "start"))
        wait([server])
        [outcome] = [replies.outcome(*one) for one in server.collect()]
    except ServerLostError as lost:
        server.close()
        raise ExecutionError(str(lost)) from lost
    if outcome.value != (2,):
        server.close()
        raise ExecutionError(outcome.error or "the first program gave no answer")
    return server


def run(
    program: str, inputs: Sequence[str] = (), limits: Limits | None = None, *, unsafe_local: bool = False
) -> Outcome:
    """Run one untrusted Python program in a sandbox of its own (thesis ch. 7). For many, keep a `Runner`.

    >>> run("def f(x): return x + 1", ["f(1)"], unsafe_local=True).value
    (2,)
    """
    with Runner(workers=1, unsafe_local=unsafe_local) as runner:
        return runner.run(program, inputs, limits)


def run_many(
    jobs: Iterable[Job], limits: Limits | None = None, *, workers: int = 2, unsafe_local: bool = False
) -> list[Outcome]:
    """Run many (program, inputs) pairs; outcomes come in the order of the jobs."""
    with Runner(workers=workers, unsafe_local=unsafe_local) as runner:
        return list(runner.run_many(jobs, limits))
