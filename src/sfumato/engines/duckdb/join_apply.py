"""Apply recodings by joins: each row finds its class in a table of classes, then rows are sorted.

Rows are sorted with the codes of their labels, because codes are much faster to sort and to write than texts. But
DuckDB 2.0 records which values of an enumeration a file has seen in a place that its threads share without a lock, and
occasionally writes an empty text. So codes are written by one thread alone; if many threads are available, all of them
write texts.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.engines import sql
from sfumato.engines.duckdb.expressions import DictionaryExpression, RecodingApplier, as_text, filtered, packed
from sfumato.engines.duckdb.writing import copy_statement, keys_statement
from sfumato.engines.join_keys import PERSON, PERSONS_FILE
from sfumato.formats import PARQUET, format_named
from sfumato.hierarchies.hierarchy import present_codes
from sfumato.microdata.counts.frequency_table import DROPPED
from sfumato.microdata.keyed_random import ORDER_DIGITS, ROWS_A_HASH, hash_words
from sfumato.microdata.recoding.mapping import STAR, Division, numbered
from sfumato.values import Value

# Up to this number of threads, one thread writes codes as fast as all of them write texts.
MOST_THREADS = 3
MISSING = -1
# For more rows, hashes are computed in the database, which can spill to disk.
HASHED_HERE = 4_000_000
# The number of the hash that determines a row's position.
HASH_NUMBER = f"(s.sfumato_row - 1) // {ROWS_A_HASH}"


class Joining(Value, dict=True):
    """A recoding to apply by joins, and the file to write.

    Attributes:
        rows: The number of rows of the source, or None if unknown.
    """

    application: RecodingApplier
    target: Path
    rows: int | None = None

    def tables(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the tables to load: texts of columns unless codes are listed, keys of classes, classes, and labels."""
        application = self.application
        for place in range(0 if application.picks else len(application.recoding.columns)):
            yield f"d{place}", application.column_lookup(place)
        for place, column in enumerate(application.handling.labels):
            yield f"m{place}", application.label_lookup(column)
        if application.division is not None and application.division.column is not None:
            yield "valued", application.value_lookup(application.division)
        yield "keyed", application.class_keys()
        hidden = application.recoding.suppressed
        coded: dict[str, Any] = {"owner": np.arange(len(hidden), dtype=np.int32), "hidden": hidden}
        coded["number"] = numbered(application.recoding)
        for place in range(len(application.recoding.columns)):
            texts, coded[f"p{place}"] = self.labels(place)
            yield f"l{place}", {"code": np.arange(len(texts), dtype=np.int32), "text": np.array(texts, object)}
        yield "coded", coded
        if self._hashed_here:
            words = hash_words(np.arange((self.rows or 0) // ROWS_A_HASH + 1), application.handling.order_key or "")
            parts = {f"w{part}": np.ascontiguousarray(words[:, part]) for part in range(ROWS_A_HASH)}
            yield "order_hashes", {"number": np.arange(len(words)), **parts}

    @property
    def _hashed_here(self) -> bool:
        """Whether hashes are computed in memory and compared as numbers, which costs less than a third."""
        return self.application.handling.order_key is not None and self.rows is not None and self.rows <= HASHED_HERE

    def labels(self, place: int) -> tuple[list[str], npt.NDArray[np.int32]]:
        """Return the published labels of a column, and the label index of each class.

        A file contains all values of an enumeration, so each must be published in some row.
        """
        recoding = self.application.recoding
        codes, hidden = recoding.classes[:, place], recoding.suppressed
        labels = recoding.labels[place]
        shown = {text: None for code in present_codes(codes[~hidden]) if (text := labels[code]) is not None}
        if self.application.stars or not shown:
            shown[STAR] = None
        places = {text: at for at, text in enumerate(shown)}
        found = np.array([MISSING if text is None else places.get(text, MISSING) for text in labels], np.int32)[codes]
        found[hidden] = places[STAR] if self.application.stars else MISSING
        return list(shown), found

    def classes(self) -> Iterator[str]:
        """Yield the statements that make the table of classes, with labels as enumerations."""
        for picker in self.pickers:
            yield from picker.types()
        yield "DROP TABLE IF EXISTS classes"
        yield "DROP TABLE IF EXISTS labeled"
        places = range(len(self.application.recoding.columns))
        for place in places:
            yield f"DROP TYPE IF EXISTS labels{place}"
            yield f"CREATE TEMP TYPE labels{place} AS ENUM (SELECT text FROM l{place} ORDER BY code)"
        labels = sql.listed(f"l{place}.label AS p{place}" for place in places)
        joins = "".join(
            f" LEFT JOIN (SELECT code, CAST(text AS labels{place}) AS label FROM l{place}) AS l{place}"
            f" ON l{place}.code = coded.p{place}"
            for place in places
        )
        yield f"CREATE TEMP TABLE labeled AS SELECT coded.owner, hidden, number, {labels} FROM coded{joins}"
        joined = "SELECT keyed.* EXCLUDE (owner), labeled.* EXCLUDE (owner) FROM keyed JOIN labeled USING (owner)"
        yield f"CREATE TEMP TABLE classes AS {joined}"
        yield from self._hashes()

    def _hashes(self) -> Iterator[str]:
        """Yield the statement that makes the table of hashes, each of which determines the positions of many rows."""
        key = self.application.handling.order_key
        if key is not None and self.rows is not None and not self._hashed_here:
            numbers = f"range({self.rows // ROWS_A_HASH + 1}) AS n(number)"
            hashes = f"SELECT number, sha256(concat({sql.text(key)}, number)) AS hash FROM {numbers}"
            yield f"CREATE OR REPLACE TEMP TABLE order_hashes AS {hashes}"

    def writing(self, threads: Callable[[], int]) -> Iterator[str]:
        """Yield the statements that write the published rows to the file.

        Args:
            threads: Returns the number of DuckDB's threads; called only if it matters.
        """
        persons = self.application.handling.person is not None
        alone = self.one_writes(threads)
        if not alone and not persons:
            yield self._copy(f"({self._rows()})", as_texts=True)
            return
        yield from self.application.person_keys() if persons else ()
        yield f"CREATE OR REPLACE TEMP TABLE published AS {self._rows()}"
        yield from ("SET threads = 1",) if alone else ()
        yield self._copy("published", as_texts=not alone)
        if persons:
            yield keys_statement(f"SELECT {PERSON} FROM published", self.target.with_name(PERSONS_FILE))
        yield from ("RESET threads",) if alone else ()
        yield "DROP TABLE published"

    def one_writes(self, threads: Callable[[], int]) -> bool:
        """Return whether a single thread writes codes."""
        return format_named(self.target) is PARQUET and not self.application.partition and threads() <= MOST_THREADS

    def _copy(self, rows: str, as_texts: bool) -> str:
        values = [
            f"CAST(v{place} AS VARCHAR)" if as_texts and value.startswith("c.p") else f"v{place}"
            for place, value in enumerate(self.columns.values())
        ]
        return self.copy(values, rows)

    def copy(self, values: Sequence[str], rows: str) -> str:
        """Return the statement that writes the published columns, given by expressions over some rows, to the file."""
        written = sql.listed(f"{value} AS {sql.name(name)}" for name, value in zip(self.columns, values, strict=True))
        separator, partition = self.application.source.separator, self.application.partition
        return copy_statement(f"SELECT {written} FROM {rows}", self.target, separator, partition)

    @cached_property
    def columns(self) -> dict[str, str]:
        """The expression of each published column."""
        columns = {column: self._published(column) for column in self.application.source.columns}
        if self.application.handling.class_column:
            columns[self.application.handling.class_column] = "c.number"
        return columns

    def _rows(self) -> str:
        """Return the published rows in order, with their person keys if there is a person column."""
        handling = self.application.handling
        shown = "" if handling.suppressed == "star" else " WHERE NOT c.hidden"
        values = [f"{value} AS v{place}" for place, value in enumerate(self.columns.values())]
        keys = [] if handling.person is None else [f"s.{PERSON}"]
        named = sql.listed([*values, *keys])
        order = "s.sfumato_row"
        if handling.order_key is not None:
            order = f"{self._place(handling.order_key)}, s.sfumato_row"
        return f"SELECT {named} FROM {self._joined()}{self._hash_join()}{shown} ORDER BY {order}"

    def _place(self, key: str) -> str:
        """Return the sort key of a row, as in keyed_hashes.py, or the same as a number."""
        if self._hashed_here:
            words = " ".join(f"WHEN {part} THEN h.w{part}" for part in range(ROWS_A_HASH))
            return f"CASE (s.sfumato_row - 1) % {ROWS_A_HASH} {words} END"
        shared = f"sha256(concat({sql.text(key)}, {HASH_NUMBER}))" if self.rows is None else "h.hash"
        return f"substr({shared}, ((s.sfumato_row - 1) % {ROWS_A_HASH}) * {ORDER_DIGITS} + 1, {ORDER_DIGITS})"

    def _hash_join(self) -> str:
        if self.application.handling.order_key is None or self.rows is None:
            return ""
        return f" JOIN order_hashes AS h ON h.number = {HASH_NUMBER}"

    def raw(self, column: str) -> str:
        """Return a row's value of a column that is published unchanged."""
        return as_text(column, strip=True) if self.application.strip else f"s.{sql.name(column)}"

    def _published(self, column: str) -> str:
        recoding, handling = self.application.recoding, self.application.handling
        strip, raw = self.application.strip, self.raw(column)
        if column == handling.key_column:
            return f"s.{PERSON}"
        if column in handling.removed_columns:
            return sql.text(STAR)
        if column in recoding.columns:
            place = recoding.columns.index(column)
            kept = recoding.identical[place] and not self.application.stars
            # A label is the same text, but its code is sorted and written faster.
            return raw if kept and self.application.kinds.get(column) != "VARCHAR" else f"c.p{place}"
        if column in handling.labels:
            raw = f"s.sfumato_label{[*handling.labels].index(column)}"
        if column in handling.suppressed_sensitive_columns:
            text = raw if column in handling.labels else as_text(column, strip)
            return f"CASE WHEN c.hidden THEN '{STAR}' ELSE {text} END"
        return raw

    def _labeled(self, rows: str) -> str:
        """Return the rows with the published labels of transformed columns."""
        handling, strip = self.application.handling, self.application.strip
        for place, column in enumerate(handling.labels):
            test = f"{as_text(column, strip)} IS NOT DISTINCT FROM m{place}.text"
            rows = f"(SELECT s.*, m{place}.label AS sfumato_label{place} FROM {rows} AS s JOIN m{place} ON {test})"
        return rows

    def _joined(self) -> str:
        """Return the rows, each with its class."""
        division = self.application.division
        dropped = filtered(self.application.reading, self.application.strip)
        rows = self._labeled(f"(SELECT * FROM {self.application.source.with_numbers} AS s{dropped})")
        rows = rows if self.application.handling.person is None else self.application.with_person_keys(rows)
        rows = f"{rows} AS s{self._column_joins()}"
        keys = self.keys()
        if division is None:
            return f"{rows} JOIN classes AS c ON {' AND '.join(f'c.k{word} = {key}' for word, key in enumerate(keys))}"
        tests = [f"c.k{word} = s.sfumato_key{word}" for word in range(len(keys))]
        tests.append("(c.undivided OR c.value = s.sfumato_value)")
        tests.append("s.sfumato_rank > c.above AND s.sfumato_rank <= c.upto")
        return f"({self._ranked(division, rows, keys)}) AS s JOIN classes AS c ON {' AND '.join(tests)}"

    def _ranked(self, division: Division, rows: str, keys: Sequence[str]) -> str:
        """Return the rows with their packed codes and their rank within combination and value."""
        named = [f"{key} AS sfumato_key{word}" for word, key in enumerate(keys)]
        value = "0"
        if division.column is not None:
            value = "valued.code"
            text = as_text(division.column, self.application.strip)
            rows = f"{rows} JOIN valued ON {text} IS NOT DISTINCT FROM valued.text"
        within = sql.listed([*keys, value])
        rank = f"row_number() OVER (PARTITION BY {within} ORDER BY {_hash(division.key)})"
        return f"SELECT s.*, {sql.listed(named)}, {value} AS sfumato_value, {rank} AS sfumato_rank FROM {rows}"

    def _column_joins(self) -> str:
        if self.application.picks:
            return ""
        return "".join(
            f" JOIN d{place} ON {as_text(column, self.application.strip)} IS NOT DISTINCT FROM d{place}.text"
            for place, column in enumerate(self.application.recoding.columns)
        )

    @cached_property
    def pickers(self) -> tuple[DictionaryExpression, ...]:
        """The dictionary expressions for codes; empty if codes are joined."""
        return self.application.pickers() if self.application.picks else ()

    def keys(self) -> list[str]:
        """Return the packed codes of a row."""
        packing = self.application.packing
        return packed(packing, [self._code(place, int(shift)) for place, shift in enumerate(packing.shift)])

    def _code(self, place: int, shift: int) -> str:
        """Return the shifted code of a row's value; values of dropped rows have none, so such rows find no class."""
        if not self.pickers:
            return f"(d{place}.code << {shift})"
        codes = self.application.key_codes(place)
        entries = ["NULL" if code == DROPPED else str(int(code) << shift) for code in codes]
        return self.pickers[place].picked(entries, "UBIGINT")


def _hash(key: str) -> str:
    return f"sha256(concat({sql.text(key)}, s.sfumato_row))"
