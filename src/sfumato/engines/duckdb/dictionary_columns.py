"""Lookup lists: an SQL expression that maps the value of a column to the entry that belongs to it.

Of three ways the fastest is chosen that the column allows. A whole number is its own index into a list. A text of a
dictionary-encoded column is searched in the list of all texts: DuckDB does that once per dictionary entry, not per row.
Any other value is cast to an enumeration of the texts.

An unknown value yields no entry. This is no error, because DuckDB may evaluate the lookup of a row before the test that
drops the row. If a row is kept without an entry, the recount detects it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from sfumato.dataclass import dataclass
from sfumato.engines import sql
from sfumato.microdata.counts.key_packing import Packing

INTEGERS = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"})
# Maximum length of a list that is searched for each dictionary entry, or for each row of a part without a dictionary.
MAX_LISTED = 64
MAX_SPAN = 2_000
LEAST = -(1 << 62)
# The text of an integer in an integer column; texts of a population may differ.
_NUMBER = re.compile(r"0|-?[1-9]\d{0,18}", re.ASCII)
# Lists are constants of the statement; with more texts per column, a join is cheaper.
MAX_TEXTS = 2_000


@dataclass(frozen=True)
class DictionaryExpression:
    """The dictionary expressions of one column.

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
