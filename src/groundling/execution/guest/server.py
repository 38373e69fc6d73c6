"""The warm server: one request in, one fork, one reply out. It never looks into what an untrusted process writes."""

from __future__ import annotations

import base64
import gc
import json
import os
import resource
import select
import signal
import sys
import time
from typing import Any

from groundling.execution.guest import isolation, program, shell

_CONTROL_IN, _CONTROL_OUT = 3, 4  # where the host's pipes are moved, away from 0-2
_RULESET = 5  # the Landlock ruleset, or /dev/null where there is none
_CHUNK = 1 << 16
# Loaded once, so that a candidate's `import re` costs nothing.
_PRELOAD = (
    "abc array bisect calendar cmath collections copy csv dataclasses datetime decimal enum fractions functools "
    "hashlib heapq io itertools json math operator random re statistics string struct sys textwrap time typing"
).split()


def serve(config: dict[str, Any]) -> None:
    """Answer requests until the host closes its end."""
    os.dup2(0, _CONTROL_IN, inheritable=False)
    os.dup2(1, _CONTROL_OUT, inheritable=False)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1):
        os.dup2(null, fd)
    os.dup2(null, _RULESET)
    os.closerange(_RULESET + 1, 256)
    for name in _PRELOAD:
        __import__(name)
    if config["drop_to"] is not None:  # root, without namespaces
        isolation.become(config["drop_to"], may_search=config["level"] == "landlock" and config["hidden"])
    isolation.forbid_new_privileges()
    program.prepare()
    walls = Walls(config)
    gc.collect()
    gc.freeze()
    while (request := _receive()) is not None:
        _reply(*_run(request, walls))
        del request


class Walls:
    """What every forked program is locked up with, prepared once."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.level: str = config["level"]
        self.filters = {name: isolation.Filter.of(base64.b64decode(t)) for name, t in config["filters"].items()}
        if self.level == "landlock":
            os.dup2(isolation.landlock_ruleset(config["readable"]), _RULESET)

    def fork(self) -> int:
        return isolation.fork(namespaces=self.level == "bubblewrap")

    def prepare(self, request: dict[str, Any]) -> None:
        """Do before the fork what can be done: each page that the child touches first is a page copied."""
        name = "processes" if request["processes"] and self.level == "bubblewrap" else self.level
        request["filter"] = self.filters.get(name)
        request["limits"] = isolation.possible_limits(request["rlimits"])
        request["temporary_options"] = isolation.temporary_options(request["temporary_bytes"])

    def enter(self, request: dict[str, Any]) -> None:
        """Lock this process up; the last step, the filter, forbids most of what the earlier ones used."""
        if self.level == "bubblewrap":
            isolation.mount_private(request["temporary_options"])
            os.chdir("/tmp")
            if request["language"] == "bash":
                shell.enter_tree(request)
            isolation.drop_capabilities()
        if self.level == "landlock":
            isolation.restrict_to(_RULESET)
        for kind, bounds in request["limits"]:
            resource.setrlimit(kind, bounds)
        if request["filter"] is not None:
            isolation.install_filter(request["filter"])


def _child(request: dict[str, Any], walls: Walls, result: int, output: int) -> None:
    """Become the program; never returns."""
    isolation.die_with_parent()
    os.setsid()
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(result, _CONTROL_IN)  # over the host's pipes: no way to them is left
    os.close(_CONTROL_OUT)
    os.closerange(_RULESET + 1, 256)
    send = program.sender(_CONTROL_IN)
    try:
        walls.enter(request)
    except BaseException as error:
        program.refuse(request["nonce"], f"{type(error).__name__}: {error}", send)
        os._exit(1)
    os.close(_RULESET)
    if request["language"] == "bash":
        shell.run_shell(request["code"], request["nonce"], send)
    else:
        program.run_program(request["code"], request["inputs"], request["nonce"], send)


def _run(request: dict[str, Any], walls: Walls) -> tuple[dict[str, Any], bytes, bytes]:
    walls.prepare(request)
    result_read, result_write = os.pipe()
    output_read, output_write = os.pipe()
    start = time.monotonic()
    pid = walls.fork()
    if pid == 0:
        try:
            _child(request, walls, result_write, output_write)
        finally:
            os._exit(0)
    os.close(result_write)
    os.close(output_write)
    buffers = {result_read: bytearray(), output_read: bytearray()}
    caps = {result_read: request["result_bytes"], output_read: request["output_bytes"]}
    ended = _watch(pid, buffers, caps, start + request["seconds"])
    os.kill(pid, signal.SIGKILL)  # its namespace, where it has one, dies with it
    _, status, usage = os.wait4(pid, 0)
    for fd in buffers:
        os.close(fd)
    header = {
        "nonce": request["nonce"],
        "ended": ended,
        "exit": os.waitstatus_to_exitcode(status),
        "cpu": usage.ru_utime + usage.ru_stime,
        "ms": (time.monotonic() - start) * 1e3,
    }
    return header, bytes(buffers[result_read]), bytes(buffers[output_read])


def _watch(pid: int, buffers: dict[int, bytearray], caps: dict[int, int], deadline: float) -> str:
    """Read both pipes until the process has left; say how it ended: exit, timeout or output."""
    poll = select.poll()
    process = os.pidfd_open(pid)
    try:
        for fd in (*buffers, process):
            poll.register(fd, select.POLLIN)
        poll.register(_CONTROL_IN, 0)  # the host hanging up ends everything
        while True:
            left = deadline - time.monotonic()
            ready = poll.poll(max(0.0, left) * 1e3)
            if not ready and left <= 0:
                return "timeout"
            for fd, _ in ready:
                if fd == _CONTROL_IN:
                    os._exit(0)
                if fd in buffers:
                    _read_into(fd, buffers[fd], poll)
                    if len(buffers[fd]) > caps[fd]:
                        return "output"
            unread = any(fd in buffers and event & select.POLLIN for fd, event in ready)
            if not unread and any(fd == process for fd, _ in ready):
                return "exit"
            if time.monotonic() > deadline:
                return "timeout"
    finally:
        os.close(process)


def _read_into(fd: int, buffer: bytearray, poll: select.poll) -> None:
    data = os.read(fd, _CHUNK)
    buffer += data
    if not data:
        poll.unregister(fd)


def _receive() -> dict[str, Any] | None:
    header = _read_exactly(4)
    if header is None:
        return None
    body = _read_exactly(int.from_bytes(header, "big"))
    return None if body is None else json.loads(body)


def _read_exactly(count: int) -> bytes | None:
    parts: list[bytes] = []
    while count:
        data = os.read(_CONTROL_IN, min(count, 1 << 20))
        if not data:
            return None
        parts.append(data)
        count -= len(data)
    return b"".join(parts)


def _reply(header: dict[str, Any], result: bytes, output: bytes) -> None:
    text = json.dumps(header).encode()
    sizes = b"".join(len(part).to_bytes(4, "big") for part in (text, result, output))
    program.sender(_CONTROL_OUT)(sizes + text + result + output)


if __name__ == "__guest__":
    serve(json.loads(sys.argv[1]))
