"""Heavy work off the event loop: a few threads, a bounded queue, a time limit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from groundling.errors import GroundlingError

Result = TypeVar("Result")


class BusyError(GroundlingError):
    """Too many requests are waiting."""


class LateError(GroundlingError):
    """The work took too long."""


class Workers:
    """At most `threads` jobs at once and `waiting` more in line; each is given up after `seconds`.

    A thread cannot be stopped: one that is late keeps its place until it ends, so that the machine is never asked for
    more than `threads` jobs.
    """

    def __init__(self, threads: int = 2, waiting: int = 64, seconds: float = 60.0) -> None:
        self.most, self.seconds = threads + waiting, seconds
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="groundling-web")
        self._open = 0

    async def do(self, job: Callable[[], Result]) -> Result:
        """Run a job in a thread and wait for it."""
        if self._open >= self.most:
            raise BusyError("the server has too much to do. Try again in a moment.")
        self._open += 1
        loop = asyncio.get_running_loop()
        future = self._pool.submit(job)
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._done))
        return await self._answer(future)

    async def _answer(self, future: Future[Result]) -> Result:
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self.seconds)
        except TimeoutError:
            raise LateError(f"no answer within {self.seconds:g} seconds. Give less to do.") from None

    def _done(self) -> None:
        self._open -= 1

    def close(self) -> None:
        """Take no more jobs."""
        self._pool.shutdown(wait=False, cancel_futures=True)
