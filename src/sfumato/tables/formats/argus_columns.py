"""Convert files of statistical offices to the columns of a table, for `protect` and `audit`."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.errors import PlanError
from sfumato.tables.argus.office_table import OF_FLAG, ArgusTable, choices_of, masked_of
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.formats import JJ, METADATA, PX, TAB, format_of
from sfumato.tables.formats.cells_file import check_totals, read_cells, response_of
from sfumato.tables.formats.delimited_cells import (
    CONFIDENTIAL,
    HOUSE,
    RESPONDENTS,
    STATUS,
    VALUE,
    check_flag,
    check_status,
)
from sfumato.tables.formats.metadata import Metadata, Variable, read_metadata
from sfumato.tables.formats.px import read_px
from sfumato.tables.formats.solver_file import plain, read_jj
from sfumato.tables.plan.sections import TableSource

_MARKS = ("s", "u", "z")


def office_columns(
    path: Path,
    value: str,
    metadata: Path | None = None,
    published: bool = False,
    encoding: str | None = None,
    tolerance: float = math.inf,
) -> TextColumns | None:
    """Read the columns of a τ-ARGUS or PX file; None if the file is of another kind.

    Args:
        value: Name of the column with the values.
        metadata: The `.rda` file of a `.tab`; by default the one with the same name in the same folder.
        published: Whether a column with the values that statuses leave for publication is added next to the true
            ones.
        encoding: Encoding of the file and those that belong to it; detected if None.
        tolerance: How far totals of a `.tab` file may differ from the sum of their parts.

    Raises:
        PlanError: A `.tab` file has no metadata.
        DataError: The file is invalid; the message names line and column.
    """
    form = format_of(path)
    if form is PX:
        return _by_codes(read_px(path, encoding), value, published)
    if form is JJ:
        return _by_ids(read_jj(path, encoding), value, published)
    if form is not TAB:
        return None
    described = metadata or path.with_suffix(METADATA.suffix)
    if not described.is_file():
        raise PlanError("metadata", name=path.name)
    columns = read_metadata(described, encoding)
    table = read_cells(path, columns, _response(columns, value).name)
    check_totals(table, path.name, "", tolerance)
    return _by_codes(table, value, published)


def _response(metadata: Metadata, value: str) -> Variable:
    """Return the variable that cells of a `.tab` file hold: the one the plan names, otherwise the only plain number."""
    one = metadata.find(value)
    is_number = one is not None and not one.spanning and not one.has("STATUS")
    return response_of(metadata, value if is_number else None)


def respondents_in(metadata: Metadata, value: str) -> dict[str, Any]:
    """Return the columns of a `.tab` file with respondents and largest contributions, by plan key."""
    frequency = next(iter(metadata.flagged("FREQUENCY")), None)
    # Contributions to a shadow variable are not parts of the value.
    largest = () if metadata.flagged("SHADOW") else metadata.flagged("MAXSCORE")
    if _response(metadata, value) in (frequency, *largest):
        return {}
    own = {} if frequency is None else {"frequency": frequency.name}
    return {**own, "contributions": tuple(one.name for one in largest)} if largest else own


def refuse_others(path: Path) -> None:
    """Refuse a file that belongs to a table but contains none."""
    form = format_of(path)
    if form is not None and form.content:
        raise PlanError("no-table", name=path.name, kind=form.content)


def with_masks(columns: TextColumns, name: str = "the table") -> TextColumns:
    """Add statuses to the columns of an SDMX-CSV file, and a star for each suppressed value; others stay
    unchanged.

    Raises:
        DataError: A flag is invalid; the message names line and column.
    """
    if VALUE not in columns or not (CONFIDENTIAL in columns or STATUS in columns):
        return columns
    texts = dict(columns.texts) | {VALUE: tuple(text or "*" for text in columns.text(VALUE))}
    flags = {one: _flags(columns, one, name) for one in (CONFIDENTIAL, STATUS) if one in columns}
    for line, text in enumerate(columns.text(HOUSE) if HOUSE in columns else (), start=2):
        check_status(text, name, line, list(columns.texts).index(HOUSE) + 1)
    if CONFIDENTIAL in columns and HOUSE not in columns and "Status" not in columns:
        texts["Status"] = tuple(str(int(OF_FLAG[flag])) for flag in flags[CONFIDENTIAL])
    return TextColumns(texts)


def _flags(columns: TextColumns, column: str, name: str) -> list[str]:
    place = list(columns.texts).index(column) + 1
    return [check_flag(column, text, name, line, place) for line, text in enumerate(columns.text(column), start=2)]


def with_names(columns: TextColumns, source: TableSource) -> TextColumns:
    """Add the columns of a τ-ARGUS file under the names that the plan uses, if the file lacks these.

    Other files keep their own names: a misspelled name in a plan must be reported, not guessed.
    """
    if VALUE not in columns and "Status" not in columns:
        return columns
    wanted = {
        source.value: (VALUE,),
        "Status": (HOUSE,),
        **({source.frequency: ("Freq", RESPONDENTS)} if source.frequency else {}),
        **{name: (f"Top{place}",) for place, name in enumerate(source.contributions, start=1)},
    }
    if source.value in columns or f"{source.value}_published" in columns:
        del wanted[source.value]
    texts = dict(columns.texts)
    for name, others in wanted.items():
        other = next((other for other in others if other in texts), None)
        if name not in texts and other is not None:
            texts[name] = texts[other]
    return TextColumns(texts)


def _by_codes(table: ArgusTable, value: str, published: bool) -> TextColumns:
    """Return codes, values with a star for a suppressed cell, and all further columns."""
    hidden = masked_of(table.statuses)
    texts: dict[str, tuple[str, ...]] = {
        tree.name: tuple(key[place][0] for key in table.keys) for place, tree in enumerate(table.trees)
    }
    shown = ["*" if hidden[cell] or np.isnan(number) else plain(number) for cell, number in enumerate(table.values)]
    texts |= _values(table, value, shown, published)
    texts["Status"] = tuple(str(status) for status in table.statuses)
    if table.frequency is not None:
        texts["Freq"] = tuple(plain(number) for number in table.frequency)
    for place, column in enumerate(table.largest, start=1):
        texts[f"Top{place}"] = tuple(plain(number) for number in column)
    return TextColumns(texts)


def _values(table: ArgusTable, value: str, shown: list[str], published: bool) -> dict[str, tuple[str, ...]]:
    """Return the values; if true values and statuses are both present, optionally also the published values."""
    if np.isnan(table.values).any() or not masked_of(table.statuses).any():
        return {value: tuple(shown)}
    beside = {f"{value}_published": tuple(shown)} if published else {}
    return {value: tuple(plain(number) for number in table.values), **beside}


def _by_ids(table: ArgusTable, value: str, published: bool) -> TextColumns:
    """Return ids, values, marks, costs, bounds and protection levels, as for a table given by cells."""
    named = {
        value: table.values,
        "cost": table.costs,
        "lb": table.low,
        "ub": table.high,
        "lpl": table.lower,
        "upl": table.upper,
    }
    texts = {"id": tuple(str(place) for place in range(len(table)))}
    texts |= {name: tuple(map(plain, column)) for name, column in named.items() if column is not None}
    shown = [
        "*" if mask else plain(number) for mask, number in zip(masked_of(table.statuses), table.values, strict=True)
    ]
    texts |= _values(table, value, shown, published)
    return TextColumns({**texts, "status": tuple(_MARKS[choice] for choice in choices_of(table.statuses))})
