"""Checks before every request: the host, the timeout, and security headers."""

import asyncio
import logging
from collections.abc import Sequence

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sketchforest.serve.fields import shown
from sketchforest.serve.limits import Limits
from sketchforest.serve.protocol import ABORT
from sketchforest.serve.responses import RequestError, error_response

logger = logging.getLogger("uvicorn.error")

# Other sites cannot frame these pages, and these pages load nothing from elsewhere.
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


class SecurityMiddleware:
    """Check the Host header, add security headers, and enforce the request timeout.

    Unlike Starlette's middleware it wraps the whole application, error handlers included.
    """

    def __init__(self, app: ASGIApp, limits: Limits, hosts: Sequence[str] | None) -> None:
        self.app, self.limits = app, limits
        self.hosts = None if hosts is None else {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        has_started = False

        async def send_secured(message: Message) -> None:
            nonlocal has_started
            if message["type"] == "http.response.start":
                has_started = True
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        async def reject(status: int, detail: str) -> None:
            response = error_response(RequestError(status, detail))
            response.headers["connection"] = "close"
            await response(scope, receive, send_secured)

        host = next((value for name, value in scope["headers"] if name == b"host"), b"")
        if not self._is_served(host.decode("latin-1")):
            got = shown(host.decode("latin-1"))
            await reject(421, f"the Host header must name this server; got {got}.")
            return
        try:
            async with asyncio.timeout(self.limits.seconds):
                await self.app(scope, receive, send_secured)
        except TimeoutError:
            if has_started:
                self._abort(scope)
            else:
                after = f"no response within {self.limits.seconds:g} s"
                await reject(503, f"{after}; send fewer rows, or try again later.")
        except asyncio.CancelledError:  # the server is shutting down
            if not has_started:
                await reject(503, "the server is shutting down; try again later.")

    def _is_served(self, host: str) -> bool:
        """Reject DNS rebinding: the page of another site whose name resolves to this address."""
        if self.hosts is None:
            return True
        name, _, port = host.lower().rpartition(":")
        return (name if port.isdigit() and name else host.lower()) in self.hosts

    def _abort(self, scope: Scope) -> None:
        """Close the connection of a client that does not read its response, and log one line."""
        host, port = scope.get("client") or ("a client", 0)
        logger.warning(
            "%s:%s did not read its response within %g s", host, port, self.limits.seconds
        )
        scope["extensions"][ABORT]()
