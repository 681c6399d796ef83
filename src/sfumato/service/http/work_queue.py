"""Where work is done aside from the loop that answers: a few threads, a bounded queue, a time limit."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from http import HTTPStatus
from typing import TypeVar

from sfumato.service.http.problems import RefusedError
from sfumato.service.settings import Limits

Result = TypeVar("Result")


class WorkQueue:
    """Runs work in threads; turns away what would have to wait behind too much other work."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._threads = ThreadPoolExecutor(limits.threads, thread_name_prefix="anonymize")
        self._waiting = 0
        self._lock = threading.Lock()

    async def run(self, work: Callable[[], Result]) -> Result:
        """The result of some work.

        Raises:
            RefusedError: Too much is waiting, or the result did not come in time. A thread cannot be stopped: what
                came too late keeps its place in the queue until it is done.
        """
        self._enter()
        future = self._threads.submit(work)
        future.add_done_callback(self._leave)
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            raise RefusedError(HTTPStatus.REQUEST_TIMEOUT, "limit.time", "The work took too long.") from None

    def close(self) -> None:
        """Finish what runs; what has not begun is dropped."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _enter(self) -> None:
        with self._lock:
            if self._waiting >= self._limits.waiting:
                what = "The service is busy; try again."
                raise RefusedError(HTTPStatus.TOO_MANY_REQUESTS, "limit.busy", what, {"retry-after": "1"})
            self._waiting += 1

    def _leave(self, _: "Future[Result]") -> None:
        with self._lock:
            self._waiting -= 1
