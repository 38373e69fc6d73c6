"""Progress: silent off a terminal, lines when asked, bars that nest, and no cost."""

import io
import sys
import time

import pytest

from groundling.training import progress as progress_module
from groundling.training.progress import Progress, track


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_off_a_terminal_it_is_the_iterator_itself(capsys: pytest.CaptureFixture[str]) -> None:
    items = iter([1, 2])
    assert track(items, "x") is items
    assert list(items) == [1, 2]
    with Progress("x", total=2) as handle:
        handle.advance()
    assert capsys.readouterr() == ("", "")


def test_lines_when_asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("GROUNDLING_PROGRESS", "lines")
    monkeypatch.setattr(progress_module, "SECONDS_BETWEEN_LINES", 0.01)
    for _ in track(range(3), "parsing"):
        time.sleep(0.03)
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.splitlines()
    assert len(lines) > 2
    assert lines[0].startswith("parsing: 0 of 3, 0.0/s")
    assert lines[-1].startswith("parsing: 3 of 3, ")
    assert ", 0:00:00 left" in lines[-1]


def test_bars_on_a_terminal_nest_and_close(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    for _ in track([1], "outer"):
        for _ in track(iter("ab"), "inner"):
            pass
    assert "outer: 1 of 1" in terminal.getvalue()
    assert "inner: 2, " in terminal.getvalue()
    with pytest.raises(KeyError), Progress("fails", total=2):
        raise KeyError
    from groundling.training import bars

    assert bars._display is None


def test_other_ranks_and_off_are_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert progress_module.mode() == "bar"
    monkeypatch.setenv("RANK", "1")
    assert progress_module.mode() == "off"
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("GROUNDLING_PROGRESS", "off")
    assert progress_module.mode() == "off"


def test_the_line_says_rate_time_left_and_note() -> None:
    handle = Progress("training", total=7300, done=100)
    handle._start -= 10.0  # ten seconds ago
    handle.advance(100, note="loss 0.5")
    said = handle.line()
    assert said.startswith("training: 200 of 7,300, 10.0/s, 0:11:")
    assert said.endswith(" left, loss 0.5")
