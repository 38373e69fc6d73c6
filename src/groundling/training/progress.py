"""Progress on stderr: what, how far, how fast, how long still. No torch here.

On a terminal a bar; elsewhere nothing, or a line every ten seconds when `GROUNDLING_PROGRESS=lines` asks for it
(`off` silences the bar too).
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")
SECONDS_BETWEEN_LINES = 10.0


def track(iterable: Iterable[T], label: str, total: int | None = None) -> Iterator[T]:
    """Iterate with progress shown. Where nothing is to be shown it is the iterator itself, at no cost.

    >>> list(track([1, 2], "counting"))
    [1, 2]
    """
    if mode() == "off":
        return iter(iterable)
    return _track(iterable, Progress(label, len(iterable) if total is None and hasattr(iterable, "__len__") else total))  # type: ignore[arg-type]


def _track(iterable: Iterable[T], progress: Progress) -> Iterator[T]:
    with progress:
        # The loop writes its count into the handle; another thread looks at it a few times a second.
        for item in iterable:
            yield item
            progress.done += 1


def mode() -> str:
    """Return `bar`, `lines` or `off`."""
    asked = os.environ.get("GROUNDLING_PROGRESS", "")
    if asked in ("lines", "off"):
        return asked
    alone = os.environ.get("RANK", "0") == "0"  # of the processes of torchrun, one talks
    return "bar" if sys.stderr.isatty() and alone else "off"


class Progress:
    """A handle for loops that count for themselves: `advance()` it, and give it a note to show.

    >>> with Progress("training", total=3) as progress:
    ...     progress.advance(note="loss 0.5")
    >>> progress.done
    1
    """

    def __init__(self, label: str, total: int | None = None, done: int = 0):
        self.label, self.total, self.done, self.note = label, total, done, ""
        self._first, self._start = done, time.monotonic()
        self._stop, self._thread = threading.Event(), None
        self._bar: Any = None

    def advance(self, by: int = 1, note: str | None = None) -> None:
        """Count `by` more; `note` is shown until the next one."""
        self.done += by
        if note is not None:
            self.note = note

    def line(self) -> str:
        """Return the state as one line of text."""
        seconds = max(time.monotonic() - self._start, 1e-9)
        rate = (self.done - self._first) / seconds
        of = f"{self.done:,}" if self.total is None else f"{self.done:,} of {self.total:,}"
        left = f", {_clock((self.total - self.done) / rate)} left" if self.total is not None and rate > 0 else ""
        return f"{self.label}: {of}, {rate:,.1f}/s{left}{', ' if self.note else ''}{self.note}"

    def __enter__(self) -> Self:
        self._start = time.monotonic()
        if mode() == "bar":
            from groundling.training.bars import show

            self._bar = show(self)
        elif mode() == "lines":
            self._thread = threading.Thread(target=self._print_lines, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            print(self.line(), file=sys.stderr, flush=True)
        if self._bar is not None:
            self._bar.close()

    def _print_lines(self) -> None:
        while not self._stop.wait(SECONDS_BETWEEN_LINES):
            print(self.line(), file=sys.stderr, flush=True)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(max(seconds, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
