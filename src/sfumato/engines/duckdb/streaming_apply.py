"""Write full-domain recodings as a stream: expressions instead of joins, so that rows keep their order at no cost.

A join may return rows in any order, and sorting them again is what costs memory and time. So each value is searched in
a list of its column's values, and its index selects the label from another list (dictionary_columns.py). Whether a row
is suppressed is a bit in a mask of all combinations of labels. If these are too many, or if class numbers are
published, an enumeration of all classes is used instead, published ones first. The packed label codes of a row are cast
to it. An unknown value or class is never published unchanged: the row is left out, or the recount detects the
difference.
"""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np

from sfumato.engines import sql
from sfumato.engines.duckdb.expressions import (
    MAX_TEXTS,
    DictionaryExpression,
    RecodingApplier,
    as_text,
    packed,
    required,
)
from sfumato.engines.duckdb.writing import copy_statement, keys_statement
from sfumato.engines.join_keys import PERSON
from sfumato.hierarchies.hierarchy import present_codes
from sfumato.microdata.counts.frequency_table import DROPPED
from sfumato.microdata.recoding.mapping import STAR, LevelRecoding
from sfumato.values import Value

MAX_CLASSES = 5_000_000
# The mask is copied for every two thousand rows.
MAX_MASK = 1 << 23


def streams(application: RecodingApplier) -> bool:
    """Return whether a recoding can be written in one stream."""
    recoding = application.recoding
    return (
        isinstance(recoding, LevelRecoding)
        and application.handling.order_key is None
        and not application.handling.labels
        and len(recoding.classes) <= MAX_CLASSES
        and all(len(coding.texts) <= MAX_TEXTS for coding in recoding.codings)
    )


class Stream(Value, dict=True):
    """A full-domain recoding to write in one stream."""

    application: RecodingApplier
    recoding: LevelRecoding

    @property
    def compares(self) -> bool:
        """Whether the table of classes is needed, for class numbers or because there are too many labels for a mask."""
        hides = bool(self.recoding.suppressed.any())
        return self.application.handling.class_column is not None or (hides and not self._masks)

    @property
    def kept(self) -> int:
        """The number of classes that are not suppressed."""
        return int((~self.recoding.suppressed).sum())

    @cached_property
    def _pickers(self) -> tuple[DictionaryExpression, ...]:
        return self.application.pickers()

    def types(self) -> Iterator[str]:
        """Yield the statements that make the enumerations; the table `classes` is loaded before if it is needed."""
        for picker in self._pickers:
            yield from picker.types()
        if self.compares:
            key = self._joined([f"k{word}" for word in range(self.application.packing.words)])
            yield "DROP TYPE IF EXISTS classes_of_rows"
            yield f"CREATE TEMP TYPE classes_of_rows AS ENUM (SELECT {key} FROM classes ORDER BY hidden, number)"

    def statement(self, target: Path) -> str:
        """Return the statement that writes the published rows to a file."""
        application = self.application
        columns = [f"{self._published(column)} AS {sql.name(column)}" for column in application.source.columns]
        if application.handling.class_column:
            columns.append(f"CASE WHEN s.sfumato_hidden THEN 0 ELSE s.sfumato_class + 1 END AS "
                           f"{sql.name(application.handling.class_column)}")  # fmt: skip
        shown = " WHERE NOT s.sfumato_hidden" if self._drops else ""
        select = f"SELECT {sql.listed(columns)} FROM {self._rows()} AS s{shown}"
        return copy_statement(select, target, application.source.separator, application.partition)

    def persons(self, target: Path) -> str:
        """Return the statement that writes the person keys of the published rows to a file."""
        return keys_statement(self.of_rows(self.application.person_key), target)

    def of_rows(self, expression: str) -> str:
        """Return the statement for an expression about the person of each published row, in order."""
        shown = " WHERE NOT s.sfumato_hidden" if self._drops else ""
        return f"SELECT {expression} AS {PERSON} FROM {self._rows()} AS s{shown}"

    @property
    def _drops(self) -> bool:
        return bool(self.recoding.suppressed.any()) and self.application.handling.suppressed == "drop"

    def _rows(self) -> str:
        """Return the rows that are not dropped, with their class or whether they are suppressed, if needed."""
        application = self.application
        tests = [required(application.reading, application.strip)]
        tests += [self._pickers[place].picked(self._stays(place)) for place in range(len(self.recoding.columns))]
        wanted = [f"({test})" for test in tests if test]
        where = f" WHERE {' AND '.join(wanted)}" if wanted else ""
        rows = f"(SELECT *{self._class_columns()} FROM {application.source.table} AS s{where})"
        if not self.compares:
            return rows
        return f"(SELECT *, sfumato_class >= {self.kept} AS sfumato_hidden FROM {rows})"

    def _class_columns(self) -> str:
        if self.compares:
            return f", {self._class()} AS sfumato_class"
        if self.recoding.suppressed.any():
            return f", {self._masked()} AS sfumato_hidden"
        return ""

    def _stays(self, place: int) -> list[str]:
        """Return for each text of a column whether its rows are kept; empty if all are."""
        codes = self.recoding.codings[place].codes
        return [str(bool(code != DROPPED)).lower() for code in codes] if (codes == DROPPED).any() else []

    @cached_property
    def _strides(self) -> list[int]:
        """The factors of each column's label code in the index of a combination of labels."""
        sizes = [len(labels) for labels in self.recoding.labels]
        return [int(np.prod(sizes[place + 1 :], dtype=object)) for place in range(len(sizes))]

    @property
    def _masks(self) -> bool:
        return self._strides[0] * len(self.recoding.labels[0]) <= MAX_MASK

    def _masked(self) -> str:
        """Return the test whether a row's combination of labels is suppressed."""
        hidden = self.recoding.classes[self.recoding.suppressed].astype(np.int64)
        mask = np.zeros(self._strides[0] * len(self.recoding.labels[0]), np.uint8)
        mask[hidden @ np.array(self._strides, np.int64)] = 1
        bits = (mask + ord("0")).tobytes().decode("ascii")
        parts = [
            self._pickers[place].picked([str(code * stride) for code in self._codes(place)], "INTEGER")
            for place, stride in enumerate(self._strides)
            if len(self.recoding.labels[place]) > 1
        ]
        return f"get_bit(CAST('{bits}' AS BIT), {' + '.join(parts) or '0'}) = 1"

    def _class(self) -> str:
        packing = self.application.packing
        parts = [
            self._pickers[place].picked([str(code << int(packing.shift[place])) for code in codes], "UBIGINT")
            if len(self.recoding.labels[place]) > 1
            else ""  # its code is 0 in every class
            for place, codes in enumerate(map(self._codes, range(len(self.recoding.columns))))
        ]
        key = self._joined(packed(packing, parts))
        return f"CAST(enum_code(TRY_CAST({key} AS classes_of_rows)) AS BIGINT)"

    def _codes(self, place: int) -> list[int]:
        """Return the label code of each text of a column; 0 if its rows are dropped."""
        codes: list[int] = np.maximum(self.application.key_codes(place), 0).tolist()
        return codes

    def _joined(self, words: list[str]) -> str:
        """Return the text of a packed key."""
        texts = [f"CAST({word} AS VARCHAR)" for word in words]
        return " || ':' || ".join(texts)

    def _published(self, column: str) -> str:
        recoding, handling = self.recoding, self.application.handling
        text = as_text(column, self.application.strip)
        raw = text if self.application.strip else f"s.{sql.name(column)}"
        stars = self.application.stars
        if column == handling.key_column:
            return self.application.person_key
        if column in handling.removed_columns:
            return sql.text(STAR)
        if column in recoding.columns:
            place = recoding.columns.index(column)
            if recoding.identical[place] and not stars:
                return raw
            label = self._label(place)
            return f"CASE WHEN s.sfumato_hidden THEN '{STAR}' ELSE {label} END" if stars else label
        if column in handling.suppressed_sensitive_columns:
            return f"CASE WHEN s.sfumato_hidden THEN '{STAR}' ELSE {text} END"
        return raw

    def _label(self, place: int) -> str:
        labels, codes = self.recoding.labels[place], self.recoding.label_codes(place)
        if len(labels) == 1:
            return f"CAST({sql.text(labels[0])} AS VARCHAR)"
        shown = self._shown(place)
        known = [codes[code] if code != DROPPED else DROPPED for code in self.recoding.codings[place].codes]
        entries = [sql.text(labels[code] if code in shown else None) for code in known]
        return self._pickers[place].picked(entries, "VARCHAR")

    def _shown(self, place: int) -> set[int]:
        """Return the label codes of a column that occur in published rows."""
        return set(present_codes(self.recoding.classes[~self.recoding.suppressed, place]))
