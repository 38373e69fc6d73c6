"""Results on disk by content: what has been run is not run again, not even after a kill in the middle of a line."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any


def content_key(*parts: Any) -> str:
    """A name for what the parts hold.

    >>> content_key("a", ["b"]) == content_key("a", ["b"]) != content_key("a", ["c"])
    True
    """
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


class Cache:
    """A file of JSON lines `{"key": ..., "value": ...}`, appended to. Torn lines are passed over; the last one wins.

    Several processes may append at once: each line is one write. Without a path it lives in memory.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = Path(path) if path is not None else None
        self.values: dict[str, Any] = {}
        self._file = None
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            self._read(self.path)
        self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115  held until close()
        if self._file.tell() and not self._ends_with_newline(self.path):
            self._file.write(b"\n")  # the line that was cut off stays alone

    def _read(self, path: Path) -> None:
        with open(path, "rb") as lines:
            for line in lines:
                try:
                    entry = json.loads(line)
                    self.values[entry["key"]] = entry["value"]
                except (ValueError, KeyError, TypeError):
                    continue

    @staticmethod
    def _ends_with_newline(path: Path) -> bool:
        with open(path, "rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    def put(self, key: str, value: Any) -> None:
        self.values[key] = value
        if self._file is not None:
            self._file.write(json.dumps({"key": key, "value": value}).encode() + b"\n")

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
