"""The door of the server: who may ask, how much they may send, and what the browser may do with the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groundling.web.answers import Fault, Refusal

LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})
MOST_BYTES = 1 << 20
BODY_SECONDS = 30.0
HEADERS = {
    # Pictures carry a style sheet of their own; nothing else of a page may come from elsewhere or run inline.
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def refuse(status: int, what: str, next_step: str, where: str = "") -> JSONResponse:
    """An answer that says no, in the one shape."""
    fault = Fault(what=what, where=where, next=next_step)
    return JSONResponse(Refusal(error=fault).model_dump(), status)


def host_name(host: str) -> str:
    """The name in a Host header, without its port.

    >>> host_name("localhost:80"), host_name("[::1]:80"), host_name("evil.example@localhost")
    ('localhost', '::1', '')
    """
    try:
        parts = urlsplit(f"//{host}")
        plain = parts.username is None and not parts.path and not parts.query and not parts.fragment
        return parts.hostname or "" if plain else ""
    except ValueError:
        return ""


class Guard:
    """Middleware: refuses foreign hosts and pages, and bodies too long or too slow, before anything reads them.

    A page of another site can make a browser send requests here, and a name that changes its address can make them
    look local: the first is told by Origin, the second by Host.
    """

    def __init__(
        self, app: ASGIApp, hosts: Collection[str] = LOCAL, most_bytes: Mapping[str, int] | None = None
    ) -> None:
        self.app, self.hosts, self.most_bytes = app, frozenset(hosts), most_bytes or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
        answer = self.stranger(headers)
        if answer is None:
            most = self.most_bytes.get(scope["path"], MOST_BYTES)
            body, answer = await read_body(receive, headers, most)
            receive = replay(body, receive)
        await (answer or self.app)(scope, receive, with_headers(send))

    def stranger(self, headers: Mapping[str, str]) -> JSONResponse | None:
        """Refuse a Host that is not ours and an Origin that is not this page."""
        host = headers.get("host", "")
        if host_name(host) not in self.hosts:
            return refuse(
                403, f"the host {host[:80]!r} is not served here.", "Open the address that the command prints."
            )
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return refuse(403, f"a page of {origin[:80]!r} asked.", "Only this server's own page may.")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return refuse(403, "a page of another site asked.", "Only this server's own page may.")
        return None


async def read_body(receive: Receive, headers: Mapping[str, str], most: int) -> tuple[bytes, JSONResponse | None]:
    """The body, or a refusal as soon as it is too long or too slow."""
    too_long = refuse(413, f"the request is longer than {most:,} bytes.", "Send less.")
    declared = headers.get("content-length", "0")
    if not declared.isdigit() or int(declared) > most:
        return b"", too_long
    body = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                body += message.get("body", b"")
                if len(body) > most:
                    return b"", too_long
                if not message.get("more_body"):
                    return body, None
    except TimeoutError:
        return b"", refuse(408, f"the request did not arrive within {BODY_SECONDS:.0f} seconds.", "Try again.")


def replay(body: bytes, receive: Receive) -> Receive:
    """Hand out a body that was read already; then wait for the client to leave."""
    waiting = [body]

    async def next_message() -> Message:
        return {"type": "http.request", "body": waiting.pop(), "more_body": False} if waiting else await receive()

    return next_message


def with_headers(send: Send) -> Send:
    """Add HEADERS to the answer."""

    async def dressed(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            extra = [(key.encode(), value.encode()) for key, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", []), *extra]}
        await send(message)

    return dressed
