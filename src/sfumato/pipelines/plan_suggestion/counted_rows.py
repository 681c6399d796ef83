"""Count rows once by all columns and aggregate the counts for subsets; report the progress of a suggestion."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Protocol, runtime_checkable

import numpy as np

from sfumato.engines.canonical_text import numbered
from sfumato.engines.engine import MissingRules
from sfumato.hierarchies.role_detection.role_reasons import CELLS
from sfumato.hierarchies.types import canonical
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.counts.grouping import counted_by

# Tables with fewer rows, or fewer columns in addition to the number, may match by chance.
_LEAST_CELLS, _LEAST_DIMENSIONS = 8, 2
# Minimum proportion of all category combinations that a table contains; empty cells are often left out.
_SHARE_OF_CELLS = 0.8
# Maximum number of cells counted at once; beyond that, combinations of all columns take too much memory.
_MOST_CELLS = 20_000_000
# Above that limit, several columns are counted in one pass if the rows are few.
_COLUMNS_A_PASS = 8
_FEW_ROWS = 1_000_000
# Safety factor for the number of rows that an engine expects, because the first lines may be longer than others.
_SAFETY = 1.5


class RowCounter(Protocol):
    """A protocol for objects that count rows: engines and rows counted before."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    def count(self, columns: Sequence[str], reading: MissingRules) -> ValueCounts: ...


@runtime_checkable
class RowEstimator(Protocol):
    """A protocol for objects that estimate the number of rows before reading them."""

    def expected_rows(self) -> int | None: ...


@runtime_checkable
class UnsupportedColumnSource(Protocol):
    """A protocol for objects that know which columns have no text."""

    def textless(self, columns: Sequence[str]) -> tuple[str, ...]: ...


class CountedRows:
    """The rows of an engine; if they are few, the engine counts them only once."""

    def __init__(self, engine: RowCounter, codes: Mapping[str, Sequence[str]] | None = None) -> None:
        """Initialize with an engine and, for each column, the codes that mean missing in that column alone."""
        self._engine = engine
        self._codes = {name: {*texts} for name, texts in (codes or {}).items()}

    def without(self, codes: Mapping[str, Sequence[str]]) -> "CountedRows":
        """Return the same rows with the given codes of each column read as missing."""
        if not codes:
            return self
        rows = CountedRows(self._engine, codes)
        if self.whole is not None:  # counted before, so not again
            rows.__dict__["whole"] = rows._emptied(self.whole)
        return rows

    def _emptied(self, text_counts: ValueCounts) -> ValueCounts:
        """Return the counts with these codes replaced by missing values."""
        if not self._codes.keys() & {*text_counts.columns}:
            return text_counts
        values, codes = [*text_counts.values], text_counts.codes.copy()
        for place, name in enumerate(text_counts.columns):
            absent = self._codes.get(name, set())
            if absent & {*values[place]}:
                texts, places = numbered([None if text in absent else text for text in values[place]])
                values[place], codes[:, place] = texts, places[codes[:, place]]
        changed = ValueCounts(text_counts.columns, tuple(values), codes, text_counts.counts, text_counts.rows)
        return counted_by(changed, changed.columns)

    @property
    def all_columns(self) -> tuple[str, ...]:
        """The names of all columns, in order."""
        return self._engine.columns

    @cached_property
    def textless(self) -> tuple[str, ...]:
        """Columns whose values have no text and cannot be counted."""
        engine = self._engine
        return engine.textless(engine.columns) if isinstance(engine, UnsupportedColumnSource) else ()

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Columns whose values have texts, in order."""
        return tuple(name for name in self.all_columns if name not in self.textless)

    def count(self, columns: Sequence[str], reading: MissingRules) -> ValueCounts:
        """Count the distinct combinations of some columns, as the engine would."""
        if self.whole is None or reading.required:
            return self._emptied(self._engine.count(columns, reading))
        return counted_by(self.whole, columns)

    @cached_property
    def texts(self) -> dict[str, dict[str | None, int]]:
        """The texts of each column with their numbers of rows."""
        return dict(self._texts())

    def _texts(self) -> Iterator[tuple[str, dict[str | None, int]]]:
        for text_counts in self._parts() if self.whole is None else [self.whole]:
            for place, name in enumerate(text_counts.columns):
                texts = text_counts.values[place]
                sizes = np.bincount(text_counts.codes[:, place], weights=text_counts.counts, minlength=len(texts))
                yield name, dict(zip(texts, sizes.astype(np.int64).tolist(), strict=True))

    def _parts(self) -> Iterator[ValueCounts]:
        step = _COLUMNS_A_PASS if self._first.rows <= _FEW_ROWS else 1
        for start in range(0, len(self.columns), step):
            yield self._emptied(self._engine.count(self.columns[start : start + step], MissingRules()))

    @cached_property
    def _first(self) -> ValueCounts:
        return self._engine.count(self.columns[:1], MissingRules())

    @cached_property
    def whole(self) -> ValueCounts | None:
        """The counts of all columns together, or None if they would be too many."""
        few = self._surely_few or self._first.rows * len(self.columns) <= _MOST_CELLS
        few = few or (self._first.rows <= _FEW_ROWS and len(self.columns) <= _COLUMNS_A_PASS)
        return self._emptied(self._engine.count(self.columns, MissingRules())) if few else None

    @property
    def _surely_few(self) -> bool:
        """Whether the rows are certainly few by the engine's estimate, so that they need not be counted first."""
        expected = self._engine.expected_rows() if isinstance(self._engine, RowEstimator) else None
        return expected is not None and _SAFETY * expected * len(self.columns) <= _MOST_CELLS


def aggregated_input_note(rows: CountedRows) -> str | None:
    """Return a note if the rows are likely cells of a table, else None."""
    value = next((name for name in reversed(rows.texts) if _are_cells(rows, name)), None)
    return None if value is None else CELLS.format(value=value)


def _are_cells(rows: CountedRows, value: str) -> bool:
    """Return whether a numeric column has one number for nearly every combination of the other columns."""
    others = {name: len(counts) for name, counts in rows.texts.items() if name != value and len(counts) > 1}
    count, crossed = sum(rows.texts[value].values()), prod(others.values())
    if len(others) < _LEAST_DIMENSIONS or not max(_LEAST_CELLS, _SHARE_OF_CELLS * crossed) <= count <= crossed:
        return False
    numbers = canonical([*filter(None, rows.texts[value])], "amount")[0]
    return None not in numbers and len(rows.count(tuple(others), MissingRules()).counts) == count


ProgressCallback = Callable[[str, int, int], None]
# Percentages of the time, measured on a million rows of ten columns.
_SHARES = {"count": 40, "look": 20, "compare-columns": 40}
_WHOLE = sum(_SHARES.values())


class ProgressReporter:
    """Reports the current step and the overall progress to a callback.

    >>> ProgressReporter(lambda *told: print(*told)).at("look", 0.5)
    look 50 100
    """

    def __init__(self, tell: ProgressCallback | None = None) -> None:
        self._tell = tell

    def at(self, step: str, part: float = 0.0) -> None:
        """Report that a fraction of a step is done, and all steps before it."""
        if self._tell is not None:
            names = [*_SHARES]
            before = sum(_SHARES[name] for name in names[: names.index(step)])
            self._tell(step, before + round(part * _SHARES[step]), _WHOLE)
