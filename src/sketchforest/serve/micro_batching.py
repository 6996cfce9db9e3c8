"""Requests that wait at the same time are worked on together, on one thread."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


class Gathering(Generic[Asked, Answer]):
    """Calls `work` with all that has been asked since its last call, at most so many; never twice
    at a time. What is asked alone is worked on at once: nothing waits for company.

    An answer may be an exception, which is raised where it was asked for.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Asked]], Sequence[Answer | Exception]],
        threads: ThreadPoolExecutor,
        at_most: int,
    ) -> None:
        self.work, self.threads, self.at_most = work, threads, at_most
        self.waiting: deque[tuple[Asked, asyncio.Future[Answer]]] = deque()
        self.is_working = False

    async def ask(self, asked: Asked) -> Answer:
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.waiting.append((asked, answer))
        if not self.is_working:
            self._start()
        return await answer

    def _start(self) -> None:
        """On the loop, as all but `work` is."""
        some: list[tuple[Asked, asyncio.Future[Answer]]] = []
        while self.waiting and len(some) < self.at_most:
            asked, answer = self.waiting.popleft()
            # Who has left, or has been told that the time is up, is not worked for.
            if not answer.done():
                some.append((asked, answer))
        self.is_working = bool(some)
        if not some:
            return
        loop = asyncio.get_running_loop()
        done = loop.run_in_executor(self.threads, self.work, [asked for asked, _ in some])
        done.add_done_callback(lambda found: self._finish([answer for _, answer in some], found))

    def _finish(
        self,
        answers: Sequence["asyncio.Future[Answer]"],
        found: "asyncio.Future[Sequence[Answer | Exception]]",
    ) -> None:
        error = found.exception()
        results = [error] * len(answers) if error is not None else found.result()
        for answer, result in zip(answers, results, strict=True):
            if answer.done():
                continue
            if isinstance(result, BaseException):
                answer.set_exception(result)
            else:
                answer.set_result(result)
        self.is_working = False
        if self.waiting:
            self._start()
