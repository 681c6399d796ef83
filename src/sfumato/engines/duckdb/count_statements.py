"""The statements with which DuckDB counts combinations: by text, or by code for dictionary-encoded columns.

Grouping by eight texts costs several times as much as grouping by one number. If a column is dictionary-encoded, as in
Parquet, its few texts are read and its values turned into codes at little cost (dictionary_columns.py). The codes of a
row are packed as by `Packing`, and rows are grouped by the packed codes.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from sfumato.engines import sql
from sfumato.engines.canonical_text import Texts, ordered
from sfumato.engines.duckdb.expressions import (
    INTEGERS,
    MAX_TEXTS,
    DictionaryExpression,
    as_text,
    enumeration,
    filtered,
    packed,
    plain_key_of,
)
from sfumato.engines.engine import MissingRules
from sfumato.engines.join_keys import PERSON
from sfumato.microdata.counts.combinations import Packing, packing_of
from sfumato.microdata.counts.persons import ADDED_UP
from sfumato.values import Value

# Number of rows that show whether a column has too many texts, before all rows are scanned.
SAMPLED_ROWS = 20_000


class Counting(Value):
    """The statements that count combinations of some columns of a table."""

    table: str
    columns: tuple[str, ...]
    reading: MissingRules
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
        """The names t0, t1, … as the beginning of a list."""
        return "".join(f"t{place}, " for place in range(len(self.columns)))

    # By texts: group the rows, then number the texts of each column.

    def group_by_texts(self) -> str:
        """Return the statement that makes the table of combinations."""
        select = f"SELECT {self.texts_of_rows}, count(*) AS n FROM {self.rows} GROUP BY ALL"
        return f"CREATE OR REPLACE TEMP TABLE combinations AS {select}"

    def keep_texts(self) -> str:
        """Return the statement that makes a table of all rows' texts under the same name."""
        return f"CREATE OR REPLACE TEMP TABLE combinations AS SELECT {self.texts_of_rows} FROM {self.rows}"

    def group_kept(self) -> str:
        """Return the statement that makes the table of combinations from all rows' texts."""
        return "CREATE OR REPLACE TEMP TABLE combinations AS SELECT *, count(*) AS n FROM combinations GROUP BY ALL"

    def row_codes(self, values: Sequence[Texts], rows: str) -> str:
        """Return the statement for the codes of rows' texts; -1 for texts not among the values."""
        codes = (f"{_row_code(place, texts)} AS c{place}" for place, texts in enumerate(values))
        return f"SELECT {sql.listed(codes)} FROM {rows}"

    def texts(self) -> str:
        """Return the statement for the texts of all columns with the column index; one statement costs half."""
        return " UNION ALL ".join(
            f"SELECT {place} AS place, t{place} AS text FROM combinations GROUP BY t{place}"
            for place in range(len(self.columns))
        )

    def numberings(self, values: Sequence[Texts]) -> Iterator[str]:
        """Yield the statements that make enumerations of columns with few texts."""
        for place, texts in enumerate(values):
            if len(texts) <= MAX_TEXTS:
                yield from enumeration(f"numbered{place}", [text for text in texts if text is not None] or [""])

    def codes(self, values: Sequence[Texts], further: str = "") -> str:
        """Return the statement for the combinations as codes.

        Few texts of a column are an enumeration, which is much cheaper than a join. Many are numbered separately and
        joined, which is much cheaper than ranking all combinations by each column.
        """
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

    # Persons: pairs of a person and a value that occur in a single combination are counted together.

    def group_persons(self, person: str, value: str | None) -> Iterator[str]:
        """Yield the statements that make the table of combinations with persons.

        Persons in a single combination are counted together; all others are listed by number.
        """
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
        """Return the statement that tests whether some row names no person."""
        named = as_text(person, self.strip)
        words = f" OR {named} IN ({sql.listed(map(sql.text, self.reading.missing))})" if self.reading.missing else ""
        return f"SELECT coalesce(bool_or({named} IS NULL{words}), false) FROM {self.rows}"

    def _value(self, value: str) -> str:
        """Return the text of a sensitive value; texts that mean missing become null."""
        absent = sql.listed(map(sql.text, ("", *self.reading.missing)))
        return f"CASE WHEN {as_text(value, self.strip)} NOT IN ({absent}) THEN {as_text(value, self.strip)} END"

    # By codes: read the texts of dictionary-encoded columns, which may be too many.

    def by_codes(self, values: tuple[Texts, ...], kinds: Mapping[str, str]) -> "CodeCounting":
        """Return the same columns for counting by codes of their texts."""
        return CodeCounting(self.table, self.columns, self.reading, self.strip, values, kinds)

    def sampled(self) -> str:
        """Return the statement for a list of each column's texts in the first rows."""
        return f"SELECT {self._lists} FROM (SELECT {self.texts_of_rows} FROM {self.rows} LIMIT {SAMPLED_ROWS})"

    def whole(self) -> str:
        """Return the statement for a list of each column's texts."""
        return f"SELECT {self._lists} FROM (SELECT {self.texts_of_rows} FROM {self.rows})"

    @property
    def _lists(self) -> str:
        return sql.listed(f"list(DISTINCT t{place})" for place in range(len(self.columns)))


def _numbered(place: int, texts: int) -> str:
    """Return the code of a column's text by its enumeration; the missing value comes last."""
    return f"coalesce(CAST(enum_code(CAST(t{place} AS numbered{place})) AS INTEGER), {texts - 1})"


def _row_code(place: int, texts: Texts) -> str:
    """Return the code of a row's text by an unnamed enumeration, which costs less; -1 if it has none."""
    present = [sql.text(text) for text in texts if text is not None]
    missing = len(present) if None in texts else -1
    code = f"enum_code(TRY_CAST(t{place} AS ENUM ({sql.listed(present)})))"
    known = f"coalesce(CAST({code} AS INTEGER), -1)" if present else "-1"
    return f"CASE WHEN t{place} IS NULL THEN {missing} ELSE {known} END"


def in_order(lists: Sequence[Sequence[str | None] | None]) -> tuple[Texts, ...] | None:
    """Return the ordered texts of each column; None without rows, or with too many texts for codes."""
    if any(texts is None or len(texts) > MAX_TEXTS for texts in lists):
        return None
    return tuple(ordered([*{*(texts or ())}]) for texts in lists)


class CodeCounting(Counting, dict=True):
    """The statements that group rows by the packed codes of their texts.

    Attributes:
        values: The texts of each column, indexed by code.
        kinds: The DuckDB types of the columns.
    """

    values: tuple[Texts, ...]
    kinds: Mapping[str, str]

    @cached_property
    def packing(self) -> Packing:
        """The position of each column's code in a packed one."""
        return packing_of([len(texts) for texts in self.values])

    @cached_property
    def _pickers(self) -> tuple[DictionaryExpression, ...]:
        return tuple(
            DictionaryExpression(f"counted{place}", as_text(name, self.strip), texts, self.kinds[name], sql.name(name))
            for place, (name, texts) in enumerate(zip(self.columns, self.values, strict=True))
        )

    def types(self) -> Iterator[str]:
        """Yield the statements that make the enumerations in use."""
        for picker in self._pickers:
            yield from picker.types()

    def tells(self, value: str) -> bool:
        """Return whether no text of a sensitive column means missing."""
        return not any(text == "" or text in self.reading.missing for text in self.values[self.columns.index(value)])

    def codes_of_rows(self, further: str = "") -> str:
        """Return the statement for the packed code of each row, and for further columns."""
        return f"SELECT {self._keys()[0]} AS k{further} FROM {self.table} AS s{filtered(self.reading, self.strip)}"

    def unknown(self) -> str:
        """Return the statement for a list of each column's texts in rows without a code."""
        clause = filtered(self.reading, self.strip) or " WHERE true"
        rows = f"{self.table} AS s{clause} AND {self._keys()[0]} IS NULL"
        return f"SELECT {self._lists} FROM (SELECT {self.texts_of_rows} FROM {rows})"

    def value_bits(self, value: str | None) -> int:
        """Return the bits of a sensitive value's code in a packed one; 0 without a value."""
        if value is None:
            return 0
        place = self.columns.index(value)
        return int(self.packing.mask[place]) << int(self.packing.shift[place])

    def group_persons_by_codes(self, person: str, value: str | None) -> Iterator[str]:
        """Yield the statements that make the table of combinations with persons.

        Persons in a single combination have equal first and last ones, which is much cheaper than listing all. A
        sensitive value has its code after those of the combination, and pairs of value and person are counted together.
        """
        kind = self.kinds.get(person, "")
        plain = kind in (*INTEGERS, "VARCHAR") and not self.strip
        name = f"s.{sql.name(person)}" if plain else as_text(person, self.strip)
        key, rows, dropped = self._keys()[0], f"{self.table} AS s", filtered(self.reading, self.strip)
        if person == PERSON:
            # 64 bits distinguish random keys; two with the same hash count as one person, never as more. The keys are
            # long and in a separate file, which is read once.
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
        # Codes are computed only for rows of persons in several combinations.
        several = f"{rows} JOIN spread AS q ON {name} = q.p{dropped}"
        single = (
            f"SELECT DISTINCT k, number, 1 FROM (SELECT {key} AS k, q.number{also_value} FROM {several}){same_value}"
        )
        yield f"CREATE OR REPLACE TEMP TABLE combinations AS {added} UNION ALL {single}"
        yield "DROP TABLE spread"
        yield "DROP TABLE IF EXISTS keyed_rows"

    def _value_in_key(self, value: str | None) -> tuple[str, str, str]:
        """Return a sensitive value as a column of a packed key, its name, and the test that a key has it."""
        if value is None:
            return "", "", ""
        bits = f"(k & CAST({self.value_bits(value)} AS UBIGINT))"
        return f", {bits} AS v", ", v", f" WHERE {bits} = v"

    def _ends_by_plain_keys(self, also_value: str) -> str:
        """Return the statement that merges keys with the same normalized form: one number, common first and last
        ends.
        """
        shared = "min(low) OVER w AS low, max(high) OVER w AS high, min(number) OVER w AS number"
        window = f"WINDOW w AS (PARTITION BY {plain_key_of('CAST(p AS VARCHAR)')}{also_value})"
        return f"CREATE OR REPLACE TEMP TABLE ends AS SELECT p{also_value}, {shared} FROM ends {window}"

    def nameless_of_ends(self) -> str:
        """Return the statement that tests the intermediate table for rows without a person."""
        missing = sql.listed(map(sql.text, self.reading.missing))
        words = f" OR CAST(p AS VARCHAR) IN ({missing})" if missing else ""
        return f"SELECT coalesce(bool_or(p IS NULL{words}), false) FROM ends"

    def _keys(self) -> list[str]:
        """Return the words of a row's packed codes; unknown texts have no code."""
        parts = [
            picker.picked([str(code << int(shift)) for code in range(len(picker.texts))], "UBIGINT")
            for picker, shift in zip(self._pickers, self.packing.shift, strict=True)
        ]
        return packed(self.packing, parts)

    def group_by_codes(self) -> str:
        """Return the statement for the packed codes of each combination, and its number of rows."""
        keys = sql.listed(f"{key} AS k{word}" for word, key in enumerate(self._keys()))
        return f"SELECT {keys}, count(*) AS n FROM {self.rows} GROUP BY ALL"
