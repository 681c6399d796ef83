"""The statements with which DuckDB counts combinations: by text, or by code for dictionary-encoded columns.

Grouping by eight texts costs several times as much as grouping by one number. If a column is dictionary-encoded, as in
Parquet, its few texts are read and its values turned into codes at little cost (entry_lists.py); the codes of a row are
packed as in packing.py, and rows are grouped by that.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from sfumato.dataclass import dataclass
from sfumato.engines import sql
from sfumato.engines.category_order import Texts, ordered
from sfumato.engines.duckdb.apply import as_text, filtered, plain_key_of
from sfumato.engines.duckdb.dictionary_columns import INTEGERS, MAX_TEXTS, Picker, enumeration, packed
from sfumato.engines.engine import Reading
from sfumato.engines.keyed_hashes import PERSON
from sfumato.microdata.counts.key_packing import Packing, packing_of
from sfumato.microdata.counts.persons import ADDED_UP

# Columns with too many texts are told by so many rows, before all are looked through.
SAMPLED_ROWS = 20_000


@dataclass(frozen=True)
class Counting:
    """Some columns of a table, whose combinations are to be counted."""

    table: str
    columns: tuple[str, ...]
    reading: Reading
    strip: bool

    @property
    def rows(self) -> str:
        """The table without rows in which a required value is missing."""
        return f"{self.table} AS s{filtered(self.reading, self.strip)}"

    @property
    def texts_of_rows(self) -> str:
        """The texts of each column as t0, t1, …."""
        return sql.listed(f"{as_text(column, self.strip)} AS t{place}" for place, column in enumerate(self.columns))

    @property
    def names_of_texts(self) -> str:
        """t0, t1, … as the beginning of a list."""
        return "".join(f"t{place}, " for place in range(len(self.columns)))

    # By texts: group the rows, then number each column's texts.

    def group_by_texts(self) -> str:
        """Make the table of combinations."""
        select = f"SELECT {self.texts_of_rows}, count(*) AS n FROM {self.rows} GROUP BY ALL"
        return f"CREATE OR REPLACE TEMP TABLE combinations AS {select}"

    def keep_texts(self) -> str:
        """Make the table of all rows' texts, in the place of that of combinations."""
        return f"CREATE OR REPLACE TEMP TABLE combinations AS SELECT {self.texts_of_rows} FROM {self.rows}"

    def group_kept(self) -> str:
        """Make the table of combinations from that of all rows' texts."""
        return "CREATE OR REPLACE TEMP TABLE combinations AS SELECT *, count(*) AS n FROM combinations GROUP BY ALL"

    def row_codes(self, values: Sequence[Texts], rows: str) -> str:
        """Ask for the codes of rows' texts; one that is not among the values has -1."""
        codes = (f"{_row_code(place, texts)} AS c{place}" for place, texts in enumerate(values))
        return f"SELECT {sql.listed(codes)} FROM {rows}"

    def texts(self) -> str:
        """Ask for the texts of all columns, each with the place of its column; in one statement, which costs half."""
        return " UNION ALL ".join(
            f"SELECT {place} AS place, t{place} AS text FROM combinations GROUP BY t{place}"
            for place in range(len(self.columns))
        )

    def numberings(self, values: Sequence[Texts]) -> Iterator[str]:
        """Make the enumerations of columns with few texts."""
        for place, texts in enumerate(values):
            if len(texts) <= MAX_TEXTS:
                yield from enumeration(f"numbered{place}", [text for text in texts if text is not None] or [""])

    def codes(self, values: Sequence[Texts], further: str = "") -> str:
        """The combinations with codes for texts: a column's few texts are an enumeration, which is far cheaper than a
        join; many are numbered apart and joined, which is far cheaper than ranking all combinations by each column."""
        codes = [
            f"{_numbered(place, len(texts)) if len(texts) <= MAX_TEXTS else f'e{place}.code'} AS c{place}"
            for place, texts in enumerate(values)
        ]
        joins = [
            f" JOIN (SELECT t{place} AS text, CAST(row_number() OVER (ORDER BY t{place} NULLS LAST) - 1 AS INTEGER)"
            f" AS code FROM (SELECT DISTINCT t{place} FROM combinations)) AS e{place}"
            f" ON combinations.t{place} IS NOT DISTINCT FROM e{place}.text"
            for place, texts in enumerate(values)
            if len(texts) > MAX_TEXTS
        ]
        return f"SELECT {sql.listed([*codes, 'n'])}{further} FROM combinations{''.join(joins)}"

    # Persons: pairs of a person and a value that stand in one combination alone add up.

    def group_persons(self, person: str, value: str | None) -> Iterator[str]:
        """Make the table of combinations with persons: how many add up, and each one that does not by its number."""
        texts = [f"t{place}" for place in range(len(self.columns))]
        named = as_text(person, self.strip)
        named = named if person == PERSON else plain_key_of(named)
        further = "" if value is None else f", {self._value(value)} AS v"
        pair, keys = ("p", texts) if value is None else ("v, p", [*texts, "v"])
        yield (
            "CREATE OR REPLACE TEMP TABLE person_rows AS "
            f"SELECT {self.texts_of_rows}{further}, {named} AS p FROM {self.rows} GROUP BY ALL"
        )
        yield (
            f"CREATE OR REPLACE TEMP TABLE spread AS SELECT {pair}, row_number() OVER () AS number "
            f"FROM (SELECT {pair} FROM person_rows GROUP BY {pair} HAVING count(*) > 1)"
        )
        same = "r.p = q.p" if value is None else "r.p = q.p AND r.v IS NOT DISTINCT FROM q.v"
        chosen = sql.listed(f"r.{key}" for key in keys)
        last = "" if value is None else f", r.v AS t{len(texts)}"
        columns = sql.listed(f"r.{text}" for text in texts)
        added = f"SELECT {columns}{last}, CAST({ADDED_UP} AS BIGINT) AS person, count(*) AS n FROM person_rows AS r"
        added += f" ANTI JOIN spread AS q ON {same} GROUP BY {chosen}"
        single = f"SELECT {columns}{last}, q.number, 1 FROM person_rows AS r JOIN spread AS q ON {same}"
        yield f"CREATE OR REPLACE TEMP TABLE combinations AS {added} UNION ALL {single}"
        yield "DROP TABLE person_rows"
        yield "DROP TABLE spread"

    def nameless(self, person: str) -> str:
        """Ask whether some row names no person."""
        named = as_text(person, self.strip)
        words = f" OR {named} IN ({sql.listed(map(sql.text, self.reading.missing))})" if self.reading.missing else ""
        return f"SELECT coalesce(bool_or({named} IS NULL{words}), false) FROM {self.rows}"

    def _value(self, value: str) -> str:
        """The text of a sensitive value; what tells none is missing."""
        absent = sql.listed(map(sql.text, ("", *self.reading.missing)))
        return f"CASE WHEN {as_text(value, self.strip)} NOT IN ({absent}) THEN {as_text(value, self.strip)} END"

    # By codes: look for the texts of columns that lie in dictionaries, which may be too many.

    def by_codes(self, values: tuple[Texts, ...], kinds: Mapping[str, str]) -> "CodeCounting":
        """The same columns, to be counted by codes of their texts."""
        return CodeCounting(self.table, self.columns, self.reading, self.strip, values, kinds)

    def sampled(self) -> str:
        """Ask for a list of each column's texts among the first rows."""
        return f"SELECT {self._lists} FROM (SELECT {self.texts_of_rows} FROM {self.rows} LIMIT {SAMPLED_ROWS})"

    def whole(self) -> str:
        """Ask for a list of each column's texts."""
        return f"SELECT {self._lists} FROM (SELECT {self.texts_of_rows} FROM {self.rows})"

    @property
    def _lists(self) -> str:
        return sql.listed(f"list(DISTINCT t{place})" for place in range(len(self.columns)))


def _numbered(place: int, texts: int) -> str:
    """The code of a column's text by its enumeration; the missing value comes last."""
    return f"coalesce(CAST(enum_code(CAST(t{place} AS numbered{place})) AS INTEGER), {texts - 1})"


def _row_code(place: int, texts: Texts) -> str:
    """The code of a row's text by an enumeration that has no name, which costs less; -1 where it has none."""
    present = [sql.text(text) for text in texts if text is not None]
    missing = len(present) if None in texts else -1
    code = f"enum_code(TRY_CAST(t{place} AS ENUM ({sql.listed(present)})))"
    known = f"coalesce(CAST({code} AS INTEGER), -1)" if present else "-1"
    return f"CASE WHEN t{place} IS NULL THEN {missing} ELSE {known} END"


def in_order(lists: Sequence[Sequence[str | None] | None]) -> tuple[Texts, ...] | None:
    """The texts of each column, in their order; None where there are no rows, or too many texts for codes."""
    if any(texts is None or len(texts) > MAX_TEXTS for texts in lists):
        return None
    return tuple(ordered([*{*(texts or ())}]) for texts in lists)


@dataclass(frozen=True)
class CodeCounting(Counting):
    """Group the rows by the packed codes of their texts.

    Attributes:
        values: The texts of each column, each standing at its code.
        kinds: DuckDB's types of the columns.
    """

    values: tuple[Texts, ...]
    kinds: Mapping[str, str]

    @cached_property
    def packing(self) -> Packing:
        """Where each column's code lies."""
        return packing_of([len(texts) for texts in self.values])

    @cached_property
    def _pickers(self) -> tuple[Picker, ...]:
        return tuple(
            Picker(f"counted{place}", as_text(name, self.strip), texts, self.kinds[name], sql.name(name))
            for place, (name, texts) in enumerate(zip(self.columns, self.values, strict=True))
        )

    def types(self) -> Iterator[str]:
        """Make the enumerations that are used."""
        for picker in self._pickers:
            yield from picker.types()

    def tells(self, value: str) -> bool:
        """Whether all texts of a sensitive column tell a value each: none is another way to say missing."""
        return not any(text == "" or text in self.reading.missing for text in self.values[self.columns.index(value)])

    def codes_of_rows(self, further: str = "") -> str:
        """Ask for the packed code of each row, and for further columns."""
        return f"SELECT {self._keys()[0]} AS k{further} FROM {self.table} AS s{filtered(self.reading, self.strip)}"

    def unknown(self) -> str:
        """Ask for a list of each column's texts in rows that have no code."""
        clause = filtered(self.reading, self.strip) or " WHERE true"
        rows = f"{self.table} AS s{clause} AND {self._keys()[0]} IS NULL"
        return f"SELECT {self._lists} FROM (SELECT {self.texts_of_rows} FROM {rows})"

    def value_bits(self, value: str | None) -> int:
        """Where a sensitive value's code lies in a packed one; 0 where none is counted."""
        if value is None:
            return 0
        place = self.columns.index(value)
        return int(self.packing.mask[place]) << int(self.packing.shift[place])

    def group_persons_by_codes(self, person: str, value: str | None) -> Iterator[str]:
        """Make the table of combinations with persons: how many add up, and each one that does not by its number.

        Who has one combination alone has the same first and last one, which costs far less than to list all of them.
        Where a value is counted, its code lies behind those of the combination, and pairs of value and person add up.
        """
        kind = self.kinds.get(person, "")
        plain = kind in (*INTEGERS, "VARCHAR") and not self.strip
        name = f"s.{sql.name(person)}" if plain else as_text(person, self.strip)
        key, rows, dropped = self._keys()[0], f"{self.table} AS s", filtered(self.reading, self.strip)
        if person == PERSON:
            # Random keys need no more than 64 bits to be told apart; two that meet count as one person, never as more.
            # They are long and lie in a file of their own, which is read once.
            coded = f"SELECT {key} AS k, hash(s.{sql.name(person)}) AS p FROM {rows}{dropped}"
            yield f"CREATE OR REPLACE TEMP TABLE keyed_rows AS {coded}"
            name, key, rows, dropped = "s.p", "s.k", "keyed_rows AS s", ""
        value_of_key, also_value, same_value = self._value_in_key(value)
        ends = f"SELECT p{value_of_key}, min(k) AS low, max(k) AS high FROM (SELECT {key} AS k, {name} AS p FROM {rows}"
        plain_keys = kind not in INTEGERS and person != PERSON
        numbers = ", row_number() OVER () AS number" if plain_keys else ""
        yield f"CREATE OR REPLACE TEMP TABLE ends AS SELECT *{numbers} FROM ({ends}{dropped}) GROUP BY ALL)"
        if plain_keys:
            yield self._ends_by_plain_keys(also_value)
        number, members = ("number", "count(DISTINCT number)") if plain_keys else ("row_number() OVER ()", "count(*)")
        yield (
            "CREATE OR REPLACE TEMP TABLE spread AS "
            f"SELECT p{also_value}, CAST({number} AS BIGINT) AS number FROM ends WHERE low < high"
        )
        added = f"SELECT low AS k, CAST({ADDED_UP} AS BIGINT) AS person, {members} AS n FROM ends"
        added += " WHERE low = high GROUP BY low"
        # Codes are made of the rows alone whose person is spread.
        several = f"{rows} JOIN spread AS q ON {name} = q.p{dropped}"
        single = (
            f"SELECT DISTINCT k, number, 1 FROM (SELECT {key} AS k, q.number{also_value} FROM {several}){same_value}"
        )
        yield f"CREATE OR REPLACE TEMP TABLE combinations AS {added} UNION ALL {single}"
        yield "DROP TABLE spread"
        yield "DROP TABLE IF EXISTS keyed_rows"

    def _value_in_key(self, value: str | None) -> tuple[str, str, str]:
        """A sensitive value among columns, of a packed key and as it was named, and the test that a key has it."""
        if value is None:
            return "", "", ""
        bits = f"(k & CAST({self.value_bits(value)} AS UBIGINT))"
        return f", {bits} AS v", ", v", f" WHERE {bits} = v"

    def _ends_by_plain_keys(self, also_value: str) -> str:
        """Give all keys that are compared as one the same number and the ends of all their rows."""
        shared = "min(low) OVER w AS low, max(high) OVER w AS high, min(number) OVER w AS number"
        window = f"WINDOW w AS (PARTITION BY {plain_key_of('CAST(p AS VARCHAR)')}{also_value})"
        return f"CREATE OR REPLACE TEMP TABLE ends AS SELECT p{also_value}, {shared} FROM ends {window}"

    def nameless_of_ends(self) -> str:
        """Ask whether some row names no person, of the table that is made on the way."""
        missing = sql.listed(map(sql.text, self.reading.missing))
        words = f" OR CAST(p AS VARCHAR) IN ({missing})" if missing else ""
        return f"SELECT coalesce(bool_or(p IS NULL{words}), false) FROM ends"

    def _keys(self) -> list[str]:
        """The words of a row's packed codes; a text that is not known gives no code."""
        parts = [
            picker.picked([str(code << int(shift)) for code in range(len(picker.texts))], "UBIGINT")
            for picker, shift in zip(self._pickers, self.packing.shift, strict=True)
        ]
        return packed(self.packing, parts)

    def group_by_codes(self) -> str:
        """The packed codes of each combination, and its rows."""
        keys = sql.listed(f"{key} AS k{word}" for word, key in enumerate(self._keys()))
        return f"SELECT {keys}, count(*) AS n FROM {self.rows} GROUP BY ALL"
