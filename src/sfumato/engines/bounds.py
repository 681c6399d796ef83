"""Bounds of published intervals as columns of their own, in files and frames."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw

from sfumato.engines import sql
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.duckdb.writing import copy_statement
from sfumato.engines.engine import Engine, PublishedRows, Reading
from sfumato.engines.frames.engine import FrameEngine
from sfumato.engines.order import PERSON, PERSONS_FILE
from sfumato.errors import PlanError
from sfumato.hierarchies.bounds import Bounds, bounds_of, in_order
from sfumato.microdata.plan.model import Plan


def with_bounds(published: PublishedRows, plan: Plan) -> PublishedRows:
    """Published rows with two columns of numbers for each column of intervals, where the plan asks for them.

    Raises:
        PlanError: Neither a file nor a frame is published.
    """
    names = plan.bound_columns
    if not names:
        return published
    labels = {name: _bounds(published, name) for name in names}
    if isinstance(published, FrameEngine):
        return _frame(published, names, labels)
    if isinstance(published, DuckDBEngine) and isinstance(published.data(), Path):
        return _file(published, names, labels, with_persons=plan.person is not None)
    raise PlanError("output.intervals: bounds goes with files and frames.", "Leave it out.", "bounds")


def _bounds(published: Engine, name: str) -> dict[str, Bounds]:
    texts = published.count((name,), Reading()).values[0]
    return {text: bounds_of(text) for text in texts if text is not None}


def _is_whole(labels: Mapping[str, Bounds]) -> bool:
    return all(number is None or number.is_integer() for bounds in labels.values() for number in bounds)


def _frame(
    published: FrameEngine, names: Mapping[str, tuple[str, str]], labels: Mapping[str, Mapping[str, Bounds]]
) -> FrameEngine:
    """The frame with the columns of bounds; intervals are categories in order where the library has such."""
    frame: Any = nw.from_native(published.data(), eager_only=True)
    backend = nw.get_native_namespace(frame)
    further = []
    for name, pair in names.items():
        texts = published.texts(name)
        kind = nw.Int64 if _is_whole(labels[name]) else nw.Float64
        for side, column in enumerate(pair):
            numbers = [None if text is None else labels[name][text][side] for text in texts]
            further.append(_series(column, numbers, kind, backend))
        if not frame.implementation.is_pyarrow():
            further.append(_ordered(name, texts, in_order(labels[name]), backend))
    answer = FrameEngine(frame.with_columns(*further).to_native(), published.notes)
    answer.person_keys = published.person_keys
    if PERSON in published._coded:
        answer._coded[PERSON] = published._coded[PERSON]
    return answer


def _series(name: str, numbers: Sequence[float | None], kind: Any, backend: Any) -> Any:
    """Numbers, of which some may be missing; pandas keeps whole ones whole in a type of its own."""
    whole = kind is nw.Int64
    values = [None if number is None else int(number) if whole else number for number in numbers]
    if backend.__name__ == "pandas":
        return nw.from_native(
            backend.Series(values, name=name, dtype="Int64" if whole else "Float64"), series_only=True
        )
    return nw.new_series(name, values, kind, backend=backend)


def _ordered(name: str, texts: Sequence[str | None], categories: Sequence[str], backend: Any) -> Any:
    if backend.__name__ == "pandas":
        values = backend.Categorical(texts, categories=categories, ordered=True)
        return nw.from_native(backend.Series(values, name=name), series_only=True)
    return nw.new_series(name, list(texts), nw.Enum(categories), backend=backend)


def _file(
    published: DuckDBEngine,
    names: Mapping[str, tuple[str, str]],
    labels: Mapping[str, Mapping[str, Bounds]],
    with_persons: bool,
) -> DuckDBEngine:
    """The file written again with the columns of bounds, its rows in the same order."""
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
    """The expression for one end of a label; a label without it has none."""
    known = [(text, bounds[side]) for text, bounds in labels.items() if bounds[side] is not None]
    kind = "BIGINT" if _is_whole(labels) else "DOUBLE"
    if not known:
        return f"NULL::{kind}"
    texts = sql.listed(sql.text(text) for text, _ in known)
    numbers = sql.listed(repr(number) for _, number in known)
    return f"([{numbers}]::{kind}[])[list_position([{texts}], {sql.name(name)})]"
