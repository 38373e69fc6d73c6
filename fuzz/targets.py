"""What is fuzzed: a function of bytes for each reader, which raises where a promise is broken, and files to start from.

The promise of a reader: one of our errors, in one line and with its place, or items that survive writing and reading.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import numpy as np

from groundling.backbones.speech_audio import find_audio
from groundling.errors import ConfigError, DataError, FormatError, GroundlingError
from groundling.execution import replies, values
from groundling.execution.guest.encode import TooLargeError, encode
from groundling.execution.outcome import Limits
from groundling.formats.arrays import read_arrays
from groundling.formats.checking import check_file
from groundling.metrics.evalb_prm import parse_prm
from groundling.systems.mbrexec.tasks import read as read_tasks
from groundling.systems.mlpalign.reading import read_pairs
from groundling.training.config import dump_config, parse_config
from groundling.worlds import clevr_scenes, scan
from oracles.readers import OPTIONS, SEEDS, assert_survives, attempt

Target = Callable[[bytes], None]
os.fsync = lambda _: None  # a file an input: the disk need not see them
SCRATCH = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)) / "again"


def reader(name: str) -> Target:
    """Read in every way; what was read is written and read again; `check` agrees on whether there is a fault."""
    ways = OPTIONS.get(name, [{}])

    def read(data: bytes) -> None:
        found = [attempt(name, data, **options) for options in ways]
        if found[0]:
            assert_survives(name, found[0], SCRATCH)
        faults = check_file(io.BytesIO(data), name).faults
        if ways == [{}]:
            assert found[0] is not None or faults, "read refuses what check calls right"
            assert found[0] is None or not faults or name == "conllu", "check refuses what read calls right"

    return read


def value(data: bytes) -> None:
    """The value decoder: FormatError, or plain data whose key does not change by being encoded again."""
    try:
        parsed = values.parse(data)
        decoded = values.decode(parsed)
    except FormatError:
        return
    key = values.agreement_key(parsed)
    assert key == values.agreement_key(parsed)
    if key is not None and not _has_array(decoded):
        try:
            again = values.parse(encode(decoded))
        except (TooLargeError, FormatError):
            return  # deeper than the guest may send
        assert values.agreement_key(again) == key, (decoded, key)


def _has_array(value: Any) -> bool:
    if isinstance(value, tuple) and value[:1] == ("array",):
        return True
    parts = [*value.keys(), *value.values()] if isinstance(value, dict) else value
    return isinstance(parts, list | tuple | set | frozenset) and any(map(_has_array, parts))


def reply(data: bytes) -> None:
    """What a hostile program may write in the place of results: never an error, never a value without the nonce."""
    asked = replies.request("x = 1", ["x", "y"], Limits(), "n0nce")
    found = replies.outcome(asked, replies.Ending("exit", 0, 0.0, 1.0), data, data)
    assert len(found.value) == 2
    assert found.status != "ok" or b"n0nce" in data


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One field of each kind that a config may have."""

    whole: int = 3
    number: float = 0.5
    flag: bool = True
    text: str = "x"
    maybe: int | None = None
    choice: Literal["a", "b"] = "a"
    several: tuple[int, ...] = (1, 2)


def config(data: bytes) -> None:
    """Settings in TOML: ConfigError, or settings that are the same after writing and reading."""
    try:
        found = parse_config(Settings, data.decode("utf-8", "replace"))
    except ConfigError:
        return
    assert repr(parse_config(Settings, dump_config(found))) == repr(found)


def parameters(data: bytes) -> None:
    """EVALB's .prm files."""
    _or_our_error(lambda: parse_prm(data.decode("utf-8", "replace")))


def arrays(data: bytes) -> None:
    """Files of numpy: FormatError, or arrays no larger than the file (a zip may pack a thousandfold)."""
    found: dict[str, Any] = _or_our_error(lambda: read_arrays(io.BytesIO(data))) or {}
    assert sum(array.nbytes for array in found.values()) <= 1100 * len(data) * (1 + len(found))


def commands(data: bytes) -> None:
    """SCAN's files."""
    _or_our_error(lambda: list(scan.read(io.BytesIO(data))))  # type: ignore[arg-type]


def scenes(data: bytes) -> None:
    """CLEVR's scenes."""
    _or_our_error(lambda: list(clevr_scenes.read(io.BytesIO(data))))  # type: ignore[arg-type]


def pairs(data: bytes) -> None:
    """Both sides of a bitext a line: tabs, bars or JSON."""
    for first, second in _or_our_error(lambda: list(read_pairs(io.BytesIO(data)))) or ():
        assert all(isinstance(word, str) for word in (*first, *second))


def manifest(data: bytes) -> None:
    """The recordings of a folder as JSON lines."""
    path = SCRATCH.with_suffix(".jsonl")
    path.write_bytes(data)
    _or_our_error(lambda: find_audio(path))


def tasks(data: bytes) -> None:
    """Tasks with tests: MBPP's lines, HumanEval's but for the tracing of its checks, and our own."""
    _or_our_error(lambda: list(read_tasks(io.BytesIO(data), _Untraced())))  # type: ignore[arg-type]


class _Untraced:
    """In the place of the sandbox that traces HumanEval's checks."""

    def __getattr__(self, name: str) -> Any:
        raise DataError("not here")


def _or_our_error(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except GroundlingError as error:
        assert "\n" not in str(error), "an error is one line"
        return None


TARGETS: dict[str, Target] = {
    **{name: reader(name) for name in SEEDS},
    "value": value,
    "reply": reply,
    "config": config,
    "parameters": parameters,
    "arrays": arrays,
    "commands": commands,
    "scenes": scenes,
    "pairs": pairs,
    "manifest": manifest,
    "tasks": tasks,
}


def seeds(name: str) -> list[bytes]:
    """Small valid inputs to start from."""
    if name in SEEDS:
        return [text.encode() for text in SEEDS[name]]
    return _OTHERS[name]()


def _values() -> list[bytes]:
    samples = [1, 2.5, [None, True, "é"], (1, 2**70), {"a": {1}, 2: frozenset()}, range(3), b"x", 1j, float("nan")]
    return [encode(sample).encode() for sample in samples] + [b'{"opaque":"f"}', b'{"array":[1,2]}', b"{}"]


def _replies() -> list[bytes]:
    lines = [
        '{"nonce": "n0nce", "index": -1, "value": null}',
        '{"nonce": "n0nce", "index": 0, "value": {"int": "0xf"}}',
    ]
    lines.append('{"nonce": "n0nce", "index": 1, "error": "ValueError", "message": "no"}')
    return [line.encode() for line in (*lines, "\n".join(lines))]


def _packed() -> list[bytes]:
    found = []
    for save in (np.savez, np.savez_compressed, lambda handle, **parts: np.save(handle, parts["a"])):
        handle = io.BytesIO()
        save(handle, a=np.arange(6.0).reshape(2, 3), b=np.array([1, 2], dtype=np.int8))
        found.append(handle.getvalue())
    return found


_OTHERS: dict[str, Callable[[], list[bytes]]] = {
    "value": _values,
    "reply": _replies,
    "config": lambda: [dump_config(Settings(maybe=4)).encode(), b"[table]\nx = 1979-05-27\n", b"several = [1, 'a']\n"],
    "parameters": lambda: [b"# c\nCUTOFF_LEN 40\nLABELED 1\nDELETE_LABEL TOP\nEQ_LABEL ADVP PRT\nEQ_WORD a b\n"],
    "arrays": _packed,
    "commands": lambda: [b"IN: run twice OUT: I_RUN I_RUN\n", b"IN: jump OUT: I_JUMP\n\n"],
    "pairs": lambda: [b"a cat ||| un chat\nx\ty\n\n", b'{"source": "a b", "target": ["c", "d"]}\n'],
    "manifest": lambda: [b'{"audio": "a.wav", "image": 0, "words": "a.TextGrid"}\n{"audio": "b.flac"}\n'],
    "tasks": lambda: [
        b'{"task_id": 3, "test_list": ["assert f(1) == 2"], "test_imports": [], "test_setup_code": ""}\n',
        b'{"task_id": "a", "tests": ["assert f([1]) == (2,)"], "prompt": "def f(x):", "inputs": ["f(3)"]}\n',
        b'{"task_id": "q", "language": "sql", "database": "d", "gold": "SELECT 1"}\n',
    ],
    "scenes": lambda: [
        b'{"scenes": [{"directions": {"right": [1, 0, 0], "front": [0, 1, 0]}, '
        b'"objects": [{"color": "red", "shape": "cube", "size": "large", "material": "metal", '
        b'"3d_coords": [0.5, 1, 0.7]}], "relationships": {"left": [[]], "right": [[]], "front": [[]], '
        b'"behind": [[]]}}]}'
    ],
}
