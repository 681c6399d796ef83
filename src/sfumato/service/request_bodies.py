"""Receive request bodies within limits of size and time, end them when the service stops, and parse strict JSON."""

import asyncio
import json
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, NoReturn

import orjson
from starlette.requests import ClientDisconnect, Request

from sfumato.localization.messages import Message
from sfumato.service.problems import RefusedError
from sfumato.service.settings import Limits

# Content beyond the limit is read and discarded, so that the sender receives the response; up to this amount.
DROPPED_BYTES = 256_000_000
DROPPING_SECONDS = 10.0
# Every digit as a zero, all else as a blank; this many zeros may be an integer of more than 64 bits.
ZEROS = bytes(ord("0") if chr(byte).isdecimal() and byte < 128 else ord(" ") for byte in range(256))
LONG_NUMBER = b"0" * 19


async def receive(request: Request, limits: Limits) -> bytes:
    """Receive the body of a request.

    Raises:
        RefusedError: It is too large, arrives too slowly, or is not JSON by its content type.
    """
    _check_media_type(request)
    try:
        async with asyncio.timeout(limits.seconds):
            return await _collected(request, limits)
    except TimeoutError:
        raise RefusedError("limit.time", Message("error.part.the_body_came_too")) from None
    except ClientDisconnect:
        raise RefusedError("body.incomplete", Message("error.part.the_body_ended_early")) from None


async def _collected(request: Request, limits: Limits) -> bytes:
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limits.body_bytes:
        await _drop(request, int(declared))
        raise _too_large(limits)
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > limits.body_bytes:
            parts.clear()
            await _drop(request, 0)
            raise _too_large(limits)
        parts.append(part)
    return b"".join(parts)


async def _drop(request: Request, declared: int) -> None:
    """Read and discard the rest of a body; a sender that waits for permission is not asked to continue."""
    if declared > DROPPED_BYTES or "100-continue" in request.headers.get("expect", ""):
        return
    size = 0
    with suppress(TimeoutError, ClientDisconnect, RuntimeError):
        async with asyncio.timeout(DROPPING_SECONDS):
            while size < DROPPED_BYTES:
                message = await request.receive()
                size += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


def _too_large(limits: Limits) -> RefusedError:
    return RefusedError(
        "limit.body", Message("request.body_too_large", bytes=limits.body_bytes), {"connection": "close"}
    )


def _check_media_type(request: Request) -> None:
    media_type = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        raise RefusedError("body.media-type", Message("request.media_type"))


def parse_json(body: bytes, limits: Limits) -> Any:
    """Parse the value in a body.

    Raises:
        RefusedError: It is not UTF-8, not JSON, or nested too deeply.
    """
    try:
        value = _read(body)
    except RecursionError:
        raise _too_deep(limits) from None
    except ValueError:
        raise RefusedError("body.json", Message("error.part.body_not_json")) from None
    # Flat records have one bracket each, so a body with few brackets cannot be nested too deeply.
    if not _is_flat(body, value) and deeper_than(value, limits.depth):
        raise _too_deep(limits)
    return value


def _read(body: bytes) -> Any:
    """Parse JSON text; the standard parser is used for what the fast one refuses or would round."""
    if LONG_NUMBER not in body.translate(ZEROS):
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(body)
    return json.loads(body.decode("utf-8"), parse_constant=_no_constant)


def _is_flat(body: bytes, value: Any) -> bool:
    """Return whether a body has only as many brackets as flat records need; fast for many records."""
    brackets = body.count(b"{") + body.count(b"[")
    records = value.get("data") if isinstance(value, dict) else None
    if not isinstance(records, list):
        return False
    rest = [entry for name, entry in value.items() if name != "data"]
    return not deeper_than(rest, 4) and brackets == len(records) + 2 + _containers(rest) - 1


def _containers(value: Any) -> int:
    """Return the number of objects and lists, including the value itself."""
    if not isinstance(value, dict | list):
        return 0
    return 1 + sum(map(_containers, value.values() if isinstance(value, dict) else value))


def deeper_than(value: Any, depth: int) -> bool:
    """Return whether a value is nested deeper than allowed.

    >>> deeper_than([[1]], 2), deeper_than([[1]], 1)
    (False, True)
    """
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(depth):
        if not level:
            return False
        inner = (entry for one in level for entry in (one.values() if isinstance(one, dict) else one))
        level = [entry for entry in inner if isinstance(entry, dict | list)]
    return bool(level)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(Message("error.value.no_json", name=name))


def _too_deep(limits: Limits) -> RefusedError:
    return RefusedError("limit.depth", Message("request.too_deep", depth=limits.depth))


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
        what = Message("request.stopping")
        headers = {"retry-after": "10", "connection": "close"}
        raise RefusedError("service.stopping", what, headers)
