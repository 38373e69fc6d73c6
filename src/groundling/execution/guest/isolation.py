"""The system calls that lock one process up: namespaces, mounts, capabilities, limits, Landlock, seccomp."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal
from collections.abc import Mapping, Sequence

_libc = ctypes.PyDLL(None, use_errno=True)  # PyDLL keeps the interpreter lock: no thread may run across our fork
_libc.mount.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p]
_libc.syscall.restype = ctypes.c_long
_CLONE = {"x86_64": 56, "aarch64": 220}  # the one system call here whose number differs by machine
_NEW_MOUNTS, _NEW_PIDS = 0x00020000, 0x20000000
_NOSUID_NODEV, _NOEXEC, _PRIVATE_ALL = 2 | 4, 8, 0x4000 | 0x40000
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _KEEP_CAPABILITIES = 38, 22, 8
_READ_SEARCH = 1 << 2  # CAP_DAC_READ_SEARCH
_CAPABILITY_HEADER = (ctypes.c_uint32 * 2)(0x20080522, 0)  # made here: a new ctypes type costs a child eighty pages
_NO_CAPABILITY = (ctypes.c_uint32 * 6)()


class SetupError(Exception):
    """A wall could not be put up: the program must not run."""


def _check(result: int, what: str) -> int:
    if result < 0:
        raise SetupError(f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def fork(*, namespaces: bool) -> int:
    """Fork, into new PID and mount namespaces if asked; returns as `os.fork` does.

    `unshare(CLONE_NEWPID)` works once a process only, so a server that forks many times needs clone itself. Python's
    hooks are left out: there is one thread, and they would touch (copy) over a hundred pages of each child.
    """
    number = _CLONE.get(platform.machine())
    if number is None:
        raise SetupError(f"no clone number known for {platform.machine()}")
    flags = _NEW_PIDS | _NEW_MOUNTS if namespaces else 0  # the filter refuses IPC, so it needs none of its own
    return _check(_libc.syscall(number, flags | int(signal.SIGCHLD), 0, 0, 0, 0), "clone")


def mount_private(options: bytes) -> None:
    """Give this mount namespace a fresh /tmp (`temporary_options`) and a /proc that shows this PID namespace only."""
    _check(_libc.mount(b"none", b"/", None, _PRIVATE_ALL, None), "make mounts private")
    _check(_libc.mount(b"tmpfs", b"/tmp", b"tmpfs", _NOSUID_NODEV, options), "mount /tmp")
    if _libc.mount(b"proc", b"/proc", b"proc", _NOSUID_NODEV | _NOEXEC, None) < 0:
        # Nested containers may forbid a new /proc: an empty one hides the server's.
        _check(_libc.mount(b"tmpfs", b"/proc", b"tmpfs", _NOSUID_NODEV, b"size=4096"), "hide /proc")


def temporary_options(size: int) -> bytes:
    """Mount options of a file system of at most `size` bytes."""
    return f"size={size},nr_inodes=4096,mode=755".encode()


def bind(source: str, target: str) -> None:
    """Show the tree at `source` at `target` too, with the restrictions it has."""
    _check(_libc.mount(source.encode(), target.encode(), None, 4096 | 0x4000, None), f"bind {source}")


def drop_capabilities() -> None:
    """Give up every capability; no_new_privs makes it for good."""
    _check(_libc.capset(_CAPABILITY_HEADER, _NO_CAPABILITY), "drop capabilities")


def become(user: int, *, may_search: bool) -> None:
    """Stop being root. `may_search` keeps the right to read all (a prefix under a 0700 home): Landlock bounds it."""
    os.setgroups([])
    os.setresgid(user, user, user)
    _check(_libc.prctl(_KEEP_CAPABILITIES, int(may_search), 0, 0, 0), "keep capabilities")
    os.setresuid(user, user, user)
    search = _READ_SEARCH if may_search else 0
    _check(_libc.capset(_CAPABILITY_HEADER, (ctypes.c_uint32 * 6)(search, search)), "reduce capabilities")


def die_with_parent() -> None:
    """Be killed when the server ends, however it ends; a sleeping program would outlive it for ever."""
    _check(_libc.prctl(1, int(signal.SIGKILL), 0, 0, 0), "die with the server")


def forbid_new_privileges() -> None:
    """Set-uid programs stay powerless from here on; also the condition for Landlock and seccomp."""
    _check(_libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no_new_privs")


def possible_limits(limits: Mapping[str, int]) -> list[tuple[int, tuple[int, int]]]:
    """The rlimits by name (`AS`, `CPU`, ...) as (kind, (soft, hard)); a lower hard limit of the container stands."""
    found: list[tuple[int, tuple[int, int]]] = []
    for name, wanted in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        found.append((kind, (value, value)))
    return found


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


def restrict_to(ruleset: int) -> None:
    """Enter the Landlock ruleset, for good."""
    _check(_libc.syscall(_RESTRICT_SELF, ruleset, 0), "enter landlock")


class Filter(ctypes.Structure):
    """A compiled seccomp filter (an array of 8-byte BPF instructions), as the kernel wants it; made before the fork."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))

    @staticmethod
    def of(bpf: bytes) -> Filter:
        return Filter(len(bpf) // 8, bpf)


def install_filter(program: Filter) -> None:
    """Install the filter, for good."""
    _check(_libc.prctl(_SET_SECCOMP, 2, ctypes.byref(program), 0, 0), "install seccomp filter")
