"""The bars of `progress.py` on a terminal, drawn by rich: one display for all that are open, so that they may nest."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, Task, TextColumn
from rich.progress import Progress as RichProgress
from rich.text import Text

if TYPE_CHECKING:
    from groundling.training.progress import Progress

_LOCK = threading.RLock()
_display: _Display | None = None  # a process has one terminal, so this one thing is shared


class _Line(ProgressColumn):
    """The text of a handle: label, count, rate, time left, note."""

    def render(self, task: Task) -> Text:
        return Text(task.fields["handle"].line())


class _Display(RichProgress):
    def __init__(self) -> None:
        columns: list[str | ProgressColumn] = [BarColumn(bar_width=20), TextColumn("{task.percentage:>3.0f}%"), _Line()]
        super().__init__(*columns, console=Console(stderr=True), refresh_per_second=4, transient=True)

    def get_renderables(self):  # called by rich's own thread, four times a second
        for task in self.tasks:
            handle = task.fields["handle"]
            task.completed, task.total = handle.done, handle.total
        yield from super().get_renderables()


class Bar:
    """One open bar; `close` takes it away and leaves its last line in the scroll-back."""

    def __init__(self, handle: Progress, display: _Display):
        self.handle, self.display = handle, display
        self.task = display.add_task("", total=handle.total, handle=handle)

    def close(self) -> None:
        """Close the bar; the last one closes the display."""
        global _display
        with _LOCK:
            self.display.remove_task(self.task)
            self.display.console.print(Text(self.handle.line()), soft_wrap=True)
            if not self.display.tasks:
                self.display.stop()
                _display = None


def show(handle: Progress) -> Bar:
    """Open a bar for the handle."""
    global _display
    with _LOCK:
        if _display is None:
            _display = _Display()
            _display.start()
        return Bar(handle, _display)
