"""The host's side of one guest server: programs go out, endings and what they wrote come back."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
import time
from array import array
from collections import deque
from collections.abc import Iterable

from groundling.execution import launch
from groundling.execution.launch import Level
from groundling.execution.replies import Ending, Request

_GRACE = 30.0  # seconds that a server may be late (a loaded machine) before it counts as lost
_SHORT = 0.02  # seconds: most programs end sooner and need one look only, after their end
_MOST_AHEAD = 8
_CHUNK = 1 << 16


class ServerLostError(Exception):
    """The server ended or fell silent."""


class Exchange:
    """One program under way: its own socket (program in, values out) and its own pipe (printed text)."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.values, self.printed = bytearray(), bytearray()
        self.number = 0  # as the server counts
        self.stopped = False
        self._unsent = memoryview(request.body)
        self.output, self._far_output = os.pipe()
        try:
            self.channel, self._far_channel = socket.socketpair()
        except OSError:
            os.close(self.output)
            os.close(self._far_output)
            raise
        self.channel.setblocking(False)
        os.set_blocking(self.output, False)
        self.open = {self.channel.fileno(), self.output}

    def hand_over(self, plans: socket.socket) -> None:
        """Send the plan with the far ends, then as much of the program as fits."""
        fds = array("i", (self._far_output, self._far_output, self._far_channel.fileno()))
        try:
            plans.sendmsg([self.request.plan], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
        finally:
            self._far_channel.close()
            os.close(self._far_output)
        self.send()

    def send(self) -> None:
        """Send what is left of a long program."""
        with contextlib.suppress(BlockingIOError, OSError):  # a program that ended early reads no more
            while self._unsent:
                self._unsent = self._unsent[self.channel.send(self._unsent) :]

    def drain(self) -> bool:
        """Read what has come; False when it is more than allowed."""
        fits = self._read(self.channel.fileno(), self.values, self.request.result_bytes)
        return self._read(self.output, self.printed, self.request.output_bytes) and fits

    def _read(self, fd: int, buffer: bytearray, most: int) -> bool:
        while fd in self.open:
            try:
                data = os.read(fd, _CHUNK)
            except BlockingIOError:
                break
            except OSError:  # reset: a program that left some of its own text unread
                data = b""
            buffer += data
            if not data:
                self.open.remove(fd)  # closed at the other end: no more to wait for
            if len(buffer) > most:
                return False
        return True

    def close(self) -> None:
        self.channel.close()
        os.close(self.output)

    def watched(self) -> list[tuple[int, int]]:
        """Descriptors and events to wait for, where a program takes long."""
        if self.stopped:
            return []
        writable = self.channel.fileno() if self._unsent else -1
        return [(fd, select.POLLIN | (select.POLLOUT if fd == writable else 0)) for fd in self.open]


class Server:
    """One guest server. Programs are handed to it ahead: it starts the next without waiting for us. One thread only."""

    def __init__(self, level: Level, *, processes: bool = False) -> None:
        self.processes = processes  # whether its programs may start some
        self.under_way: deque[Exchange] = deque()
        self.ahead = 1  # programs that it should hold: more where they are short
        self._submitted, self._heard, self._late = 0, 0.0, False
        self._plans, far_plans = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.endings, far_endings = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with far_plans, far_endings:
            try:
                self.process = launch.start(level, far_plans.fileno(), far_endings.fileno(), processes=processes)
            except BaseException:
                self._plans.close()
                self.endings.close()
                raise

    def submit(self, request: Request) -> None:
        """Hand over one program; raises OSError where this process may open no more descriptors."""
        exchange = Exchange(request)
        try:
            exchange.hand_over(self._plans)
        except OSError as error:
            exchange.close()
            raise ServerLostError(self.last_words()) from error
        self._submitted += 1
        exchange.number = self._submitted
        if not self.under_way:
            self._heard = time.monotonic()
        self.under_way.append(exchange)

    def collect(self) -> list[tuple[Request, Ending, bytes, bytes]]:
        """The programs that have ended; the server's word on them is waiting in `endings`."""
        try:
            words = b"" if self._late else self.endings.recv(1024)
        except OSError:
            words = b""
        if not words:
            raise ServerLostError("no reply in time" if self._late else self.last_words())
        self._heard = time.monotonic()
        found = [self._ended(word) for word in words.split(b"\n")]
        short = all(ending.ms < _SHORT * 1e3 for _, ending, _, _ in found)
        self.ahead = min(2 * self.ahead, _MOST_AHEAD) if short else 1
        return found

    def _ended(self, word: bytes) -> tuple[Request, Ending, bytes, bytes]:
        exchange = self.under_way.popleft()
        fits = exchange.drain() and not exchange.stopped
        exchange.close()
        return exchange.request, Ending.read(word, fits), bytes(exchange.values), bytes(exchange.printed)

    def tend(self, now: float) -> bool:
        """Look after programs that take long: pass on their text, read what they write, stop a flood; False: late."""
        if now - self._heard < _SHORT:
            return True
        for exchange in self.under_way:  # the server may not yet have told of the first ones' end
            exchange.send()
            if not exchange.stopped and not exchange.drain():
                exchange.stopped = True
                with contextlib.suppress(OSError):  # lost: `collect` will say so
                    self.endings.send(b"%d" % exchange.number)
        allowed = sum(exchange.request.seconds for exchange in self.under_way) + _GRACE
        self._late = now - self._heard > allowed
        return not self._late

    def last_words(self) -> str:
        """What the ended server wrote on stderr."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        if self.process.poll() is None or self.process.stderr is None:
            return "no answer"
        return self.process.stderr.read().decode(errors="replace").strip()[-500:] or "ended without a word"

    def close(self) -> None:
        """End the server and, with its namespace, everything in it."""
        for exchange in self.under_way:
            exchange.close()
        self.under_way.clear()
        self._plans.close()
        self.endings.close()
        if self.process.stderr is not None:
            self.process.stderr.close()
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def wait(servers: Iterable[Server]) -> list[Server]:
    """Wait until a program of one of these has ended, and return those where one has; tend the others meanwhile.

    Where none has anything to do, there is nothing to wait for.
    """
    busy = {server.endings.fileno(): server for server in servers if server.under_way}
    poll = select.poll()
    for fd in busy:
        poll.register(fd, select.POLLIN)
    timeout = _SHORT
    while busy:
        ready = [busy[fd] for fd, _ in poll.poll(timeout * 1e3) if fd in busy]
        now = time.monotonic()
        ready += [server for server in busy.values() if server not in ready and not server.tend(now)]
        if ready:
            return ready
        timeout, poll = 1.0, _watch(busy.values())
    return []


def _watch(busy: Iterable[Server]) -> select.poll:
    """Everything that can happen while programs take long."""
    poll = select.poll()
    for server in busy:
        poll.register(server.endings, select.POLLIN)
        for exchange in server.under_way:
            for fd, events in exchange.watched():
                poll.register(fd, events)
    return poll
