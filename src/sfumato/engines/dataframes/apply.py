"""Publish the rows of a frame: find the class of each, and build a frame of the same kind from the labels."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from sfumato.engines.dataframes.count import ALL, Coded, Codes, Rows, occurring, packed, repeated
from sfumato.engines.dataframes.sources import bare, plain_values, worded
from sfumato.engines.join_keys import person_hash, shared_out
from sfumato.errors import DataError
from sfumato.microdata.counts import row_kernels
from sfumato.microdata.counts.combinations import packing_of, places_of
from sfumato.microdata.counts.frequency_table import DROPPED
from sfumato.microdata.keyed_random import shuffled
from sfumato.microdata.recoding.mapping import (
    STAR,
    ClassRecoding,
    Division,
    LevelRecoding,
    Recoding,
    SuppressionHandling,
    numbered,
)
from sfumato.values import Value


class RecodingApplier(Value):
    """A recoding to apply to the rows of a frame; `coded` returns a column's distinct texts and codes."""

    recoding: Recoding
    handling: SuppressionHandling
    frame: "nw.DataFrame[Any]"
    coded: Callable[[str], Coded]

    def published(self, rows: Rows) -> "tuple[nw.DataFrame[Any], list[str]]":
        """Return the published rows, and the key of each row's person if there is a person column."""
        classes, rows = self._classes(rows)
        if self.handling.suppressed == "drop" and self.recoding.suppressed.any():
            shown = ~self.recoding.suppressed[classes]
            classes, rows = classes[shown], rows[shown]
        if self.handling.order_key is not None:
            order = shuffled(rows + 1, self.handling.order_key)
            classes, rows = classes[order], rows[order]
        keys = self._keys(rows)
        return self._frame_of(classes, rows, keys), keys

    def _keys(self, rows: Rows) -> list[str]:
        if self.handling.person is None:
            return []
        texts, codes = self.coded(self.handling.person)
        hashes = [person_hash(text, self.handling.person_key) for text in texts]
        return [hashes[code] for code in codes[rows].tolist()]

    def _classes(self, rows: Rows) -> tuple[Codes, Rows]:
        """Return the class of each row that is not dropped, and those rows."""
        recoding = self.recoding
        columns, lookups, kept = [], [], np.ones(len(rows), bool)
        chosen = ALL if len(rows) == len(self.frame) else rows
        for place, column in enumerate(recoding.columns):
            texts, codes = self.coded(column)
            places = recoding.codings[place].places
            lookup = np.array([places.get(text, DROPPED) for text in texts], np.int32)
            columns.append(codes[chosen])
            lookups.append(np.maximum(lookup, 0))
            if (lookup == DROPPED).any():
                kept &= (lookup != DROPPED)[columns[-1]]
        if not kept.all():
            columns, rows = [codes[kept] for codes in columns], rows[kept]
        classes = _class_of(recoding, columns, lookups)
        if isinstance(recoding, ClassRecoding) and recoding.division is not None:
            combinations = recoding.combinations
            owners = _matched(columns, lookups, combinations, np.arange(len(combinations), dtype=np.int32))
            self._divide(recoding.division, owners, rows, classes)
        return classes, rows

    def _divide(self, division: Division, places: Codes, rows: Rows, classes: Codes) -> None:
        """Assign the rows of divided combinations to their classes, in the planned proportions."""
        parted = np.flatnonzero(np.isin(places, division.combinations))
        values = self._values(division, rows[parted])
        classes[parted] = shared_out(division, places[parted], values, (rows[parted] + 1).tolist())

    def _values(self, division: Division, rows: Rows) -> npt.NDArray[np.int64]:
        """Return the code of each row's value in the column that divides combinations; -1 if unknown."""
        if division.column is None:
            return np.zeros(len(rows), np.int64)
        texts, codes = self.coded(division.column)
        lookup = [division.spellings.get(text, -1) for text in texts]
        return np.array(lookup, np.int64)[codes[rows]]

    def _frame_of(self, classes: Codes, rows: Rows, keys: Sequence[str]) -> "nw.DataFrame[Any]":
        recoding, handling = self.recoding, self.handling
        new: dict[str, Coded] = {}
        shown = np.bincount(classes, minlength=len(recoding.classes)) > 0
        hides = bool((shown & recoding.suppressed).any())
        for place, column in enumerate(recoding.columns):
            if hides or not recoding.identical[place]:
                new[column] = self._labels(place, shown, classes)
        for column in handling.removed_columns:
            new[column] = (STAR,), np.zeros(len(rows), np.int32)
        if handling.key_column is not None:
            new[handling.key_column] = tuple(keys), np.arange(len(keys), dtype=np.int32)
        for column, by_text in handling.labels.items():
            texts, codes = occurring(*self.coded(column), rows)
            new[column] = tuple(by_text[text] for text in texts), codes
        for column in handling.suppressed_sensitive_columns if hides else ():
            texts, codes = new[column] if column in handling.labels else occurring(*self.coded(column), rows)
            veiled = np.where(recoding.suppressed[classes], len(texts), codes)
            new[column] = occurring((*texts, STAR), veiled, ALL)
        for column in worded(self.frame):
            if column not in new:
                new[column] = occurring(*self.coded(column), rows)
        return self._with_texts(new, classes, rows)

    def _labels(self, place: int, shown: npt.NDArray[np.bool_], classes: Codes) -> Coded:
        """Return the published labels of a column, and the label index of each row.

        Args:
            shown: Which classes have rows.
            classes: The class of each row.
        """
        labels = (*self.recoding.labels[place], STAR)
        codes = np.where(self.recoding.suppressed, len(labels) - 1, self.recoding.classes[:, place])
        texts, places = occurring(labels, codes, np.flatnonzero(shown))
        of_class = np.zeros(len(codes), np.int32)
        of_class[shown] = places
        codes = np.empty(len(classes), np.int32)
        row_kernels.look_up(of_class, classes, codes)
        return texts, codes

    def _with_texts(self, new: Mapping[str, Coded], classes: Codes, rows: Rows) -> "nw.DataFrame[Any]":
        """Return the rows of the frame with some columns replaced, given as distinct texts and codes."""
        backend = nw.get_native_namespace(self.frame)
        series = [_series(column, coded, backend) for column, coded in new.items()]
        names = [*self.frame.columns]
        if self.handling.class_column is not None:
            numbers = numbered(self.recoding)[classes].tolist()
            series.append(nw.new_series(self.handling.class_column, numbers, nw.Int64, backend=backend))
            names.append(self.handling.class_column)
        # Replaced columns are not read from the frame.
        kept = [column for column in self.frame.columns if column not in new]
        frame = plain_values(self.frame.select(kept)[rows]) if kept else series.pop(0).to_frame()
        return bare(frame.with_columns(*series).select(names) if series else frame)


def _series(column: str, coded: Coded, backend: Any) -> "nw.Series[Any]":
    """Return a text column by indexing a column that contains each text once, and no other texts."""
    texts, codes = coded
    each = nw.new_series(column, list(texts), nw.String, backend=backend)
    made = repeated(each, texts, codes)
    return each[codes] if made is None else made


def _class_of(recoding: Recoding, columns: Sequence[Codes], lookups: Sequence[Codes]) -> Codes:
    """Return the class of each row, from codes of its texts and the value code of each text, column by column."""
    if isinstance(recoding, LevelRecoding):
        labels = [recoding.label_codes(place)[lookup] for place, lookup in enumerate(lookups)]
        return _matched(columns, labels, recoding.classes, np.arange(len(recoding.classes), dtype=np.int32))
    return _matched(columns, lookups, recoding.combinations, recoding.owners)


def _matched(columns: Sequence[Codes], lookups: Sequence[Codes], keys: Codes, answers: Codes) -> Codes:
    """Return for each row of codes, looked up column by column, the answer of the equal row among the keys."""
    sizes = [int(max(keys[:, place].max(initial=0), lookup.max(initial=0))) + 1 for place, lookup in enumerate(lookups)]
    packing = packing_of(sizes)
    if packing.words == 1 and len(keys) and columns:
        places = places_of(packed(columns, packing, lookups), packing.pack(keys)[0])
        if (places < 0).any():
            raise _unknown_combination()
        return answers[places].astype(np.int32, copy=False)
    known = dict(zip(_keys(packing.pack(keys)), answers.tolist(), strict=True))
    rows = np.column_stack([lookup[codes] for lookup, codes in zip(lookups, columns, strict=True)])
    matches = [known.get(key, DROPPED) for key in _keys(packing.pack(rows))]
    if DROPPED in matches:
        raise _unknown_combination()
    return np.array(matches, np.int32)


def _unknown_combination() -> DataError:
    return DataError("unknown-combination.some_rows_not_in_recoding")


def _keys(words: npt.NDArray[np.uint64]) -> Iterable[Any]:
    return words[0].tolist() if len(words) == 1 else map(tuple, words.T.tolist())
