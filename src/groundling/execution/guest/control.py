"""The server's two sockets to the host: by one come plans, each with three descriptors; by the other go endings.

All buffers are made once and all calls go straight to the C library: the server is forked for every program, so that
each page of it that a loop touches is a page that the kernel copies.
"""

from __future__ import annotations

import ctypes
import os
from functools import partial

_libc = ctypes.PyDLL(None, use_errno=True)
_MESSAGE = 4096  # bytes of the longest plan
_POLLIN, _POLLHUP, _DONTWAIT = 1, 16, 0x40
_TOGETHER = 4  # endings in a message at most
_RIGHTS = 28  # bytes of a control message with three descriptors


class _Vector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class _Header(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_void_p),
        ("name_length", ctypes.c_uint32),
        ("vectors", ctypes.POINTER(_Vector)),
        ("vector_count", ctypes.c_size_t),
        ("control", ctypes.c_void_p),
        ("control_length", ctypes.c_size_t),
        ("flags", ctypes.c_int),
    )


class _Descriptors(ctypes.Structure):
    """One SCM_RIGHTS message with three descriptors."""

    _fields_ = (
        ("length", ctypes.c_size_t),
        ("level", ctypes.c_int),
        ("kind", ctypes.c_int),
        ("places", ctypes.c_int * 3),
    )


class _Poll(ctypes.Structure):
    _fields_ = (("fd", ctypes.c_int), ("events", ctypes.c_short), ("found", ctypes.c_short))


class Control:
    """The server's side. The descriptors of a plan must land where the program wants them: at 1, 2 and 3."""

    def __init__(self, plans: int, endings: int) -> None:
        self._text = ctypes.create_string_buffer(_MESSAGE)
        fds = _Descriptors()
        self._places = fds.places
        vector = _Vector(ctypes.addressof(self._text), _MESSAGE)
        header = _Header(None, 0, ctypes.pointer(vector), 1, ctypes.addressof(fds), _RIGHTS, 0)
        self._rights = ctypes.c_size_t.from_buffer(header, _Header.control_length.offset)
        self._receive = partial(_libc.recvmsg, plans, ctypes.pointer(header))
        polls = (_Poll * 2)(_Poll(endings, _POLLIN, 0), _Poll(-1, _POLLIN, 0))
        self._ending, self._child = polls
        self._poll = partial(_libc.poll, polls, 2)
        self._status, self._usage = ctypes.c_int(), (ctypes.c_long * 18)()
        self._status_pointer = ctypes.pointer(self._status)
        self._wait4 = _libc.wait4
        self._send = partial(os.write, endings)
        self._untold: list[bytes] = []
        self._read = partial(os.read, endings, 32)

    def receive(self) -> bytes | None:
        """Wait for the next plan; None when the host has hung up. Nothing is kept back while there is nothing to do."""
        self._rights.value = _RIGHTS
        size = self._receive(_DONTWAIT)
        if size < 0:
            self._flush()
            self._rights.value = _RIGHTS
            size = self._receive(0)
        if size <= 0 or self._rights.value != _RIGHTS or self._places[2] != 3:
            return None  # the lowest free places are taken in order, so that a third at 3 says all
        return self._text[:size]  # pyright: ignore[reportReturnType]  an array of characters gives bytes

    def tell(self, ending: bytes) -> None:
        """Send how a program ended, a few at a time: each message wakes the host."""
        self._untold.append(ending)
        if len(self._untold) >= _TOGETHER:
            self._flush()

    def _flush(self) -> None:
        if self._untold:
            self._send(b"\n".join(self._untold))
            self._untold.clear()

    def wait(self, pidfd: int, number: int, milliseconds: int) -> bytes:
        """Wait until the child ends ("exit"), its time is over ("timeout"), or the host wants it ended ("output")."""
        self._child.fd = pidfd
        ready = self._poll(milliseconds)
        if ready == 0:
            return b"timeout"
        if self._child.found:
            return b"exit"
        if self._ending.found & _POLLHUP:
            os._exit(0)
        # "End program 17" may come just after 17 has ended by itself: then it means nothing.
        return b"output" if self._read() == b"%d" % number else b"stale"

    def reap(self, pid: int) -> tuple[int, int]:
        """Wait for the child's end: its wait status and microseconds of CPU."""
        usage = self._usage
        self._wait4(pid, self._status_pointer, 0, usage)
        return self._status.value, (usage[0] + usage[2]) * 1_000_000 + usage[1] + usage[3]
