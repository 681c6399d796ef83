"""Handle a closed pipe or a full disk on stdout and stderr without losing the exit code of the command."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO


class Stream:
    """A stream that stores write errors instead of raising them.

    A reader that closes the pipe (`sfumato … | head`) is not an error. Characters missing from the stream's encoding
    are written as `?`.

    Attributes:
        fault: The error that prevented writing, or None.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.fault: OSError | None = None

    def write(self, text: str) -> int:
        """Write a text, or store the reason why it cannot be written."""
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
        """Flush the buffer, or store the reason why it cannot be written."""
        if self._stream is None:
            return
        try:
            self._stream.flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        """Redirect the stream to the null device, so that its buffer does not fail again when the program ends."""
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
    """Store errors of standard output and error while a command runs; yield standard output."""
    before = sys.stdout, sys.stderr
    results, talk = Stream(sys.stdout), Stream(sys.stderr)
    sys.stdout, sys.stderr = results, talk
    try:
        yield results
    finally:
        results.flush()
        talk.flush()
        sys.stdout, sys.stderr = before
