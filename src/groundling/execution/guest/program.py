"""Run one untrusted Python text and its inputs in this (already locked up) process, and send what came out."""

from __future__ import annotations

import io
import json
import os
import random
import sys
import types
from collections.abc import Callable
from typing import Any

from groundling.execution.guest.encode import TooLargeError, encode

LOADED, REFUSED = -1, -2  # indices of the two lines that answer no input
_MESSAGE_LENGTH = 300


def prepare() -> None:
    """What every program finds, set up once before the forks: it costs each of them nothing."""
    random.seed(0)  # all candidates see the same "random" numbers, so that equal programs agree
    sys.stdin = io.StringIO()
    sys.stdout = sys.stderr = io.TextIOWrapper(
        io.FileIO(1, "w", closefd=False), encoding="utf-8", errors="backslashreplace", write_through=False
    )


def run_program(code: str, inputs: list[str], nonce: str, send: Callable[[bytes], None]) -> None:
    """Load `code` as a module called `program`, then evaluate each input in it; one line goes out for each."""
    module = types.ModuleType("program")
    sys.modules["program"] = module  # dataclasses and pickle look classes up by module name
    if _step(LOADED, lambda: _load(code, module), nonce, send):
        for index, source in enumerate(inputs):
            _step(index, lambda source=source: _evaluate(source, module), nonce, send)
    sys.stdout.flush()


def _load(code: str, module: types.ModuleType) -> None:
    exec(compile(code, "<program>", "exec", dont_inherit=True), module.__dict__)


def _evaluate(source: str, module: types.ModuleType) -> Any:
    """Evaluate an expression; a statement (an assert) gives None when it holds."""
    try:
        tree = compile(source, "<input>", "eval", dont_inherit=True)
    except SyntaxError:
        exec(compile(source, "<input>", "exec", dont_inherit=True), module.__dict__)
        return None
    return eval(tree, module.__dict__)


def _step(index: int, action: Callable[[], Any], nonce: str, send: Callable[[bytes], None]) -> bool:
    try:
        body = f'"value":{encode(action())}'
    except TooLargeError as error:
        body = f'"error":"TooLarge","message":{json.dumps(str(error))}'
    except BaseException as error:  # SystemExit and KeyboardInterrupt are a candidate's failures like any other
        body = f'"error":{json.dumps(type(error).__name__)},"message":{json.dumps(_message(error))}'
    send(f'{{"nonce":"{nonce}","index":{index},{body}}}\n'.encode())
    return '"error"' not in body[:8]


def _message(error: BaseException) -> str:
    try:
        return str(error)[:_MESSAGE_LENGTH]
    except BaseException:  # a poisoned __str__
        return ""


def refuse(nonce: str, reason: str, send: Callable[[bytes], None]) -> None:
    """Say that a wall could not be put up, so nothing was run."""
    body = json.dumps({"nonce": nonce, "index": REFUSED, "error": "SetupError", "message": reason})
    send(body.encode() + b"\n")


def sender(fd: int) -> Callable[[bytes], None]:
    """Return a function that writes all of its bytes to `fd`."""

    def send(data: bytes) -> None:
        while data:
            data = data[os.write(fd, data) :]

    return send
