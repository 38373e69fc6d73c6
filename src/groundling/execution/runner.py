"""Run untrusted programs: a few warm servers behind the strongest wall there is."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import secrets
import select
import subprocess
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from groundling.errors import ExecutionError, FormatError
from groundling.execution import launch, replies
from groundling.execution.launch import Level
from groundling.execution.outcome import Limits, Outcome

_GRACE = 30.0  # seconds that a server may be late (a loaded machine) before it counts as lost
_MAX_REPLY = 64 << 20
_WINDOW = 8
Job = tuple[str, Sequence[str]]


class ServerLostError(Exception):
    """The server ended or fell silent."""


class Server:
    """One guest server: send a request, get its reply. Used by one thread at a time."""

    def __init__(self, level: Level) -> None:
        self.process = launch.start(level)

    def ask(self, request: dict[str, Any], seconds: float) -> tuple[dict[str, Any], bytes, bytes]:
        """Send one request and wait for its reply: header, values, printed text."""
        body = json.dumps(request).encode()
        deadline = time.monotonic() + seconds + _GRACE
        try:
            assert self.process.stdin is not None
            self.process.stdin.write(len(body).to_bytes(4, "big") + body)
            self.process.stdin.flush()
        except OSError as error:
            raise ServerLostError(self.last_words()) from error
        sizes = self._read(12, deadline)
        parts = [int.from_bytes(sizes[i : i + 4], "big") for i in (0, 4, 8)]
        if sum(parts) > _MAX_REPLY:
            raise ServerLostError("a reply of impossible size")
        header, values, printed = [self._read(size, deadline) for size in parts]
        return json.loads(header), values, printed

    def _read(self, count: int, deadline: float) -> bytes:
        assert self.process.stdout is not None
        fd, data = self.process.stdout.fileno(), b""
        while len(data) < count:
            if not select.select([fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise ServerLostError("no reply in time")
            part = os.read(fd, min(count - len(data), 1 << 20))
            if not part:
                raise ServerLostError(self.last_words())
            data += part
        return data

    def last_words(self) -> str:
        """What the ended server wrote on stderr."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        if self.process.poll() is None or self.process.stderr is None:
            return "no answer"
        return self.process.stderr.read().decode(errors="replace").strip()[-500:] or "ended without a word"

    def close(self) -> None:
        """End the server and, with its namespace, everything in it."""
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Runner:
    """A context manager that holds `workers` warm servers.

    `level` is the wall in use; `signature` says it in one word for scores and caches.

    >>> with Runner(workers=1, unsafe_local=True) as runner:
    ...     runner.run("def f(x): return x + 1", ["f(1)", "f(2)"]).value
    (2, 3)
    """

    def __init__(self, *, workers: int = 2, unsafe_local: bool = False, level: Level | None = None) -> None:
        self.workers = workers
        self._servers: queue.SimpleQueue[Server | None] = queue.SimpleQueue()
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
        limits = limits or Limits()
        request = replies.request(program, inputs, limits, secrets.token_hex(8), **extra)
        server, reason = self._servers.get(), ""
        try:
            for _ in range(2):
                server = server or _started(self.level)
                try:
                    header, values, printed = server.ask(request, limits.seconds)
                    return replies.outcome(header, values, printed, request)
                except ServerLostError as lost:
                    server.close()
                    server, reason = None, str(lost)
            return Outcome("refused", (None,) * len(inputs), "", 0.0, error=f"the sandbox was lost: {reason}")
        finally:
            self._servers.put(server)

    def run_many(self, jobs: Iterable[Job], limits: Limits | None = None) -> Iterator[Outcome]:
        """Run many (program, inputs) pairs on all servers; outcomes come in the order of the jobs."""
        waiting: deque[Future[Outcome]] = deque()
        with ThreadPoolExecutor(self.workers) as pool:
            for program, inputs in jobs:
                waiting.append(pool.submit(self.run, program, inputs, limits))
                if len(waiting) > _WINDOW * self.workers:  # read ahead a little, never all of the jobs
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def close(self) -> None:
        for _ in range(self.workers):
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


def _started(level: Level) -> Server:
    """Start a server and prove with one program that its walls stand."""
    try:
        server = Server(level)
    except OSError as error:
        raise ExecutionError(f"cannot start: {error}") from error
    request = replies.request("", ["1 + 1"], Limits(), "start")
    try:
        outcome = replies.outcome(*server.ask(request, 3.0), request)
    except (ServerLostError, FormatError) as lost:
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
