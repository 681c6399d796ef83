"""Handle a closed pipe or a full disk on stdout and stderr without losing the exit code of the command."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO


class Stream:
    """A stream whose faults are kept, not raised.

    A reader that goes away (`sfumato … | head`) is no fault. What the stream's encoding lacks is written as `?`.

    Attributes:
        fault: What kept the texts from being written, if anything did.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.fault: OSError | None = None

    def write(self, text: str) -> int:
        """Write a text, or keep the reason why it cannot be written."""
        if self._stream is None:
            self.fault = self.fault or OSError("standard output is closed")
            return len(text)
        try:
            return self._write(self._stream, text)
        except OSError as error:
            self._give_up(error)
            return len(text)

    @staticmethod
    def _write(stream: TextIO, text: str) -> int:
        try:
            return stream.write(text)
        except UnicodeEncodeError as error:
            return stream.write(text.encode(error.encoding, "replace").decode(error.encoding))

    def flush(self) -> None:
        """Write what is held back, or keep the reason why it cannot be written."""
        if self._stream is None:
            return
        try:
            self._stream.flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        """Lead the stream to nowhere, so that what it still holds does not fail again when the program ends."""
        if not isinstance(error, BrokenPipeError):
            self.fault = self.fault or error
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())  # type: ignore[union-attr]
            os.close(nowhere)

    def isatty(self) -> bool:
        return self._stream is not None and self._stream.isatty()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def kept_streams() -> Iterator[Stream]:
    """Keep faults of standard output and errors to oneself for the time of a command; standard output is the answer."""
    before = sys.stdout, sys.stderr
    results, talk = Stream(sys.stdout), Stream(sys.stderr)
    sys.stdout, sys.stderr = results, talk
    try:
        yield results
    finally:
        results.flush()
        talk.flush()
        sys.stdout, sys.stderr = before
