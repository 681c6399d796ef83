"""Messages between server and workers: one pickled value per frame, preceded by its length.

Both ends run the same program as the same user. Errors are sent with all their parts, except unexpected ones: of these
only type and place, because their texts may quote data.
"""

import io
import pickle
import socket
import struct
from typing import Any

from sfumato.dataclass import dataclass

LENGTH = struct.Struct(">Q")


# Call and Value have no slots: what has a dictionary is pickled without a detour through Python.
@dataclass(frozen=True)
class Call:
    """A function of Sfumato, `module:name`, and its arguments; `reports` when it takes a way to tell of progress."""

    target: str
    arguments: tuple[Any, ...] = ()
    reports: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a call is."""

    stage: str
    done: int
    whole: int


@dataclass(frozen=True)
class Value:
    """What a call returned."""

    value: Any


@dataclass(frozen=True, slots=True)
class Failure:
    """The error that a call ended with."""

    error: BaseException


class CrashedError(Exception):
    """A call ended with an error that nobody foresaw; its text stays in the worker."""

    def __init__(self, kind: str, place: str) -> None:
        super().__init__(kind)
        self.kind, self.place = kind, place


class TakesLongError(Exception):
    """A call would take long, which its size does not show; it is to be given again among the large ones."""


class CancelledWorkError(Exception):
    """Somebody who watched a call wants it no more."""


class WorkerEndedError(Exception):
    """A worker ended in the middle of a call."""


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, BaseException):
            return _error, (type(value), value.args, {**getattr(value, "__dict__", {})})
        return NotImplemented


def _error(kind: type[BaseException], arguments: tuple[Any, ...], state: dict[str, Any]) -> BaseException:
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    error.__dict__.update(state)
    return error


def encode(message: Any) -> bytes:
    """A message as a frame."""
    stream = io.BytesIO()
    stream.write(bytes(LENGTH.size))
    _Pickler(stream, pickle.HIGHEST_PROTOCOL).dump(message)
    with stream.getbuffer() as view:
        LENGTH.pack_into(view, 0, len(view) - LENGTH.size)
    return stream.getvalue()


def decode(frame: bytes | bytearray) -> Any:
    """The message of a frame."""
    return pickle.loads(memoryview(frame)[LENGTH.size :])


def send(connection: socket.socket, message: Any) -> None:
    """Send a message."""
    connection.sendall(encode(message))


def receive(connection: socket.socket) -> Any:
    """The next message; None when the other side is gone."""
    head = _read(connection, LENGTH.size)
    if head is None:
        return None
    body = _read(connection, LENGTH.unpack(head)[0])
    return None if body is None else pickle.loads(body)


def _read(connection: socket.socket, size: int) -> bytearray | None:
    buffer = bytearray(size)
    view, filled = memoryview(buffer), 0
    while filled < size:
        try:
            count = connection.recv_into(view[filled:])
        except OSError:
            count = 0
        if not count:
            return None
        filled += count
    return buffer
