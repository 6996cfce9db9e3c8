"""Work on threads for as long as somebody waits for it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from starlette.requests import Request

from sketchforest.serve.limits import Deadline, RefusedError


class Threads:
    """A few threads, for which at most so many requests wait; more are refused."""

    def __init__(self, name: str, n_threads: int, most_waiting: int) -> None:
        self._executor = ThreadPoolExecutor(n_threads, name)
        self._free = asyncio.Semaphore(n_threads)
        self._waiting: set[asyncio.Task[bytes]] = set()
        self._most_waiting = most_waiting

    def check_room(self) -> None:
        if len(self._waiting) >= self._most_waiting:
            raise RefusedError(503, "too many requests like this one are waiting; ask again later.")

    async def answer(
        self, request: Request, deadline: Deadline, work: Callable[[], bytes]
    ) -> bytes:
        """What `work` gives. It is not begun if the client leaves or its time is up while it waits;
        later its deadline tells it."""
        self.check_room()
        working = asyncio.create_task(self._run(work))
        leaving = asyncio.create_task(_disconnected(request))
        self._waiting.add(working)
        try:
            await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise RefusedError(400, "the client has gone.")
            return working.result()
        finally:
            self._waiting.discard(working)
            deadline.cancel()
            working.cancel()
            leaving.cancel()

    async def _run(self, work: Callable[[], bytes]) -> bytes:
        # Waiting here and not in the executor, which would keep what nobody waits for any more.
        await self._free.acquire()
        self._waiting.discard(asyncio.current_task())
        loop = asyncio.get_running_loop()
        done = self._executor.submit(work)
        # The thread is free when the work has ended, which may be after its client has left.
        done.add_done_callback(lambda _: self._release(loop))
        return await asyncio.wrap_future(done)

    def _release(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(RuntimeError):  # the service has ended
            loop.call_soon_threadsafe(self._free.release)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
