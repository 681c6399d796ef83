"""Bounds of sensitive cells that are known whatever is suppressed: from empty cells, and to insiders.

No suppression can hide a bound from an attacker who knows it anyway, so none is guaranteed; the other bound still hides
the value. If both bounds are known, the cell cannot be protected.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from sfumato.tables.attack.audit import audit_publication
from sfumato.tables.attack.audit_evidence import AuditEvidence
from sfumato.tables.attack.findings import AttackerView, Audit, Finding, reduced_levels
from sfumato.tables.cells.system import Bounds, CellStatus, Insider, Places, ProtectionLevels, no_bounds
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.deadline import Deadline
from sfumato.tables.protection_levels.insiders import thickened
from sfumato.values import replace


def audit_promises(
    publication: AttackerView, part: TablePart, evidence: AuditEvidence | None = None
) -> tuple[Audit, TablePart]:
    """Audit a publication, and lower the protection levels that no suppression could satisfy.

    Args:
        publication: The published values and intervals.
        part: The table, with its protection levels and insiders.
        evidence: Supplied alternative tables, and when the audit must end.

    Raises:
        UnattainableError: The time limit was reached.
    """
    asked, evidence = part, evidence or AuditEvidence()
    audit = _audit(publication, part, evidence)
    while leaks := [leak for leak in audit.leaks if part.table.sensitive[leak.cell] and not leak.published]:
        known = _without_known(part, leaks, evidence.limit)
        if known is part:
            break
        part = known
        audit = _audit(publication, part, evidence)
    return replace(audit, inherently_disclosed=reduced_levels(asked, part)), part


def without_inherent_disclosure(part: TablePart, limit: Deadline) -> TablePart:
    """Lower the protection levels that no suppression could satisfy; return the same object if there are none.

    Raises:
        UnattainableError: The time limit was reached.
    """
    return audit_promises(_all_masked(part), part, AuditEvidence(limit=limit, promised=True))[1]


def _audit(publication: AttackerView, part: TablePart, evidence: AuditEvidence) -> Audit:
    return audit_publication(publication, part.table.protection_interval, part.knowledge, part.table.values, evidence)


def _all_masked(part: TablePart) -> AttackerView:
    """Return the publication that shows least: the empty cells only."""
    table = part.table
    empty = (table.status == CellStatus.PUBLISH) & (table.values == 0)
    if part.suppressed_before is not None:
        empty &= ~part.suppressed_before
    exact = np.where(empty, table.values, np.nan)
    return AttackerView(exact, no_bounds(len(table)), table.bounds, table.constraints, table.names, hidden=part.hidden)


def _without_known(part: TablePart, leaks: Sequence[Finding], limit: Deadline) -> TablePart:
    """Lower the protection levels for cells that are disclosed, to anyone or an insider, in any publication."""
    outside = [leak.cell for leak in leaks if not leak.attacker]
    table, attackers = part.table, list(part.knowledge.attackers)
    for leak in _found(part, (), outside, limit):
        reach = _open(part, leak, table.protection_levels)
        if reach is not None:
            table = table.with_columns(protection_levels=reach)
    for place, attacker in enumerate(attackers):
        cells = [leak.cell for leak in leaks if leak.attacker == attacker.name]
        for leak in _found(part, (attacker,), cells, limit):
            attackers[place] = _with_open(part, attackers[place], leak)
    if table is part.table and all(one is two for one, two in zip(attackers, part.knowledge.attackers, strict=True)):
        return part
    return replace(part, table=table, knowledge=replace(part.knowledge, attackers=tuple(attackers)))


def _found(part: TablePart, attackers: tuple[Insider, ...], cells: Iterable[int], limit: Deadline) -> list[Finding]:
    """Return what can be computed for some cells although everything is suppressed, by anyone or by an insider."""
    there = np.isin(np.arange(len(part.table)), list(cells))
    if not there.any():
        return []
    audit = audit_publication(
        _all_masked(part),
        part.table.protection_interval.only(there),
        replace(part.knowledge, attackers=attackers),
        part.table.values,
        AuditEvidence(limit=limit, promised=True),
    )
    return [leak for leak in audit.leaks if there[leak.cell] and bool(leak.attacker) is bool(attackers)]


def _open(part: TablePart, leak: Finding, asked: ProtectionLevels, place: int | None = None) -> ProtectionLevels | None:
    """Return protection levels lowered to what can be hidden for one cell; None if that hides nothing or lowers
    nothing.

    Args:
        asked: The requested protection levels.
        place: The position of the cell in `asked`, if it differs from its position in the table.
    """
    step, here = part.knowledge.precision, np.array([leak.cell if place is None else place])
    value = part.table.values[[leak.cell]]
    wished = ProtectionLevels(asked.lower[here], asked.upper[here])
    ends = Bounds(np.array([leak.lower]), np.array([leak.upper]))
    reach = thickened(value, np.ones(1, bool), ends, wished, step)
    # Insiders get at most the levels of outsiders, but at least one unit of precision on the remaining side.
    most = part.table.protection_levels
    down = np.minimum(reach.lower, max(most.lower[leak.cell], step))
    up = np.minimum(reach.upper, max(most.upper[leak.cell], step))
    unchanged = down[0] == wished.lower[0] and up[0] == wished.upper[0]
    if unchanged or max(down[0], up[0]) < step * (1 - 1e-9):
        return None
    changed = ProtectionLevels(asked.lower.copy(), asked.upper.copy())
    changed.lower[here], changed.upper[here] = down, up
    return changed


def _with_open(part: TablePart, attacker: Insider, leak: Finding) -> Insider:
    """Return an insider with the protection level of a cell lowered; unchanged if that would hide nothing."""
    known = _knowing(part, attacker, leak.cell)
    reach = _open(part, leak, known.reach, int(np.searchsorted(known.cells, leak.cell)))
    return attacker if reach is None else replace(known, reach=reach)


def _knowing(part: TablePart, attacker: Insider, cell: int) -> Insider:
    """Return an insider with a cell added to their own, by public knowledge, in the order of cells."""
    table, more = part.table, [] if cell in attacker.cells else [cell]
    cells: Places = np.append(attacker.cells, np.array(more, np.int64))
    order, public = np.argsort(cells), table.bounds.rows(np.array(more, np.int64))
    low, high = np.append(attacker.bounds.low, public.low), np.append(attacker.bounds.high, public.high)
    down, up = (
        np.append(attacker.reach.lower, table.protection_levels.lower[more]),
        np.append(attacker.reach.upper, table.protection_levels.upper[more]),
    )
    return replace(
        attacker,
        cells=cells[order],
        bounds=Bounds(low, high).rows(order),
        reach=ProtectionLevels(down[order], up[order]),
    )
