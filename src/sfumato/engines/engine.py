"""The engine: what counts rows and applies recodings, and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sfumato.microdata.counts.frequencies import Counted
from sfumato.microdata.recoding.recoding import Handling, Recoding


@dataclass(frozen=True, slots=True)
class Reading:
    """What a missing value is while rows are read.

    Attributes:
        missing: Texts that mean "missing".
        required: Columns in which a missing value drops the row.
    """

    missing: tuple[str, ...] = ()
    required: tuple[str, ...] = ()


class Engine(Protocol):
    """Rows somewhere, counted and recoded where they lie.

    An engine hands over texts: the text of a number, a date or a truth value is the same on every engine
    (`7`, `1.5`, `2024-02-29`, `true`), the missing value is None.
    """

    @property
    def name(self) -> str: ...

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns, in order."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of the columns."""
        ...

    def count(self, columns: Sequence[str], reading: Reading) -> Counted:
        """The distinct combinations of some columns."""
        ...

    def locate(self, column: str, texts: Sequence[str], limit: int) -> tuple[int, ...]:
        """Numbers of the first rows that hold one of these texts, counted from 1."""
        ...

    def apply(self, recoding: Recoding, handling: Handling, reading: Reading, target: Path | None) -> "Engine":
        """Publish the rows, into a file or as a frame; the answer reads what was published."""
        ...

    def data(self) -> Any:
        """The rows as the kind of frame they came in."""
        ...

    def fingerprint(self) -> str:
        """SHA-256 of the source."""
        ...

    def close(self) -> None:
        """Let go of files and memory."""
        ...
