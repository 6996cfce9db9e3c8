"""Handle concurrent requests in batches."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class MicroBatcher(Generic[Item, Result]):
    """Collect the items that arrive while a batch is running, and handle them as the next batch.

    An item that arrives when nothing is running starts at once: there is no waiting time. Batches
    run one at a time, on a thread of `executor`. A result may be an exception, which is raised to
    the submitter of its item.
    """

    def __init__(
        self,
        handle_batch: Callable[[Sequence[Item]], Sequence[Result | Exception]],
        executor: ThreadPoolExecutor,
        max_batch_size: int,
    ) -> None:
        self.handle_batch, self.executor = handle_batch, executor
        self.max_batch_size = max_batch_size
        self.pending: deque[tuple[Item, asyncio.Future[Result]]] = deque()
        self.is_running = False

    async def submit(self, item: Item) -> Result:
        result: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self.pending.append((item, result))
        if not self.is_running:
            self._start_batch()
        return await result

    def _start_batch(self) -> None:
        batch: list[tuple[Item, asyncio.Future[Result]]] = []
        while self.pending and len(batch) < self.max_batch_size:
            item, result = self.pending.popleft()
            if not result.done():  # else the client disconnected or timed out
                batch.append((item, result))
        self.is_running = bool(batch)
        if not batch:
            return
        items, results = [item for item, _ in batch], [result for _, result in batch]
        loop = asyncio.get_running_loop()
        running = loop.run_in_executor(self.executor, self.handle_batch, items)
        running.add_done_callback(lambda done: self._finish_batch(results, done))

    def _finish_batch(
        self,
        results: Sequence["asyncio.Future[Result]"],
        done: "asyncio.Future[Sequence[Result | Exception]]",
    ) -> None:
        error = done.exception()
        values = [error] * len(results) if error is not None else done.result()
        for result, value in zip(results, values, strict=True):
            if result.done():
                continue
            if isinstance(value, BaseException):
                result.set_exception(value)
            else:
                result.set_result(value)
        self._start_batch()
