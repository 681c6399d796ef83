"""Cells that a spreadsheet would compute, in published CSV files: quoted where the plan asks for it, and read back.

A cell that begins with `=`, `+`, `-` or `@` and is no number is a formula to a spreadsheet that opens the file. An
apostrophe before it makes it a text. A cell that already begins with apostrophes before such a sign gets a further one,
so that what stood there can always be had back, and different values stay different.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from sfumato.engines import sql
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.duckdb.writing import copy_statement
from sfumato.engines.engine import Engine
from sfumato.errors import InternalError

# White space counts: spreadsheets pass over some of it. The wide forms of the signs are formulas in some languages.
SIGNS = r"[=+\-@\t\r\n＝＋－＠]"
FORMULA, QUOTED = f"^'*{SIGNS}", f"^'+{SIGNS}"
NUMBER = r"[+-]?[0-9]+([.,][0-9]+)?([eE][+-]?[0-9]+)?"


def quote_formulas(path: Path, columns: Sequence[str], separator: str) -> bool:
    """Quote the formulas of a CSV file that Sfumato wrote; whether there were any, else the file stays as it is.

    Raises:
        InternalError: The file written is not what was asked for; the former one stays.
    """
    with closing(DuckDBEngine.of_published(path, columns, separator)) as engine:
        table = engine.source.table
        if not engine.ask(f"SELECT 1 FROM {table} WHERE {' OR '.join(map(_is_formula, columns))} LIMIT 1"):
            return False
        part = path.with_name(f"quoted-{path.name}")
        quoted = sql.listed(f"{_quoted(name)} AS {sql.name(name)}" for name in columns)
        engine.ask(copy_statement(f"SELECT {quoted} FROM {table}", part, separator))
        with closing(DuckDBEngine.of_published(part, columns, separator)) as written:
            _check(engine, unquoted(written))
    part.replace(path)
    return True


def separator_of(published: Engine, asked: str | None) -> str:
    """The separator of the file of published rows: that of the file which was read, where it was one."""
    of_file = getattr(published, "separator", None) or getattr(getattr(published, "source", None), "separator", None)
    return of_file or asked or ","


def unquoted(engine: DuckDBEngine) -> DuckDBEngine:
    """The engine of a CSV file whose formulas are quoted, told as what they were."""
    values = sql.listed(f"{_plain(name)} AS {sql.name(name)}" for name in engine.columns)
    engine.source = replace(engine.source, table=f"(SELECT {values} FROM {engine.source.table})", numbered="")
    return engine


def _check(before: DuckDBEngine, after: DuckDBEngine) -> None:
    """Row by row and cell by cell, what can be read from the file is what stood in it before."""
    pairs = ((f"b.{sql.name(name)}", f"a.{sql.name(name)}") for name in before.columns)
    differs = " OR ".join(f"{old} IS DISTINCT FROM {new}" for old, new in pairs)
    both = f"{before.source.table} AS b POSITIONAL JOIN {after.source.table} AS a"
    if before.ask(f"SELECT 1 FROM {both} WHERE {differs} LIMIT 1"):
        raise InternalError("the file with quoted formulas is not what was published.", code="formulas")


def _is_formula(name: str) -> str:
    """The test that a cell must be quoted."""
    value = sql.name(name)
    starts = f"regexp_matches({value}, {sql.text(FORMULA)})"
    return f"({starts} AND NOT regexp_full_match({value}, {sql.text(NUMBER)}))"


def _quoted(name: str) -> str:
    value = sql.name(name)
    return f"CASE WHEN {_is_formula(name)} THEN '''' || {value} ELSE {value} END"


def _plain(name: str) -> str:
    value = sql.name(name)
    return f"CASE WHEN regexp_matches({value}, {sql.text(QUOTED)}) THEN substr({value}, 2) ELSE {value} END"
