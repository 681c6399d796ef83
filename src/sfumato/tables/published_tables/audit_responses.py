"""Audit published tables of several response variables of the same records; each may show where others are empty."""

from collections.abc import Sequence

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.tables.attack.findings import Audit, DisclosureStatus, Finding, joined
from sfumato.tables.cells.constraints import check
from sfumato.tables.cells.system import BoolArray, Bounds, no_bounds
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.linked.from_plan import (
    InputTable,
    LinkedTable,
    join,
    merged,
    presence_in,
    with_cross,
    with_inconsistent_records,
)
from sfumato.tables.linked.likely_links import likely_links
from sfumato.tables.linked.protection import joint_lines, joint_part
from sfumato.tables.linked.view import CodedTable, TableView
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.protection_levels.resolve_plan import as_counts, plan_precision
from sfumato.tables.published_tables.audit_table import audit_part, audit_values, part_of, published_relations
from sfumato.tables.published_tables.parse_cells import ParsedTable, with_rows_left_out
from sfumato.values import Value, replace

ODD_RECORDS = (
    "sums of codes of other tables that hold but for a few wrong records, for without values nobody knows by how much "
    "they are off. Correct these records."
)
OTHER_COLUMNS = (
    "which cells are empty by tables of another value, for these have levels of columns that stand alone in the others."
)


class ReleasedTable(Value):
    """A published table with its plan, its dimensions, and its published values and intervals."""

    plan: TablePlan
    sheet: InputTable
    reading: ParsedTable

    @property
    def whole(self) -> "ReleasedTable":
        """The table with a row of 0 for each omitted combination, if a rule of the plan needs these."""
        columns, reading = with_rows_left_out(self.sheet.columns, self.plan, self.reading, self.sheet.dimensions)
        return replace(self, sheet=replace(self.sheet, columns=columns), reading=reading)

    @property
    def filled(self) -> BoolArray:
        """The rows that may have records: all except counts of 0, because a sum of 0 may have records."""
        counted = as_counts(self.plan.table, self.reading.exact) is not None
        return np.asarray((self.reading.exact != 0) | (not counted))


def review_responses(responses: Sequence[Sequence[ReleasedTable]]) -> Audit:
    """Audit published tables jointly; those of one response are sums of the same implicit cells.

    Raises:
        DataError: Tables differ in a cell that they share, or published totals do not add up.
    """
    audits = []
    for own in responses:
        others = [one for other in responses if other is not own for one in other]
        presences = _presences(own, others)
        audit = review_several(own[0].plan, [one.sheet for one in own], [one.reading for one in own], presences or ())
        if presences is None:
            audit = replace(audit, not_audited=(*audit.not_audited, OTHER_COLUMNS))
        audits.append(_named(audit, own[0].plan.table.value) if others else audit)
    return audits[0] if len(audits) == 1 else joined(audits, tuple(dict.fromkeys(_unjudged(audits))))


def _presences(own: Sequence[ReleasedTable], others: Sequence[ReleasedTable]) -> list[CodedTable] | None:
    """Return where the tables of other responses show that records may exist; None if they link further columns.

    The joint tables determine the names of codes, and linked columns have other codes than each column alone. If the
    other responses link columns that the own tables do not link, the names differ and cannot be compared.
    """
    folder = own[0].plan.folder
    alone = join([one.sheet for one in own], folder)
    together = join([one.sheet for one in (*own, *others)], folder)
    if [_axes(section) for section in alone.sections] != [_axes(one) for one in together.sections[: len(own)]]:
        return None
    sections = together.sections[len(own) :]
    return [presence_in(section, one.filled) for section, one in zip(sections, others, strict=True)]


def _axes(section: TableView) -> list[tuple[str, str]]:
    return [(axis.tree.name, axis.variable) for axis in section.axes]


def _unjudged(audits: Sequence[Audit]) -> list[str]:
    return [rule for audit in audits for rule in audit.unjudged]


def _named(audit: Audit, value: str) -> Audit:
    """Return the audit with the response in front of each cell name, because responses have cells of the same name."""
    findings = tuple(replace(finding, name=f"{value}: {finding.name}") for finding in audit.findings)
    known = tuple(replace(end, name=f"{value}: {end.name}") for end in audit.inherently_disclosed)
    false = tuple(f"{value}: {one}" for one in audit.contradictions)
    return replace(audit, findings=findings, contradictions=false, inherently_disclosed=known)


def review_several(
    plan: TablePlan,
    sheets: Sequence[InputTable],
    readings: Sequence[ParsedTable],
    presences: Sequence[CodedTable] = (),
) -> Audit:
    """Audit several published tables jointly.

    Args:
        plan: The plan of the first table.
        sheets: The tables with their dimensions.
        readings: The published values and intervals of each table.
        presences: Tables of other responses of the same records, which show empty cells.

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
    part: TablePart, joint: LinkedTable, empty: BoolArray | None, valued: bool, presences: Sequence[CodedTable]
) -> tuple[TablePart, tuple[str, ...]]:
    """Return the table with its implicit cells, and what was not audited; unchanged if they cannot be added."""
    try:
        crossed = with_cross(part, joint, empty, valued, presences=presences)
        return crossed, crossed.not_audited
    except UnattainableError as error:
        return part, (error.message,)


def _unlinked(
    joint: LinkedTable, readings: Sequence[ParsedTable], step: float, recorded: frozenset[str]
) -> tuple[str, ...]:
    """Return a message for each link that the cells of columns suggest, but that the audit does not know."""
    negative = any((reading.exact < 0).any() for reading in readings)
    cells = []
    for reading in readings:
        masked = np.isnan(reading.exact)
        none = Bounds(np.full(len(masked), -np.inf if negative else 0.0), np.full(len(masked), np.inf))
        open_ = none.within(reading.ranges)
        cells.append(Bounds(np.where(masked, open_.low, reading.exact), np.where(masked, open_.high, reading.exact)))
    return tuple(link.what for link in likely_links(joint, cells, step, recorded))


def _padded(reading: ParsedTable, part: TablePart) -> ParsedTable:
    """Return the parsed table extended by the implicit cells, which have no published value."""
    return reading.with_cells(np.full(len(part.table) - len(reading.exact), np.nan))


def _with_shown(audit: Audit, joint: LinkedTable, readings: Sequence[ParsedTable], together: ParsedTable) -> Audit:
    """Add a finding for each cell that one table suppresses and another one publishes."""
    masked, tables = set[int](), dict[int, tuple[str, ...]]()
    for section, reading in zip(joint.sections, readings, strict=True):
        for cell, value in zip(section.cells.tolist(), reading.exact.tolist(), strict=True):
            if np.isnan(value):
                masked.add(cell)
            else:
                tables[cell] = (*tables.get(cell, ()), section.name)
    values = together.exact.tolist()
    # Cells of inconsistent records are in no table, so findings for them disclose no published cell.
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
    """Merge what all tables publish of each cell: a value from any table, and the intersection of all intervals."""
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
