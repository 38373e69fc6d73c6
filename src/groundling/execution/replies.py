"""Requests to the guest, and what its replies mean. The values in a reply are hostile text until parsed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from groundling.errors import FormatError
from groundling.execution.outcome import Limits, Outcome, Result, Status
from groundling.execution.values import decode, parse

_LOADED, _REFUSED = -1, -2
_SIGKILL, _SIGXCPU = -9, -24
_MESSAGE_LENGTH = 400


def request(code: str, inputs: Sequence[str], limits: Limits, nonce: str, **extra: Any) -> dict[str, Any]:
    """Everything the guest needs to run one program."""
    return {
        "language": "python",
        "code": code,
        "inputs": list(inputs),
        "nonce": nonce,
        "seconds": limits.seconds,
        "cpu_seconds": limits.cpu_seconds or limits.seconds,
        "rlimits": limits.rlimits(),
        "temporary_bytes": limits.temporary_bytes,
        "result_bytes": limits.result_bytes,
        "output_bytes": limits.output_bytes,
        "processes": limits.processes,
        **extra,
    }


def outcome(header: dict[str, Any], values: bytes, printed: bytes, asked: dict[str, Any]) -> Outcome:
    """Judge one reply. Lines that are torn, forged (wrong nonce) or malformed count as not written."""
    if header["nonce"] != asked["nonce"]:
        raise FormatError("a reply to another request")
    count = max(len(asked["inputs"]), 1 if asked["language"] == "bash" else 0)
    found = _results(values, asked["nonce"], count)
    if _REFUSED in found:
        return Outcome("refused", (None,) * count, "", header["ms"], error=found[_REFUSED].error)
    missing = _ending(header, asked)
    load = found.get(_LOADED, missing)
    results = tuple(found.get(index, missing) if load.status == "ok" else load for index in range(count))
    worst = next((r for r in (load, *results) if r.status != "ok"), load)
    if worst.status == "ok" and header["ended"] != "exit":
        worst = missing  # every value came, and yet it had to be stopped
    return Outcome(
        worst.status,
        tuple(decode(result.data) if result.status == "ok" else None for result in results),
        printed[: asked["output_bytes"]].decode("utf-8", "replace"),
        header["ms"],
        results,
        worst.error,
        load.status == "ok",
    )


def _ending(header: dict[str, Any], asked: dict[str, Any]) -> Result:
    """What an input without a value of its own gets."""
    code, ended = header["exit"], header["ended"]
    # The kernel enforces CPU limits by sampling at ticks, which on a busy machine runs well ahead of exact accounting.
    late = header["cpu"] >= 0.4 * asked["cpu_seconds"]
    if ended == "timeout" or (code in (_SIGKILL, _SIGXCPU) and late):
        return Result("timeout", error=f"over {asked['seconds']:g} s")
    if ended == "output":
        return Result("output_limit", error="printed or returned too much")
    if code == _SIGKILL:
        return Result("memory", error="killed by the kernel")
    return Result("error", error=f"ended early with code {code}")


def _results(values: bytes, nonce: str, count: int) -> dict[int, Result]:
    found: dict[int, Result] = {}
    for line in values.split(b"\n"):
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
