"""How rows of a frame are published: each finds its class, and a frame of the same kind is made of the labels."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.engines.frames.count import Coded, occurring, packed
from sfumato.engines.frames.distinct import Codes, Rows
from sfumato.engines.frames.sources import bare, plain_values, worded
from sfumato.engines.order import person_hash, shared_out
from sfumato.errors import DataError
from sfumato.microdata.counts.frequencies import DROPPED
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
from sfumato.microdata.row_order import shuffled

ALL = slice(None)


@dataclass(frozen=True, slots=True)
class Application:
    """A recoding to be applied to the rows of a frame; `coded` gives a column's distinct texts and places."""

    recoding: Recoding
    handling: Handling
    frame: "nw.DataFrame[Any]"
    coded: Callable[[str], Coded]

    def published(self, rows: Rows) -> "tuple[nw.DataFrame[Any], list[str]]":
        """The release of some rows, and the key of each row's person where a column names them."""
        classes, rows = self._classes(rows)
        suppressed = self.recoding.suppressed[classes]
        if self.handling.suppressed == "drop":
            classes, rows, suppressed = classes[~suppressed], rows[~suppressed], suppressed[~suppressed]
        if self.handling.order_key is not None:
            order = shuffled(rows + 1, self.handling.order_key)
            classes, rows, suppressed = classes[order], rows[order], suppressed[order]
        keys = self._keys(rows)
        return self._frame_of(classes, rows, suppressed, keys), keys

    def _keys(self, rows: Rows) -> list[str]:
        if self.handling.person is None:
            return []
        texts, codes = self.coded(self.handling.person)
        hashes = [person_hash(text, self.handling.person_key) for text in texts]
        return [hashes[code] for code in codes[rows].tolist()]

    def _classes(self, rows: Rows) -> tuple[Codes, Rows]:
        """The class of each row that is not dropped, and those rows."""
        recoding = self.recoding
        columns, kept = [], np.ones(len(rows), bool)
        for place, column in enumerate(recoding.columns):
            texts, codes = self.coded(column)
            places = recoding.codings[place].places
            lookup = np.array([places.get(text, DROPPED) for text in texts], np.int32)
            columns.append(lookup[codes[rows]] if len(texts) else np.zeros(0, np.int32))
            if (lookup == DROPPED).any():
                kept &= columns[-1] != DROPPED
        if not kept.all():
            columns, rows = [codes[kept] for codes in columns], rows[kept]
        classes = _class_of(recoding, columns)
        if isinstance(recoding, ClassRecoding) and recoding.division is not None:
            combinations = recoding.combinations
            owners = _matched(columns, combinations, np.arange(len(combinations), dtype=np.int32))
            self._divide(recoding.division, owners, rows, classes)
        return classes, rows

    def _divide(self, division: Division, places: Codes, rows: Rows, classes: Codes) -> None:
        """Give the rows of divided combinations the classes of their shares."""
        parted = np.flatnonzero(np.isin(places, division.combinations))
        values = self._values(division, rows[parted])
        classes[parted] = shared_out(division, places[parted], values, (rows[parted] + 1).tolist())

    def _values(self, division: Division, rows: Rows) -> npt.NDArray[np.int64]:
        """The code of each row's value in the column by which rows are divided apart; -1 for one not known."""
        if division.column is None:
            return np.zeros(len(rows), np.int64)
        texts, codes = self.coded(division.column)
        lookup = [division.spellings.get(text, -1) for text in texts]
        return np.array(lookup, np.int64)[codes[rows]]

    def _frame_of(
        self, classes: Codes, rows: Rows, suppressed: npt.NDArray[np.bool_], keys: Sequence[str]
    ) -> "nw.DataFrame[Any]":
        recoding, handling = self.recoding, self.handling
        new: dict[str, Coded] = {}
        for place, column in enumerate(recoding.columns):
            if recoding.identical[place] and not suppressed.any():
                continue
            labels = (*recoding.labels[place], STAR)
            new[column] = labels, np.where(suppressed, len(labels) - 1, recoding.classes[classes, place])
        for column in handling.withheld_columns:
            new[column] = (STAR,), np.zeros(len(rows), np.int32)
        if handling.key_column is not None:
            new[handling.key_column] = tuple(keys), np.arange(len(keys), dtype=np.int32)
        for column, by_text in handling.labels.items():
            texts, codes = occurring(*self.coded(column), rows)
            new[column] = tuple(by_text[text] for text in texts), codes
        for column in handling.veiled_columns if suppressed.any() else ():
            texts, codes = new[column] if column in handling.labels else occurring(*self.coded(column), rows)
            new[column] = (*texts, STAR), np.where(suppressed, len(texts), codes)
        for column in worded(self.frame):
            if column not in new:
                new[column] = occurring(*self.coded(column), rows)
        return self._with_texts(new, classes, rows)

    def _with_texts(self, new: Mapping[str, Coded], classes: Codes, rows: Rows) -> "nw.DataFrame[Any]":
        """The rows of the frame, some columns as texts, which are given distinct and by the place of each row's."""
        backend = nw.get_native_namespace(self.frame)
        series = [_series(column, occurring(*coded, ALL), backend) for column, coded in new.items()]
        names = [*self.frame.columns]
        if self.handling.class_column is not None:
            numbers = numbered(self.recoding)[classes].tolist()
            series.append(nw.new_series(self.handling.class_column, numbers, nw.Int64, backend=backend))
            names.append(self.handling.class_column)
        # What is made anew is not taken out of the frame.
        kept = [column for column in self.frame.columns if column not in new]
        frame = plain_values(self.frame.select(kept)[rows]) if kept else series.pop(0).to_frame()
        return bare(frame.with_columns(*series).select(names) if series else frame)


def _series(column: str, coded: Coded, backend: Any) -> "nw.Series[Any]":
    """A column of texts, taken out of one that holds each of them once, and nothing besides."""
    texts, codes = coded
    return nw.new_series(column, list(texts), nw.String, backend=backend)[codes]


def _class_of(recoding: Recoding, columns: Sequence[Codes]) -> Codes:
    """The class of each row, from its value codes, column by column."""
    if isinstance(recoding, LevelRecoding):
        labels = [recoding.label_codes(place)[codes] for place, codes in enumerate(columns)]
        return _matched(labels, recoding.classes, np.arange(len(recoding.classes), dtype=np.int32))
    return _matched(columns, recoding.combinations, recoding.owners)


def _matched(columns: Sequence[Codes], keys: Codes, answers: Codes) -> Codes:
    """For each row of codes the answer of the equal row among the keys."""
    sizes = [int(max(keys[:, place].max(initial=0), codes.max(initial=0))) + 1 for place, codes in enumerate(columns)]
    packing = packing_of(sizes)
    if packing.words == 1 and len(keys):
        return _matched_words(packed(columns, packing), packing.pack(keys)[0], answers)
    places = dict(zip(_keys(packing.pack(keys)), answers.tolist(), strict=True))
    matches = [places.get(key, DROPPED) for key in _keys(packing.pack(np.column_stack(columns)))]
    if DROPPED in matches:
        raise _unknown_combination()
    return np.array(matches, np.int32)


def _matched_words(rows: npt.NDArray[np.uint64], keys: npt.NDArray[np.uint64], answers: Codes) -> Codes:
    """The same where codes fit into one word: all are looked for together."""
    order = np.argsort(keys)
    ordered = keys[order]
    places = np.minimum(np.searchsorted(ordered, rows), len(keys) - 1)
    if (ordered[places] != rows).any():
        raise _unknown_combination()
    return answers[order[places]].astype(np.int32)


def _unknown_combination() -> DataError:
    return DataError(
        "some rows hold a combination that the recoding does not know.",
        "Make a new release for these data.",
        "unknown-combination",
    )


def _keys(words: npt.NDArray[np.uint64]) -> Iterable[Any]:
    return words[0].tolist() if len(words) == 1 else map(tuple, words.T.tolist())
