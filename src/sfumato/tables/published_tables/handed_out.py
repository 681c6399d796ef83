"""The release check of tables: the file for publication, read back, shows what was audited.

The audit covered cells, ranges and what anyone infers from these. If the file shows the same of each cell, and no more
can be inferred from it, the audit holds for the file; else nothing is published.
"""

import numpy as np

from sfumato.errors import InternalError, SfumatoError
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.system import BoolArray, Numbers, Places
from sfumato.tables.perturbation.perturbed import PerturbedResult
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.protection_levels.resolve_plan import public_bounds
from sfumato.tables.published_tables.parse_cells import PRINTED, ParsedTable, read_published
from sfumato.tables.suppress_table import SuppressedCells
from sfumato.tables.suppressed_table import SuppressedTable


def check_masked(table: SuppressedTable, external: TextColumns) -> None:
    """Compare a file for publication with what was audited.

    Raises:
        InternalError: It shows other cells, values or intervals, or discloses more about suppressed cells than was
            audited.
    """
    reading = _read(table, external)
    places = _places(table, external)
    if reading.marked.any():
        raise _other("marks")
    for answer in table.parts:
        rows = places[answer.part.rows]
        if (rows < 0).any() or not _says(answer, reading, rows):
            raise _other("cells, values or ranges")
        if len(answer.part.table.constraints):
            check_inferred(table.plan, answer, reading.exact[rows])


def check_changed(table: PerturbedResult, external: TextColumns) -> None:
    """Compare a file of perturbed numbers with what was audited.

    Raises:
        InternalError: It shows other cells or numbers.
    """
    reading = _read(table, external)
    places = _places(table, external)
    for answer in table.parts:
        rows = places[answer.part.rows]
        if ((rows >= 0) != answer.shown).any():
            raise _other("cells")
        if not _near(reading.exact[rows[answer.shown]], answer.published[answer.shown]).all():
            raise _other("numbers")


def check_inferred(plan: TablePlan, answer: SuppressedCells, exact: Numbers) -> None:
    """Refuse a table from which anyone correctly infers higher lower bounds of suppressed cells than the audit
    assumed.
    """
    if not answer.part.inferred:
        return
    hidden = np.isnan(exact) if answer.part.hidden is None else np.isnan(exact) & ~answer.part.hidden
    table, inferred = answer.part.table, public_bounds(plan, exact, hidden)
    right = (table.values >= inferred.low) | ~hidden
    if right.all() and (hidden & (inferred.low > table.bounds.low + PRINTED)).any():
        raise InternalError("handed-out.readers_table_hand_out")


def _read(table: SuppressedTable | PerturbedResult, external: TextColumns) -> ParsedTable:
    try:
        return read_published(external, table.plan)
    except SfumatoError:
        raise _other("texts") from None


def _places(table: SuppressedTable | PerturbedResult, external: TextColumns) -> Places:
    """Return the row of each cell in the file; -1 for cells that are not in it."""
    codes = table.codes()
    if not all(name in external for name in codes):
        raise _other("columns")
    rows = {key: row for row, key in enumerate(zip(*(external.texts[name] for name in codes), strict=True))}
    found = [rows.get(key, -1) for key in zip(*codes.values(), strict=True)]
    if len(rows) != len(external) or sum(row >= 0 for row in found) != len(external):
        raise _other("cells")
    return np.array(found, np.int64)


def _says(answer: SuppressedCells, reading: ParsedTable, rows: Places) -> bool:
    """Return whether the file shows each cell as audited, and no interval narrower than the feasibility interval."""
    exact, ranges, values = reading.exact[rows], reading.ranges.rows(rows), answer.part.table.values
    hidden = np.isnan(exact)
    known, told = np.isnan(answer.ends.low), ~(np.isnan(ranges.low) & np.isnan(ranges.high))
    narrower = _above(ranges.low, answer.ends.low) | _above(answer.ends.high, ranges.high) | (known & told)
    same = np.array_equal(hidden, answer.suppressed) and _near(exact[~hidden], values[~hidden]).all()
    return bool(same and not (hidden & narrower).any())


def _above(one: Numbers, other: Numbers) -> BoolArray:
    """Return where one end exceeds another; an open end never does."""
    return np.asarray(one > other + _slack(one))


def _near(one: Numbers, other: Numbers) -> BoolArray:
    return np.asarray(np.abs(one - other) <= _slack(other))


def _slack(numbers: Numbers) -> Numbers:
    return np.asarray(PRINTED + 1e-9 * np.abs(np.nan_to_num(numbers, posinf=0.0, neginf=0.0)))


def _other(what: str) -> InternalError:
    return InternalError("handed-out.table_hand_out_shows", what=what)
