"""Add the bounds of published intervals as columns of files and frames."""

from collections.abc import Mapping
from pathlib import Path

from sfumato.engines import sql
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.duckdb.writing import copy_statement
from sfumato.engines.engine import Engine, MissingRules, PublishedRows
from sfumato.engines.keyed_hashes import PERSONS_FILE
from sfumato.errors import PlanError
from sfumato.hierarchies.label_bounds import Bounds, bounds_of, is_whole
from sfumato.microdata.plan.model import Plan


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
        from sfumato.engines.dataframes.interval_bounds import with_interval_bounds

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
    select = f"SELECT {sql.listed(['*', *further])} FROM {published.source.table}"
    published.ask(copy_statement(select, part, separator))
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
    return f"([{numbers}]::{kind}[])[list_position([{texts}], {sql.name(name)})]"
