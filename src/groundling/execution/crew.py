"""Many programs on several servers, in one loop: outcomes in the order of the requests, and little read ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from groundling.execution import replies
from groundling.execution.outcome import Outcome
from groundling.execution.replies import Request
from groundling.execution.server import Server, ServerLostError, wait

_WINDOW = 24  # requests a server that may be under way, or wait for an earlier one's outcome


class Crew:
    """Servers at work on one stream of requests. A place in `servers` is None until one is needed there."""

    def __init__(self, servers: list[Server | None], start: Callable[[bool], Server]) -> None:
        self.servers = servers
        self._start = start
        self._order: deque[str] = deque()  # nonces, as the requests came
        self._done: dict[str, Outcome] = {}
        self._again: deque[Request] = deque()  # lost with a server, once
        self._lost: set[str] = set()

    def outcomes(self, requests: Iterator[Request]) -> Iterator[Outcome]:
        """Yield the outcome of each request, in order."""
        while self._fill(requests):
            for server in wait(server for server in self.servers if server is not None):
                self._collect(server)
            while self._order and self._order[0] in self._done:
                yield self._done.pop(self._order.popleft())

    def _fill(self, requests: Iterator[Request]) -> bool:
        """Give every server something to do; False when nothing is left."""
        for held in range(max(server.ahead if server is not None else 1 for server in self.servers)):
            for place, server in enumerate(self.servers):
                if server is not None and (len(server.under_way) > held or held >= server.ahead):
                    continue
                request = self._next(requests)
                if request is None:
                    return bool(self._order)
                self._submit(place, request)
        return True

    def _next(self, requests: Iterator[Request]) -> Request | None:
        if self._again:
            return self._again.popleft()
        request = next(requests, None) if len(self._order) < _WINDOW * len(self.servers) else None
        if request is not None:
            self._order.append(request.nonce)
        return request

    def _submit(self, place: int, request: Request) -> None:
        server = self.servers[place]
        if server is not None and server.processes != request.processes and not server.under_way:
            server.close()
            server = None
        server = self.servers[place] = server or self._start(request.processes)
        try:
            server.submit(request)
        except ServerLostError as lost:
            self._drop(server, [request], str(lost))
        except OSError:  # no descriptor left: with fewer programs ahead there will be
            if not any(other.under_way for other in self.servers if other is not None):
                raise
            server.ahead = max(1, len(server.under_way))
            self._again.append(request)

    def _collect(self, server: Server) -> None:
        try:
            came = server.collect()
        except ServerLostError as lost:
            self._drop(server, [], str(lost))
        else:
            self._done |= {one[0].nonce: replies.outcome(*one) for one in came}

    def _drop(self, server: Server, more: list[Request], reason: str) -> None:
        """Do again what a lost server had under way; what was lost twice is refused."""
        for request in [exchange.request for exchange in server.under_way] + more:
            if request.nonce in self._lost:
                self._done[request.nonce] = replies.refusal(request, f"the sandbox was lost: {reason}")
            else:
                self._lost.add(request.nonce)
                self._again.append(request)
        server.close()
        self.servers[self.servers.index(server)] = None

    def dismiss(self) -> list[Server | None]:
        """End the servers that are still at work, and return all places."""
        for server in [server for server in self.servers if server is not None and server.under_way]:
            server.close()
            self.servers[self.servers.index(server)] = None
        return self.servers
