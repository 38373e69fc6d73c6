"""One writer a run folder: a lock that the kernel drops when its holder dies, in a file that names the holder."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import time
from pathlib import Path
from typing import Any, Self

from groundling.errors import GroundlingError

_NO_LOCKS_HERE = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK)  # some network file systems


class Lock:
    """Hold `path` while open. A second writer is refused with a message that names the first.

    flock, not the process id, decides: it cannot be stale and two processes cannot both win it. The names in the file
    are for the message, and decide only where the file system has no locks.
    """

    def __init__(self, path: Path):
        self.path = path
        self.stale: dict[str, Any] | None = None  # who held it before and died without letting go
        self._file: int | None = None

    def __enter__(self) -> Self:
        self.take()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def take(self) -> None:
        """Take the lock or raise a `GroundlingError` naming its holder."""
        while self._file is None:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            holder = _read(file)
            if not _flock(file, holder):
                os.close(file)
                raise GroundlingError(f"{self.path.parent}: {_refusal(holder, self.path)}")
            if _same_file(file, self.path):
                self._file, self.stale = file, holder
            else:  # its last holder removed the file between our open and our lock
                os.close(file)
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, json.dumps(_myself()).encode(), 0)

    def release(self) -> None:
        """Remove the file, then let go: never the other way round, or a newcomer's file would be removed."""
        if self._file is not None:
            self.path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = None


def _myself() -> dict[str, Any]:
    now = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
    return {"pid": os.getpid(), "host": socket.gethostname(), "since": now, "boot": _boot()}


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _read(file: int) -> dict[str, Any] | None:
    try:
        found = json.loads(os.pread(file, 4096, 0))
        return found if isinstance(found, dict) else None
    except ValueError:
        return None


def _flock(file: int, holder: dict[str, Any] | None) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS_HERE:
            raise
        return holder is None or not _may_live(holder)


def _may_live(holder: dict[str, Any]) -> bool:
    """Guess from the names: the same host, another boot or a process that is gone, is dead."""
    if holder.get("host") != socket.gethostname():
        return True
    return holder.get("boot") == _boot() and Path(f"/proc/{holder.get('pid')}").exists()


def _same_file(file: int, path: Path) -> bool:
    try:
        return os.fstat(file).st_ino == path.stat().st_ino
    except FileNotFoundError:
        return False


def _refusal(holder: dict[str, Any] | None, path: Path) -> str:
    names = holder or {"pid": "?", "host": "?", "since": "?"}
    return (
        f"process {names.get('pid')} on {names.get('host')} has been writing here since {names.get('since')}. "
        f"Wait for it, stop it, or choose another folder. If it is surely gone, remove {path}."
    )
