"""What stands before every answer: the host that is asked for, the time, headers."""

import asyncio
import json
import logging
from collections.abc import Sequence

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sketchforest.serve.limits import RETRY_SECONDS, Limits
from sketchforest.serve.protocol import ABORT

logger = logging.getLogger("uvicorn.error")

# Pages of other sites show nothing of ours, and ours asks for nothing from elsewhere.
HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; "
        b"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
]


class Guard:
    def __init__(self, app: ASGIApp, limits: Limits, hosts: Sequence[str] | None) -> None:
        self.app, self.limits = app, limits
        self.hosts = None if hosts is None else {host.encode().lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        has_started = False

        async def sending(message: Message) -> None:
            nonlocal has_started
            if message["type"] == "http.response.start":
                has_started = True
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        if not self._is_for_us(scope):
            await _say(sending, 421, "the Host of a request must be the one that is served.")
            return
        try:
            async with asyncio.timeout(self.limits.seconds):
                await self.app(scope, receive, sending)
        except TimeoutError:
            if has_started:
                self._abort(scope)
                return
            said = f"there is no answer within {self.limits.seconds:g} s; try fewer rows, or later."
            await _say(sending, 503, said)
        except asyncio.CancelledError:  # by the server, which ends
            if not has_started:
                await _say(sending, 503, "the service ends; ask again later.")

    def _abort(self, scope: Scope) -> None:
        """A client that does not read its answer in time loses it with the connection, which would
        otherwise be kept until it has read the rest. It is logged in one line."""
        host, port = scope.get("client") or ("a client", 0)
        logger.warning("%s:%s did not read its answer in %g s", host, port, self.limits.seconds)
        scope["extensions"][ABORT]()

    def _is_for_us(self, scope: Scope) -> bool:
        """A page of another site whose name is made to lead here has that name in Host."""
        if self.hosts is None:
            return True
        host = next((value for name, value in scope["headers"] if name == b"host"), b"")
        name, _, port = host.lower().rpartition(b":")
        return (name if port.isdigit() and name else host.lower()) in self.hosts


async def _say(send: Send, status: int, sentence: str) -> None:
    body = json.dumps({"error": sentence}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *([(b"retry-after", str(RETRY_SECONDS).encode())] if status == 503 else []),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
