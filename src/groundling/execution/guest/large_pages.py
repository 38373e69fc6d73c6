"""The interpreter's own code in large pages: a fork then shares it whole, where it would fault it in page by page.

The kernel does not copy the page tables of mapped files at a fork, so that every child meets some fifty faults in the
interpreter's code alone, and a tenth of its time goes there. A copy of that code in anonymous large pages, put in its
place, has none; it is what `--use-largepages` does in Node. Where anything is missing (large pages, the right to have
them, a library of the right size) nothing is changed.
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

_libc = ctypes.PyDLL(None, use_errno=True)
for _name in ("mmap", "mremap"):
    getattr(_libc, _name).restype = ctypes.c_void_p
_LARGE = 2 << 20
_READ_WRITE, _READ_EXECUTE, _PRIVATE_ANONYMOUS = 3, 5, 0x22
_MADVISE_LARGE, _MOVE_TO = 14, 3
_FAILED = ctypes.c_void_p(-1).value


def share_code() -> bool:
    """Move the interpreter's code, as far as it fills large pages; False where it stays as it was."""
    with open("/proc/self/maps") as maps:
        found = _code_of(maps.read().splitlines())
    if found is None:
        return False
    start, size = found
    room = _libc.mmap(None, ctypes.c_size_t(size + _LARGE), _READ_WRITE, _PRIVATE_ANONYMOUS, -1, ctypes.c_long(0))
    if room == _FAILED:
        return False
    copy = (room + _LARGE - 1) // _LARGE * _LARGE
    address, length = ctypes.c_void_p(copy), ctypes.c_size_t(size)
    _libc.madvise(address, length, _MADVISE_LARGE)
    ctypes.memmove(copy, start, size)
    large = _large_bytes(copy) >= size
    if not large or _libc.mprotect(address, length, _READ_EXECUTE) != 0:
        _libc.munmap(ctypes.c_void_p(room), ctypes.c_size_t(size + _LARGE))
        return False
    return _libc.mremap(address, length, length, _MOVE_TO, ctypes.c_void_p(start)) == start


def _code_of(lines: list[str]) -> tuple[int, int] | None:
    """Start and size of the large pages that the read-only part of the library (or program) with Python in it fills."""
    held = ctypes.cast(ctypes.pythonapi.Py_Initialize, ctypes.c_void_p).value or 0
    parts = [_Mapping.of(line.split()) for line in lines]
    path = next((part.path for part in parts if part.start <= held < part.end), "")
    start = end = 0
    for part in parts:
        if path and part.path == path and part.access in ("r--p", "r-xp"):
            start = start or part.start
            end = part.end if part.start == (end or part.start) else end  # without a gap
    first, last = (start + _LARGE - 1) // _LARGE * _LARGE, end // _LARGE * _LARGE
    return (first, last - first) if last > first else None


class _Mapping(NamedTuple):
    start: int
    end: int
    access: str
    path: str

    @staticmethod
    def of(fields: list[str]) -> _Mapping:
        start, _, end = fields[0].partition("-")
        return _Mapping(int(start, 16), int(end, 16), fields[1], fields[5] if len(fields) > 5 else "")


def _large_bytes(address: int) -> int:
    """How much of the mapping at this address lies in large pages."""
    with open("/proc/self/smaps") as maps:
        _, found, rest = maps.read().partition(f"{address:x}-")
    return int(rest.partition("AnonHugePages:")[2].split()[0]) << 10 if found else 0
