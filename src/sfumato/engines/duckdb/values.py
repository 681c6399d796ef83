"""Values as DuckDB reads them: every type with the one text that it has on all engines, or refused."""

from collections.abc import Sequence
from typing import Any

from sfumato.engines import sql
from sfumato.engines.texts import no_text

WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
# Types whose values are published as they are.
PLAIN = {
    *WHOLE,
    *(f"U{kind}" for kind in WHOLE),
    *("VARCHAR", "BOOLEAN", "UUID", "DATE", "TIME", "TIME_NS"),
    *("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"),
}
FLOATS = ("DOUBLE", "FLOAT")
# Types whose values are published as texts: an enumeration would show values of rows that are not published, and whole
# numbers of more than 64 bits would be rounded in a Parquet file.
WORDS = ("ENUM", "JSON", '"NULL"', "HUGEINT", "UHUGEINT", "BIGNUM")


def with_one_text(table: str, described: Sequence[tuple[Any, ...]]) -> str:
    """The table with values that have one text each.

    Args:
        table: A table expression.
        described: Name and type of each of its columns.

    Raises:
        DataError: A column's type has no text that is the same on every engine.
    """
    changed = [(name, expression) for name, kind, *_ in described if (expression := _value(name, kind))]
    if not changed:
        return table
    replaced = sql.listed(f"{expression} AS {sql.name(name)}" for name, expression in changed)
    return f"(SELECT * REPLACE ({replaced}) FROM {table})"


def _value(name: str, kind: str) -> str:
    """The expression of a column's values; empty where they are taken as they are."""
    quoted = sql.name(name)
    if kind in PLAIN or kind.startswith("DECIMAL("):
        return ""
    if kind in FLOATS:
        number = quoted if kind == "DOUBLE" else _shortest(quoted)
        # Not-a-number is missing; -0.0 equals 0.0 and must not be published as another text. It is asked for
        # through a list: of the column itself DuckDB believes a Parquet file's statistics, which know no such value.
        return f"CASE WHEN NOT isnan(list_value({quoted})[1]) THEN {number} + CAST(0 AS DOUBLE) END"
    if kind.startswith(WORDS):
        return f"CAST({quoted} AS VARCHAR)"
    raise no_text(name)


def _shortest(number: str) -> str:
    """A number of single precision as the double with the fewest digits that tell it, as in texts.py."""
    wide = f"CAST({number} AS DOUBLE)"
    written = [f"CAST(format('{{:.{digits}g}}', {wide}) AS DOUBLE)" for digits in range(6, 10)]
    cases = " ".join(f"WHEN CAST({short} AS FLOAT) = {number} THEN {short}" for short in written[:-1])
    return f"CASE {cases} ELSE {written[-1]} END"
