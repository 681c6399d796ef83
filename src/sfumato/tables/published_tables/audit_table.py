"""Audit a published table from any origin, by its file and the protection that its plan requires."""

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.errors import DataError, PlanError
from sfumato.tables.attack.audit import audit_publication
from sfumato.tables.attack.audit_evidence import AuditEvidence
from sfumato.tables.attack.findings import AttackerView, Audit, Finding, false_cells, joined
from sfumato.tables.build import (
    build,
    cell_names,
    dimensions_of,
    grouped,
    lines_of,
    marked_unsafe,
    optional_bounds,
    relations_of,
)
from sfumato.tables.cell_labels import SuppressionReason
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import check, derive, describe, finest_of
from sfumato.tables.cells.system import (
    BoolArray,
    Bounds,
    CellStatus,
    LinearConstraints,
    Numbers,
    Places,
    make_constraints,
    make_table,
    no_bounds,
)
from sfumato.tables.cells.table_part import TablePart, in_group
from sfumato.tables.groups import check_groups
from sfumato.tables.noise.legacy_intervals import attack
from sfumato.tables.plan.rules import RangeRule, RuleInputs, RuleResult, SensitivityRule, combine
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.protection_levels.inference import as_shown
from sfumato.tables.protection_levels.insiders import thickened
from sfumato.tables.protection_levels.resolve_plan import (
    as_counts,
    case_bounds,
    judgment_of,
    knowledge_of,
    plan_precision,
    public_bounds,
)
from sfumato.tables.published_tables.parse_cells import ParsedTable
from sfumato.tables.published_tables.shown_facts import ShownFacts, shown_facts
from sfumato.values import Value, replace


class PublishedPart(Value):
    """One table of a publication.

    Attributes:
        part: The table with its published values and public bounds.
        shown: What the file discloses about respondents.
        unjudged: The rules that cannot be evaluated, because the file lacks a column.
    """

    part: TablePart
    shown: ShownFacts
    unjudged: tuple[str, ...]


def published_parts(plan: TablePlan, columns: TextColumns, reading: ParsedTable) -> list[PublishedPart]:
    """Return the tables of a publication, one per group.

    Published cells that a rule classifies as sensitive by the published columns get the status *sensitive*.

    Raises:
        DataError: There are duplicate cells, parents are missing, or published totals do not add up.
    """
    if plan.table.cells is not None:
        return [_instance(plan, columns, reading)]
    exact = reading.exact
    trees, keys = dimensions_of(plan.dimensions, columns, plan.folder)
    parts: list[PublishedPart] = []
    for group, rows in grouped(plan, columns):
        own = tuple(keys[row] for row in rows)
        try:
            relations = derive(trees, own)
            check(
                published_relations(relations, exact[rows]),
                np.nan_to_num(exact[rows]),
                plan.table.tolerance,
                plan_precision(plan.table, exact),
            )
        except DataError as error:
            raise in_group(error, group, rows) from None
        names = tuple(describe(trees, key) for key in own)
        lines = dict(zip(plan.dimensions, lines_of(trees, own), strict=True))
        one = part_of(plan, columns.rows(rows), exact[rows], relations, names, lines, reading.ranges.low[rows])
        parts.append(replace(one, part=replace(one.part, rows=rows, trees=trees, keys=own, group=group)))
    _check_groups(plan, [one.part for one in parts], exact)
    return parts


def _instance(plan: TablePlan, columns: TextColumns, reading: ParsedTable) -> PublishedPart:
    relations, exact = relations_of(plan, columns), reading.exact
    check(
        published_relations(relations, exact),
        np.nan_to_num(exact),
        plan.table.tolerance,
        plan_precision(plan.table, exact),
    )
    one = part_of(plan, columns, exact, relations, cell_names(columns))
    bounds = optional_bounds(columns, exact, np.isnan(exact), plan)
    status = np.where(marked_unsafe(columns) & ~np.isnan(exact), CellStatus.SENSITIVE, one.part.table.status)
    table = one.part.table.with_columns(bounds=bounds, status=status.astype(np.int8))
    return replace(one, part=replace(one.part, table=table, public=bounds))


def part_of(
    plan: TablePlan,
    columns: TextColumns,
    exact: Numbers,
    relations: LinearConstraints,
    names: tuple[str, ...],
    lines: Mapping[str, Places] | None = None,
    least: Numbers | None = None,
) -> PublishedPart:
    """Build a table from its published values.

    Args:
        plan: The plan of the publication.
        columns: The columns of the file.
        exact: The published values; NaN if suppressed.
        relations: The linear constraints of the table.
        names: The name of each cell.
        lines: For each dimension, the position of the total that each cell is a part of; rules on groups need it.
        least: The published minimum of suppressed cells; NaN if there is none. None if the file has no minimum.
    """
    bounds = public_bounds(plan, exact, np.isnan(exact))
    low = bounds.low if least is None else np.fmax(bounds.low, least)
    held = _inhabited(lines or {}, np.where(np.isnan(exact), low, exact) > 0)
    shown = shown_facts(plan, columns, exact, finest_of(relations, len(exact)), held)
    judged, _ = _judged(plan.primary, shown.least_sensitive)
    unsafe = combine(judged, len(exact)).unsafe & ~np.isnan(exact)
    status = np.where(unsafe, CellStatus.SENSITIVE, CellStatus.SAFE).astype(np.int8)
    table = make_table(np.nan_to_num(exact), relations, status=status, bounds=bounds, names=names)
    part = TablePart(np.arange(len(exact)), table, bounds, knowledge=knowledge_of(plan, exact))
    return PublishedPart(part, shown, _judged(plan.primary, shown.complete)[1])


def _inhabited(lines: Mapping[str, Places], positive: BoolArray) -> dict[str, Places]:
    """Return, for each dimension, the total of each cell; -1 if neither the total nor a part is certainly positive."""
    kept = {}
    for name, above in lines.items():
        held, parts = positive.copy(), np.flatnonzero((above >= 0) & positive)
        held[above[parts]] = True
        kept[name] = np.where((above >= 0) & held[above], above, -1)
    return kept


def _judged(rules: Sequence[SensitivityRule], facts: RuleInputs) -> tuple[list[RuleResult], tuple[str, ...]]:
    """Return the results of the rules, and the names of the rules that lack a column."""
    judgments, unjudged = [], set[str]()
    for rule in rules:
        try:
            judgments.append(rule.apply(facts))
        except PlanError:
            unjudged.add(rule.name)
    return judgments, tuple(sorted(unjudged))


def published_relations(relations: LinearConstraints, exact: Numbers) -> LinearConstraints:
    """Return the linear constraints whose cells are all published."""
    whole = [place for place in range(len(relations)) if not np.isnan(exact[relations.row(place)[0]]).any()]
    rows = [tuple(part.tolist() for part in relations.row(place)) for place in whole]
    return make_constraints([(cells, coefs) for cells, coefs in rows], [relations.names[place] for place in whole])


def _check_groups(plan: TablePlan, parts: Sequence[TablePart], exact: Numbers) -> None:
    shown = [replace(part, table=part.table.with_columns(values=exact[part.rows])) for part in parts]
    check_groups(plan, shown)


# Maximum number of values tried per interval; a wider one is assumed to be wide enough for one of its values.
MOST_VALUES = 10_000


def review(columns: TextColumns, plan: TablePlan, reading: ParsedTable) -> Audit:
    """Audit a published table: by its true values if the file has them, otherwise by the published values alone."""
    audit = _by_values(columns, plan, reading) if reading.valued else _by_texts(columns, plan, reading)
    return audit.with_contradictions(_names(columns, plan, np.flatnonzero(reading.marked)))


def _names(columns: TextColumns, plan: TablePlan, rows: Places) -> list[str]:
    if not len(rows):
        return []
    if plan.table.cells is not None:
        return [cell_names(columns)[row] for row in rows]
    trees, keys = dimensions_of(plan.dimensions, columns, plan.folder)
    return [describe(trees, keys[row]) for row in rows]


def _by_values(columns: TextColumns, plan: TablePlan, reading: ParsedTable) -> Audit:
    """Audit a file with true values, from which all protection levels are computed."""
    values = columns.numbers(plan.table.value)
    if (np.isnan(reading.exact) & (values == 0)).any():
        # A zero is suppressed, so the method may suppress zeros.
        plan = _with_zeros(plan)
    return joined([audit_values(part, reading) for part in build(plan, columns)])


def _by_texts(columns: TextColumns, plan: TablePlan, reading: ParsedTable) -> Audit:
    """Audit a file without true values: apply the rules to published cells, and compute intervals of suppressed ones.

    An attacker assumes that no cell is negative and no suppressed cell is 0. The audit drops an assumption if a
    published value or an interval end violates it, or if no table is consistent with it.
    """
    ranges = reading.ranges
    if (np.fmin(ranges.low, ranges.high) < 0).any():
        plan = _below_zero(plan)
    if (np.isnan(reading.exact) & (ranges.low == 0)).any():
        plan = _with_zeros(plan)
    blank = bool((np.isnan(reading.exact) & np.isnan(ranges.low)).any()) and plan.attacker.lower is None
    plans = [plan] if plan.method.zeros else [plan, _with_zeros(plan)]
    answers: list[Audit] = []
    for wider in (*plans, _below_zero(plan)) if blank else plans:
        try:
            answers.append(_audit_texts(columns, wider, reading))
        except DataError as error:
            last = wider is plans[-1] if not blank else wider not in plans
            if error.code != "data.contradiction" or last:
                raise
            answers.clear()
            continue
        if not answers[-1].contradictions:
            return answers[-1]
    # Negative values do not remove the contradictions; the audit under narrower assumptions finds more.
    return answers[-2] if blank and len(answers) > 1 else answers[-1]


def _below_zero(plan: TablePlan) -> TablePlan:
    """Return the plan for values of both signs, unless the plan declares the minimum."""
    lower = -np.inf if plan.attacker.lower is None else plan.attacker.lower
    return replace(plan, attacker=replace(plan.attacker, lower=lower))


def _with_zeros(plan: TablePlan) -> TablePlan:
    return replace(plan, method=replace(plan.method, zeros=True))


def _publication(part: TablePart, reading: ParsedTable) -> AttackerView:
    table = part.table
    exact, ranges = reading.exact[part.rows], reading.ranges.rows(part.rows)
    return AttackerView(exact, ranges, table.bounds, table.constraints, table.names, hidden=part.hidden)


def audit_values(part: TablePart, reading: ParsedTable) -> Audit:
    """Audit a table whose true values are known."""
    part = as_shown(part, np.isnan(reading.exact[part.rows]))
    publication = _publication(part, reading)
    audit, _ = attack(publication, part, [reading.case[row] for row in part.rows])
    return audit.with_contradictions(false_cells(publication, part.table.values, part.knowledge.precision))


def _audit_texts(columns: TextColumns, plan: TablePlan, reading: ParsedTable) -> Audit:
    published = published_parts(plan, columns, reading)
    unjudged = {name for one in published for name in one.unjudged}
    return joined([audit_part(one.part, one.shown, plan, reading) for one in published], tuple(sorted(unjudged)))


def audit_part(part: TablePart, shown: ShownFacts, plan: TablePlan, reading: ParsedTable) -> Audit:
    """Audit a table of which only the published values and intervals are known."""
    publication = _publication(part, reading)
    cases = [reading.case[row] for row in part.rows]
    masked = np.isnan(publication.exact)
    primary = (
        np.array([case in (SuppressionReason.PRIMARY, SuppressionReason.SENSITIVE) for case in cases], bool) & masked
    )
    if reading.cases:
        others = np.array([bool(case) for case in cases], bool) & masked & ~primary
        counts, bounds, step = (
            as_counts(plan.table, reading.exact) is not None,
            part.table.bounds,
            part.knowledge.precision,
        )
        told = case_bounds(plan.primary, counts, part.finest, bounds.low, step, primary, others)
        publication = replace(publication, bounds=bounds.within(told))
    promise = _promise(part, plan, publication, primary)
    audit, _ = attack(publication, part, cases, promise)
    needs = narrow_ranges(plan, part, shown, publication, audit.findings)
    narrow = np.isnan(promise.low) & ~np.isnan(needs.low)
    if narrow.any():
        low, high = (np.where(narrow, new, old) for new, old in ((needs.low, promise.low), (needs.high, promise.high)))
        audit, _ = attack(publication, part, cases, Bounds(low, high))
    return replace(audit, by_cases=not publication.bounds.equals(part.table.bounds))


def _promise(part: TablePart, plan: TablePlan, publication: AttackerView, primary: BoolArray) -> Bounds:
    """Return the protection intervals of cells that are certainly primary, as far as the publication shows them.

    The range rule requires its whole interval within the a priori bounds. If the plan sets other protection levels,
    these depend on suppressed values and cannot be checked. For a published sensitive cell the interval is its value,
    so that the audit reports the cell.
    """
    masked, ranges, bounds = np.isnan(publication.exact), publication.ranges, publication.bounds
    low = np.where(part.table.sensitive & ~masked, publication.exact, np.nan)
    high = low.copy()
    for rule in plan.primary if plan.protection is None else ():
        if isinstance(rule, RangeRule):
            least, most = np.maximum(bounds.low, rule.min), np.minimum(bounds.high, rule.max)
            shown = (ranges.low == least) & (ranges.high == most)
            cells = masked & part.finest & (primary | shown) & (least <= most)
            low[cells], high[cells] = least[cells], most[cells]
    return Bounds(low, high)


def narrow_ranges(
    plan: TablePlan, part: TablePart, shown: ShownFacts, publication: AttackerView, findings: Sequence[Finding]
) -> Bounds:
    """Return the protection intervals of cells whose feasibility interval is too narrow whatever their value is.

    These cells are sensitive at every value of their feasibility interval, and it contains the protection interval of
    none of these values. Other cells get NaN. Inherently disclosed bounds of a cell need no protection.
    """
    none = no_bounds(len(part.rows))
    found = [one for one in findings if not one.published and np.isfinite(one.upper - one.lower)]
    if not found:
        return none
    ends = Bounds(np.array([one.lower for one in found]), np.array([one.upper for one in found]))
    cells, bounds = np.array([one.cell for one in found]), publication.bounds
    needs = _needs(plan, part, shown, cells, ends, bounds)
    narrow = ~np.isnan(needs.low)
    if narrow.any():
        cells, ends = cells[narrow], ends.rows(narrow)
        bounds = bounds.within(_known_anyway(publication, part, cells))
        needs = _needs(plan, part, shown, cells, ends, bounds)
    none.low[cells], none.high[cells] = needs.low, needs.high
    return none


def _needs(plan: TablePlan, part: TablePart, shown: ShownFacts, cells: Places, ends: Bounds, bounds: Bounds) -> Bounds:
    """Return the hull of the protection intervals of all values of each feasibility interval.

    The entry is NaN if some value of the interval is not sensitive, or has a protection interval within it.
    """
    step, own = part.knowledge.precision, bounds.rows(cells)
    rules = [rule for rule in plan.primary if _judges(rule, shown)]
    if not rules:
        return no_bounds(len(cells))
    asked = replace(plan, primary=tuple(rules))
    first, last = np.ceil(ends.low / step - 1e-6) * step, np.floor(ends.high / step + 1e-6) * step
    low, high = np.full(len(cells), np.inf), np.full(len(cells), -np.inf)
    left = np.ones(len(cells), bool)
    for value in (last, *(first + step * number for number in range(MOST_VALUES))):
        here = np.flatnonzero(left & (value <= last + step / 2))
        if not len(here):
            break
        judgment = judgment_of(asked, shown.least_sensitive_at(cells[here], value[here]))
        reach = thickened(value[here], judgment.unsafe, own.rows(here), judgment.reach, step)
        least, most = value[here] - reach.lower, value[here] + reach.upper
        allowed = (least >= ends.low[here] - step / 2) & (most <= ends.high[here] + step / 2)
        left[here] = judgment.unsafe & ~allowed
        low[here], high[here] = np.minimum(low[here], least), np.maximum(high[here], most)
    left &= (first <= last) & (last - first < step * MOST_VALUES)
    return Bounds(np.where(left, low, np.nan), np.where(left, high, np.nan))


def _judges(rule: SensitivityRule, shown: ShownFacts) -> bool:
    """Return whether a rule can be evaluated with the value of a cell and the columns of the file."""
    try:
        rule.apply(shown.least_sensitive_at(np.zeros(1, np.int64), np.zeros(1)))
    except PlanError:
        return False
    return True


def _known_anyway(publication: AttackerView, part: TablePart, cells: Places) -> Bounds:
    """Return the feasibility intervals of some cells if only the zeros of the table are published."""
    exact = np.where(publication.exact == 0, 0.0, np.nan)
    bare = replace(publication, exact=exact, ranges=no_bounds(len(exact)))
    promise, ends = no_bounds(len(exact)), no_bounds(len(exact))
    promise.low[cells] = promise.high[cells] = 0.0
    for one in audit_publication(bare, promise, part.knowledge, None, AuditEvidence(promised=True)).findings:
        ends.low[one.cell], ends.high[one.cell] = one.lower, one.upper
    return ends
