"""Apply recodings to rows whose codes fit in memory: codes are read from the database, labels written back in order.

Sorting whole rows costs DuckDB several times as much as everything that is done here: the packed code of each row finds
its class, and only classes are sorted. Columns that are published unchanged are included if they contain numbers or
counted texts.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.engines import sql
from sfumato.engines.canonical_text import Texts
from sfumato.engines.duckdb.database import changed
from sfumato.engines.duckdb.expressions import INTEGERS, DictionaryExpression, as_text, enumeration
from sfumato.engines.duckdb.join_apply import Joining
from sfumato.hierarchies.hierarchy import present_codes
from sfumato.microdata.counts.combinations import places_of
from sfumato.microdata.keyed_random import shuffled
from sfumato.microdata.recoding.mapping import STAR, numbered
from sfumato.values import Value

# Types whose values are read from and written to the database unchanged.
NUMBERS = INTEGERS | {"DOUBLE"}
# Bytes per row for its code, class and index, and per column for its values, as read and sorted.
ROW_BYTES, COLUMN_BYTES = 40, 18
Places = npt.NDArray[np.int64]


class PublishedColumn(Value):
    """A published column.

    Attributes:
        values: Numbers, or the text index of each row from 1, with 0 for missing texts.
        texts: The texts with which the column is written; each occurs in some row.
        kind: The DuckDB type of the numbers.
        absent: Which rows have no number, or None if all have.
    """

    values: npt.NDArray[Any]
    texts: Sequence[str] | None = None
    kind: str = ""
    absent: npt.NDArray[np.bool_] | None = None

    def value(self, place: int, as_texts: bool) -> str:
        """Return the expression of a row's value."""
        if self.texts is None:
            number = f"CAST(c{place} AS {self.kind})"
            return number if self.absent is None else f"CASE WHEN NOT a{place} THEN {number} END"
        kind = "VARCHAR" if as_texts or not self.texts else f"written{place}"
        return f"(CAST([{sql.listed(map(sql.text, self.texts))}] AS {kind}[]))[c{place}]"


class LoadedColumns(Value):
    """The published columns, loaded as c0, c1, …, and as a0, a1, … for absent numbers."""

    columns: Sequence[PublishedColumn]

    def types(self) -> Iterator[str]:
        """Yield the statements that make enumerations of their texts."""
        for place, column in enumerate(self.columns):
            yield from enumeration(f"written{place}", column.texts) if column.texts else ()

    def arrays(self) -> dict[str, Any]:
        """Return the arrays to load."""
        absent = {f"a{place}": column.absent for place, column in enumerate(self.columns) if column.absent is not None}
        return {f"c{place}": column.values for place, column in enumerate(self.columns)} | absent

    def values(self, as_texts: bool) -> list[str]:
        """Return the expressions of a row's values, texts as such or as enumeration values."""
        return [column.value(place, as_texts) for place, column in enumerate(self.columns)]


class RowCodes(Value, dict=True):
    """A recoding to apply to the codes of rows.

    Attributes:
        known: The texts of columns that were counted.
    """

    joining: Joining
    known: Mapping[str, Texts]

    @property
    def tell_all(self) -> bool:
        """Whether codes and numbers of the rows are sufficient for the whole release."""
        application = self.joining.application
        handling = application.handling
        return (
            application.picks
            and application.packing.words == 1
            and application.division is None
            and not (application.partition or application.reading.required)
            and not (handling.labels or handling.suppressed_sensitive_columns or handling.person)
            and not (application.strip and self.kept)
            and all(column in self._pickers or application.kinds.get(column) in NUMBERS for column in self.kept)
        )

    @property
    def row_bytes(self) -> int:
        """The bytes of memory per row."""
        return ROW_BYTES + COLUMN_BYTES * len(self.joining.columns)

    @cached_property
    def kept(self) -> list[str]:
        """The columns that are published unchanged."""
        return [column for column, value in self.joining.columns.items() if value == self.joining.raw(column)]

    @cached_property
    def _pickers(self) -> dict[str, DictionaryExpression]:
        """The dictionary expressions of those columns among the counted ones."""
        kinds = self.joining.application.kinds
        return {
            column: DictionaryExpression(
                f"kept{place}", as_text(column), self.known[column], "VARCHAR", sql.name(column)
            )
            for place, column in enumerate(self.kept)
            if kinds.get(column) == "VARCHAR" and column in self.known
        }

    def types(self) -> Iterator[str]:
        """Yield the statements that make the enumerations for reading rows."""
        for picker in (*self.joining.pickers, *self._pickers.values()):
            yield from picker.types()

    def reading(self) -> str:
        """Return the statement for the codes and numbers of all rows, in order."""
        columns = [f"{self.joining.keys()[0]} AS k"]
        for place, column in enumerate(self.kept):
            picker = self._pickers.get(column)
            value = f"s.{sql.name(column)}"
            if picker is not None:
                value = picker.picked([str(at) for at in range(len(picker.texts))], "USMALLINT")
            columns.append(f"{value} AS r{place}")
        return f"SELECT {sql.listed(columns)} FROM {self.joining.application.source.table} AS s"

    def published(self, arrays: Mapping[str, Any]) -> LoadedColumns:
        """Return the published columns, given the arrays read."""
        classes, rows = self._placed(arrays["k"])
        recoding, handling = self.joining.application.recoding, self.joining.application.handling
        columns = []
        for column in self.joining.columns:
            if column in self.kept:
                columns.append(self._kept_column(column, arrays[f"r{self.kept.index(column)}"], rows))
            elif column == handling.class_column:
                columns.append(PublishedColumn(numbered(recoding)[classes], kind="BIGINT"))
            elif column in handling.removed_columns:
                columns.append(PublishedColumn(np.ones(len(rows), np.uint8), (STAR,)))
            else:
                texts, codes = self.joining.labels(recoding.columns.index(column))
                columns.append(PublishedColumn(_short(codes + 1, len(texts))[classes], texts))
        return LoadedColumns(columns)

    def _placed(self, keys: Any) -> tuple[npt.NDArray[np.int32], Places]:
        """Return the classes of the published rows, in order, and the row indices in the source.

        A row without a code is dropped or has an unknown value; in the second case the recount detects that it is
        missing.
        """
        application = self.joining.application
        known = application.class_keys()
        words, absent = _plain(keys)
        places = places_of(words, known["k0"])
        if absent is not None:
            places[absent] = -1
        rows = np.flatnonzero(places >= 0)
        classes = known["owner"][places[rows]]
        if application.handling.suppressed == "drop":
            shown = ~application.recoding.suppressed[classes]
            classes, rows = classes[shown], rows[shown]
        if application.handling.order_key is None:
            return classes, rows
        order = shuffled(rows + 1, application.handling.order_key)
        return classes[order], rows[order]

    def _kept_column(self, column: str, values: Any, rows: Places) -> PublishedColumn:
        """Return a column that is published unchanged."""
        picker, (whole, absent) = self._pickers.get(column), _plain(values)
        plain = whole[rows]
        if picker is None:
            kind = self.joining.application.kinds[column]
            return PublishedColumn(plain, kind=kind, absent=None if absent is None else absent[rows])
        if absent is not None:
            raise changed()
        shown = [place for place in present_codes(plain) if picker.texts[place] is not None]
        codes = np.zeros(len(picker.texts), np.int32)
        codes[shown] = np.arange(1, len(shown) + 1)
        return PublishedColumn(_short(codes, len(shown))[plain], [picker.texts[place] or "" for place in shown])


def _plain(values: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
    """Return values and a Boolean array of the missing ones, or None; avoids importing `numpy.ma`, which is slow."""
    absent = getattr(values, "mask", None)
    return (values, None) if absent is None else (values.data, absent if np.any(absent) else None)


def _short(codes: npt.NDArray[np.int32], most: int) -> npt.NDArray[Any]:
    """Return codes in the smallest type for a maximum."""
    return codes.astype(np.uint8 if most < 2**8 else np.uint16)
