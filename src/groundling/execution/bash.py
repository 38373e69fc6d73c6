"""Bash: tokens by bashlex as in the thesis, and, beyond it, real runs in a throw-away file tree."""

from __future__ import annotations

import base64
import functools
import io
import os
import tarfile
from typing import Any

from groundling.errors import ExecutionError
from groundling.execution.outcome import Limits, Outcome
from groundling.execution.runner import Runner
from groundling.names import require

BASH_LIMITS = Limits(seconds=3.0, processes=64, memory_bytes=1 << 31)


@functools.lru_cache(maxsize=65536)
def _words(command: str) -> tuple[str, ...] | None:
    bashlex: Any = require("bashlex", "bash", "splitting Bash commands")
    try:
        return tuple(str(word) for word in bashlex.split(command)) if bashlex.parse(command) else None
    except Exception:  # bashlex raises its own, NotImplementedError, AttributeError and others on what it cannot read
        return None


def tokens_of(command: str) -> list[str] | None:
    """The command's tokens, or None where bashlex cannot parse it: the thesis' "not executable" (7.3.1).

    >>> tokens_of("ls -l | wc"), tokens_of("ls |")
    (['ls', '-l', '|', 'wc'], None)
    """
    found = _words(command)
    return None if found is None else list(found)


def run_bash(command: str, runner: Runner, tree: bytes | None = None, limits: Limits = BASH_LIMITS) -> Outcome:
    """Run a command with `/` made of the tar archive `tree`; the value is (exit code, {path: (kind, mode, digest)}).

    What it printed is in `stdout`; stderr is dropped. It needs namespaces: at any other level it is an error.
    """
    if runner.level != "bubblewrap":
        raise ExecutionError(
            f"running Bash needs bubblewrap, and the sandbox here is {runner.level!r}. Install bubblewrap, or compare "
            "commands by their tokens (the thesis' way)."
        )
    packed = base64.b64encode(tree or empty_tree()).decode()
    return runner.run(command, (), limits, language="bash", tree=packed)


def empty_tree() -> bytes:
    """A tar archive without files."""
    return pack({})


def pack(files: dict[str, str | bytes]) -> bytes:
    """A tar archive of these files, by path.

    >>> len(pack({"work/a.txt": "hello"})) > 0
    True
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            entry = tarfile.TarInfo(path.lstrip("/"))
            entry.size, entry.mode, entry.mtime = len(data), 0o644, 1_700_000_000
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def read_tree(path: str | os.PathLike[str]) -> bytes:
    """A tar archive from a file, for `tree`."""
    with open(path, "rb") as file:
        return file.read()
