"""Run one untrusted Python text and its inputs in this (already locked up) process, and send what came out."""

from __future__ import annotations

import io
import os
import random
import sys
import types
from collections.abc import Callable
from typing import Any

from groundling.execution.guest.encode import TooLargeError, encode, quoted

LOADED, REFUSED = -1, -2  # indices of the two lines that answer no input
_MESSAGE_LENGTH = 300
_CHUNK = 1 << 16
_STATEMENTS = ("assert ", "def ", "import ", "from ", "for ", "while ", "if ", "class ", "try:", "with ", "@")

_REHEARSAL = '''
import re
from typing import List
class Pair(tuple):
    """Two."""
    def __len__(self): return 2
def f(xs: List[int], *more, key=None, **named) -> List[int]:
    try:
        found = {x: (x + 1) * 2 for x in xs if x >= 0 and not x == 7}
        for index, x in enumerate(sorted(xs)):
            while index > 3 or x is None: break
            found[x] = [index, -x, x % 3, f"{x!r}"][0]
    except (ValueError, KeyError) as error: raise error
    return [x for x in found] or list(map(lambda x: x // 2, xs[1:]))
'''


def prepare() -> None:
    """What every program finds, set up once before the forks: it costs each of them nothing."""
    random.seed(0)  # all candidates see the same "random" numbers, so that equal programs agree
    sys.stdin = io.StringIO()
    sys.stdout = sys.stderr = io.TextIOWrapper(
        io.FileIO(1, "w", closefd=False), encoding="utf-8", errors="backslashreplace", write_through=False
    )


def rehearse(times: int = 40) -> None:
    """Do all of it here with a small text, before any fork: what the interpreter sets up or learns at first use
    (the parser's tables, specialised bytecode, free lists) is then there, and is not made again in each child.
    """
    near, far = os.pipe()
    sink = os.open(os.devnull, os.O_WRONLY)
    inputs = ["f([2, 1])", "assert f([]) == [], 'no'", "f(0)", "1 +", "def check(g): assert g([]) == []\ncheck(f)"]
    body = " ".join(["0x", "0x".join([_REHEARSAL, *inputs])]).encode()
    for _ in range(times):
        os.write(far, len(body).to_bytes(4, "little") + body)
        run_program(receive(near), sink)
    for fd in (near, far, sink):
        os.close(fd)
    del sys.modules["program"]


def receive(channel: int) -> list[str]:
    """Read the request: its size in four bytes, the nonce, then the texts with the nonce between them."""
    data = os.read(channel, _CHUNK)
    want = 4 + int.from_bytes(data[:4], "little")
    if len(data) < want:
        data = _rest(data, want, channel)
    nonce, _, texts = data[4:].decode("utf-8", "surrogatepass").partition(" ")
    return [nonce, *texts.split(nonce)]


def _rest(data: bytes, want: int, channel: int) -> bytes:
    parts, have = [data], len(data)
    while have < want:
        parts.append(os.read(channel, _CHUNK))
        have += len(parts[-1])
        if not parts[-1]:
            os._exit(1)  # the host has gone
    return b"".join(parts)


def run_program(texts: list[str], channel: int) -> None:
    """Load the code as a module called `program`, then evaluate each input in it; one line goes out for each."""
    nonce, code, *inputs = texts
    module = types.ModuleType("program")
    sys.modules["program"] = module  # dataclasses and pickle look classes up by module name
    if _step(LOADED, _load, code, module, nonce, channel):
        for index, source in enumerate(inputs):
            _step(index, _evaluate, source, module, nonce, channel)
    sys.stdout.flush()


def _load(code: str, module: types.ModuleType) -> None:
    exec(compile(code, "<program>", "exec", dont_inherit=True), module.__dict__)


def _evaluate(source: str, module: types.ModuleType) -> Any:
    """Evaluate an expression; a statement (an assert) gives None when it holds."""
    try:
        tree = None if source.startswith(_STATEMENTS) else compile(source, "<input>", "eval", dont_inherit=True)
    except SyntaxError:
        tree = None
    if tree is not None:
        return eval(tree, module.__dict__)
    exec(compile(source, "<input>", "exec", dont_inherit=True), module.__dict__)
    return None


def _step(
    index: int,
    action: Callable[[str, types.ModuleType], Any],
    source: str,
    module: types.ModuleType,
    nonce: str,
    channel: int,
) -> bool:
    try:
        body = f'"value":{encode(action(source, module))}'
    except TooLargeError as error:
        body = f'"error":"TooLarge","message":{quoted(str(error))}'
    except BaseException as error:  # SystemExit and KeyboardInterrupt are a candidate's failures like any other
        body = f'"error":{_name(error)},"message":{quoted(_message(error))}'
    send(channel, f'{{"nonce":"{nonce}","index":{index},{body}}}\n')
    return '"error"' not in body[:8]


def _name(error: BaseException) -> str:
    try:
        return quoted(type(error).__name__)
    except BaseException:  # a metaclass that says otherwise
        return '"Exception"'


def _message(error: BaseException) -> str:
    try:
        return str(error)[:_MESSAGE_LENGTH]
    except BaseException:  # a poisoned __str__
        return ""


def refuse(nonce: str, reason: str, channel: int) -> None:
    """Say that a wall could not be put up, so nothing was run."""
    send(channel, f'{{"nonce":"{nonce}","index":{REFUSED},"error":"SetupError","message":{quoted(reason)}}}\n')


def send(channel: int, text: str) -> None:
    """Write all of a text."""
    data = text.encode()
    while data:
        data = data[os.write(channel, data) :]
