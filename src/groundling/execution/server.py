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
_CHUNK = 1 << 16


class ServerLostError(Exception):
    """The server ended or fell silent."""


class Exchange:
    """One program under way: its own socket (program in, values out) and its own pipe (printed text)."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.values, self.printed = bytearray(), bytearray()
        self.started = self.stopped = 0.0
        self._unsent = memoryview(request.body)
        self.channel, self._far_channel = socket.socketpair()
        self.output, self._far_output = os.pipe()
        self.channel.setblocking(False)
        os.set_blocking(self.output, False)
        self.open = {self.channel.fileno(), self.output}

    def hand_over(self, plans: socket.socket) -> None:
        """Send the plan with the far ends, then as much of the program as fits."""
        fds = array("i", (self._far_channel.fileno(), self._far_output))
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
        self._number = 0  # of the program that runs, counted as the server does
        self._late = False
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
        """Hand over one program."""
        exchange = Exchange(request)
        try:
            exchange.hand_over(self._plans)
        except OSError as error:
            exchange.close()
            raise ServerLostError(self.last_words()) from error
        if not self.under_way:
            self._begin(exchange)
        self.under_way.append(exchange)

    def _begin(self, exchange: Exchange) -> None:
        self._number += 1
        exchange.started = time.monotonic()

    def collect(self) -> tuple[Request, Ending, bytes, bytes]:
        """The program that has ended; the server's word is waiting in `endings`."""
        try:
            word = b"" if self._late else self.endings.recv(256)
        except OSError:
            word = b""
        if not word:
            raise ServerLostError("no reply in time" if self._late else self.last_words())
        exchange = self.under_way.popleft()
        if self.under_way:
            self._begin(self.under_way[0])
        fits = exchange.drain() and not exchange.stopped
        exchange.close()
        ending = Ending.read(word, fits)
        return exchange.request, ending, bytes(exchange.values), bytes(exchange.printed)

    def tend(self, now: float) -> bool:
        """Look after a program that takes long: pass on its text, read what it writes, stop a flood; False: late."""
        exchange = self.under_way[0]
        if now - exchange.started < _SHORT:
            return True
        exchange.send()
        if not exchange.stopped and not exchange.drain():
            exchange.stopped = now
            with contextlib.suppress(OSError):  # lost: `collect` will say so
                self.endings.send(b"%d" % self._number)
        self._late = now - exchange.started > exchange.request.seconds + _GRACE
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
    """Wait until a program of one of these has ended, and return those where one has; tend the others meanwhile."""
    busy = {server.endings.fileno(): server for server in servers if server.under_way}
    poll = select.poll()
    for fd in busy:
        poll.register(fd, select.POLLIN)
    timeout = _SHORT
    while True:
        ready = [busy[fd] for fd, _ in poll.poll(timeout * 1e3) if fd in busy]
        now = time.monotonic()
        ready += [server for server in busy.values() if server not in ready and not server.tend(now)]
        if ready:
            return ready
        timeout, poll = 1.0, _watch(busy.values())


def _watch(busy: Iterable[Server]) -> select.poll:
    """Everything that can happen while programs take long."""
    poll = select.poll()
    for server in busy:
        poll.register(server.endings, select.POLLIN)
        for fd, events in server.under_way[0].watched():
            poll.register(fd, events)
    return poll
