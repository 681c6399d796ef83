"""Changes to files after they were written: quoted formulas, bounds of published intervals."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from sfumato.delimited.records import FORMULA, NUMBER, QUOTED, plain_cell, quoted_cell
from sfumato.engines import sql
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.duckdb.expressions import as_text
from sfumato.engines.duckdb.writing import copy_statement, finish_copy
from sfumato.engines.engine import Engine, MissingRules, PublishedRows
from sfumato.engines.join_keys import PERSONS_FILE
from sfumato.errors import InternalError, PlanError
from sfumato.formats import CSV, format_named
from sfumato.hierarchies.label_bounds import Bounds, bounds_of, is_whole
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.plan.model import Plan
from sfumato.values import replace


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
    return unquoted(engine) if quotes and format_named(path) is CSV else engine


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


def with_bounds(published: PublishedRows, plan: Plan) -> PublishedRows:
    """Return published rows with two bound columns for each interval column, if the plan requests them.

    Raises:
        PlanError: Neither a file nor a frame is published.
    """
    names = plan.bound_columns
    if not names:
        return published
    labels = {name: _bounds(published, name) for name in names}
    if isinstance(published, DuckDBEngine):
        if isinstance(published.data(), Path):
            return _file(published, names, labels, with_persons=plan.person is not None)
    elif published.name == "frames":
        # Frames need a library that files do not.
        from sfumato.engines.dataframes.engine import with_interval_bounds

        return with_interval_bounds(published, names, labels)
    raise PlanError("bounds")


def _bounds(published: Engine, name: str) -> dict[str, Bounds]:
    texts = published.count((name,), MissingRules()).values[0]
    return {text: bounds_of(text) for text in texts if text is not None}


def _file(
    published: DuckDBEngine,
    names: Mapping[str, tuple[str, str]],
    labels: Mapping[str, Mapping[str, Bounds]],
    with_persons: bool,
) -> DuckDBEngine:
    """Write the file again with bound columns, with its rows in the same order."""
    path, separator = published.path, published.source.separator
    further = [
        f"{_lookup(name, labels[name], side)} AS {sql.name(column)}"
        for name, pair in names.items()
        for side, column in enumerate(pair)
    ]
    part = path.with_name(f"bounds-{path.name}")
    select = f"SELECT {sql.listed(['*', *further])} FROM {published.source.table} AS s"
    published.ask(copy_statement(select, part, separator))
    finish_copy(part)
    columns = (*published.columns, *(column for pair in names.values() for column in pair))
    published.close()
    part.replace(path)
    answer = DuckDBEngine.of_published(path, columns, separator, published.plan)
    if with_persons:
        answer.attach_persons(path.with_name(PERSONS_FILE))
    return answer


def _lookup(name: str, labels: Mapping[str, Bounds], side: int) -> str:
    """Return the SQL expression of one bound of a label; null if the label has none."""
    known = [(text, bounds[side]) for text, bounds in labels.items() if bounds[side] is not None]
    kind = "BIGINT" if is_whole(labels) else "DOUBLE"
    if not known:
        return f"NULL::{kind}"
    texts = sql.listed(sql.text(text) for text, _ in known)
    numbers = sql.listed(repr(number) for _, number in known)
    return f"([{numbers}]::{kind}[])[list_position([{texts}], {as_text(name)})]"
