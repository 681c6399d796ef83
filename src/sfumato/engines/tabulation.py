"""Convert frames and files to tables and back: plain columns, tabulated microdata, crosstabs."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from sfumato.engines import sql
from sfumato.engines.dataframes import sources as frames
from sfumato.engines.record_keys import RecordKeys
from sfumato.engines.spark.session import is_spark_frame
from sfumato.engines.sql import check_header
from sfumato.errors import DataError, PlanError, did_you_mean
from sfumato.microdata.data_plan import DataPlan
from sfumato.tables.cells.system import Numbers
from sfumato.tables.crosstabs.crosstabs import Crosstab
from sfumato.tables.tabulate import WORD, Base, by_weight
from sfumato.values import replace

# Characters removed at both ends of a code, for frames and files alike.
BLANKS = " \t\r\n"
# Libraries for frames, in order of preference.
FRAMES = ("polars", "pandas", "pyarrow")


def columns_of(frame: Any) -> dict[str, tuple[str, ...]]:
    """Return every column of a frame as texts, empty if missing; integers have no decimal point."""
    eager = _eager(frame)
    return {str(name): _texts(eager[name]) for name in eager.columns}


def columns_of_file(path: Path, table: str | None = None) -> dict[str, tuple[str, ...]]:
    """Return every column of a workbook, Parquet or JSON file as texts; the first row of a workbook has the names."""
    from sfumato.engines.duckdb.engine import DuckDBEngine

    with closing(DuckDBEngine(path, DataPlan(table=table, header=True))) as engine:
        names = engine.columns
        chosen = sql.listed(f"cast({sql.name(name)} as varchar)" for name in names)
        rows = engine.ask(f"select {chosen} from {engine.source.table}")
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return {name: tuple(_text(value) for value in column) for name, column in zip(names, columns, strict=True)}


def _texts(column: Any) -> tuple[str, ...]:
    pairs = zip(column.to_list(), column.is_null().to_list(), strict=True)
    return tuple("" if missing else _text(value) for value, missing in pairs)


def _eager(frame: Any) -> "nw.DataFrame[Any]":
    try:
        return frames.eager(frame)
    except DataError as error:
        if error.code != "data.frame":
            raise
        raise PlanError("no-frame", word=type(frame).__name__) from None


def _text(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip(BLANKS)


def with_columns(frame: Any, new: Mapping[str, Sequence[str]]) -> Any:
    """Return the frame with text columns added."""
    eager = _eager(frame)
    series = [nw.new_series(name, list(texts), nw.String, backend=eager.implementation) for name, texts in new.items()]
    return eager.with_columns(*series).to_native()


def frame_of(like: Any, columns: Mapping[str, list[Any]]) -> Any:
    """Return columns as the kind of frame passed in, or as an installed one for paths and Spark frames."""
    path = isinstance(like, str | Path) or is_spark_frame(like)
    return frames.frame_of(columns, frames.installed(*FRAMES) if path else _eager(like).implementation)


def base_of(
    data: Any,
    names: Sequence[str],
    value: str | None,
    weight: str | None,
    holding: str | None,
    top: int,
    reading: DataPlan | None = None,
    records: RecordKeys | None = None,
) -> Base:
    """Count microdata by the finest codes, with the sums of record keys if there are any.

    Raises:
        PlanError: A column does not exist.
        DataError: A value or weight is not a number, or a record has no key or holding.
    """
    if value is None and holding is not None:
        weight = None  # counts are of records, and so are the contributions of holdings
    base = _base_of(data, names, (value, weight, holding), top, reading or DataPlan(), records)
    unnamed = sum(count for count, name in zip(base.counts.tolist(), base.holdings, strict=bool(holding)) if not name)
    if holding and unnamed:
        raise _no_holding(holding, int(unnamed))
    return base


def _base_of(
    data: Any,
    names: Sequence[str],
    special: tuple[str | None, str | None, str | None],
    top: int,
    reading: DataPlan,
    records: RecordKeys | None,
) -> Base:
    """Count microdata with the engine that fits its source."""
    value, weight, holding = special
    if isinstance(data, str | Path):
        return _counted(Path(data), names, special, top, reading, records)
    if is_spark_frame(data):
        return _counted_in_spark(data, names, special, top, records)
    columns = columns_of(data)
    named = None if records is None else records.column
    asked = [*names, *(name for name in (value, weight, holding, named) if name)]
    _check_columns(asked, tuple(columns))
    size = len(next(iter(columns.values()), ()))
    values, weights = (_numbers(columns, name, size) for name in (value, weight))
    owners, amounts = np.arange(size), values * weights
    if weight and not holding:
        owners, amounts = by_weight(owners, values, weights, top)
    return Base(
        codes={name: columns[name] for name in names},
        counts=np.ones(size),
        sums=values * weights,
        owners=owners,
        amounts=amounts,
        holdings=columns[holding] if holding else (),
        keys=() if records is None else tuple(records.of_texts(columns[records.column])),
        modulus=WORD if records is None else records.modulus,
    )


def _check_columns(asked: Sequence[str], columns: tuple[str, ...]) -> None:
    check_header(asked, columns)
    for name in asked:
        if name not in columns:
            raise PlanError("no-column.in_data", hint=did_you_mean(name, columns), column=name)


def _numbers(columns: Mapping[str, tuple[str, ...]], name: str | None, size: int) -> Numbers:
    if name is None:
        return np.ones(size)
    try:
        numbers = np.array([float(text) for text in columns[name]], np.float64)
    except ValueError:
        raise _not_a_number(name) from None
    if not np.isfinite(numbers).all():
        raise _not_a_number(name)
    return numbers


def _not_a_number(name: str) -> DataError:
    return DataError("not-a-number.in_column", column=name).about(column=name)


def _no_holding(name: str, records: int) -> DataError:
    """Return the error for records without a holding, which would count as one holding."""
    return DataError("no-holding", column=name, count=records).about(column=name)


def _counted(
    path: Path,
    names: Sequence[str],
    special: tuple[str | None, str | None, str | None],
    top: int,
    reading: DataPlan,
    records: RecordKeys | None = None,
) -> Base:
    """Count with one group-by in DuckDB; only the largest contributions, or one for each holding, are transferred."""
    from sfumato.engines.duckdb.engine import DuckDBEngine

    value, weight, holding = special
    with closing(DuckDBEngine(path, reading)) as engine:
        own = [] if records is None else [records.column]
        _check_columns([*names, *filter(None, special), *own], engine.columns)
        keys = names if holding is None else [*names, holding]
        rows = engine.ask(_grouping(engine.source.table, keys, (value, weight), 0 if holding else top, records))
        engine.check_rows(sum(int(row[-3]) for row in rows))
        if records is not None:
            _check_records(engine.ask, engine.source.table, records)
    return _checked_base(rows, names, special, top, records)


def _check_records(ask: Callable[[str], Sequence[Any]], table: str, records: RecordKeys) -> None:
    """Refuse duplicate record names, and keys that do not fill their range."""
    text = records.text_in_sql(_trimmed(records.column))
    if records.secret is None:
        bins, few = ask(records.bins_in_sql(text, table)), ask(records.few_in_sql(text, table))
        records.refuse_narrow(records.spread_of_bins(bins, few))
    else:
        records.refuse_twins(int(ask(f"select {records.twins_in_sql(text)} from {table}")[0][0]))


def _counted_in_spark(
    frame: Any,
    names: Sequence[str],
    special: tuple[str | None, str | None, str | None],
    top: int,
    records: RecordKeys | None,
) -> Base:
    from sfumato.engines.spark.tabulation import grouped_rows

    value, weight, holding = special
    own = [] if records is None else [records.column]
    _check_columns([*names, *filter(None, special), *own], tuple(frame.columns))
    keys = names if holding is None else [*names, holding]
    rows = grouped_rows(frame, keys, (value, weight), 0 if holding else top, records)
    return _checked_base(rows, names, special, top, records)


def _checked_base(
    rows: Sequence[tuple[Any, ...]],
    names: Sequence[str],
    special: tuple[str | None, str | None, str | None],
    top: int,
    records: RecordKeys | None,
) -> Base:
    value, weight, holding = special
    if any(row[-4] for row in rows):
        raise _not_a_number(value or weight or "")
    base = _base(rows, names, bool(holding), top)
    if records is None:
        return base
    if any(row[-5] is None for row in rows):
        raise records.fault()
    return replace(base, keys=tuple(int(row[-5]) for row in rows), modulus=records.modulus)


def _grouping(
    table: str, keys: Sequence[str], factors: Sequence[str | None], top: int, records: RecordKeys | None = None
) -> str:
    """Return the statement for keys, sum of record keys, invalid amounts, rows, sum, and largest values."""
    texts = sql.listed(map(_trimmed, keys))
    if records is not None:
        texts = f"{texts}, {records.sum_in_sql(records.text_in_sql(_trimmed(records.column)))}"
    value, weight = (f"try_cast({sql.name(name)} as double)" if name else "1.0" for name in factors)
    amount = f"{value} * {weight}"
    places = sql.listed(str(place + 1) for place in range(len(keys)))
    by_size = f"max_by([{value}, {weight}], (abs({value}), {value}), {top})"
    largest = by_size if top else f"[[sum({amount}), 1.0]]"
    broken = f"count(*) filter (where not coalesce(isfinite({amount}), false))"
    chosen = f"{texts}, {broken}, count(*), sum({amount}), {largest}"
    return f"select {chosen} from {table} group by {places} order by {places}"


def _trimmed(name: str) -> str:
    """Return the SQL expression of a column as text without blanks at its ends, empty if missing."""
    blanks = " || ".join(f"chr({ord(blank)})" for blank in BLANKS)
    return f"coalesce(trim(cast({sql.name(name)} as varchar), {blanks}), '')"


def _base(rows: Sequence[tuple[Any, ...]], names: Sequence[str], with_holdings: bool, top: int) -> Base:
    size = len(names)
    tops = [row[-1] for row in rows]
    owners = np.repeat(np.arange(len(rows)), [len(part) for part in tops])
    pairs = np.array([pair for part in tops for pair in part], np.float64).reshape(-1, 2)
    owners, amounts = (owners, pairs[:, 0]) if with_holdings else by_weight(owners, pairs[:, 0], pairs[:, 1], top)
    return Base(
        codes={name: tuple(row[place] for row in rows) for place, name in enumerate(names)},
        counts=np.array([row[-3] for row in rows], np.float64),
        sums=np.array([row[-2] for row in rows], np.float64),
        owners=owners,
        amounts=amounts,
        holdings=tuple(row[size] for row in rows) if with_holdings else (),
    )


def crosstab_of(frame: Any) -> Crosstab:
    """Return a crosstab as labels and numbers: pandas has row labels in the index, other frames in the first column."""
    eager = _eager(frame)
    if eager.implementation.is_pandas():
        return Crosstab(
            rows=tuple(frame.index),
            columns=tuple(frame.columns),
            values=_matrix([frame.iloc[:, place] for place in range(frame.shape[1])]),
        )
    first, *rest = eager.columns
    return Crosstab(tuple(eager[first].to_list()), tuple(rest), _matrix([eager[name].to_list() for name in rest]))


def _matrix(columns: Sequence[Any]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    if not len(columns) or not len(columns[0]):
        raise DataError("no-rows.engines_crosstab_no_cells")
    try:
        return np.array([[float(value) for value in column] for column in columns], np.float64).T
    except (TypeError, ValueError):
        raise DataError("not-a-number.the_crosstab_holds_something") from None


def labeled_columns(frame: Any) -> dict[str, tuple[str, ...]]:
    """Return every column of a frame as texts, with the index labels of pandas first."""
    eager = _eager(frame)
    if not eager.implementation.is_pandas():
        return columns_of(frame)
    labels = tuple(" ".join(map(str, label)) if isinstance(label, tuple) else str(label) for label in frame.index)
    cells = [_texts(nw.from_native(frame.iloc[:, place], series_only=True)) for place in range(frame.shape[1])]
    return {"": labels} | dict(zip(map(str, frame.columns), cells, strict=True))


def crosstab_like(frame: Any, cells: Sequence[Sequence[Any]]) -> Any:
    """Return the crosstab with other cells, given row by row; pandas keeps numbers, other frames get texts."""
    eager = _eager(frame)
    if eager.implementation.is_pandas():
        result = frame.astype(object)
        for row, entries in enumerate(cells):
            for column, entry in enumerate(entries):
                result.iat[row, column] = entry
        return result
    first, *rest = eager.columns
    texts = [
        nw.new_series(name, [str(row[place]) for row in cells], nw.String, backend=eager.implementation)
        for place, name in enumerate(rest)
    ]
    return eager.select(first).with_columns(*texts).to_native()
