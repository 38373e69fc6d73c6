"""`--help` of every command shows an example that exists; completion works; Ctrl-C ends with one line and 130."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from groundling.cli.main import build

SCRIPT = str(Path(sys.executable).with_name("groundling"))
ROOT: Any = typer.main.get_command(build(None))


def walk(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that is no group, with the words that lead to it."""
    for name, sub in command.commands.items():
        if hasattr(sub, "commands"):
            yield from walk(sub, (*path, name))
        else:
            yield (*path, name), sub


COMMANDS = dict(walk(ROOT))
NAMES = [" ".join(path) for path in COMMANDS]


def examples(text: str) -> list[list[str]]:
    """The command lines after `Example:`, cut into words."""
    _, _, rest = text.partition("Example:")
    lines = re.split(r";|\||&&", " ".join(rest.split()))
    return [shlex.split(line) for line in lines if "groundling" in line]


@pytest.mark.parametrize("path", COMMANDS.values(), ids=NAMES)
def test_every_option_has_help(path: Any) -> None:
    assert [one.opts for one in path.params if not getattr(one, "help", None)] == []


@pytest.mark.parametrize("path", COMMANDS, ids=NAMES)
def test_every_command_has_an_example_that_exists(path: tuple[str, ...]) -> None:
    found = examples(COMMANDS[path].help or "")
    assert found, "no `Example:` in its help"
    assert any(words[:1] == ["groundling"] and tuple(words[1 : 1 + len(path)]) == path for words in found)
    for words in found:
        command = ROOT
        for word in words[1:]:
            command = getattr(command, "commands", {}).get(word, command)
        known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)} | {"--help"}
        assert {word for word in words if re.match(r"--?[a-z]", word)} <= known, words


def complete(line: str) -> list[str]:
    words = {"_GROUNDLING_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    done = subprocess.run([SCRIPT], env={**os.environ, **words}, capture_output=True, text=True, check=False)
    return done.stdout.split()


def test_the_shell_completes_commands_and_options() -> None:
    assert complete("groundling sc") == ["score"]
    assert complete("groundling subdp tra") == ["train-source", "transfer", "translate"]
    assert "--report" in complete("groundling vgnsl train --re")


def test_ctrl_c_ends_with_one_line_and_130() -> None:
    running = subprocess.Popen(
        [SCRIPT, "check", "-", "--format", "brackets"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    place = Path(f"/proc/{running.pid}/wchan")
    deadline = time.monotonic() + 20
    while place.exists() and "pipe" not in place.read_text() and time.monotonic() < deadline:
        time.sleep(0.05)  # until it waits for its input
    time.sleep(0.2 if place.exists() else 5)
    running.send_signal(signal.SIGINT)
    out, error = running.communicate(timeout=20)
    assert running.returncode == 130 and out == ""
    assert len(error.strip().splitlines()) == 1 and "Traceback" not in error
