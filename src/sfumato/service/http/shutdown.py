"""Whether the service is about to stop, for code that would otherwise wait, such as a slow upload."""

import asyncio
import signal
import threading
from collections.abc import Callable
from http import HTTPStatus
from types import FrameType
from typing import Any

from sfumato.service.http.problems import RefusedError

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Stopping:
    """Receives the signals that stop the service, before the HTTP server does."""

    def __init__(self) -> None:
        self._begun = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def listen(self) -> None:
        """Begin to listen for signals, in the main thread only."""
        self._loop = asyncio.get_running_loop()
        if threading.current_thread() is not threading.main_thread():
            return
        for number in SIGNALS:
            signal.signal(number, self._before(signal.getsignal(number)))

    def _before(self, handler: Any) -> Callable[[int, FrameType | None], None]:
        def handle(number: int, frame: FrameType | None) -> None:
            self.begin()
            if callable(handler):
                handler(number, frame)

        return handle

    def begin(self) -> None:
        """Record that the service is about to stop."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._begun.set)

    async def unless(self, work: Callable[[], Any]) -> Any:
        """Return the result of some work, unless the service stops first.

        Raises:
            RefusedError: The service stops.
        """
        waiting = asyncio.ensure_future(self._begun.wait())
        doing = asyncio.ensure_future(work())
        try:
            await asyncio.wait({waiting, doing}, return_when=asyncio.FIRST_COMPLETED)
            if doing.done():
                return doing.result()
        finally:
            waiting.cancel()
            doing.cancel()
        what = "The service stops; send it again."
        headers = {"retry-after": "10", "connection": "close"}
        raise RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, "service.stopping", what, headers)
