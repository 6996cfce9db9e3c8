"""HTTP as uvicorn speaks it, without patience for clients that do not come to the point."""

import asyncio
from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

MAX_HEAD = 1 << 16  # bytes of the first line and the headers of a request
PIECE = 1 << 13  # bytes that are looked at at once: so exact is the count of those of a head
ABORT = "sketchforest.abort"  # in the extensions of a scope: closes its connection at once


class PromptProtocol(HttpToolsProtocol):
    """Closes connections that do not send the whole head of a request in the time that is given to
    idle ones. uvicorn waits for a head as long as it takes, and for as many bytes; the body has a
    limit where it is read."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.waiting: asyncio.TimerHandle | None = None
        self.n_bytes: int | None = None  # of the head that is not whole yet

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.n_bytes = 0
        self._wait()

    def on_headers_complete(self) -> None:
        self.n_bytes = None
        self._wait_no_more()
        super().on_headers_complete()
        abort = partial(self._abort, self.cycle)
        self.scope["extensions"] = {ABORT: abort}  # type: ignore[dict-item]

    def _abort(self, cycle: RequestResponseCycle) -> None:
        # uvicorn tells this only to the last of several requests that came together, and logs an
        # error for each of the others.
        cycle.disconnected = True
        self.pipeline.clear()
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        # Many requests may come together, of which only the last has half a head.
        for at in range(0, len(data), PIECE):
            if self.transport.is_closing():
                return
            self._receive(data[at : at + PIECE])

    def _receive(self, data: bytes) -> None:
        before = self.n_bytes
        super().data_received(data)
        if self.cycle is not None and self.cycle.response_complete:
            self._wait()  # more of a body that nobody reads, perhaps byte by byte
        # A head that has begun in this piece has less than all of it.
        if self.n_bytes is not None and self.n_bytes == before:
            self.n_bytes += len(data)
            if self.n_bytes > MAX_HEAD and not self.transport.is_closing():
                self.send_400_response("The head of the request is too long.")

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self.waiting is None and not self.transport.is_closing():
            self.waiting = self.loop.call_later(self.timeout_keep_alive, self._give_up)

    def _give_up(self) -> None:
        self.waiting = None
        if self.flow.read_paused:
            self._wait()  # the rest of the head may have come: requests before it are worked on
        else:
            self.timeout_keep_alive_handler()

    def _wait_no_more(self) -> None:
        if self.waiting is not None:
            self.waiting.cancel()
            self.waiting = None
