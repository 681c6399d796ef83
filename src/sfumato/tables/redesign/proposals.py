"""Propose coarser tables with fewer suppressed cells, within a time limit."""

import tempfile
from dataclasses import replace
from pathlib import Path

from sfumato.dataclass import dataclass
from sfumato.errors import SfumatoError
from sfumato.tables.build.build import build
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.deadline import Deadline
from sfumato.tables.plan.method import MethodChoice
from sfumato.tables.plan.plan import TablePlan
from sfumato.tables.redesign.merging import Change, changes, coarser
from sfumato.tables.suppress_table import mask_part

# The method that proposals are judged by: quick, and the same for all.
QUICK = MethodChoice(name="fast")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A coarser table, and what masking it would cost.

    Attributes:
        change: What is made coarser.
        masked: Cells that would be masked.
        cells: Cells that the coarser table has.
    """

    change: Change
    masked: int
    cells: int


@dataclass(frozen=True, slots=True)
class Redesign:
    """Proposals, best first.

    Attributes:
        masked: Cells that are masked as the table is, by the same method.
        proposals: Those that would mask fewer.
        tried: How many changes were tried.
        possible: How many there are.
    """

    masked: int
    proposals: tuple[Proposal, ...]
    tried: int
    possible: int


def redesign(plan: TablePlan, columns: TextColumns, deadline: Deadline) -> Redesign:
    """Try changes that touch most unsafe cells first, as long as there is time.

    Raises:
        SfumatoError: The table itself cannot be masked.
    """
    masked, unsafe = _masked(plan, columns, deadline.share(0.3))
    todo = sorted(changes(plan, columns), key=lambda change: -_touched(plan, columns, change, unsafe))
    proposals, tried = [], 0
    with tempfile.TemporaryDirectory(prefix="sfumato-") as scratch:
        for change in todo:
            if deadline.over:
                break
            tried += 1
            found = _tried(plan, columns, change, Path(scratch), deadline)
            if found is not None and found.masked < masked:
                proposals.append(found)
    best = sorted(proposals, key=lambda one: (one.masked, -one.cells))
    return Redesign(masked, tuple(best), tried, len(todo))


def _masked(plan: TablePlan, columns: TextColumns, deadline: Deadline) -> tuple[int, list[int]]:
    """How many cells are masked, and the rows of unsafe ones."""
    count, unsafe = 0, list[int]()
    for part in build(plan, columns):
        count += int(mask_part(part, QUICK, "en", deadline).suppressed.sum())
        unsafe += part.rows[part.table.sensitive].tolist()
    return count, unsafe


def _touched(plan: TablePlan, columns: TextColumns, change: Change, unsafe: list[int]) -> int:
    """How many unsafe cells stand in the codes of a change."""
    own = columns.text(plan.dimensions[change.dimension].column or "")
    codes = {code[0] for code in change.codes}
    return sum(own[row] in codes for row in unsafe)


def _tried(plan: TablePlan, columns: TextColumns, change: Change, scratch: Path, deadline: Deadline) -> Proposal | None:
    try:
        dimensions, cells = coarser(plan, columns, change, scratch)
        masked, _ = _masked(replace(plan, dimensions=dimensions), cells, deadline.share(0.5))
    except SfumatoError:
        return None
    return Proposal(change, masked, len(cells))


def sentence(redesign: Redesign, proposal: Proposal) -> str:
    """A proposal in words.

    >>> change = Change("merge", "size", (("5",), ("6",)))
    >>> sentence(Redesign(118, (), 1, 1), Proposal(change, 41, 90))
    'merge size 5 and 6: 41 instead of 118 masked cells'
    """
    return f"{proposal.change.label}: {proposal.masked:,} instead of {redesign.masked:,} masked cells"
