"""Audit several published tables together: what one suppresses, another may disclose."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.tables.attack.findings import Audit, DisclosureStatus, Finding
from sfumato.tables.batch.zero_patterns import ZeroPattern
from sfumato.tables.build.implicit_cells import with_cross
from sfumato.tables.build.linked_table import InputTable, LinkedTable, join, merged
from sfumato.tables.build.unlinked_columns import likely_links
from sfumato.tables.cells.cells import BoolArray, Bounds, no_bounds
from sfumato.tables.cells.constraints import check
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.column_dependencies.inconsistent_records import with_inconsistent_records
from sfumato.tables.linked_tables import joint_lines, joint_part
from sfumato.tables.plan.plan import TablePlan
from sfumato.tables.protection_levels.resolve_plan import plan_precision
from sfumato.tables.published_tables.audit_table import audit_part, audit_values
from sfumato.tables.published_tables.parse_cells import ParsedTable
from sfumato.tables.published_tables.parts import part_of, published_relations

ODD_RECORDS = (
    "sums of codes of other tables that hold but for a few wrong records, for without values nobody knows by how much "
    "they are off. Correct these records."
)


def review_several(
    plan: TablePlan,
    sheets: Sequence[InputTable],
    readings: Sequence[ParsedTable],
    presences: Sequence[ZeroPattern] = (),
) -> Audit:
    """Attack several published tables together.

    Args:
        plan: Their plan.
        sheets: The tables.
        readings: What each shows.
        presences: Tables of something else of the same records, which show that cells are empty.

    Raises:
        DataError: Tables differ in a cell that they share, or published totals do not add up.
    """
    recorded = frozenset().union(*(sheet.recorded for sheet in sheets))
    if all(reading.valued for reading in readings):
        part, joint = joint_part(plan, sheets)
        reading = _together(joint, readings, part.knowledge.precision)
        part = with_inconsistent_records(part, joint.inconsistent)
        part, unattacked = _crossed(part, joint, None, True, presences)
        unattacked += _unlinked(joint, readings, part.knowledge.precision, recorded)
        audit = replace(audit_values(part, _padded(reading, part)), not_audited=unattacked)
        return _with_shown(audit, joint, readings, reading)
    joint = join(sheets, plan.folder)
    step = plan_precision(plan.table, np.concatenate([reading.exact for reading in readings]))
    reading = _together(joint, readings, step)
    shown = published_relations(joint.relations, reading.exact)
    check(shown, np.nan_to_num(reading.exact), plan.table.tolerance, step)
    lines = joint_lines(joint, sheets)
    low = reading.ranges.low
    published = part_of(plan, joint.columns, reading.exact, joint.relations, joint.names, lines, low)
    part, unattacked = _crossed(published.part, joint, reading.exact == 0, False, presences)
    unattacked += _unlinked(joint, readings, step, recorded) + ((ODD_RECORDS,) if joint.inconsistent else ())
    audit = audit_part(part, published.shown, plan, _padded(reading, part))
    audit = replace(audit, unjudged=published.unjudged, not_audited=unattacked)
    return _with_shown(audit, joint, readings, reading)


def _crossed(
    part: TablePart, joint: LinkedTable, empty: BoolArray | None, valued: bool, presences: Sequence[ZeroPattern]
) -> tuple[TablePart, tuple[str, ...]]:
    """The part with the cells of a cross, or why they cannot be attacked."""
    try:
        crossed = with_cross(part, joint, empty, valued, presences=presences)
        return crossed, crossed.not_audited
    except UnattainableError as error:
        return part, (error.message,)


def _unlinked(
    joint: LinkedTable, readings: Sequence[ParsedTable], step: float, recorded: frozenset[str]
) -> tuple[str, ...]:
    """What is said of columns that are attacked as if they had nothing in common, though their cells look like it."""
    negative = any((reading.exact < 0).any() for reading in readings)
    cells = []
    for reading in readings:
        masked = np.isnan(reading.exact)
        none = Bounds(np.full(len(masked), -np.inf if negative else 0.0), np.full(len(masked), np.inf))
        open_ = none.within(reading.ranges)
        cells.append(Bounds(np.where(masked, open_.low, reading.exact), np.where(masked, open_.high, reading.exact)))
    return tuple(link.what for link in likely_links(joint, cells, step, recorded))


def _padded(reading: ParsedTable, part: TablePart) -> ParsedTable:
    """The reading with nothing of the cells that no table shows."""
    return reading.with_cells(np.full(len(part.table) - len(reading.exact), np.nan))


def _with_shown(audit: Audit, joint: LinkedTable, readings: Sequence[ParsedTable], together: ParsedTable) -> Audit:
    """The audit with the cells that one table masks and another shows: whoever reads both knows them."""
    masked, tables = set[int](), dict[int, tuple[str, ...]]()
    for section, reading in zip(joint.sections, readings, strict=True):
        for cell, value in zip(section.cells.tolist(), reading.exact.tolist(), strict=True):
            if np.isnan(value):
                masked.add(cell)
            else:
                tables[cell] = (*tables.get(cell, ()), section.name)
    values = together.exact.tolist()
    # What wrong records hold is in no table: nobody learns a cell by it.
    findings = [finding for finding in audit.findings if finding.cell < len(joint.names)]
    shown = [
        Finding(
            cell, joint.names[cell], values[cell], values[cell], DisclosureStatus.EXACT, tables[cell], published=True
        )
        for cell in (masked & tables.keys()) - {finding.cell for finding in findings}
    ]
    audit = replace(audit, findings=tuple(sorted((*findings, *shown), key=lambda finding: finding.cell)))
    return audit.with_contradictions(joint.names[cell] for cell in np.flatnonzero(together.marked))


def _together(joint: LinkedTable, readings: Sequence[ParsedTable], step: float) -> ParsedTable:
    """What all tables show of each cell: a value that one shows is known, and so is what every range says."""
    exact = merged(joint, [reading.exact for reading in readings], step)
    ranges, case, marked = no_bounds(len(exact)), [""] * len(exact), np.zeros(len(exact), bool)
    for section, reading in zip(joint.sections, readings, strict=True):
        own = ranges.rows(section.cells).within(reading.ranges)
        ranges.low[section.cells], ranges.high[section.cells] = own.low, own.high
        marked[section.cells[reading.marked]] = True
        for cell, text in zip(section.cells.tolist(), reading.case, strict=True):
            case[cell] = case[cell] or text
    cases = any(reading.cases for reading in readings)
    return ParsedTable(exact, ranges.only(np.isnan(exact)), tuple(case), cases, valued=False, marked=marked)
