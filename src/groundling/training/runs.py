"""Run folders: `runs/NAME/` with config, metrics, checkpoints and model; one writer, nothing half-written.

No torch here, so that systems without weights can keep their runs in one too.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from groundling.errors import ConfigError, GroundlingError
from groundling.training.config import differences, dump_config, load_config
from groundling.training.locks import Lock
from groundling.training.models import CONFIG, MODEL, RUN, load_model, save_model
from groundling.training.store import hash_data, make_folder, write_bytes, write_text, writing

__all__ = ["RunFolder", "hash_data", "is_writer", "load_model", "save_model", "write_bytes", "write_text"]

METRICS, LAST, BEST = "metrics.jsonl", "last.safetensors", "best.safetensors"


class RunFolder:
    """A folder that one process writes, as a context manager.

    A folder that already holds a run is refused, unless `resume` (go on with it) or `replace` (remove its files) says
    otherwise. Under torchrun only rank 0 locks and writes; for the others every writing method does nothing.

    >>> import tempfile
    >>> with RunFolder(tempfile.mkdtemp()) as run:
    ...     run.append_metrics({"step": 1, "loss": 0.5})
    ...     run.read_metrics()
    [{'step': 1, 'loss': 0.5}]
    """

    def __init__(self, path: str | Path, *, resume: bool = False, replace: bool = False):
        self.path = Path(path)
        self.resume, self.replace = resume, replace
        self.writer = is_writer()
        self._lock = Lock(self.path / "run.lock")

    @property
    def last(self) -> Path:
        """Where the newest checkpoint is: everything that is needed to go on."""
        return self.path / LAST

    @property
    def best(self) -> Path:
        """Where the weights of the best evaluation are."""
        return self.path / BEST

    def __enter__(self) -> Self:
        if self.writer:
            make_folder(self.path)
            with writing(self.path):
                self._lock.take()
            try:
                self._meet_what_is_there()
            except BaseException:
                self._lock.release()
                raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        if self.writer:
            self._lock.release()

    def _meet_what_is_there(self) -> None:
        for litter in self.path.glob(".*.tmp"):  # unfinished files of a process that was killed; we hold the lock
            litter.unlink(missing_ok=True)
        there = [name for name in (LAST, BEST, METRICS, MODEL, RUN, CONFIG) if (self.path / name).exists()]
        if self.replace:
            with writing(self.path):
                for name in there:
                    (self.path / name).unlink()
        elif there and not self.resume:
            raise GroundlingError(
                f"{self.path}: already holds a run ({', '.join(there)}). "
                "Continue it with `--resume`, or choose another folder."
            )

    def keep_config(self, config: Any) -> None:
        """Write `config.toml`; when resuming, refuse a config that is not the one the run began with."""
        path = self.path / CONFIG
        if self.resume and path.exists():
            changed = differences(load_config(type(config), path), config)
            if changed:
                raise ConfigError(
                    f"{path}: the run began with another config: {', '.join(changed)}. "
                    "Give the same settings to resume, or start a new folder."
                )
        elif self.writer:
            write_text(path, dump_config(config))

    def append_metrics(self, values: Mapping[str, Any]) -> None:
        """Append one line to `metrics.jsonl`: whole and on the disk, or not there. Not finite numbers become null."""
        if not self.writer:
            return
        clean = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()}
        path = self.path / METRICS
        with writing(path), open(path, "ab") as file:
            start = file.tell()
            try:
                file.write(json.dumps(clean, ensure_ascii=False).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
            except OSError:  # disk full in the middle of the line
                os.truncate(path, start)
                raise

    def read_metrics(self, size: int | None = None) -> list[dict[str, Any]]:
        """Return the lines in the first `size` bytes of `metrics.jsonl`; a last line torn by a kill is left out."""
        path = self.path / METRICS
        lines = path.read_bytes()[:size].splitlines(keepends=True) if path.exists() else []
        found: list[dict[str, Any]] = []
        for number, raw in enumerate(lines, 1):
            try:
                found.append(dict(json.loads(raw)))
            except (ValueError, TypeError, RecursionError) as error:
                if number == len(lines) and not raw.endswith(b"\n"):
                    break
                raise GroundlingError(f"{path}:{number}: not a JSON object. Remove the line to go on.") from error
        return found

    def metrics_size(self) -> int:
        """Return the bytes in `metrics.jsonl`; a checkpoint remembers it."""
        path = self.path / METRICS
        return path.stat().st_size if path.exists() else 0

    def cut_metrics(self, size: int) -> None:
        """Drop what came after the checkpoint, a torn last line too, so that a resumed file equals an unbroken one."""
        if self.writer and self.metrics_size() > size:
            with writing(self.path / METRICS):
                os.truncate(self.path / METRICS, size)


def is_writer() -> bool:
    """Return whether this process writes files: all do, except the ranks above 0 that torchrun started."""
    return int(os.environ.get("WORLD_SIZE", "1")) < 2 or os.environ.get("RANK", "0") == "0"
