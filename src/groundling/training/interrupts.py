"""Ctrl-C and SIGTERM during training: finish the step, save, say where and how to go on."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Any, Self

from groundling.training.runs import RunFolder


class Interrupts:
    """Hold back the first signal until the step is done and saved; the second one leaves at once.

    Only in the main thread of a single process with a run folder: processes under torchrun could not agree on the step
    to stop at, so there the last checkpoint is what is kept.
    """

    def __init__(self, run: RunFolder | None, processes: int = 1):
        self.run, self.asked = run, 0
        self._active = run is not None and processes == 1 and threading.current_thread() is threading.main_thread()
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM) if self._active else ():
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = number
        print("\nstopping after this step; once more stops at once", file=sys.stderr, flush=True)

    def leave_if_asked(self, step: int) -> None:
        """Raise `KeyboardInterrupt` (or leave with 143 after SIGTERM) if a signal came; the caller has saved."""
        if not self.asked or self.run is None:
            return
        message = f"stopped at step {step}, saved in {self.run.path}. Continue with `--resume`."
        print(message, file=sys.stderr, flush=True)
        if self.asked == signal.SIGTERM:
            sys.exit(143)
        raise KeyboardInterrupt(message)
