"""The system calls that lock one process up: namespaces, mounts, capabilities, limits, Landlock, seccomp.

What every program needs is prepared before the fork as a list of `Step`s, calls of the C library with their arguments
ready: a forked child shares its pages with the server until it touches them, and copying one costs more than a system
call. So a child runs a short loop over such steps, and looks nothing up.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

_libc = ctypes.PyDLL(None, use_errno=True)  # PyDLL keeps the interpreter lock: no thread may run across our fork
_libc.mount.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p]
_libc.syscall.restype = ctypes.c_long
_SIGKILL = 9
_CLONE = {"x86_64": 56, "aarch64": 220}  # the one system call here whose number differs by machine
_NEW_MOUNTS = 0x00020000
_NOSUID_NODEV, _NOEXEC, _PRIVATE_ALL = 2 | 4, 8, 0x4000 | 0x40000
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_DIE_WITH_PARENT, _NO_NEW_PRIVILEGES, _SET_SECCOMP, _KEEP_CAPABILITIES = 1, 38, 22, 8
_RLIMITS = {"CPU": 0, "FSIZE": 1, "STACK": 3, "CORE": 4, "NPROC": 6, "NOFILE": 7, "MEMLOCK": 8, "AS": 9}
_READ_SEARCH = 1 << 2  # CAP_DAC_READ_SEARCH
_CAPABILITY_HEADER = (ctypes.c_uint32 * 2)(0x20080522, 0)
_NO_CAPABILITY = (ctypes.c_uint32 * 6)()

Step = tuple[str, Callable[[], Any]]  # what it does, and the call: below 0 where it failed


class SetupError(Exception):
    """A wall could not be put up: the program must not run."""


def _check(result: int, what: str) -> int:
    if result < 0:
        raise failure(what)
    return result


def failure(what: str) -> SetupError:
    """The error of the C library's last call."""
    return SetupError(f"{what}: {os.strerror(ctypes.get_errno())}")


class Forker:
    """Forks with the flags of `filters.FORK`: `fork()` returns as `os.fork` does (-1: failed), `pidfd` names the child.

    `unshare(CLONE_NEWPID)` works once a process only, so a server that forks many times needs clone itself. Python's
    hooks are left out: there is one thread, and they would touch (copy) over a hundred pages of each child.
    """

    def __init__(self, flags: int) -> None:
        number = _CLONE.get(os.uname().machine)
        if number is None:
            raise SetupError(f"no clone number known for {os.uname().machine}")
        self.pidfd = ctypes.c_int()
        pointer = ctypes.c_void_p(ctypes.addressof(self.pidfd))
        self.fork: Callable[[], int] = partial(_libc.syscall, number, flags, None, pointer, None, None)


def own_mounts() -> None:
    """Take mounts of one's own (bubblewrap's belong to its own user namespace) that are seen nowhere else."""
    _check(_libc.unshare(_NEW_MOUNTS), "own mounts")
    _check(_libc.mount(b"none", b"/", None, _PRIVATE_ALL, None), "make mounts private")


def hide_proc() -> None:
    """Have an empty /proc, in all children too: what it would show of a program is of no use to one."""
    _check(_libc.mount(b"tmpfs", b"/proc", b"tmpfs", _NOSUID_NODEV, b"size=4096,mode=555"), "hide /proc")


def fresh_temporary(size: int) -> list[Step]:
    """A fresh /tmp of at most `size` bytes, to work in."""
    options = f"size={size},nr_inodes=4096,mode=755".encode()
    return [
        ("mount /tmp", partial(_libc.mount, b"tmpfs", b"/tmp", b"tmpfs", _NOSUID_NODEV, options)),
        ("enter /tmp", partial(_libc.chdir, b"/tmp")),
    ]


def fresh_proc() -> list[Step]:
    """A /proc that shows this PID namespace only, for shells; an empty one where nested containers forbid it."""

    def mount() -> int:
        if _libc.mount(b"proc", b"/proc", b"proc", _NOSUID_NODEV | _NOEXEC, None) < 0:
            hide_proc()
        return 0

    return [("mount /proc", mount)]


def bind(source: str, target: str) -> None:
    """Show the tree at `source` at `target` too, with the restrictions it has."""
    _check(_libc.mount(source.encode(), target.encode(), None, 4096 | 0x4000, None), f"bind {source}")


def own_group() -> list[Step]:
    """Leave the server's process group: else kill(0) would reach it."""
    return [("a group of its own", partial(_libc.setpgid, 0, 0))]


def die_with_parent() -> list[Step]:
    """Be killed when the server ends, however it ends; bubblewrap would wait for its orphans."""
    return [("die with the server", partial(_libc.prctl, _DIE_WITH_PARENT, _SIGKILL, 0, 0, 0))]


def no_capabilities() -> list[Step]:
    """Give up every capability; no_new_privs makes it for good."""
    return [("drop capabilities", partial(_libc.capset, _CAPABILITY_HEADER, _NO_CAPABILITY))]


def become(user: int, *, may_search: bool) -> None:
    """Stop being root. `may_search` keeps the right to read all (a prefix under a 0700 home): Landlock bounds it."""
    os.setgroups([])
    os.setresgid(user, user, user)
    _check(_libc.prctl(_KEEP_CAPABILITIES, int(may_search), 0, 0, 0), "keep capabilities")
    os.setresuid(user, user, user)
    search = _READ_SEARCH if may_search else 0
    _check(_libc.capset(_CAPABILITY_HEADER, (ctypes.c_uint32 * 6)(search, search)), "reduce capabilities")


def forbid_new_privileges() -> None:
    """Set-uid programs stay powerless from here on; also the condition for Landlock and seccomp."""
    _check(_libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no_new_privs")


def bounds(limits: Mapping[str, int]) -> list[Step]:
    """Set rlimits by name (`AS`, `CPU`, ...); a lower hard limit of the container stands."""
    steps: list[Step] = []
    for name, wanted in limits.items():
        kind, hard = _RLIMITS[name], (ctypes.c_uint64 * 2)()
        _check(_libc.getrlimit(kind, hard), f"read limit {name}")
        value = min(wanted, hard[1])  # "none" is the largest number
        steps.append((f"limit {name}", partial(_libc.setrlimit, kind, (ctypes.c_uint64 * 2)(value, value))))
    return steps


def landlock_version() -> int:
    """The Landlock version of this kernel, 0 for none."""
    return max(0, _libc.syscall(_CREATE_RULESET, None, 0, 1))


def landlock_ruleset(readable: Sequence[str]) -> int:
    """Return a ruleset that allows reading under `readable` and writing to /dev/null; no TCP, no signal outwards."""
    version = landlock_version()
    if not version:
        raise SetupError("this kernel has no Landlock")
    file_bits = {1: 13, 2: 14}.get(version, 15 if version < 5 else 16)
    attributes = (ctypes.c_uint64 * 3)((1 << file_bits) - 1, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = _check(_libc.syscall(_CREATE_RULESET, attributes, size, 0), "landlock ruleset")
    read_file, read_folder, write_file = 1 << 2, 1 << 3, 1 << 1
    for path in readable:
        _allow(ruleset, path, read_file | read_folder if os.path.isdir(path) else read_file)
    _allow(ruleset, "/dev/null", read_file | write_file)
    return ruleset


def _allow(ruleset: int, path: str, access: int) -> None:
    class Rule(ctypes.Structure):
        _pack_ = 1
        _layout_ = "ms"
        _fields_ = (("access", ctypes.c_uint64), ("parent", ctypes.c_int32))

    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # not there or not ours to read: nothing to allow
    rule = Rule(access, parent)
    _check(_libc.syscall(_ADD_RULE, ruleset, 1, ctypes.byref(rule), 0), f"landlock rule for {path}")
    os.close(parent)


def restrict_to(ruleset: int) -> list[Step]:
    """Enter the Landlock ruleset, for good."""
    return [("enter landlock", partial(_libc.syscall, _RESTRICT_SELF, ruleset, 0))]


class _Filter(ctypes.Structure):
    """A compiled seccomp filter (an array of 8-byte BPF instructions), as the kernel wants it."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def filtered_by(bpf: bytes) -> list[Step]:
    """Install a seccomp filter, for good."""
    program = _Filter(len(bpf) // 8, bpf)
    return [("install seccomp filter", partial(_libc.prctl, _SET_SECCOMP, 2, ctypes.pointer(program), 0, 0))]


def close_from(first: int) -> list[Step]:
    """Close every descriptor from `first` on."""
    return [("close descriptors", partial(os.closerange, first, 256))]


class Steps:
    """Steps to be taken by a child."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._names, self._calls = [what for what, _ in steps], tuple(call for _, call in steps)

    def rehearse(self, times: int = 40) -> None:
        """Let the interpreter learn `take`, as `program.rehearse` does with the rest."""
        calls, self._calls = self._calls, (_libc.getpid,) * 8
        for _ in range(times):
            self.take()
        self._calls = calls

    def take(self) -> None:
        """Take all, or raise at the first that fails."""
        for call in self._calls:
            if (call() or 0) < 0:
                raise failure(self._names[self._calls.index(call)])
