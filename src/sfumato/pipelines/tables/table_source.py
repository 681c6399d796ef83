"""Read the cells of a table from any source: CSV, office files, workbooks, Parquet, JSON, frames, crosstabs."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.delimited.dialect import DecimalMark, likely_separator
from sfumato.delimited.opening import first_record, open_text
from sfumato.tables.argus.file_errors import likely_encoding
from sfumato.tables.build import read_source
from sfumato.tables.cells.columns import TextColumns, read_columns
from sfumato.tables.formats.argus_columns import (
    office_columns,
    refuse_others,
    respondents_in,
    with_masks,
    with_names,
)
from sfumato.tables.formats.crosstab_file import as_cells
from sfumato.tables.formats.delimited_cells import read_delimited_cells
from sfumato.tables.formats.headerless_file import cells_without_header, with_statuses
from sfumato.tables.formats.metadata import Metadata, read_metadata
from sfumato.tables.formats.sdmx import RESPONDENTS, VALUE
from sfumato.tables.plan.sections import Dimension
from sfumato.tables.plan.table_plan import TablePlan

TAB = ".tab"
# The default code of a total.
TOTAL = Dimension(column="").total
# File types that an engine reads.
BY_ENGINE = (".xlsx", ".xlsm", ".xls", ".ods", ".parquet", ".json", ".jsonl")


def with_metadata(plan: TablePlan, table: Any = None) -> TablePlan:
    """Return the plan completed from its metadata files: codes of totals, and columns of respondents.

    Args:
        table: The table that is read instead of the plan's source. Unless it is a `.tab` file, the metadata of the
            plan's source still apply.
    """
    given = Path(table) if isinstance(table, str | Path) and Path(table).suffix.lower() == TAB else None
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
    if path.suffix.lower() != ".csv" or not path.is_file():
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
    if path is None or path.suffix.lower() != TAB:
        return None
    described = _metadata_of(path, plan) or path.with_suffix(".rda")
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
    if name is not None and Path(name).suffix.lower() in BY_ENGINE:
        return columns_from(name.within(plan.folder), plan)
    return as_cells(with_names(with_masks(read_source(plan), name or "the table"), plan.table), plan)


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
    if path.suffix.lower() in BY_ENGINE:
        return as_cells(TextColumns(columns_of_file(path)), plan)
    metadata = _metadata_of(path, plan)
    if published:
        plan = _as_published(plan, path)
    office = office_columns(path, plan.table.value, metadata, published, plan.table.encoding)
    return _plain_columns(path, plan, published) if office is None else with_names(office, plan.table)


def _metadata_of(path: Path, plan: TablePlan) -> Path | None:
    """Return the metadata of a file: its own, or the plan's for the source and for files without metadata."""
    own = plan.table.source is not None and (plan.table.source.within(plan.folder)).resolve() == path.resolve()
    if plan.table.metadata is None or (not own and path.with_suffix(".rda").is_file()):
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
