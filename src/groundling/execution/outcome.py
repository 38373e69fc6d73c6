"""What may be used, and what came out."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

from groundling.errors import ConfigError

Status = Literal["ok", "error", "timeout", "memory", "output_limit", "refused"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds for one program with all its inputs. `seconds` is wall-clock, `cpu_seconds` (rounded up) CPU time."""

    seconds: float = 3.0
    cpu_seconds: float | None = None  # None: as `seconds`
    memory_bytes: int = 1 << 30  # address space
    temporary_bytes: int = 16 << 20  # of /tmp, and of any one file
    result_bytes: int = 1 << 20  # of all values together, as text
    output_bytes: int = 1 << 20  # of stdout and stderr
    open_files: int = 64
    processes: int = 0  # that it may start; needs namespaces, so none are allowed without bubblewrap

    def __post_init__(self) -> None:
        for name in ("seconds", "memory_bytes", "temporary_bytes", "result_bytes", "output_bytes", "open_files"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"the limit {name} is {getattr(self, name)!r}; give a number above 0.")
        if self.processes < 0 or (self.cpu_seconds is not None and self.cpu_seconds <= 0):
            raise ConfigError("the limits processes and cpu_seconds cannot be negative, nor cpu_seconds 0.")

    def rlimits(self) -> dict[str, int]:
        """The kernel's names for these bounds."""
        limits = {
            "AS": self.memory_bytes,
            "CPU": math.ceil(self.cpu_seconds or self.seconds),
            "FSIZE": self.temporary_bytes,
            "NOFILE": self.open_files,
        }
        if self.processes:
            limits["NPROC"] = self.processes + 24  # threads count too, and so do the sandbox's own few
        return limits


@dataclass(frozen=True)
class Result:
    """One input's result: `data` is canonical typed JSON (see `values`), `error` the exception's name and message."""

    status: Status
    data: Any = None
    error: str = ""


@dataclass(frozen=True)
class Outcome:
    """One program's result: the worst status, a value for each input (None where it failed), and what it printed."""

    status: Status
    value: tuple[Any, ...] = field(repr=False)  # an integer of a million digits has no repr
    stdout: str
    ms: float
    results: tuple[Result, ...] = ()
    error: str = ""
    loaded: bool = False  # whether the program's own text ran to its end

    @property
    def ok(self) -> bool:
        """Whether the program and every input ran."""
        return self.status == "ok"
