"""The warm server: one plan in, one fork, one ending out. It never sees a program, nor what one writes.

The host sends descriptors with each plan: the child prints to the first two, and reads its program from the third and
answers there. So the server, whose every touched page is copied at the next fork, does next to nothing.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import types
from functools import partial
from time import monotonic
from typing import Any

from groundling.execution.guest import isolation, large_pages, program
from groundling.execution.guest.control import Control

_CHANNEL = 3  # a program's own way to the host; 1 and 2 are its output, and all three are free until it comes
_PLANS, _ENDINGS, _RULESET, _ERRORS = 4, 5, 6, 7  # the server's: sockets, Landlock ruleset or /dev/null, stderr
_SIGKILL = 9
_BOUNDS = {"CORE": 0, "MEMLOCK": 1 << 16, "STACK": 8 << 20}  # of every program: set once, inherited
# What programs import most: loaded once, so that it costs them nothing. Each one more makes every fork dearer.
_PRELOAD = "bisect collections copy functools heapq itertools math operator random re string sys time typing".split()
# Where `nobody` cannot read the interpreter's folders, programs have what is loaded before it becomes nobody.
_FAR = (
    "abc array calendar cmath csv dataclasses datetime decimal enum fractions hashlib io statistics struct textwrap"
).split()


class Plan:
    """What locks a program up, ready to be done in its process; one for all programs of the same limits."""

    def __init__(self, message: bytes, config: dict[str, Any]) -> None:
        asked, level = json.loads(message), config["level"]
        self.milliseconds = int(asked["seconds"] * 1e3)
        self.shell = _shell(config["shell"]) if asked["language"] == "bash" else None
        first = isolation.die_with_parent() + isolation.own_group()
        if level == "bubblewrap":
            first += isolation.fresh_temporary(asked["temporary_bytes"])
            first += isolation.fresh_proc() if config["processes"] else []
        rest = isolation.restrict_to(_RULESET) if level == "landlock" else []
        rest += isolation.no_capabilities() if level == "bubblewrap" else []
        rest += isolation.close_from(_PLANS) + isolation.bounds(asked["rlimits"])
        bpf = config["filters"].get("program")
        rest += isolation.filtered_by(bpf) if bpf else []  # the last: it forbids what the steps before it do
        self.all, self.first, self.rest = (isolation.Steps(steps) for steps in (first + rest, first, rest))
        self.all.rehearse()


def _shell(source: str) -> Any:
    """The module that runs Bash; not loaded before it is asked for, because it brings much along."""
    module = types.ModuleType("groundling.execution.guest.shell")
    exec(compile(source, module.__name__, "exec"), module.__dict__)
    return module


def serve(config: dict[str, Any]) -> None:
    """Answer plans until the host closes its end."""
    for fd, place in ((0, _PLANS), (1, _ENDINGS), (2, _ERRORS)):
        os.dup2(fd, place, inheritable=False)
    null = os.open(os.devnull, os.O_RDWR)
    for place in (0, 1, _RULESET):
        os.dup2(null, place)
    os.closerange(_ERRORS + 1, 256)
    for name in _PRELOAD + (_FAR if config["hidden"] and config["level"] == "none" else []):
        __import__(name)
    large_pages.share_code()
    _walls(config)
    program.rehearse()
    program.prepare()
    control, forker = Control(_PLANS, _ENDINGS), isolation.Forker(config["fork"])
    gc.collect()
    gc.freeze()
    os.closerange(1, _PLANS)
    try:
        _loop(control, forker, partial(Plan, config=config))
    except BaseException as error:
        os.write(_ERRORS, f"{type(error).__name__}: {error}".encode())
        raise


def _walls(config: dict[str, Any]) -> None:
    """Put up once what all programs share."""
    if config["drop_to"] is not None:  # root, without namespaces
        isolation.become(config["drop_to"], may_search=config["level"] == "landlock" and config["hidden"])
    isolation.forbid_new_privileges()
    if config["level"] == "bubblewrap":
        isolation.own_mounts()
        if not config["processes"]:
            isolation.hide_proc()
    if config["level"] == "landlock":
        os.dup2(isolation.landlock_ruleset(config["readable"]), _RULESET)
    isolation.Steps(isolation.bounds(_BOUNDS)).take()
    config["filters"] = {name: bytes.fromhex(text) for name, text in config["filters"].items()}
    if "server" in config["filters"]:
        isolation.Steps(isolation.filtered_by(config["filters"]["server"])).take()


def _loop(control: Control, forker: isolation.Forker, plan_of: Any) -> None:
    plans: dict[bytes, Plan] = {}
    number, fork, pidfd, now = 0, forker.fork, forker.pidfd, monotonic
    while (message := control.receive()) is not None:
        plan = plans.get(message)
        if plan is None:
            plan = plans[message] = plan_of(message)
        number += 1
        start = now()
        pid = fork()
        if pid == 0:
            _child(plan)
        if pid < 0:
            raise isolation.failure("clone")
        os.closerange(1, _PLANS)
        left = plan.milliseconds
        while (ended := control.wait(pidfd.value, number, left)) == b"stale":
            left = max(0, plan.milliseconds - int((now() - start) * 1e3))
        if ended != b"exit":
            os.kill(pid, _SIGKILL)  # its namespace, where it has one, dies with it
        status, cpu = control.reap(pid)
        os.close(pidfd.value)
        control.tell(b"%b %d %d %d" % (ended, status, cpu, (now() - start) * 1e6))


def _child(plan: Plan) -> None:
    """Become the program; never returns."""
    texts: list[str] = []
    try:
        if plan.shell is None:
            plan.all.take()
        else:
            plan.first.take()
            texts = program.receive(_CHANNEL)
            plan.shell.enter_tree(texts[2])
            plan.rest.take()
    except BaseException as error:
        nonce = (texts or program.receive(_CHANNEL))[0]
        program.refuse(nonce, f"{type(error).__name__}: {error}", _CHANNEL)
        os._exit(1)
    try:
        if plan.shell is None:
            program.run_program(program.receive(_CHANNEL), _CHANNEL)
        else:
            plan.shell.run_shell(texts[1], texts[0], _CHANNEL)
    finally:
        os._exit(0)


if __name__ == "__guest__":
    serve(json.loads(sys.argv[1]))
