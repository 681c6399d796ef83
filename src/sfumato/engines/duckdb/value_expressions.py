"""Convert values of every type in DuckDB to the one text that all engines share, or exclude them."""

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.engines import sql
from sfumato.engines.canonical_text import WHITE_SPACE
from sfumato.microdata.data_plan import DataPlan, code_texts

WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
# Types whose values are published unchanged.
PLAIN = {
    *WHOLE,
    *(f"U{kind}" for kind in WHOLE),
    *("VARCHAR", "BOOLEAN", "UUID", "DATE", "TIME", "TIME_NS"),
    *("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"),
}
FLOATS = ("DOUBLE", "FLOAT")
# Types whose values are published as texts: an enumeration would show values of unpublished rows, and integers of more
# than 64 bits would be rounded in a Parquet file.
WORDS = ("ENUM", "JSON", '"NULL"', "HUGEINT", "UHUGEINT", "BIGNUM")


def with_one_text(table: str, described: Sequence[tuple[Any, ...]]) -> str:
    """Return the table with one text for each value, and without columns that have none.

    Args:
        table: A table expression.
        described: Name and type of each of its columns.
    """
    changed = [(name, expression) for name, kind, *_ in described if (expression := _value(name, kind))]
    unread = sql.listed(map(sql.name, textless_in(described)))
    if not changed and not unread:
        return table
    replaced = sql.listed(f"{expression} AS {sql.name(name)}" for name, expression in changed)
    chosen = (f" EXCLUDE ({unread})" if unread else "") + (f" REPLACE ({replaced})" if replaced else "")
    return f"(SELECT *{chosen} FROM {table})"


def without_codes(table: str, kinds: Mapping[str, str], data: DataPlan) -> str:
    """Return the table with codes that mean missing in one column replaced by null.

    Args:
        table: A table expression.
        kinds: The types of its columns that have texts.
        data: How they are read.
    """
    replaced = sql.listed(
        f"CASE WHEN {_text(name, data.strip)} IN "
        f"({sql.listed(map(sql.text, code_texts(codes, decimals=_is_decimal(kinds[name]))))}) "
        f"THEN NULL ELSE {sql.name(name)} END AS {sql.name(name)}"
        for name, codes in data.codes.items()
        if name in kinds
    )
    return f"(SELECT * REPLACE ({replaced}) FROM {table})" if replaced else table


def _text(name: str, strip: bool) -> str:
    text = f"CAST({sql.name(name)} AS VARCHAR)"
    return f"trim({text}, {sql.text(WHITE_SPACE)})" if strip else text


def textless_in(described: Sequence[tuple[Any, ...]]) -> tuple[str, ...]:
    """Return the columns whose types have no text that is the same on every engine."""
    return tuple(name for name, kind, *_ in described if not (_is_plain(kind) or kind in FLOATS or _is_worded(kind)))


def _is_plain(kind: str) -> bool:
    return kind in PLAIN or _is_decimal(kind)


def _is_decimal(kind: str) -> bool:
    return kind.startswith("DECIMAL(") and kind.endswith(")")


def _is_worded(kind: str) -> bool:
    return kind.startswith(WORDS) and not kind.endswith("]")


def _value(name: str, kind: str) -> str:
    """Return the expression of a column's values; empty if they are unchanged."""
    quoted = sql.name(name)
    if kind in FLOATS:
        number = quoted if kind == "DOUBLE" else _shortest(quoted)
        # NaN is missing; -0.0 equals 0.0 and must have the same text. NaN is tested through a list, because for the
        # column itself DuckDB trusts the statistics of a Parquet file, which ignore NaN.
        return f"CASE WHEN NOT isnan(list_value({quoted})[1]) THEN {number} + CAST(0 AS DOUBLE) END"
    return f"CAST({quoted} AS VARCHAR)" if _is_worded(kind) else ""


def _shortest(number: str) -> str:
    """Return a single-precision number as the shortest double that identifies it, as in canonical_text.py."""
    wide = f"CAST({number} AS DOUBLE)"
    written = [f"CAST(format('{{:.{digits}g}}', {wide}) AS DOUBLE)" for digits in range(6, 10)]
    cases = " ".join(f"WHEN CAST({short} AS FLOAT) = {number} THEN {short}" for short in written[:-1])
    return f"CASE {cases} ELSE {written[-1]} END"
