"""uvicorn's HTTP protocol, with limits on slow and oversized request headers."""

import asyncio
from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

MAX_HEADER_BYTES = 1 << 16  # request line included
CHUNK = 1 << 13  # bytes parsed at a time: the precision of MAX_HEADER_BYTES
ABORT = "sketchforest.abort"  # scope extension that closes the connection at once


class HeaderTimeoutProtocol(HttpToolsProtocol):
    """Close connections whose request headers do not arrive within the keep-alive timeout.

    uvicorn itself waits for headers without a limit on time or size. Bodies are limited where
    they are read.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.header_timer: asyncio.TimerHandle | None = None
        self.header_bytes: int | None = None  # None: no header is incomplete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_timer()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.header_bytes = 0
        self._start_timer()

    def on_headers_complete(self) -> None:
        self.header_bytes = None
        self._stop_timer()
        super().on_headers_complete()
        abort = partial(self._abort, self.cycle)
        self.scope["extensions"] = {ABORT: abort}  # type: ignore[dict-item]

    def _abort(self, cycle: RequestResponseCycle) -> None:
        # uvicorn reports a lost connection to the last of several pipelined requests only, and
        # logs an error for each of the others.
        cycle.disconnected = True
        self.pipeline.clear()
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        # Of many pipelined requests, only the last can have incomplete headers.
        for start in range(0, len(data), CHUNK):
            if self.transport.is_closing():
                return
            self._receive_chunk(data[start : start + CHUNK])

    def _receive_chunk(self, data: bytes) -> None:
        before = self.header_bytes
        super().data_received(data)
        if self.cycle is not None and self.cycle.response_complete:
            self._start_timer()  # a body that nobody reads may go on arriving byte by byte
        # Headers that began in this chunk take up only part of it.
        if self.header_bytes is not None and self.header_bytes == before:
            self.header_bytes += len(data)
            if self.header_bytes > MAX_HEADER_BYTES and not self.transport.is_closing():
                self.send_400_response("The request headers are too long.")

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        if self.header_timer is None and not self.transport.is_closing():
            self.header_timer = self.loop.call_later(self.timeout_keep_alive, self._on_timeout)

    def _on_timeout(self) -> None:
        self.header_timer = None
        if self.flow.read_paused:
            self._start_timer()  # earlier requests are running; the headers may have arrived
        else:
            self.timeout_keep_alive_handler()

    def _stop_timer(self) -> None:
        if self.header_timer is not None:
            self.header_timer.cancel()
            self.header_timer = None
