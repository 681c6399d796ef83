"""Read the cells of a table from any source, with their positions for errors, or tabulate microdata into them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sfumato.delimited.dialect import DecimalMark, Dialect, check_decimal, encoding_of, likely_separator
from sfumato.delimited.opening import first_record, open_text
from sfumato.delimited.records import read_lines
from sfumato.errors import DataError, PlanError
from sfumato.formats import CSV, format_named
from sfumato.microdata.data_plan import DataPlan
from sfumato.tables.argus.file_errors import likely_encoding, lines_of
from sfumato.tables.build import read_source
from sfumato.tables.cells.columns import TextColumns, read_columns
from sfumato.tables.crosstabs.crosstabs import as_cells
from sfumato.tables.formats import METADATA, PX, TAB, format_of
from sfumato.tables.formats.argus_columns import office_columns, refuse_others, respondents_in, with_masks, with_names
from sfumato.tables.formats.delimited_cells import (
    RESPONDENTS,
    VALUE,
    cells_without_header,
    read_delimited_cells,
    with_statuses,
)
from sfumato.tables.formats.metadata import Metadata, read_metadata
from sfumato.tables.formats.px import data_places
from sfumato.tables.plan.sections import Dimension, TableSource
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.tabulate import shaped, table_of
from sfumato.values import replace

# The default code of a total.
TOTAL = Dimension(column="").total


def with_metadata(plan: TablePlan, table: Any = None) -> TablePlan:
    """Return the plan completed from its metadata files: codes of totals, and columns of respondents.

    Args:
        table: The table that is read instead of the plan's source. Unless it is a `.tab` file, the metadata of the
            plan's source still apply.
    """
    given = Path(table) if format_of(table) is TAB else None
    source = plan.table.source.within(plan.folder) if plan.table.source is not None else None
    return _with_respondents(_with_office_totals(plan, given, source), given or source)


def _with_respondents(plan: TablePlan, path: Path | None) -> TablePlan:
    """Return the plan with the columns of respondents and largest contributions from a file, if it names neither.

    Without this, the values of a table of sums would be read as numbers of respondents.
    """
    own = (
        _columns_declared_by(plan, path) if plan.table.counts and path is not None and plan.table.cells is None else {}
    )
    if not own:
        return plan
    plain = dict(plan.plain)
    plain["table"] = plain.get("table", {}) | {
        key: list(part) if isinstance(part, tuple) else part for key, part in own.items()
    }
    return replace(plan, table=replace(plan.table, **own), plain=plain)


def _columns_declared_by(plan: TablePlan, path: Path) -> dict[str, Any]:
    """Return the columns of respondents and largest contributions from `.tab` metadata or an SDMX-CSV header."""
    described = _described(plan, path)
    if described is not None:
        return respondents_in(read_metadata(described, plan.table.encoding), plan.table.value)
    if path.suffix.lower() != CSV.suffix or not path.is_file():
        return {}
    with open_text(path, plan.table.encoding or likely_encoding(path)) as stream:
        names = {name.strip().strip('"') for name in first_record(stream).split(",")}
    return {"frequency": RESPONDENTS} if {VALUE, RESPONDENTS} <= names else {}


def _with_office_totals(plan: TablePlan, given: Path | None, source: Path | None) -> TablePlan:
    """Return the plan with codes of totals from the metadata of its `.tab` files, if it has none itself."""
    crossings = tuple(
        replace(one, dimensions=_with_totals(plan, one.source.within(plan.folder), one.dimensions))
        if one.source
        else one
        for one in plan.tables
    )
    dimensions = _with_totals(plan, given or source, plan.dimensions)
    if dimensions == dict(plan.dimensions) and crossings == plan.tables:
        return plan
    # A release keeps its plan, but its table has no metadata any more.
    plain = dict(plan.plain)
    if "dimensions" in plain:
        plain["dimensions"] = _plain_totals(plain["dimensions"], dimensions)
    if "tables" in plain:
        pairs = zip(plain["tables"], crossings, strict=True)
        plain["tables"] = [
            {**one, "dimensions": _plain_totals(one["dimensions"], own.dimensions)} for one, own in pairs
        ]
    return replace(plan, dimensions=dimensions, tables=crossings, plain=plain)


def _plain_totals(plain: Mapping[str, Any], dimensions: Mapping[str, Dimension]) -> dict[str, Any]:
    """Return dimensions as plain plan entries, with codes of totals that differ from the default."""
    return {
        name: {**own, "total": dimensions[name].total} if dimensions[name].total != TOTAL else own
        for name, own in plain.items()
    }


def _with_totals(plan: TablePlan, path: Path | None, dimensions: Mapping[str, Dimension]) -> dict[str, Dimension]:
    described = _described(plan, path)
    if described is None:
        return dict(dimensions)
    metadata = read_metadata(described, plan.table.encoding)
    return {name: _with_total(own, metadata) for name, own in dimensions.items()}


def _described(plan: TablePlan, path: Path | None) -> Path | None:
    """Return the metadata file of a `.tab` file if it exists, else None."""
    if path is None or format_of(path) is not TAB:
        return None
    described = _metadata_of(path, plan) or path.with_suffix(METADATA.suffix)
    return described if described.is_file() else None


def _with_total(dimension: Dimension, metadata: Metadata) -> Dimension:
    one = None if dimension.column is None else metadata.find(dimension.column)
    return dimension if one is None or dimension.total != TOTAL else replace(dimension, total=one.total)


def source_columns(plan: TablePlan) -> TextColumns:
    """Return the columns of the plan's source.

    Raises:
        PlanError: The plan names no file.
        DataError: The file cannot be read.
    """
    name = plan.table.source
    if name is not None and _is_read_by_engine(name):
        return columns_from(name.within(plan.folder), plan)
    return as_cells(with_names(with_masks(read_source(plan), name or "the table"), plan.table), plan)


def _is_read_by_engine(path: str | Path) -> bool:
    form = format_named(path)
    return form is not None and form.cells


def columns_from(table: Any, plan: TablePlan, published: bool = False) -> TextColumns:
    """Return the columns of a frame or a file.

    Args:
        table: The frame, or the path of the file.
        plan: The meaning of its columns.
        published: Whether to read the published values of a file that has original values and statuses.
    """
    from sfumato.engines.tabulation import columns_of, columns_of_file

    if not isinstance(table, str | Path):
        return as_cells(TextColumns(columns_of(table)), plan)
    path = Path(table)
    refuse_others(path)
    if _is_read_by_engine(path):
        return as_cells(TextColumns(columns_of_file(path)), plan)
    metadata = _metadata_of(path, plan)
    if published:
        plan = _as_published(plan, path)
    office = office_columns(path, plan.table.value, metadata, published, plan.table.encoding)
    return _plain_columns(path, plan, published) if office is None else with_names(office, plan.table)


def _metadata_of(path: Path, plan: TablePlan) -> Path | None:
    """Return the metadata of a file: its own, or the plan's for the source and for files without metadata."""
    own = plan.table.source is not None and (plan.table.source.within(plan.folder)).resolve() == path.resolve()
    if plan.table.metadata is None or (not own and path.with_suffix(METADATA.suffix).is_file()):
        return None
    return plan.table.metadata.within(plan.folder)


def _as_published(plan: TablePlan, path: Path) -> TablePlan:
    """Return the plan for a published file: Sfumato writes UTF-8 with commas and points, whatever the source had."""
    source = plan.table
    encoding = likely_encoding(path, source.encoding)
    with open_text(path, encoding) as stream:
        head = first_record(stream)
    separator = source.separator if source.separator and source.separator in head else None
    decimal: DecimalMark | None = "." if (separator or likely_separator(head)) == "," else source.decimal
    return replace(plan, table=replace(source, separator=separator, decimal=decimal, encoding=encoding))


def _plain_columns(path: Path, plan: TablePlan, published: bool) -> TextColumns:
    """Return the columns of a delimited file."""
    names = [name for one in plan.dimensions.values() for name in (one.levels or (one.column or "",))]
    # Tables to protect need a header that names their columns; published tables may have none.
    cells = cells_without_header(path, names, plan.table.value, plan.table.dialect) if published and names else None
    if cells is None:
        read = (
            read_columns(path, plan.table.dialect, published) if published else read_delimited_cells(path, plan.table)
        )
        cells = with_masks(read, path.name)
    return with_statuses(as_cells(with_names(cells, plan.table), plan), plan.table.value, published)


def tabulate(
    data: Any,
    dimensions: Sequence[str] | Mapping[str, Any],
    *,
    value: str | None = None,
    weight: str | None = None,
    holding: str | None = None,
    top: int = 2,
    decimal: DecimalMark = ".",
    encoding: str | None = None,
    record: str | None = None,
    secret: str | None = None,
    digits: int | None = None,
    request: str | None = None,
) -> Any:
    """Tabulate microdata with every total, ready for `protect`.

    Args:
        data: A frame, or the path of a CSV, Parquet or JSON file.
        dimensions: Column names, or dimensions as in a plan (levels, or a column with a hierarchy).
        value: The column to be summed; a table of counts without it.
        weight: The sampling weight: how many respondents with its value a record represents; `count` counts records.
        holding: The column with the holding or person of a record.
        decimal: The decimal mark of a CSV file.
        encoding: The encoding of a CSV file; UTF-8 by default.
        record: For the cell key method: the column that identifies a record, from which the secret derives its key.
            Without a secret, the column with the record keys.
        secret: The secret from which keys are derived, the same for all tables; it is internal.
        digits: Digits of decimal keys; 64-bit integers without it.
        request: A column that marks who requested protection (1, true, yes, y or x), for the rule of this name. The
            table gets a column of the same name, 1 in cells whose largest contributors include one who did, else 0.
        top: How many of the contributions that are largest by absolute value are kept in addition to a sum.

    Returns:
        A frame of the kind that came in, totals first: the dimensions and `count`. With a value, its sum under the
            value's name, and `top1`, …. With a holding, `top1_id`, … with the contributors, and `holdings` with their
            number; for counts, a holding contributes its records. With record keys, `key` is their sum modulo 2^64, as
            text.

    Raises:
        PlanError: A request column is given without a value.
        DataError: A code is missing or unknown, or a value is not a number.

    >>> import pandas
    >>> tabulate(pandas.DataFrame({"sex": ["m", "w", "w"]}), ["sex"])["count"].tolist()
    [3, 1, 2]
    """
    from sfumato.engines.record_keys import RecordKeys
    from sfumato.engines.tabulation import base_of, frame_of

    made = shaped(dimensions)
    names = [name for dimension in made.values() for name in (dimension.levels or (dimension.column or "",))]
    if secret is not None and not secret.strip():
        raise PlanError("secret")
    records = None if record is None else RecordKeys(record, secret, digits)
    reading = DataPlan(decimal=check_decimal(decimal), encoding=encoding_of(encoding or DataPlan().encoding))
    marks = [] if request is None else [request]
    base = base_of(data, [*names, *marks], value, weight, holding, top if value or holding else 0, reading, records)
    return frame_of(data, table_of(base, made, value, top, with_holdings=holding is not None, requests=marks))


_PLACED = re.compile(r"line \d+")
# A line and a column, both from 1.
Place = tuple[int, int]


@contextmanager
def errors_in(path: Path | None, source: TableSource, dimensions: Mapping[str, Dimension]) -> Iterator[None]:
    """Add line and column of the file to errors about rows, if it is a file that people read.

    Raises:
        DataError: The original error, with its position.
    """
    try:
        yield
    except DataError as error:
        place = None if path is None or _PLACED.search(error.message) else _place_of(error, path, source, dimensions)
        if path is not None and place is not None:
            error.at(path.name, *place)
        raise


def _place_of(error: DataError, path: Path, source: TableSource, dimensions: Mapping[str, Dimension]) -> Place | None:
    """Return the position of the first row that an error is about; None if it is unknown."""
    form = format_of(path)
    if form is PX:
        return _at(data_places("\n".join(lines_of(path, source.encoding)), path.name), error.rows)
    if form is not None and form.first_line:
        lines = lines_of(path, source.encoding)
        filled = [(number, 1) for number, line in enumerate(lines, start=1) if line.strip()]
        return _at(filled[form.first_line - 1 :], error.rows)
    return _in_lines(error, path, source, dimensions) if format_named(path) is CSV else None


def _at(places: Sequence[Place], rows: Sequence[int]) -> Place | None:
    return places[rows[0] - 1] if rows and rows[0] <= len(places) else None


def _in_lines(error: DataError, path: Path, source: TableSource, dimensions: Mapping[str, Dimension]) -> Place | None:
    """Return the position in a delimited file with a header: that of the first invalid code if no row is given."""
    encoding = likely_encoding(path, source.encoding)
    lines = read_lines(path, Dialect(source.separator, encoding=encoding))
    if len(lines) < 2:
        return 1, 1
    header = lines.pop(0)
    names = [text.strip() for text in header.fields]
    wanted = {name for one in dimensions.values() for name in (one.levels or (one.column or "",))}
    if not wanted <= set(names):
        return None
    column = names.index(error.column) if error.column in names else 0
    if error.rows:
        return _at([(line.number, column + 1) for line in lines], error.rows)
    wrong = set(map(str, error.values)) if error.column in names else set()
    return next(((line.number, column + 1) for line in lines if line.fields[column].strip() in wrong), None)
