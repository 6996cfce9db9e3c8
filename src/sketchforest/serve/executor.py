"""Run requests on threads, with a bounded queue."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from starlette.requests import Request

from sketchforest.serve.limits import Deadline
from sketchforest.serve.responses import RequestError


class BoundedExecutor:
    """A thread pool that rejects requests with a 503 once `max_queued` of them are waiting."""

    def __init__(self, name: str, n_threads: int, max_queued: int) -> None:
        self._executor = ThreadPoolExecutor(n_threads, name)
        self._idle_threads = asyncio.Semaphore(n_threads)
        self._queued: set[asyncio.Task[bytes]] = set()
        self._max_queued = max_queued

    def check_capacity(self) -> None:
        if len(self._queued) >= self._max_queued:
            raise RequestError(503, "too many requests of this kind are queued; try again later.")

    async def run(self, request: Request, deadline: Deadline, work: Callable[[], bytes]) -> bytes:
        """Return the result of `work`.

        If the client disconnects or the request times out, queued work is dropped, and running
        work is stopped by its deadline.
        """
        self.check_capacity()
        working = asyncio.create_task(self._run(work))
        disconnecting = asyncio.create_task(_disconnected(request))
        self._queued.add(working)
        try:
            await asyncio.wait((working, disconnecting), return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise RequestError(400, "the client disconnected.")
            return working.result()
        finally:
            self._queued.discard(working)
            deadline.cancel()
            working.cancel()
            disconnecting.cancel()

    async def _run(self, work: Callable[[], bytes]) -> bytes:
        # Queue here and not in the executor, which would keep the work of disconnected clients.
        await self._idle_threads.acquire()
        self._queued.discard(asyncio.current_task())
        loop = asyncio.get_running_loop()
        running = self._executor.submit(work)
        # Work may outlast the request: the thread is idle only when the work itself is done.
        running.add_done_callback(lambda _: self._release(loop))
        return await asyncio.wrap_future(running)

    def _release(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(RuntimeError):  # the event loop is closed
            loop.call_soon_threadsafe(self._idle_threads.release)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
