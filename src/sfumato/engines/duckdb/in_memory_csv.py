"""Rows of text files that fit in memory: read once as codes, then counted and published from there.

Every statement on a text file parses it again, and groups, joins and sorts texts. If columns have few distinct texts,
the codes of rows can be read from the database for less than the cost of one such statement.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.engines.category_order import Texts
from sfumato.engines.duckdb.code_counts import Combinations
from sfumato.engines.duckdb.count_statements import Counting
from sfumato.engines.duckdb.dictionary_columns import MAX_TEXTS
from sfumato.engines.duckdb.error_messages import changed
from sfumato.engines.duckdb.in_memory_apply import RowCodes
from sfumato.engines.duckdb.in_memory_persons import fits
from sfumato.engines.files import about_rows, files_of, format_of
from sfumato.hierarchies.levels import present_codes
from sfumato.microdata.counts.frequency_table import DROPPED
from sfumato.microdata.counts.key_packing import counted_words, packing_of

# Larger files are grouped in the database; at 55 MB, codes cost as much as they save.
_MOST_BYTES = 1 << 24
# Bytes per value, as read and as code.
_VALUE_BYTES = 32


@dataclass(frozen=True, slots=True)
class EncodedColumn:
    """The ordered distinct texts of a column, and the code of each row."""

    texts: Texts
    codes: npt.NDArray[np.int32]


class KeepsTextRows:
    """Keeps the rows of a text file as codes.

    Attributes:
        coded: The columns that were counted.
        likely: The expected texts of columns of a file that was just written.
    """

    coded: Mapping[str, EncodedColumn]
    likely: Mapping[str, Texts]

    def _by_rows(self: Any, counting: Counting) -> Combinations | None:
        """Return texts of columns, codes and rows of combinations; None if rows are not to be kept."""
        if not counting.columns or counting.reading.required or not self._are_few_texts():
            return None
        if not all(name in self.coded for name in counting.columns):
            columns = self._as_likely(counting) or self._kept(counting)
            if columns is None:
                self._run(counting.group_kept())
                combinations: Combinations = self._texts_and_codes(counting)[:3]
                return combinations
            self.coded = {**self.coded, **dict(zip(counting.columns, columns, strict=True))}
        return _combinations([self.coded[name] for name in counting.columns])

    def _are_few_texts(self: Any) -> bool:
        """Return whether the source is a text file whose rows may be kept."""
        if not self.path.name or format_of(self.path, self.plan) != "csv":
            return False
        rows = about_rows(self.path)
        small = rows is not None and sum(file.stat().st_size for file in files_of(self.path)) <= _MOST_BYTES
        return small and fits(rows, self.plan, _VALUE_BYTES * len(self.columns))

    def _as_likely(self: Any, counting: Counting) -> list[EncodedColumn] | None:
        """Return the columns coded by their expected texts; None if these are unknown, or a row has another text."""
        texts = [self.likely.get(name) for name in counting.columns]
        values = [entry for entry in texts if entry is not None and len(entry) <= MAX_TEXTS]
        if len(values) < len(texts):
            return None
        columns = self._coded(counting, values, f"(SELECT {counting.texts_of_rows} FROM {counting.rows})")
        if columns is None:
            return None
        return [_with_present(column) for column in columns]

    def _kept(self: Any, counting: Counting) -> list[EncodedColumn] | None:
        """Return the columns coded by their own texts, from a table of rows, which is kept if they are too many."""
        self._run(counting.keep_texts())
        values = self._texts(counting)
        if any(len(texts) > MAX_TEXTS or not texts for texts in values) or packing_of([*map(len, values)]).words > 1:
            return None
        columns: list[EncodedColumn] | None = self._coded(counting, values, "combinations")
        self._run("DROP TABLE combinations")
        return columns

    def _coded(self: Any, counting: Counting, values: Sequence[Texts], rows: str) -> list[EncodedColumn] | None:
        """Return the columns coded by given texts; None if a row has another text."""
        arrays = self._connection.execute(counting.row_codes(values, rows)).fetchnumpy()
        codes = [arrays[f"c{place}"] for place in range(len(values))]
        if any((column < 0).any() for column in codes):
            return None
        return [EncodedColumn(texts, column) for texts, column in zip(values, codes, strict=True)]


def _with_present(column: EncodedColumn) -> EncodedColumn:
    """Return a column without the texts that no row has."""
    present = present_codes(column.codes)
    if len(present) == len(column.texts):
        return column
    places = np.zeros(len(column.texts), np.int32)
    places[present] = np.arange(len(present), dtype=np.int32)
    return EncodedColumn(tuple(column.texts[code] for code in present), places[column.codes])


def _combinations(columns: Sequence[EncodedColumn]) -> Combinations | None:
    """Return the combinations with their rows; None if codes do not fit into one word."""
    values = tuple(column.texts for column in columns)
    packing = packing_of([*map(len, values)])
    if len({len(column.codes) for column in columns}) > 1:
        raise changed()
    if packing.words > 1:
        return None
    words, counts = counted_words(packing.pack(np.column_stack([column.codes for column in columns]))[0])
    return values, packing.unpack(words.reshape(1, -1)), counts


def kept_codes(codes: RowCodes, columns: Mapping[str, EncodedColumn]) -> RowCodes | None:
    """Return the recoding of rows by available codes; None if these are not sufficient for the release."""
    application = codes.joining.application
    if not columns or not all(name in columns for name in application.recoding.columns):
        return None
    joining = replace(codes.joining, application=replace(application, kinds=dict.fromkeys(columns, "VARCHAR")))
    kept = RowCodes(joining, {name: column.texts for name, column in columns.items()})
    return kept if kept.tell_all else None


def arrays_of(codes: RowCodes, columns: Mapping[str, EncodedColumn]) -> dict[str, Any]:
    """Return the arrays that `RowCodes.reading` would query from the database."""
    application = codes.joining.application
    recoding, shifts = application.recoding, application.packing.shift
    rows = len(columns[recoding.columns[0]].codes)
    keys, known = np.zeros(rows, np.uint64), np.ones(rows, bool)
    for place, (name, coding) in enumerate(zip(recoding.columns, recoding.codings, strict=True)):
        by_text = dict(zip(coding.texts, application.key_codes(place).tolist(), strict=True))
        found = np.array([by_text.get(text, DROPPED) for text in columns[name].texts], np.int64)[columns[name].codes]
        known &= found != DROPPED
        keys |= np.where(found == DROPPED, 0, found).astype(np.uint64) << shifts[place]
    kept = {f"r{place}": columns[name].codes for place, name in enumerate(codes.kept)}
    return {"k": keys if known.all() else np.ma.array(keys, mask=~known)} | kept
