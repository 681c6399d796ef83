"""SQL expressions that look up entries of a list by value, and that apply a recoding: rows to keep, labels."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from sfumato.engines import sql
from sfumato.engines.canonical_text import WHITE_SPACE
from sfumato.engines.duckdb.sources import Source
from sfumato.engines.engine import MissingRules
from sfumato.engines.join_keys import PERSON, JoinTables
from sfumato.hierarchies.spellings import NOISE, SIGNS
from sfumato.microdata.counts.combinations import Packing
from sfumato.values import Value, field

INTEGERS = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"})
# Maximum length of a list that is searched for each dictionary entry, or for each row of a part without a dictionary.
MAX_LISTED = 64
MAX_SPAN = 2_000
LEAST = -(1 << 62)
# The text of an integer in an integer column; texts of a population may differ.
_NUMBER = re.compile(r"0|-?[1-9]\d{0,18}", re.ASCII)
# Lists are constants of the statement; with more texts per column, a join is cheaper.
MAX_TEXTS = 2_000


class DictionaryExpression(Value, dict=True):
    """The dictionary expressions of one column.

    A dictionary expression looks up the list entry of a value, in the fastest way that the column allows. An integer is
    its own index into the list. A text of a dictionary-encoded column is searched in the list of all texts, which
    DuckDB does once per dictionary entry, not per row. Any other value is cast to an enumeration of the texts.

    An unknown value yields no entry. This is no error, because DuckDB may evaluate the lookup of a row before the test
    that drops the row. If a row without an entry is kept, the recount detects it.

    Attributes:
        type_name: The name of the enumeration of its texts.
        text: The expression of a row's text.
        raw: The expression of its value, without a table name.
        texts: The texts of the column; None is the missing value.
        kind: The DuckDB type of the column if it is dictionary-encoded, else empty.
    """

    type_name: str
    text: str
    texts: Sequence[str | None]
    kind: str
    raw: str

    @cached_property
    def _present(self) -> list[str]:
        return [text for text in self.texts if text is not None]

    @cached_property
    def _numbers(self) -> range | None:
        """The numbers from minimum to maximum if the column contains integers in a short range, else None."""
        if self.kind not in INTEGERS or not self._present or not all(map(_NUMBER.fullmatch, self._present)):
            return None
        numbers = [int(text) for text in self._present]
        least, most = min(numbers), max(numbers)
        return range(least, most + 1) if most - least < MAX_SPAN and least > LEAST else None

    @property
    def _listed(self) -> bool:
        return self.kind == "VARCHAR" and len(self._present) <= MAX_LISTED

    def types(self) -> Iterator[str]:
        """Yield the statements that make the enumeration, if it is used."""
        if self._present and self._numbers is None and not self._listed:
            yield from enumeration(self.type_name, self._present)

    def picked(self, entries: Sequence[str], kind: str = "BOOLEAN") -> str:
        """Return the expression of the entry for a row's value; empty without entries.

        Args:
            entries: SQL constants, one for each text.
            kind: Their type.
        """
        if not entries:
            return ""
        present = [entry for entry, text in zip(entries, self.texts, strict=True) if text is not None]
        absent = [entry for entry, text in zip(entries, self.texts, strict=True) if text is None]
        if not present:
            return f"CASE WHEN {self.text} IS NULL THEN CAST({absent[0]} AS {kind}) END"
        entry = self._entry(present, kind)
        return f"CASE WHEN {self.text} IS NULL THEN CAST({absent[0]} AS {kind}) ELSE {entry} END" if absent else entry

    def _entry(self, present: Sequence[str], kind: str) -> str:
        """Return the entry for a value that is not missing."""
        if self._numbers is not None:
            by_number = {int(text): entry for text, entry in zip(self._present, present, strict=True)}
            entries = sql.listed(by_number.get(number, "NULL") for number in self._numbers)
            least, number = self._numbers.start, f"CAST(s.{self.raw} AS BIGINT)"
            # An index below the first would be counted from the end of the list.
            picked = f"(CAST([{entries}] AS {kind}[]))[{number} - ({least}) + 1]"
            return f"CASE WHEN {number} BETWEEN {least} AND {self._numbers[-1]} THEN {picked} END"
        if self._listed:
            place = f"list_position([{sql.listed(map(sql.text, self._present))}], {self.text})"
        else:
            place = f"enum_code(TRY_CAST({self.text} AS {self.type_name})) + 1"
        return f"(CAST([{sql.listed(present)}] AS {kind}[]))[{place}]"


def enumeration(name: str, texts: Sequence[str]) -> Iterator[str]:
    """Yield the statements that make an enumeration of texts."""
    yield f"DROP TYPE IF EXISTS {name}"
    yield f"CREATE TEMP TYPE {name} AS ENUM ({sql.listed(map(sql.text, texts))})"


def packed(packing: Packing, parts: Sequence[str]) -> list[str]:
    """Return the words of a packed key from the shifted codes; a column whose code is 0 may have none."""
    words: list[list[str]] = [[] for _ in range(packing.words)]
    for place, part in enumerate(parts):
        if part:
            words[int(packing.word[place])].append(part)
    return [f"({' | '.join(word) or 'CAST(0 AS UBIGINT)'})" for word in words]


def as_text(column: str, strip: bool = False, table: str = "s") -> str:
    """Return the expression of a value's text."""
    cast = f"CAST({table}.{sql.name(column)} AS VARCHAR)"
    return f"nullif(trim({cast}, {sql.text(WHITE_SPACE)}), '')" if strip else cast


def plain_key_of(text: str) -> str:
    """Return the expression of a normalized person key; most keys are normalized already and only tested."""
    bare = f"regexp_replace(lower({text}), {sql.text(SIGNS)}, '', 'g')"
    noisy = f"regexp_matches({text}, {sql.text(NOISE)}) AND NOT starts_with({text}, '-')"
    return f"CASE WHEN {noisy} THEN coalesce(nullif({bare}, ''), {text}) ELSE {text} END"


def required(reading: MissingRules, strip: bool) -> str:
    """Return the test that no required value is missing; empty if none is required."""
    tests = []
    for column in reading.required:
        value = as_text(column, strip)
        tests.append(f"{value} IS NOT NULL")
        if reading.missing:
            tests.append(f"{value} NOT IN ({sql.listed(map(sql.text, reading.missing))})")
    return " AND ".join(tests)


def filtered(reading: MissingRules, strip: bool) -> str:
    """Return the clause that drops rows with a missing required value; empty if none is required."""
    test = required(reading, strip)
    return f" WHERE {test}" if test else ""


def locating(table: str, column: str, texts: Sequence[str], limit: int, strip: bool) -> str:
    """Return the statement that finds the first rows with one of some texts."""
    numbers = f"SELECT row_number() OVER () AS place, {as_text(column, strip)} AS value FROM {table} AS s"
    wanted = sql.listed(map(sql.text, texts))
    return f"SELECT place FROM ({numbers}) WHERE value IN ({wanted}) ORDER BY place LIMIT {int(limit)}"


class RecodingApplier(JoinTables):
    """A recoding to apply to the rows of a source.

    If columns are dictionary-encoded, codes are selected from lists (dictionary_columns.py) instead of being joined.

    Attributes:
        kinds: The DuckDB types of dictionary-encoded columns, as in Parquet.
    """

    source: Source
    reading: MissingRules
    strip: bool = False
    partition: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)

    @property
    def published_columns(self) -> tuple[str, ...]:
        """The names of the columns in the release."""
        return self.with_class_column(self.source.columns)

    @property
    def person_key(self) -> str:
        """The expression of a row's person key, as in keyed_hashes.py; integers are not normalized."""
        person = self.handling.person or ""
        key, text = sql.text(self.handling.person_key), as_text(person, self.strip)
        plain = text if self.kinds.get(person) in INTEGERS else plain_key_of(text)
        return f"substr(sha256(concat({key}, {plain})), 1, 32)"

    def person_keys(self) -> Iterator[str]:
        """Yield the statement that makes the table of persons and keys, if a single column can be read cheaply.

        Hashing a key costs more than finding it in a table, but less than reading a text file again.
        """
        if not self.kinds:
            return
        name = sql.name(self.handling.person or "")
        persons = f"(SELECT DISTINCT s.{name} FROM {self.source.table} AS s)"
        keys = f"SELECT s.{name} AS person, {self.person_key} AS key FROM {persons} AS s"
        yield f"CREATE OR REPLACE TEMP TABLE person_keys AS {keys}"

    def with_person_keys(self, rows: str) -> str:
        """Return the rows with their person keys, in no particular order."""
        if not self.kinds:
            return f"(SELECT s.*, {self.person_key} AS {PERSON} FROM {rows} AS s)"
        name = sql.name(self.handling.person or "")
        found = f"{rows} AS s JOIN person_keys AS q ON s.{name} IS NOT DISTINCT FROM q.person"
        return f"(SELECT s.*, q.key AS {PERSON} FROM {found})"

    @property
    def picks(self) -> bool:
        """Whether codes are selected from lists instead of being joined."""
        return bool(self.kinds) and all(len(coding.texts) <= MAX_TEXTS for coding in self.recoding.codings)

    def pickers(self) -> tuple[DictionaryExpression, ...]:
        """Return the dictionary expressions of the quasi-identifiers."""
        pairs = enumerate(zip(self.recoding.columns, self.recoding.codings, strict=True))
        return tuple(
            DictionaryExpression(
                f"texts{place}", as_text(name, self.strip), coding.texts, self.kinds.get(name, ""), sql.name(name)
            )
            for place, (name, coding) in pairs
        )
