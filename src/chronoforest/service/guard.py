"""Who may talk to the service: this machine's own pages and programs, in messages of a bounded size.

A page of another site can make a browser send requests to 127.0.0.1, and by rebinding its own name to that
address it can even read the answers. So a request must name the service itself in `Host`, and a browser's
`Origin`, where there is one, must be the service too.
"""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 4 * 1024 * 1024
"""Bytes of a request."""

BODY_SECONDS = 10.0

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Refused(Exception):
    """The request goes no further."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Guard:
    """Refuses foreign, oversized and wrongly typed requests before the service sees them."""

    def __init__(self, app: ASGIApp, port: int, origins: tuple[str, ...] = ()) -> None:
        """origins: of pages elsewhere that may ask too."""
        self.app, self.origins = app, frozenset(origins)
        names = ("127.0.0.1", "localhost", "[::1]")
        # Some clients, VROOM among them, leave the port out; a foreign name is what must not pass.
        self.hosts = {*names, *(f"{name}:{port}" for name in names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; also one connection's start and end, which pass."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin", "")
        more = {"access-control-allow-origin": origin, "cross-origin-resource-policy": "cross-origin"}
        more = HEADERS | (more if origin in self.origins else {})

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(more)
            await send(message)

        try:
            self._check(scope["method"], headers)
            body = await _whole_body(receive, headers)
        except Refused as refused:
            values = {"error": str(refused), "code": "Refused", "message": str(refused)}
            await JSONResponse(values, refused.status, {"connection": "close"})(scope, receive, sending)
            return
        waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return waiting.pop() if waiting else await receive()

        await self.app(scope, replay, sending)

    def _check(self, method: str, headers: Headers) -> None:
        for name in ("host", "origin"):
            if len(headers.getlist(name)) > 1:
                raise Refused(400, f"the header {name!r} came twice")
        host, origin = headers.get("host", "").lower(), headers.get("origin")
        if host not in self.hosts:
            raise Refused(403, f"this service is not {_shown(host)}; it is at {_shown(min(self.hosts))}")
        if origin not in self.origins:
            if origin is not None and origin.lower() not in {f"http://{name}" for name in self.hosts}:
                raise Refused(403, f"requests from {_shown(origin)} are not allowed here")
            if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
                raise Refused(403, "requests from other sites are not allowed here")
        # A browser asks before it sends JSON to another site, and it does not ask before it sends a form.
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        if method == "POST" and has_body and kind != "application/json":
            raise Refused(415, f"send application/json, not {_shown(kind or 'an unnamed type')}")


async def _whole_body(receive: Receive, headers: Headers) -> bytes:
    announced = headers.get("content-length", "0")
    if announced.isdigit() and int(announced[:20]) > MAX_BODY:
        raise Refused(413, f"a request may have {MAX_BODY} bytes, this one has {announced[:20]}")
    body = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                body += message.get("body", b"")
                if len(body) > MAX_BODY:
                    raise Refused(413, f"a request may have {MAX_BODY} bytes, this one has more")
                if not message.get("more_body", False):
                    return body
    except TimeoutError:
        raise Refused(408, f"the request did not arrive within {BODY_SECONDS:g} seconds") from None


def _shown(text: str) -> str:
    return ascii(text[:80])
