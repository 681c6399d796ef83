"""The interface of engines: count rows and apply recodings."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.counts.persons import PersonCount, all_persons
from sfumato.microdata.recoding.mapping import Recoding, SuppressionHandling
from sfumato.values import Value


class MissingRules(Value):
    """How missing values are read.

    Attributes:
        missing: Texts that mean "missing".
        required: Columns in which a missing value drops the row.
    """

    missing: tuple[str, ...] = ()
    required: tuple[str, ...] = ()


# Number of rows examined for person keys.
LOOKED_AT_ROWS = 100_000


class CountsPersons:
    """Default methods for engines without a shorter way to count persons."""

    def expected_rows(self) -> int | None:
        """Return None, because the number of rows is unknown until they are read."""
        return None

    def textless(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return no columns, because those without texts are refused when the source is opened."""
        del columns
        return ()

    def first_texts(self: "Engine", column: str) -> dict[str, int]:
        """Return the texts of a column with their numbers of rows."""
        text_counts = self.count((column,), MissingRules())
        texts = (text_counts.values[0][code] for code in text_counts.codes[:, 0].tolist())
        return {text: int(rows) for text, rows in zip(texts, text_counts.counts, strict=True) if text is not None}

    def count_persons(
        self: "Engine", columns: Sequence[str], person: str, value: str | None, reading: MissingRules
    ) -> PersonCount:
        """Count the persons of each combination by transferring all of them."""
        names = (*columns, *([value] if value else []), person)
        return all_persons(self.count(names, reading), reading.missing)


class ReadsSource(CountsPersons):
    """Common methods of engines whose source has columns, notes, and records of its files."""

    source: Any

    @property
    def columns(self) -> tuple[str, ...]:
        names: tuple[str, ...] = self.source.columns
        return names

    @property
    def notes(self) -> tuple[Message, ...]:
        notes: tuple[Message, ...] = self.source.notes
        return notes

    def textless(self, columns: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in self.source.textless if name in columns)

    def check_rows(self, read: int) -> int:
        """Return the number of rows read, after comparing it with the records of the files."""
        if self.source.records is not None:
            self.source.records.check(read)
        return read


class Engine(Protocol):
    """The interface of engines, which count and recode rows where they are.

    An engine returns texts. The text of a number, a date or a truth value is the same on every engine (`7`, `1.5`,
    `2024-02-29`, `true`); the missing value is None.
    """

    @property
    def name(self) -> str: ...

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns, in order."""
        ...

    @property
    def notes(self) -> tuple[Message, ...]:
        """Notes on the columns for data users."""
        ...

    def expected_rows(self) -> int | None:
        """Return the approximate number of rows, or None if it is unknown without reading them."""
        ...

    def textless(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return those of some columns whose values have no canonical text: lists, records, bytes.

        They can be removed; reading their values is refused.
        """
        ...

    def count(self, columns: Sequence[str], reading: MissingRules) -> ValueCounts:
        """Count the distinct combinations of some columns."""
        ...

    def count_persons(
        self, columns: Sequence[str], person: str, value: str | None, reading: MissingRules
    ) -> PersonCount:
        """Count the persons of each combination of some columns, with their values of a further one if it is given."""
        ...

    def first_texts(self, column: str) -> dict[str, int]:
        """Return the texts of a column in the first rows, with their numbers of rows."""
        ...

    def locate(self, column: str, texts: Sequence[str], limit: int) -> tuple[int, ...]:
        """Return the numbers of the first rows with one of these texts, counted from 1."""
        ...

    def apply(
        self, recoding: Recoding, handling: SuppressionHandling, reading: MissingRules, target: Path | None
    ) -> "PublishedRows":
        """Publish the rows to a file or as a frame, and return an engine that reads them."""
        ...

    def data(self) -> Any:
        """Return the rows as the kind of frame they came in."""
        ...

    def checksum(self) -> str:
        """Return the SHA-256 of the source."""
        ...

    def close(self) -> None:
        """Release files and memory."""
        ...


class PublishedRows(Engine, Protocol):
    """Rows that were just published; they have an order, and their columns can be replaced."""

    def texts(self, column: str) -> Sequence[str | None]:
        """Return a column of published rows as texts, in row order; also the person keys."""
        ...

    def floats(self, column: str) -> npt.NDArray[np.float64] | None:
        """Return a column as numbers, NaN if missing; None if the rows contain texts of numbers."""
        ...

    def replaced(self, columns: Mapping[str, Sequence[str | None]], target: Path | None) -> "PublishedRows":
        """Write the same rows in the same order with other texts in some columns, and return an engine for them.

        Numbers remain numbers if columns have types.
        """
        ...


class FrameHolder(Engine, Protocol):
    """Rows in a frame, which can be written."""

    def write(self, target: Path, separator: str) -> Engine:
        """Write the rows to a file, and their person keys next to it, and return an engine that reads them."""
        ...
