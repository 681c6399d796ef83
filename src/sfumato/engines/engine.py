"""The interface of engines: count rows and apply recodings."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.microdata.counts.frequency_table import TextCounts
from sfumato.microdata.counts.persons import PersonCount, all_persons
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


# So many rows are looked at for keys of persons.
LOOKED_AT_ROWS = 100_000


class CountsPersons:
    """How engines count persons that know no shorter way: every person of every combination is handed over."""

    def expected_rows(self) -> int | None:
        """Nobody knows how many rows there are before they are read."""
        return None

    def textless(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Columns without texts are refused when the source is opened."""
        del columns
        return ()

    def first_texts(self: "Engine", column: str) -> dict[str, int]:
        """The texts of a column with their rows."""
        text_counts = self.count((column,), Reading())
        texts = (text_counts.values[0][code] for code in text_counts.codes[:, 0].tolist())
        return {text: int(rows) for text, rows in zip(texts, text_counts.counts, strict=True) if text is not None}

    def count_persons(
        self: "Engine", columns: Sequence[str], person: str, value: str | None, reading: Reading
    ) -> PersonCount:
        """The persons of each combination."""
        names = (*columns, *([value] if value else []), person)
        return all_persons(self.count(names, reading), reading.missing)


class ReadsSource(CountsPersons):
    """What engines share whose source knows its columns, notes, and the records of its files."""

    source: Any

    @property
    def columns(self) -> tuple[str, ...]:
        names: tuple[str, ...] = self.source.columns
        return names

    @property
    def notes(self) -> tuple[str, ...]:
        notes: tuple[str, ...] = self.source.notes
        return notes

    def textless(self, columns: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in self.source.textless if name in columns)

    def check_rows(self, read: int) -> int:
        """Return how many rows were read, if these are all."""
        if self.source.records is not None:
            self.source.records.check(read)
        return read


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

    def expected_rows(self) -> int | None:
        """About how many rows there are, where that is known without reading them."""
        ...

    def textless(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Which of some columns hold values without a text that is the same on every engine: lists, records, bytes.

        They can be withheld; whoever asks for their values is refused.
        """
        ...

    def count(self, columns: Sequence[str], reading: Reading) -> TextCounts:
        """The distinct combinations of some columns."""
        ...

    def count_persons(self, columns: Sequence[str], person: str, value: str | None, reading: Reading) -> PersonCount:
        """The persons of each combination of some columns, with their values of a further one where it is named.

        Args:
            person: The column that names the person of a row.
        """
        ...

    def first_texts(self, column: str) -> dict[str, int]:
        """The texts that a column has in the first rows, with their numbers of rows."""
        ...

    def locate(self, column: str, texts: Sequence[str], limit: int) -> tuple[int, ...]:
        """Numbers of the first rows that hold one of these texts, counted from 1."""
        ...

    def apply(self, recoding: Recoding, handling: Handling, reading: Reading, target: Path | None) -> "PublishedRows":
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


class PublishedRows(Engine, Protocol):
    """Rows that were just published: they have an order, and columns of theirs can be replaced."""

    def texts(self, column: str) -> Sequence[str | None]:
        """A column of published rows as texts, in the order of the rows; also the keys of their persons."""
        ...

    def floats(self, column: str) -> npt.NDArray[np.float64] | None:
        """The same as numbers, NaN where one is missing; None where the rows do not hold these, but texts of them."""
        ...

    def replaced(self, columns: Mapping[str, Sequence[str | None]], target: Path | None) -> "PublishedRows":
        """The same published rows with other texts in some columns, in the same order; the answer reads them.

        Numbers stay numbers where the rows have types.
        """
        ...


class FrameHolder(Engine, Protocol):
    """Rows in a frame, which can be written."""

    def write(self, target: Path, separator: str) -> Engine:
        """Write the rows to a file, and the keys of their persons beside it; the answer reads what was written."""
        ...
