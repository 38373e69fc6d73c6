"""Command lines that start the guest server behind each kind of wall."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Literal

from groundling.execution.filters import FORK, compiled_filters

Level = Literal["bubblewrap", "landlock", "none"]
_GUEST_MODULES = ("isolation", "encode", "large_pages", "program", "control", "server")
# Everything of the guest arrives as text in one argument: nothing of this package need be readable in there.
_BOOTSTRAP = """
import json, sys, types
for name, source in json.loads(sys.argv[2]):
    module = types.ModuleType(name)
    module.__path__ = []
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)
    sys.modules[name] = module
    if name.endswith(".server"):
        module.__name__ = "__guest__"
    exec(compile(source, name, "exec"), module.__dict__)
"""
# As `nobody`, bubblewrap could not bind a folder under a 0700 home: root stages all folders in its own mounts first.
_STAGE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
uid, count = int(sys.argv[1]), int(sys.argv[2])
sources, command = sys.argv[3:3 + count], sys.argv[3 + count:]
def check(result):
    if result != 0:
        sys.exit("staging failed: " + os.strerror(ctypes.get_errno()))
check(libc.unshare(0x20000))
check(libc.mount(b"none", b"/", None, 0x4000 | 0x40000, None))
handles = [os.open(source, os.O_PATH) for source in sources]
check(libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, b"size=1m,mode=755"))
for index, handle in enumerate(handles):
    os.mkdir(f"/tmp/{index}")
    check(libc.mount(f"/proc/self/fd/{handle}".encode(), f"/tmp/{index}".encode(), None, 4096 | 0x4000, None))
    os.close(handle)
os.chdir("/")
os.setgroups([])
os.setresgid(uid, uid, uid)
os.setresuid(uid, uid, uid)
os.execv(command[0], command)
"""
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "LD_BIND_NOW": "1",  # else every program looks up the same symbols again, and copies the pages they are kept in
}


def start(level: Level, plans: int, endings: int, *, processes: bool = False) -> subprocess.Popen[bytes]:
    """Start a guest server at this level, with its sockets; `processes`: its programs may start some."""
    guest = _guest(level, processes)
    command = _bubblewrap(guest) if level == "bubblewrap" else guest
    return subprocess.Popen(
        command,
        stdin=plans,
        stdout=endings,
        stderr=subprocess.PIPE,
        env=_ENVIRONMENT,
        cwd="/",
        close_fds=True,
        start_new_session=True,  # Ctrl-C is for the host, which then closes the pipe
    )


def readable_folders() -> list[str]:
    """The folders that a program needs to see: the system's libraries and the interpreter's."""
    wanted = ["/usr", "/lib", "/lib64", "/bin", "/etc/alternatives", sys.base_prefix, sys.prefix]
    found: list[str] = []
    for path in wanted:
        if os.path.isdir(path) and not any(path.startswith(other + "/") or path == other for other in found):
            found.append(path)
    return found


def _guest(level: Level, processes: bool = False) -> list[str]:
    package = files("groundling.execution") / "guest"
    prefix = "groundling.execution.guest"
    modules = [(name, "") for name in ("groundling", "groundling.execution", prefix)]
    modules += [(f"{prefix}.{name}", (package / f"{name}.py").read_text("utf-8")) for name in _GUEST_MODULES]
    filters = {} if level == "none" else compiled_filters(level, processes=processes)
    config = {
        "level": level,
        "processes": processes,
        "fork": FORK[level],
        "filters": {name: bpf.hex() for name, bpf in filters.items()},
        "shell": (package / "shell.py").read_text("utf-8"),  # loaded when the first Bash command comes
        "readable": [*readable_folders(), "/etc/ld.so.cache", "/etc/localtime", "/dev/urandom", "/dev/zero"],
        "hidden": not all(_open_to_all(path) for path in (sys.base_prefix, sys.prefix)),
        "drop_to": _nobody() if level != "bubblewrap" and os.geteuid() == 0 else None,
    }
    # Not -I: site-packages of the interpreter stay importable, the user's own folders do not. Not -E either: the
    # environment is ours, and its hash seed must count, else equal programs list a set in another order by server.
    options = ["-s", "-P", "-X", "utf8", "-c", _BOOTSTRAP]
    return [sys.executable, *options, json.dumps(config), json.dumps(modules)]


def _bubblewrap(guest: list[str]) -> list[str]:
    program = shutil.which("bwrap") or "bwrap"
    folders = [path for path in readable_folders() if not os.path.islink(path)]
    root = os.geteuid() == 0
    walls = [program, "--unshare-all", "--uid", "65534", "--gid", "65534", "--hostname", "sandbox"]
    # Within its own user namespace only: the server mounts and chroots for each program, which then drops both.
    walls += ["--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SYS_CHROOT", "--proc", "/proc", "--dev", "/dev"]
    for index, path in enumerate(folders):
        walls += ["--ro-bind", f"/tmp/{index}" if root else path, path]
    for path in ("/lib", "/lib64", "/bin"):
        if os.path.islink(path):
            walls += ["--symlink", os.readlink(path), path]
    walls += ["--dir", "/etc", "--tmpfs", "/tmp", "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/", "--"]
    walls += guest
    if not root:
        return walls
    return [sys.executable, "-I", "-S", "-c", _STAGE, str(_nobody()), str(len(folders)), *folders, *walls]


def _nobody() -> int:
    try:
        return pwd.getpwnam("nobody").pw_uid
    except KeyError:
        return 65534


def _open_to_all(path: str) -> bool:
    folders = [Path(path), *Path(path).parents]
    return all(folder.stat().st_mode & 0o001 for folder in folders)
