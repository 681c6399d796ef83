"""The engine for frames in memory: pandas, Polars and Arrow in, the same kind out, through narwhals."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
import numpy.typing as npt

from sfumato.engines.canonical_text import are_decimals, are_whole, as_text, no_text, short_text
from sfumato.engines.dataframes.apply import RecodingApplier
from sfumato.engines.dataframes.count import (
    ALL,
    Coded,
    Numbers,
    coded_of,
    count_rows,
    factorize,
    floats_of,
    numbered_rows,
    plain_floats,
    strings_of,
)
from sfumato.engines.dataframes.sources import (
    SHORT_FLOATS,
    bare,
    bytes_of,
    handed_over,
    holds_decimals,
    holds_objects,
    textless_in,
    wrapped,
)
from sfumato.engines.engine import CountsPersons, Engine, MissingRules
from sfumato.engines.join_keys import PERSON, PERSONS_FILE
from sfumato.engines.sql import check_names
from sfumato.errors import DataError, EngineError
from sfumato.hierarchies.label_bounds import Bounds, in_order, is_whole
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.data_plan import code_texts
from sfumato.microdata.recoding.mapping import Recoding, SuppressionHandling


def number_series(name: str, numbers: Sequence[float | None], kind: Any, backend: Any) -> Any:
    """Return a series of numbers with missing values; in pandas, integers get a nullable type."""
    whole = kind is nw.Int64
    values = [None if number is None else int(number) if whole else number for number in numbers]
    if backend.__name__ == "pandas":
        return nw.from_native(
            backend.Series(values, name=name, dtype="Int64" if whole else "Float64"), series_only=True
        )
    return nw.new_series(name, values, kind, backend=backend)


def emptied(series: "nw.Series[Any]", absent: npt.NDArray[np.bool_]) -> "nw.Series[Any]":
    """Return a column without the values of some rows; integers of pandas get a nullable type."""
    if series.implementation.is_pandas():
        native = series.to_native()
        narrow = isinstance(native.dtype, np.dtype) and native.dtype.kind in "iub"
        return nw.from_native((native.convert_dtypes() if narrow else native).mask(absent), series_only=True)
    there = nw.new_series("there", (~absent).tolist(), nw.Boolean, backend=nw.get_native_namespace(series))
    return series.to_frame().select(nw.when(there).then(nw.col(series.name)).alias(series.name))[series.name]


T = TypeVar("T")


class FrameEngine(CountsPersons):
    """Rows in a frame of the caller, which is never changed."""

    name = "frames"

    def __init__(
        self,
        frame: Any,
        notes: tuple[Message, ...] = (),
        textless: tuple[str, ...] = (),
        codes: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Initialize with a frame, its columns without texts, and codes that mean missing in single columns."""
        self.notes = notes
        # The separator of the file from which the rows were read, or None.
        self.separator: str | None = None
        self._frame: nw.DataFrame[Any] = wrapped(frame, eager_only=True)
        check_names(self._frame.columns)
        self._textless = {*textless, *textless_in(self._frame)}
        if self._textless and len(self._textless) == len(self.columns):
            raise no_text(*self.columns)
        self._coded: dict[str, Coded] = {}
        # The person key of each published row, or None without a person column.
        self.person_keys: list[str] | None = None
        for name in (codes or {}).keys() & {*self.columns} - self._textless:
            self._empty(name, (codes or {})[name])

    def _empty(self, column: str, codes: Sequence[str]) -> None:
        """Replace some codes in a column by missing values; the caller's frame remains unchanged."""
        values, places = self.coded(column)
        texts = {*code_texts(codes, decimals=holds_decimals(self._frame[column]))}
        absent = np.isin(places, [place for place, text in enumerate(values) if text in texts])
        if absent.any():
            del self._coded[column]
            self._frame = self._frame.with_columns(emptied(self._frame[column], absent))

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._frame.columns)

    def expected_rows(self) -> int:
        return len(self._frame)

    def textless(self, columns: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in columns if self._has_no_text(name))

    def _has_no_text(self, column: str) -> bool:
        """Return whether a column has no text; for objects this shows when their texts are made."""
        if column in self._textless or not holds_objects(self._frame[column]):
            return column in self._textless
        with suppress(DataError):
            self.coded(column)
        return column in self._textless

    def count(self, columns: Sequence[str], reading: MissingRules) -> ValueCounts:
        coded = [self.coded(column) for column in columns]
        return count_rows(columns, coded, self._present(reading) if reading.required else ALL, len(self._frame))

    def locate(self, column: str, texts: Sequence[str], limit: int) -> tuple[int, ...]:
        values, codes = self.coded(column)
        wanted = [place for place, text in enumerate(values) if text in set(texts)]
        return tuple(int(row) + 1 for row in np.flatnonzero(np.isin(codes, wanted))[:limit])

    def apply(
        self, recoding: Recoding, handling: SuppressionHandling, reading: MissingRules, target: Path | None
    ) -> "FrameEngine":
        if target is not None:
            raise EngineError("frames-target")
        if shown := self._textless - {*handling.removed_columns}:
            raise no_text(*(name for name in self.columns if name in shown))
        application = RecodingApplier(recoding, handling, self._frame, self.coded)
        frame, keys = application.published(self._present(reading))
        published = FrameEngine(frame.to_native())
        published.separator = self.separator
        if handling.person is not None:
            published.person_keys = keys
            published._coded[PERSON] = factorize(keys, as_text)
        return published

    def replaced(self, columns: Mapping[str, Sequence[str | None]], target: Path | None) -> "FrameEngine":
        del target
        backend = nw.get_native_namespace(self._frame)
        series = []
        for name, texts in columns.items():
            kind = self._frame.schema[name]
            if kind.is_integer() and are_whole(texts):
                numbers = _each(int, texts)
                make = partial(number_series if None in numbers else nw.new_series, backend=backend)
                series.append(make(name, numbers, nw.Int64))
            elif isinstance(kind, nw.Decimal) and are_decimals(texts, kind.precision, kind.scale):
                # Without a given type, the series gets that of its numbers, which fits all of them.
                series.append(nw.new_series(name, _each(Decimal, texts), backend=backend))
            elif kind.is_numeric():
                series.append(nw.new_series(name, _each(float, texts), nw.Float64, backend=backend))
            else:
                series.append(nw.new_series(name, list(texts), nw.String, backend=backend))
        published = FrameEngine(bare(self._frame.with_columns(*series)).to_native(), self.notes)
        published.person_keys, published.separator = self.person_keys, self.separator
        if PERSON in self._coded:
            published._coded[PERSON] = self._coded[PERSON]
        return published

    def data(self) -> Any:
        return handed_over(self._frame)

    def write(self, target: Path, separator: str) -> Engine:
        from sfumato.engines.dataframes.writing import write_keys, write_rows

        if self.person_keys is not None:
            write_keys(self.person_keys, target.with_name(PERSONS_FILE))
        return write_rows(self, target, separator)

    def series(self, column: str) -> "nw.Series[Any]":
        """Return a column unchanged."""
        return self._frame[column]

    def texts(self, column: str) -> list[str | None]:
        """Return the texts of a column, row by row."""
        if column not in self._coded:
            return self._made_of(column, strings_of)
        values, codes = self._coded[column]
        return [values[code] for code in codes.tolist()]

    def floats(self, column: str) -> Numbers | None:
        """Return the numbers of a double-precision column, else None."""
        if self._frame.schema.get(column) != nw.Float64:
            return None
        return self._made_of(column, lambda values, _written: floats_of(values))

    def checksum(self) -> str:
        digest = hashlib.sha256()
        for column in self.columns:
            if self._has_no_text(column):
                digest.update(repr(column).encode() + bytes_of(self._frame[column]))
                continue
            numbers = self.floats(column)
            # Texts of a million measurements would cost more than the rest of a release; their bytes cost nothing.
            texts, codes = ("floats", plain_floats(numbers)) if numbers is not None else self.coded(column)
            digest.update(repr((column, texts)).encode())
            digest.update(codes.tobytes())
        return digest.hexdigest()

    def close(self) -> None:
        self._coded.clear()

    def coded(self, column: str) -> Coded:
        """Return the distinct texts of a column and, for each row, the index of its text."""
        if column not in self._coded:
            self._coded[column] = self._factorized(column)
        return self._coded[column]

    def _factorized(self, column: str) -> Coded:
        numbered = None if column in self._textless else numbered_rows(self._frame[column])
        if numbered is None:
            return self._made_of(column, factorize)
        codes, values = numbered
        try:
            return coded_of(values, codes, as_text)
        except TypeError:
            raise self._refused(column) from None

    def _made_of(self, column: str, make: Callable[[list[Any], Callable[[Any], str | None]], T]) -> T:
        """Return the result of a function of a column's values and of the function that formats each."""
        if column in self._textless:
            raise no_text(column)
        series = self._frame[column]
        written = short_text if series.dtype in SHORT_FLOATS else as_text
        try:
            return make(series.to_list(), written)
        except TypeError:
            raise self._refused(column) from None

    def _refused(self, column: str) -> DataError:
        self._textless.add(column)
        return no_text(column)

    def _present(self, reading: MissingRules) -> npt.NDArray[np.int64]:
        """Return the rows in which no required value is missing."""
        keep = np.ones(len(self._frame), bool)
        for column in reading.required:
            texts, codes = self.coded(column)
            absent = [place for place, text in enumerate(texts) if text is None or text in reading.missing]
            keep &= ~np.isin(codes, absent)
        return np.flatnonzero(keep)


def _each(make: Callable[[str], T], texts: Sequence[str | None]) -> list[T | None]:
    """Convert each text, equal ones only once; missing ones remain None."""
    made: dict[str | None, T | None] = {text: None if text is None else make(text) for text in set(texts)}
    return list(map(made.__getitem__, texts))


def with_interval_bounds(
    published: Engine, names: Mapping[str, tuple[str, str]], labels: Mapping[str, Mapping[str, Bounds]]
) -> FrameEngine:
    """Return the frame with bound columns; intervals become ordered categories if the library supports them."""
    if not isinstance(published, FrameEngine):
        raise TypeError(f"no frame: {published}")
    frame: Any = nw.from_native(published.data(), eager_only=True)
    backend = nw.get_native_namespace(frame)
    further = []
    for name, pair in names.items():
        texts = published.texts(name)
        kind = nw.Int64 if is_whole(labels[name]) else nw.Float64
        for side, column in enumerate(pair):
            numbers = [None if text is None else labels[name][text][side] for text in texts]
            further.append(number_series(column, numbers, kind, backend))
        if not frame.implementation.is_pyarrow():
            further.append(_ordered(name, texts, in_order(labels[name]), backend))
    answer = FrameEngine(frame.with_columns(*further).to_native(), published.notes)
    answer.person_keys = published.person_keys
    if PERSON in published._coded:
        answer._coded[PERSON] = published._coded[PERSON]
    return answer


def _ordered(name: str, texts: Sequence[str | None], categories: Sequence[str], backend: Any) -> Any:
    if backend.__name__ == "pandas":
        values = backend.Categorical(texts, categories=categories, ordered=True)
        return nw.from_native(backend.Series(values, name=name), series_only=True)
    return nw.new_series(name, list(texts), nw.Enum(categories), backend=backend)
