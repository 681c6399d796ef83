"""Protect several tables together, with earlier publications, and split the result by table."""

from collections.abc import Sequence

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.tables.build import lines_of, resolved
from sfumato.tables.cells.constraints import check, joint_coordinates
from sfumato.tables.cells.system import CellStatus, Places, ProtectionLevels, make_table, no_bounds
from sfumato.tables.cells.table_part import TablePart, in_part
from sfumato.tables.linked.from_plan import InputTable, LinkedTable, join, merged
from sfumato.tables.linked.view import TableView
from sfumato.tables.plan.rules import check_marks
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.protection_levels.insiders import thickened
from sfumato.tables.protection_levels.resolve_plan import facts_of, plan_precision
from sfumato.tables.published_tables.earlier_releases import EarlierTable, PublicationHistory, history_of
from sfumato.tables.suppress_table import SuppressedCells
from sfumato.values import replace


def joint_part(
    plan: TablePlan, sheets: Sequence[InputTable], releases: Sequence[EarlierTable] = ()
) -> tuple[TablePart, LinkedTable]:
    """Combine several tables, and earlier releases, into one table with attacker knowledge and protection levels.

    Raises:
        DataError: A table has no cells, or two differ in a cell that they share.
        UnattainableError: Known bounds leave a sensitive cell a single value.
    """
    joint = join([*sheets, *(release.sheet for release in releases)], plan.folder)
    check_marks(plan.primary, joint.columns)
    numbers = [section.columns.numbers(plan.table.value) for section in joint.sections]
    step = plan_precision(plan.table, np.concatenate(numbers))
    values = merged(joint, numbers, step, plan.table.tolerance)
    joint = joint.settled(values, step)
    check(joint.relations, values, plan.table.tolerance, step)
    rows = np.arange(len(values))
    where = joint_coordinates([(own.trees, own.keys, own.cells) for own in joint.sections], len(rows))
    table = make_table(values, joint.relations, names=joint.names)
    part = TablePart(rows, table, no_bounds(len(rows)), coordinates=where)
    facts = facts_of(plan.table, joint.columns, values, joint.relations, joint_lines(joint, sheets))
    history = history_of(joint, list(releases), step)
    if history is not None:
        part = replace(part, suppressed_before=history.masked)
    try:
        whole = resolved(plan, part, facts, joint.heights)
        return (whole if history is None else _remembering(whole, history)), joint
    except UnattainableError as error:
        raise in_part(error, rows, joint.names) from None


def joint_lines(joint: LinkedTable, sheets: Sequence[InputTable]) -> dict[str, Places]:
    """Return for each dimension of any table the total of which each joint cell is a part."""
    lines: dict[str, Places] = {}
    for sheet, section in zip(sheets, joint.sections, strict=False):
        for name, above in zip(sheet.dimensions, lines_of(section.trees, section.keys), strict=True):
            own = lines.setdefault(name, np.full(len(joint.names), -1, np.int64))
            own[section.cells[above >= 0]] = section.cells[above[above >= 0]]
    return lines


def _remembering(part: TablePart, history: PublicationHistory) -> TablePart:
    """Keep published cells published and suppressed ones suppressed, and add the intervals of earlier releases.

    A cell that was sensitive in an earlier release stays sensitive; otherwise new cells might disclose it.
    """
    table, step = part.table, part.knowledge.precision
    bounds = table.bounds.within(history.ranges)
    status = np.where(history.published, CellStatus.PUBLISH, table.status)
    status = np.where(history.unsafe, CellStatus.SENSITIVE, status).astype(np.int8)
    unsafe = status == CellStatus.SENSITIVE
    own, before = (part.requested or table.protection_levels).at(unsafe & table.sensitive), history.reach
    wished = ProtectionLevels(np.maximum(own.lower, before.lower), np.maximum(own.upper, before.upper))
    reach = thickened(table.values, unsafe, bounds, wished, step)
    kept = table.with_columns(status=status, bounds=bounds, protection_levels=reach)
    return replace(part, table=kept, public=part.public.within(history.ranges), requested=wished)


def shown_of(masked: SuppressedCells, joint: LinkedTable) -> SuppressedCells:
    """Return the result for cells of the input tables only, without the cells that link them."""
    size = len(joint.names)
    if len(masked.suppressed) == size:
        return masked
    part = masked.part.without(np.arange(len(masked.suppressed)) >= size)
    return _of_cells(masked, replace(part, hidden=None), np.arange(size))


def section_of(masked: SuppressedCells, section: TableView) -> SuppressedCells:
    """Return the result for one of several tables, whose rows are its cells again."""
    cells, whole = section.cells, masked.part
    own = whole.table.rows(cells)
    part = TablePart(
        np.arange(len(cells)), own, whole.public.rows(cells), section.trees, section.keys, not_audited=whole.not_audited
    )
    places = {int(cell): row for row, cell in enumerate(cells)}
    findings = tuple(
        replace(finding, cell=places[finding.cell]) for finding in masked.audit.findings if finding.cell in places
    )
    known = tuple(
        replace(end, cell=places[end.cell]) for end in masked.audit.inherently_disclosed if end.cell in places
    )
    return replace(
        _of_cells(masked, part, cells),
        cost=float(own.costs[masked.suppressed[cells] & ~own.sensitive].sum()),
        bound=None,
        audit=replace(masked.audit, findings=findings, inherently_disclosed=known),
    )


def _of_cells(masked: SuppressedCells, part: TablePart, cells: Places) -> SuppressedCells:
    return replace(
        masked,
        part=part,
        suppressed=masked.suppressed[cells],
        ranges=masked.ranges.rows(cells),
        ends=masked.ends.rows(cells),
        case=tuple(masked.case[cell] for cell in cells),
        reason=tuple(masked.reason[cell] for cell in cells),
    )
