"""Relations that hold except for a few records with inconsistent codes; these records form a cell of their own.

Readers take a Kreis for the sum of its Gemeinden, and are right if there are no such records. If there are, their
number is unknown to readers: an attacker may know where they are, and that they are at most twice as many.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.tables.cells.system import Bounds, Numbers, ProtectionLevels, Table
from sfumato.tables.cells.table_part import TablePart

Row = tuple[list[int], list[float]]
# Name of such a cell in messages.
ODD = "records whose codes do not fit the others"


def with_inconsistent_records(part: TablePart, rows: Sequence[Row]) -> TablePart:
    """Add constraints that inconsistent records violate, each with a further cell for its residual if it is
    not 0.
    """
    if not rows:
        return part
    size, step, values = len(part.table), part.knowledge.precision, part.table.values
    made, off = list[Row](), list[float]()
    for cells, coefs in rows:
        amount = float(np.round(np.array(coefs) @ values[cells] / step)) * step
        more = ([size + len(off)], [-1.0 if amount > 0 else 1.0]) if amount else ([], [])
        made.append(([*cells, *more[0]], [*coefs, *more[1]]))
        off += [abs(amount)] * len(more[0])
    return _behind(part, made, np.array(off))


def _behind(part: TablePart, rows: Sequence[Row], amounts: Numbers) -> TablePart:
    table, more, none = part.table, len(amounts), np.zeros(len(amounts))
    own = Table(
        np.append(table.values, amounts),
        np.append(table.status, np.zeros(more, np.int8)),
        np.append(table.costs, none),
        _open(table.bounds, amounts),
        ProtectionLevels(
            np.append(table.protection_levels.lower, none), np.append(table.protection_levels.upper, none)
        ),
        table.constraints.with_rows(rows, ODD),
        (*table.names, *([ODD] * more)),
    )
    before = np.zeros(len(table), bool) if part.suppressed_before is None else part.suppressed_before
    return replace(
        part,
        rows=np.arange(len(own)),
        table=own,
        public=_open(part.public, amounts),
        suppressed_before=np.append(before, np.ones(more, bool)),
    )


def _open(bounds: Bounds, amounts: Numbers) -> Bounds:
    return Bounds(np.append(bounds.low, np.zeros(len(amounts))), np.append(bounds.high, 2 * amounts))
