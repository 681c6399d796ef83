"""What a finished pattern reveals in addition: no suppressed cell is 0, if all zeros are published."""

from dataclasses import replace

import numpy as np

from sfumato.tables.cells.cells import BoolArray, Bounds, CellStatus
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.protection_levels.minimum_widths import thickened
from sfumato.tables.protection_levels.resolve_plan import with_parts


def as_shown(part: TablePart, mask: BoolArray) -> TablePart:
    """Return the table with the bounds of attackers who see its zeros and infer that no suppressed cell is 0.

    Returns:
        The part itself if this adds nothing, or the inference would be wrong.
    """
    shown = np.ones(len(mask), bool) if part.hidden is None else ~part.hidden
    zeros, mask = (part.table.values == 0) & shown, mask & shown
    least = np.where(mask, part.knowledge.precision, -np.inf)
    narrower = (least > part.table.bounds.low) | (least > part.public.low)
    if not part.inferred or (part.table.bounds.low[shown] < 0).any() or not narrower.any():
        return part
    if (zeros & mask).any() or not (zeros & ~mask).any():
        return part
    table = part.table
    bounds, public = (
        with_parts(Bounds(np.maximum(one.low, least), one.high), table.constraints, table.values)
        for one in (table.bounds, part.public)
    )
    reach = thickened(table.values, table.sensitive, bounds, table.protection_levels, part.knowledge.precision)
    return replace(part, table=table.with_columns(bounds=bounds, protection_levels=reach), public=public)


def with_zeros_published(part: TablePart) -> TablePart:
    """The part where no safe cell of value 0 may be suppressed."""
    safe = (part.table.values == 0) & (part.table.status == CellStatus.SAFE)
    if part.suppressed_before is not None:
        safe &= ~part.suppressed_before
    status = np.where(safe, CellStatus.PUBLISH, part.table.status).astype(np.int8)
    return replace(part, table=part.table.with_columns(status=status))
