"""Expressions with which DuckDB applies a recoding: texts of values, rows to keep, lookups of labels."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from sfumato.dataclass import dataclass
from sfumato.engines import sql
from sfumato.engines.canonical_text import WHITE_SPACE
from sfumato.engines.duckdb.dictionary_columns import INTEGERS, MAX_TEXTS, DictionaryExpression
from sfumato.engines.duckdb.sources import Source
from sfumato.engines.engine import MissingRules
from sfumato.engines.join_tables import JoinTables
from sfumato.engines.keyed_hashes import PERSON
from sfumato.hierarchies.person_keys import NOISE, SIGNS


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


@dataclass(frozen=True, slots=True)
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
