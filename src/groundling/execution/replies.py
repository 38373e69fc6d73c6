"""Requests to the guest, and what its replies mean. The values in a reply are hostile text until parsed."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from groundling.errors import FormatError
from groundling.execution.outcome import Limits, Outcome, Result, Status
from groundling.execution.values import decode, parse

_LOADED, _REFUSED = -1, -2
_SIGKILL, _SIGXCPU = -9, -24
_MESSAGE_LENGTH = 400


@dataclass(frozen=True, slots=True)
class Request:
    """One program on its way: `plan` is for the server (walls and limits), `body` for the child alone."""

    plan: bytes
    body: bytes
    nonce: str
    count: int  # of the results that are wanted
    seconds: float
    cpu_seconds: float
    result_bytes: int
    output_bytes: int
    processes: bool  # whether it may start some


@dataclass(frozen=True, slots=True)
class Ending:
    """The server's word on a program: how it ended (exit, timeout, output), its exit code, CPU seconds and time."""

    ended: str
    exit: int
    cpu: float
    ms: float

    @staticmethod
    def read(word: bytes, fits: bool) -> Ending:
        """Parse the server's word; what does not fit the limits counts as too much output, however it ended."""
        ended, status, cpu, microseconds = word.split()
        ending = ended.decode() if fits else "output"
        return Ending(ending, os.waitstatus_to_exitcode(int(status)), int(cpu) / 1e6, int(microseconds) / 1e3)


def request(
    code: str, inputs: Sequence[str], limits: Limits, nonce: str, language: str = "python", tree: str = ""
) -> Request:
    """Everything that is needed to run one program; `tree` is for Bash."""
    bash = language == "bash"
    return Request(
        _plan(limits, language),
        _packed(nonce, [code, tree] if bash else [code, *inputs]),
        nonce,
        1 if bash else len(inputs),
        limits.seconds,
        limits.cpu_seconds or limits.seconds,
        limits.result_bytes,
        limits.output_bytes,
        limits.processes > 0,
    )


@functools.lru_cache(maxsize=64)
def _plan(limits: Limits, language: str) -> bytes:
    asked = {
        "language": language,
        "seconds": limits.seconds,
        "rlimits": limits.rlimits(),
        "temporary_bytes": limits.temporary_bytes,
    }
    return json.dumps(asked).encode()


def _packed(nonce: str, texts: Sequence[str]) -> bytes:
    """As `guest.program.receive` reads it: no text holds the nonce, a number made up after it was written."""
    body = f"{nonce} {nonce.join(texts)}".encode("utf-8", "surrogatepass")
    return len(body).to_bytes(4, "little") + body


def refusal(asked: Request, reason: str) -> Outcome:
    """The outcome of a program that was not run."""
    return Outcome("refused", (None,) * asked.count, "", 0.0, error=reason)


def outcome(asked: Request, ending: Ending, values: bytes, printed: bytes) -> Outcome:
    """Judge what came back. Lines that are torn, forged (wrong nonce) or malformed count as not written."""
    found = _results(values, asked.nonce, asked.count)
    if _REFUSED in found:
        return refusal(asked, found[_REFUSED].error)
    missing = _ending(ending, asked)
    load = found.get(_LOADED, missing)
    results = tuple(found.get(index, missing) if load.status == "ok" else load for index in range(asked.count))
    worst = next((r for r in (load, *results) if r.status != "ok"), load)
    if worst.status == "ok" and ending.ended != "exit":
        worst = missing  # every value came, and yet it had to be stopped
    return Outcome(
        worst.status,
        tuple(decode(result.data) if result.status == "ok" else None for result in results),
        printed[: asked.output_bytes].decode("utf-8", "replace"),
        ending.ms,
        results,
        worst.error,
        load.status == "ok",
    )


def _ending(ending: Ending, asked: Request) -> Result:
    """What an input without a value of its own gets."""
    code, ended = ending.exit, ending.ended
    # The kernel enforces CPU limits by sampling at ticks, which on a busy machine runs well ahead of exact accounting.
    late = ending.cpu >= 0.4 * asked.cpu_seconds
    if ended == "timeout" or (code in (_SIGKILL, _SIGXCPU) and late):
        return Result("timeout", error=f"over {asked.seconds:g} s")
    if ended == "output":
        return Result("output_limit", error="printed or returned too much")
    if code == _SIGKILL:
        return Result("memory", error="killed by the kernel")
    return Result("error", error=f"ended early with code {code}")


def _results(values: bytes, nonce: str, count: int) -> dict[int, Result]:
    found: dict[int, Result] = {}
    for line in filter(None, values.split(b"\n")):
        try:
            index, result = _line(line, nonce)
        except (FormatError, KeyError, TypeError):
            continue
        if _REFUSED <= index < count:
            found.setdefault(index, result)
    return found


def _line(line: bytes, nonce: str) -> tuple[int, Result]:
    data = cast(dict[str, Any], parse(line))
    if type(data) is not dict or data["nonce"] != nonce or type(data["index"]) is not int:
        raise FormatError("a line that is not ours")
    if "error" in data:
        name, message = str(data["error"])[:100], str(data.get("message", ""))[:_MESSAGE_LENGTH]
        return data["index"], Result(_status(name), error=f"{name}: {message}" if message else name)
    decode(data["value"])
    return data["index"], Result("ok", data["value"])


def _status(error: str) -> Status:
    return "memory" if error == "MemoryError" else "output_limit" if error == "TooLarge" else "error"
