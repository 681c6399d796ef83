"""Tables that are published side by side: what an attacker computes who reads all of them."""

from collections.abc import Sequence

import numpy as np

from sfumato.tables.attack.audit import audit_publication
from sfumato.tables.attack.certificates import Evidence
from sfumato.tables.attack.publication import Publication
from sfumato.tables.batch.office_protection import joined, office_part
from sfumato.tables.cells.cells import Mask, Places, no_bounds
from sfumato.tables.deadline import Deadline
from sfumato.tables.office.office_table import OfficeTable
from sfumato.tables.office.statuses import masked_of


def same_cells(tables: Sequence[OfficeTable]) -> bool:
    """Whether cells that tables share by their codes hold the same in all of them."""
    whole, places = joined(tables)
    return all(
        np.allclose(whole.values[own], table.values, 1e-9, 1e-9) for table, own in zip(tables, places, strict=True)
    )


def joint_leaks(tables: Sequence[OfficeTable], deadline: Deadline, tolerance: float = 0.0) -> int:
    """How many cells are unsafe in one of the tables, and published in another or computed from all of them.

    Args:
        tables: The tables with their statuses; a cell is hidden where every table that has it masks it.
        deadline: Until when ranges are computed that need not be.
        tolerance: How far totals may be off.
    """
    whole, places = joined(tables)
    part = office_part(whole, tolerance)
    hidden, unsafe = _hidden(tables, places, len(whole)), part.table.unsafe
    publication = Publication(
        np.where(hidden, np.nan, whole.values),
        no_bounds(len(whole)),
        part.table.bounds,
        part.table.relations,
        part.table.names,
    )
    audit = audit_publication(
        publication, part.table.promise, part.knowledge, whole.values, Evidence(deadline=deadline)
    )
    computed = {finding.cell for finding in audit.leaks if unsafe[finding.cell]}
    return len(computed | set(np.flatnonzero(unsafe & ~hidden).tolist()))


def _hidden(tables: Sequence[OfficeTable], places: Sequence[Places], size: int) -> Mask:
    hidden = np.ones(size, bool)
    for table, own in zip(tables, places, strict=True):
        hidden[own] &= masked_of(table.statuses)
    return hidden
