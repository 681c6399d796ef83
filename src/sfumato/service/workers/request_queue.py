"""Workers that answer requests: a bounded queue, a time limit, and one worker reserved for small requests."""

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

from sfumato.errors import EngineError
from sfumato.localization.messages import Message
from sfumato.service.problems import RefusedError
from sfumato.service.settings import Limits
from sfumato.service.workers.fork_server import Template, Worker, result, shared_template
from sfumato.service.workers.messages import LENGTH, TakesLongError, WorkerCall, WorkerEndedError, decode, encode
from sfumato.service.workers.process import WorkerLimits

# From this size on, requests leave one worker to the small ones.
LARGE_BYTES = 100_000
BLOCK = 1 << 16
# Interval between attempts to start a process, after one could not be started.
TRYING_SECONDS = 2.0
LOG = logging.getLogger("sfumato.service")


class _NoWorkerError(EngineError):
    """No process can be started now."""


class RequestQueue:
    """Distributes calls to workers; refuses calls if too many are waiting."""

    def __init__(
        self, limits: Limits, prepare: WorkerCall, template: Template | None = None, confined: Iterable[Path] = ()
    ) -> None:
        self._limits, self._prepare, self._confined = limits, prepare, tuple(confined)
        self._template = template or shared_template()
        self._idle: asyncio.LifoQueue[Worker | None] = asyncio.LifoQueue()
        self._large = asyncio.Semaphore(max(1, limits.workers - 1))
        self._waiting = 0
        self._workers: set[Worker] = set()
        self._warming: asyncio.Task[None] | None = None
        self._warm_enough = asyncio.Event()
        self._failed = False

    async def start(self) -> None:
        """Begin to start the workers, before the first request."""
        self._warming = asyncio.create_task(self._warm())

    def fault(self) -> str | None:
        """Return what prevents requests from being answered, or None."""
        return "no process can be started" if self._failed else None

    async def _warm(self) -> None:
        """Start the workers, and retry whenever none could be started, even without requests."""
        for _ in range(self._limits.workers):
            try:
                worker = await asyncio.to_thread(self._new)
            except EngineError:
                worker = None  # the request that gets its place tries again
            self._idle.put_nowait(worker)
            self._warm_enough.set()
        while True:
            await asyncio.sleep(TRYING_SECONDS)
            if self._failed:
                with suppress(EngineError):
                    self._put_into_empty_place(await asyncio.to_thread(self._new))

    def _put_into_empty_place(self, worker: Worker) -> None:
        """Put a worker in the place of one that could not be started, if there still is such a place."""
        places = [self._idle.get_nowait() for _ in range(self._idle.qsize())][::-1]
        if None in places:
            places[places.index(None)] = worker
        else:
            self._drop(worker)
        for place in places:
            self._idle.put_nowait(place)

    async def run(self, call: WorkerCall, size: int, longer: WorkerCall | None = None) -> Any:
        """Return the result of a call.

        Args:
            call: The call.
            size: The bytes of the request; large ones leave a worker to the small ones.
            longer: The call to use instead for a large request, or if the first call finds that it takes long.

        Raises:
            RefusedError: Too many calls are waiting, the result is late, or the worker ended.
        """
        try:
            with self._place():
                await (
                    self._warm_enough.wait()
                )  # the first caller's time limit does not include the start of the service
                async with asyncio.timeout(self._limits.seconds):
                    if longer is not None and size < LARGE_BYTES:
                        with suppress(TakesLongError):
                            return await self._done(call, nullcontext())
                    return await self._done(longer or call, self._lane(size if longer is None else LARGE_BYTES))
        except TimeoutError:
            raise RefusedError("limit.time", Message("error.part.the_work_took_too")) from None
        except _NoWorkerError:
            what = Message("request.no_process")
            raise RefusedError(
                "internal.worker", what, {"retry-after": "10"}, status=HTTPStatus.SERVICE_UNAVAILABLE
            ) from None
        except WorkerEndedError:
            what = Message("request.request_ended")
            raise RefusedError("internal.worker", what) from None

    async def _done(self, call: WorkerCall, lane: AbstractAsyncContextManager[None]) -> Any:
        async with lane, self._worker() as worker:
            return result(await _answer(worker.connection, call))

    def counts(self) -> dict[str, int]:
        """Return the numbers of busy and idle workers, and of waiting requests."""
        idle = sum(worker is not None for worker in list(self._idle._queue))  # type: ignore[attr-defined]
        busy = len(self._workers) - idle
        return {"busy": max(0, busy), "idle": idle, "waiting": max(0, self._waiting - max(0, busy))}

    async def close(self) -> None:
        """Close all workers."""
        if self._warming is not None:
            self._warming.cancel()
            with suppress(asyncio.CancelledError):
                await self._warming
        self._warm_enough.set()
        for worker in self._workers:
            worker.close()
        self._workers.clear()

    @contextmanager
    def _place(self) -> Iterator[None]:
        """Reserve a place among the running and waiting calls."""
        if self._waiting >= self._limits.waiting:
            raise RefusedError("limit.busy", Message("request.busy"), {"retry-after": "1"})
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    def _lane(self, size: int) -> AbstractAsyncContextManager[None]:
        return self._large if size >= LARGE_BYTES else nullcontext()

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator[Worker]:
        """Yield a worker for exclusive use; one that did not answer is killed and replaced."""
        worker = await self._idle.get()
        try:
            if worker is not None and (worker.ended.is_set() or _gone(worker.connection)):
                self._drop(worker)  # it ended while idle; not the fault of this request
                worker = None
            if worker is None:
                worker = await asyncio.to_thread(self._new)
            yield worker
        except (TimeoutError, asyncio.CancelledError, WorkerEndedError):
            self._drop(worker)
            worker = None
            raise
        except _NoWorkerError:
            worker = None
            raise
        finally:
            self._idle.put_nowait(worker)

    def _new(self) -> Worker:
        limits = WorkerLimits(self._limits.memory_bytes)
        try:
            worker = self._template.start(limits, first=self._prepare, confined=self._confined)
        except (EngineError, OSError):
            if not self._failed:
                LOG.error(json.dumps({"workers": "no process can be started"}))
            self._failed = True
            raise _NoWorkerError("worker") from None
        self._failed = False
        worker.connection.setblocking(False)
        self._workers.add(worker)
        return worker

    def _drop(self, worker: Worker | None) -> None:
        if worker is not None:
            worker.kill()
            worker.close()
            self._workers.discard(worker)


def _gone(connection: socket.socket) -> bool:
    """Return whether the other end of a connection is closed."""
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


async def _answer(connection: socket.socket, call: WorkerCall) -> Any:
    """Send a call and wait for its response."""
    loop = asyncio.get_running_loop()
    try:
        await loop.sock_sendall(connection, encode(call))
        content = bytearray(await loop.sock_recv(connection, BLOCK))
        while len(content) < LENGTH.size or len(content) < LENGTH.size + LENGTH.unpack_from(content)[0]:
            block = await loop.sock_recv(connection, BLOCK if len(content) < BLOCK else 16 * BLOCK)
            if not block:
                raise WorkerEndedError
            content += block
    except OSError:
        raise WorkerEndedError from None
    return decode(content)
