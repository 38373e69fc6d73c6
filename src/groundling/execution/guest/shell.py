"""Run one untrusted Bash text in a throw-away file tree, and send its exit code and what the tree became."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import os
import signal
import stat
import subprocess
import tarfile
from collections.abc import Iterator
from typing import Any

from groundling.execution.guest import isolation
from groundling.execution.guest.encode import encode
from groundling.execution.guest.program import send

_SYSTEM = ("usr", "dev", "proc", "etc")  # bound from outside, read-only
_LINKS = ("bin", "sbin", "lib", "lib64")
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/root", "LC_ALL": "C", "TERM": "dumb", "TZ": "UTC"}
_READ_LIMIT = 1 << 20


def enter_tree(packed: str) -> None:
    """Build a root directory in the fresh /tmp from a tar archive (in base64), and make it `/`."""
    root = "/tmp"
    for name in _SYSTEM:
        os.mkdir(f"{root}/{name}")
        isolation.bind(f"/{name}", f"{root}/{name}")
    for name in _LINKS:
        if os.path.isdir(f"/usr/{name}"):
            os.symlink(f"usr/{name}", f"{root}/{name}")
    for name in ("tmp", "root"):
        os.mkdir(f"{root}/{name}")
    with tarfile.open(fileobj=io.BytesIO(base64.b64decode(packed))) as archive:
        options: Any = {} if not hasattr(tarfile, "tar_filter") else {"filter": "tar"}  # new in 3.11.4
        archive.extractall(root, **options)
    os.chroot(root)
    os.chdir("/")


def run_shell(code: str, nonce: str, channel: int) -> None:
    """Run `code` as pid 1's only child; the value sent is (exit code, {path: what is there})."""
    command = ["/bin/bash", "--noprofile", "--norc", "-c", code]
    with open(os.devnull, "r+b") as null:
        done = subprocess.run(command, stdin=null, stderr=null, env=_ENVIRONMENT, cwd="/", check=False)
    with contextlib.suppress(ProcessLookupError):  # pid 1 itself is spared: strays must not touch the tree any more
        os.kill(-1, signal.SIGKILL)
    value = (done.returncode, dict(_snapshot()))
    send(channel, f'{{"nonce":"{nonce}","index":-1,"value":null}}\n')
    send(channel, f'{{"nonce":"{nonce}","index":0,"value":{encode(value)}}}\n')


def _snapshot() -> Iterator[tuple[str, tuple[str, int, str]]]:
    """Yield every path that the command could have changed, with kind, mode and a digest of the content."""
    for folder, folders, files in os.walk("/"):
        if folder == "/":
            folders[:] = [name for name in folders if name not in (*_SYSTEM, *_LINKS)]
            files = [name for name in files if name not in _LINKS]
        for name in folders + files:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            yield path, (_kind(status.st_mode), stat.S_IMODE(status.st_mode), _digest(path, status.st_mode))


def _kind(mode: int) -> str:
    return (
        "folder" if stat.S_ISDIR(mode) else "link" if stat.S_ISLNK(mode) else "file" if stat.S_ISREG(mode) else "other"
    )


def _digest(path: str, mode: int) -> str:
    try:
        if stat.S_ISLNK(mode):
            return os.readlink(path)
        if stat.S_ISREG(mode):
            with open(path, "rb") as file:
                return hashlib.sha256(file.read(_READ_LIMIT)).hexdigest()
    except OSError:  # mode 000: its mode is all that can be compared
        return "unreadable"
    return ""
