"""The engine for frames in memory: pandas, Polars and Arrow in, the same kind out, through narwhals."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from sfumato.engines.engine import Reading
from sfumato.engines.frames.values import bare, check_kinds, plain_values, worded
from sfumato.engines.names import check_names
from sfumato.engines.order import shared_out, shuffled
from sfumato.engines.texts import as_text, short_text
from sfumato.engines.values import no_text
from sfumato.errors import DataError, EngineError, missing_extra
from sfumato.microdata.counts.frequencies import DROPPED, Counted
from sfumato.microdata.counts.packing import packing_of
from sfumato.microdata.recoding.recoding import (
    STAR,
    ClassRecoding,
    Division,
    Handling,
    LevelRecoding,
    Recoding,
    numbered,
)

Codes = npt.NDArray[np.int32]
# Types of which equal values have the same text; other values are told apart by their texts.
SAME_TEXT = {str, int, bool, float, date, datetime}


class FrameEngine:
    """Rows in a frame that the caller holds; the frame is never changed."""

    name = "frames"

    def __init__(self, frame: Any) -> None:
        self._frame: nw.DataFrame[Any] = nw.from_native(frame, eager_only=True)
        check_names(self._frame.columns)
        check_kinds(self._frame)
        self._coded: dict[str, tuple[tuple[str | None, ...], Codes]] = {}

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._frame.columns)

    def count(self, columns: Sequence[str], reading: Reading) -> Counted:
        keep = self._present(reading)
        coded = [_occurring(*self._codes(column), keep) for column in columns]
        codes = np.column_stack([codes for _, codes in coded]) if coded else np.zeros((0, 0), np.int32)
        values = tuple(texts for texts, _ in coded)
        order = packing_of([max(len(texts), 1) for texts in values]).order(codes)
        codes = codes[order]
        first = np.ones(len(codes), bool)
        first[1:] = (codes[1:] != codes[:-1]).any(axis=1)
        starts = np.flatnonzero(first)
        counts = np.diff(np.append(starts, len(codes))).astype(np.int64)
        return Counted(tuple(columns), values, np.ascontiguousarray(codes[starts]), counts, len(self._frame))

    def locate(self, column: str, texts: Sequence[str], limit: int) -> tuple[int, ...]:
        values, codes = self._codes(column)
        wanted = [place for place, text in enumerate(values) if text in set(texts)]
        return tuple(int(row) + 1 for row in np.flatnonzero(np.isin(codes, wanted))[:limit])

    def apply(self, recoding: Recoding, handling: Handling, reading: Reading, target: Path | None) -> "FrameEngine":
        if target is not None:
            raise EngineError("frames are published as frames.", "Save the release to write files.", "frames-target")
        classes, rows = self._classes(recoding, reading)
        suppressed = recoding.suppressed[classes]
        if handling.suppressed == "drop":
            classes, rows, suppressed = classes[~suppressed], rows[~suppressed], suppressed[~suppressed]
        if handling.shuffle_seed is not None:
            order = shuffled((rows + 1).tolist(), handling.shuffle_seed)
            classes, rows, suppressed = classes[order], rows[order], suppressed[order]
        return FrameEngine(self._published(recoding, handling, classes, rows, suppressed).to_native())

    def data(self) -> Any:
        return self._frame.to_native()

    def series(self, column: str) -> "nw.Series[Any]":
        """A column as it is."""
        return self._frame[column]

    def texts(self, column: str) -> list[str | None]:
        """A column's texts, row by row."""
        values, codes = self._codes(column)
        return [values[code] for code in codes.tolist()]

    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for column in self.columns:
            texts, codes = self._codes(column)
            digest.update(repr((column, texts)).encode())
            digest.update(codes.tobytes())
        return digest.hexdigest()

    def close(self) -> None:
        self._coded.clear()

    def _codes(self, column: str) -> tuple[tuple[str | None, ...], Codes]:
        """A column's distinct texts and, for each row, the place of its text."""
        if column not in self._coded:
            series = self._frame[column]
            written = short_text if series.dtype in (nw.Float16, nw.Float32) else as_text
            try:
                self._coded[column] = _factorized(series.to_list(), written)
            except TypeError:
                raise no_text(column) from None
        return self._coded[column]

    def _present(self, reading: Reading) -> npt.NDArray[np.int64]:
        """The rows in which no required value is missing."""
        keep = np.ones(len(self._frame), bool)
        for column in reading.required:
            texts, codes = self._codes(column)
            absent = [place for place, text in enumerate(texts) if text is None or text in reading.missing]
            keep &= ~np.isin(codes, absent)
        return np.flatnonzero(keep)

    def _classes(self, recoding: Recoding, reading: Reading) -> tuple[Codes, npt.NDArray[np.int64]]:
        """The class of each row that is not dropped, and those rows."""
        columns = []
        rows = self._present(reading)
        for place, column in enumerate(recoding.columns):
            texts, codes = self._codes(column)
            known = recoding.codings[place].places
            lookup = np.array([known.get(text, DROPPED) for text in texts], np.int32)
            columns.append(lookup[codes[rows]] if len(texts) else np.zeros(0, np.int32))
        codes = np.column_stack(columns)
        kept = (codes != DROPPED).all(axis=1)
        codes, rows = codes[kept], rows[kept]
        classes = _class_of(recoding, codes)
        if isinstance(recoding, ClassRecoding) and recoding.division is not None:
            places = _matched(codes, recoding.combinations, np.arange(len(recoding.combinations), dtype=np.int32))
            self._divide(recoding.division, places, rows, classes)
        return classes, rows

    def _divide(self, division: Division, places: Codes, rows: npt.NDArray[np.int64], classes: Codes) -> None:
        """Give the rows of divided combinations, given by their places, the classes of their shares."""
        parted = np.flatnonzero(np.isin(places, division.combinations))
        values = self._values(division, rows[parted])
        classes[parted] = shared_out(division, places[parted], values, (rows[parted] + 1).tolist())

    def _values(self, division: Division, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The code of each row's value in the column by which rows are divided apart; -1 for one not known."""
        if division.column is None:
            return np.zeros(len(rows), np.int64)
        texts, codes = self._codes(division.column)
        lookup = [division.spellings.get(text, -1) for text in texts]
        return np.array(lookup, np.int64)[codes[rows]]

    def _published(
        self,
        recoding: Recoding,
        handling: Handling,
        classes: Codes,
        rows: npt.NDArray[np.int64],
        suppressed: npt.NDArray[np.bool_],
    ) -> "nw.DataFrame[Any]":
        frame = plain_values(self._frame[rows.tolist()])
        new: dict[str, list[Any]] = {column: self._texts_of(column, rows) for column in worded(self._frame)}
        for place, column in enumerate(recoding.columns):
            if recoding.identical[place] and not suppressed.any():
                continue
            labels = np.array([*recoding.labels[place], STAR], object)
            new[column] = labels[np.where(suppressed, len(labels) - 1, recoding.classes[classes, place])].tolist()
        for column in handling.withheld_columns:
            new[column] = [STAR] * len(rows)
        for column in handling.veiled_columns if suppressed.any() else ():
            texts, codes = self._codes(column)
            new[column] = [STAR if hide else texts[code] for hide, code in zip(suppressed, codes[rows], strict=True)]
        backend = nw.get_native_namespace(frame)
        series = [nw.new_series(column, values, nw.String, backend=backend) for column, values in new.items()]
        if handling.class_column is not None:
            numbers = numbered(recoding)[classes].tolist()
            series.append(nw.new_series(handling.class_column, numbers, nw.Int64, backend=backend))
        return bare(frame.with_columns(*series) if series else frame)

    def _texts_of(self, column: str, rows: npt.NDArray[np.int64]) -> list[str | None]:
        texts, codes = self._codes(column)
        return [texts[code] for code in codes[rows].tolist()]


def _class_of(recoding: Recoding, codes: Codes) -> Codes:
    """The class of each row, from its value codes."""
    if isinstance(recoding, LevelRecoding):
        columns = [recoding.label_codes(place)[codes[:, place]] for place in range(len(recoding.columns))]
        return _matched(np.column_stack(columns), recoding.classes, np.arange(len(recoding.classes), dtype=np.int32))
    return _matched(codes, recoding.combinations, recoding.owners)


def _matched(codes: Codes, known: Codes, answers: Codes) -> Codes:
    """For each row of codes the answer of the equal row among the known ones."""
    sizes = [
        int(max(known[:, place].max(initial=0), codes[:, place].max(initial=0))) + 1 for place in range(codes.shape[1])
    ]
    packing = packing_of(sizes)
    places = dict(zip(_keys(packing.pack(known)), answers.tolist(), strict=True))
    found = [places.get(key, DROPPED) for key in _keys(packing.pack(codes))]
    if DROPPED in found:
        raise DataError(
            "some rows hold a combination that the recoding does not know.",
            "Make a new release for these data.",
            "unknown-combination",
        )
    return np.array(found, np.int32)


def _keys(packed: npt.NDArray[np.uint64]) -> Iterable[Any]:
    return packed[0].tolist() if len(packed) == 1 else map(tuple, packed.T.tolist())


def _occurring(
    texts: tuple[str | None, ...], codes: Codes, rows: npt.NDArray[np.int64]
) -> tuple[tuple[str | None, ...], Codes]:
    """The texts that occur in some rows, and for each of these rows the place of its text."""
    codes = codes[rows]
    occurs = np.bincount(codes, minlength=len(texts)) > 0
    if occurs.all():
        return texts, codes
    places = (np.cumsum(occurs) - 1).astype(np.int32)
    return tuple(text for text, found in zip(texts, occurs.tolist(), strict=True) if found), places[codes]


def _factorized(values: list[Any], written: Callable[[Any], str | None]) -> tuple[tuple[str | None, ...], Codes]:
    """Distinct texts of a list of values, and the place of each value's text."""
    places: dict[Any, int] = {}
    codes = np.fromiter(
        (places.setdefault(value, len(places)) for value in _told_apart(values, written)), np.int32, len(values)
    )
    firsts = np.empty(len(places), np.int64)
    firsts[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    texts: dict[str | None, int] = {}
    found = (texts.setdefault(written(values[row]), len(texts)) for row in firsts.tolist())
    recode = np.fromiter(found, np.int32, len(places))
    return tuple(texts), recode[codes] if len(codes) else codes


def _told_apart(values: list[Any], written: Callable[[Any], str | None]) -> Iterable[Any]:
    """The values in a form in which they are equal only when their texts are."""
    kinds = set(map(type, values)) - {type(None)}
    if not kinds <= SAME_TEXT:
        return map(written, values)
    return values if len(kinds) <= 1 else zip(map(type, values), values, strict=True)


def frame_of(records: list[dict[str, Any]]) -> Any:
    """Records as a frame, with whichever library for frames is installed.

    Raises:
        EngineError: None is installed.
    """
    try:
        import pandas

        return pandas.DataFrame(records)
    except ImportError:
        pass
    try:
        import polars

        return polars.DataFrame(records, infer_schema_length=None)
    except ImportError:
        raise missing_extra("a library for frames", "frames") from None
