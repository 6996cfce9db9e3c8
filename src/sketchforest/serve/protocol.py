"""HTTP as uvicorn speaks it, without patience for clients that do not come to the point."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD = 1 << 16  # bytes of the first line and the headers of a request


class PromptProtocol(HttpToolsProtocol):
    """Closes connections that do not send the whole head of a request in the time that is given to
    idle ones. uvicorn waits for a head as long as it takes, and for as many bytes; the body has a
    limit where it is read."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.waiting: asyncio.TimerHandle | None = None
        self.n_bytes = 0  # since it waits

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._wait()

    def on_headers_complete(self) -> None:
        self._wait_no_more()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and self.cycle.response_complete:
            self._wait()  # more of a body that nobody reads, perhaps byte by byte
        if self.waiting is not None:
            self.n_bytes += len(data)
            if self.n_bytes > MAX_HEAD and not self.transport.is_closing():
                self.send_400_response("The head of the request is too long.")

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self.waiting is None and not self.transport.is_closing():
            seconds = self.timeout_keep_alive
            self.waiting = self.loop.call_later(seconds, self.timeout_keep_alive_handler)
            self.n_bytes = 0

    def _wait_no_more(self) -> None:
        if self.waiting is not None:
            self.waiting.cancel()
            self.waiting = None
