"""Messages between server and workers: one pickled value per frame, preceded by its length.

Both ends run the same program as the same user. Errors are sent with all their parts, except unexpected ones: of these
only type and place, because their texts may quote data.
"""

import io
import pickle
import socket
import struct
from typing import Any

from sfumato.values import Value

LENGTH = struct.Struct(">Q")


# WorkerCall and ResultMessage have no slots, because objects with a dictionary are pickled without calling Python code.
class WorkerCall(Value):
    """A function of Sfumato, `module:name`, and its arguments; `reports` if it takes a progress callback."""

    target: str
    arguments: tuple[Any, ...] = ()
    reports: bool = False


class ProgressMessage(Value):
    """The progress of a call."""

    stage: str
    done: int
    whole: int


class ResultMessage(Value):
    """The result of a call."""

    value: Any


class Failure(Value):
    """The error of a call."""

    error: BaseException


class CrashedError(Exception):
    """A call ended with an unexpected error; its text remains in the worker."""

    def __init__(self, kind: str, place: str) -> None:
        super().__init__(kind)
        self.kind, self.place = kind, place


class TakesLongError(Exception):
    """A call would take long, which its size does not show; it must be repeated as a large one."""


class CancelledWorkError(Exception):
    """The caller cancelled a call."""


class WorkerEndedError(Exception):
    """A worker ended during a call."""


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
    """Return a message as a frame."""
    stream = io.BytesIO()
    stream.write(bytes(LENGTH.size))
    _Pickler(stream, pickle.HIGHEST_PROTOCOL).dump(message)
    with stream.getbuffer() as view:
        LENGTH.pack_into(view, 0, len(view) - LENGTH.size)
    return stream.getvalue()


def decode(frame: bytes | bytearray) -> Any:
    """Return the message of a frame."""
    return pickle.loads(memoryview(frame)[LENGTH.size :])


def send(connection: socket.socket, message: Any) -> None:
    """Send a message."""
    connection.sendall(encode(message))


def receive(connection: socket.socket) -> Any:
    """Return the next message, or None if the connection is closed."""
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
