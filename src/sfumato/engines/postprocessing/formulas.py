"""Quote cells of published CSV files that a spreadsheet would compute, if the plan asks for it."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from sfumato.delimited.formulas import FORMULA, NUMBER, QUOTED, plain_cell, quoted_cell
from sfumato.engines import sql
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.duckdb.writing import copy_statement
from sfumato.engines.engine import Engine
from sfumato.errors import InternalError
from sfumato.microdata.data_plan import DataPlan


def quote_formulas(path: Path, columns: Sequence[str], separator: str) -> bool:
    """Quote the formulas of a CSV file that Sfumato wrote, and return whether there were any.

    Raises:
        InternalError: The written file is not as intended; the original one remains.
    """
    with closing(DuckDBEngine.of_published(path, columns, separator)) as engine:
        table = engine.source.table
        heads = tuple(map(quoted_cell, columns))
        cells = f"SELECT 1 FROM {table} WHERE {' OR '.join(map(_is_formula, columns))} LIMIT 1"
        if heads == tuple(columns) and not engine.ask(cells):
            return False
        part = path.with_name(f"quoted-{path.name}")
        pairs = zip(columns, heads, strict=True)
        quoted = sql.listed(f"{_quoted(name)} AS {sql.name(head)}" for name, head in pairs)
        engine.ask(copy_statement(f"SELECT {quoted} FROM {table}", part, separator))
        with closing(DuckDBEngine.of_published(part, heads, separator)) as written:
            _check(engine, unquoted(written))
    part.replace(path)
    return True


def separator_of(published: Engine, asked: str | None) -> str:
    """Return the separator for published rows: that of the source file if there was one."""
    of_file = getattr(published, "separator", None) or getattr(getattr(published, "source", None), "separator", None)
    return of_file or asked or ","


def unquoted(engine: DuckDBEngine) -> DuckDBEngine:
    """Return the engine of a CSV file with quoted formulas, which are read unquoted, including column names."""
    names = tuple(map(plain_cell, engine.columns))
    pairs = zip(engine.columns, names, strict=True)
    values = sql.listed(f"{_plain(head)} AS {sql.name(name)}" for head, name in pairs)
    table = f"(SELECT {values} FROM {engine.source.table})"
    engine.source = replace(engine.source, table=table, columns=names, numbered="")
    return engine


def open_published(path: Path, reading: DataPlan, quotes: bool, opens: Sequence[Path] = ()) -> DuckDBEngine:
    """Open a file of published rows, in which formulas may be quoted as its plan requests.

    Args:
        opens: Further files that are read with it.
    """
    engine = DuckDBEngine(path, reading, opens=opens)
    return unquoted(engine) if quotes and path.suffix == ".csv" else engine


def _check(before: DuckDBEngine, after: DuckDBEngine) -> None:
    """Compare each cell read from the new file with that of the original one."""
    pairs = ((f"b.{sql.name(name)}", f"a.{sql.name(name)}") for name in before.columns)
    differs = " OR ".join(f"{old} IS DISTINCT FROM {new}" for old, new in pairs)
    both = f"{before.source.table} AS b POSITIONAL JOIN {after.source.table} AS a"
    if before.ask(f"SELECT 1 FROM {both} WHERE {differs} LIMIT 1"):
        raise InternalError("formulas")


def _is_formula(name: str) -> str:
    """Return the SQL test whether a cell must be quoted."""
    value = sql.name(name)
    starts = f"regexp_matches({value}, {sql.text(FORMULA)})"
    return f"({starts} AND NOT regexp_full_match({value}, {sql.text(NUMBER)}))"


def _quoted(name: str) -> str:
    value = sql.name(name)
    return f"CASE WHEN {_is_formula(name)} THEN '''' || {value} ELSE {value} END"


def _plain(name: str) -> str:
    value = sql.name(name)
    return f"CASE WHEN regexp_matches({value}, {sql.text(QUOTED)}) THEN substr({value}, 2) ELSE {value} END"
