"""Audit perturbed tables: what a data user can compute from the file, and whether the rules allow it."""

import numpy as np

from sfumato.errors import DataError
from sfumato.tables.attack.findings import Audit, DisclosureStatus, Finding, joined
from sfumato.tables.build import cell_names, dimensions_of, grouped, relations_of
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import derive, describe
from sfumato.tables.cells.system import (
    AttackerKnowledge,
    BoolArray,
    Bounds,
    LinearConstraints,
    Numbers,
    Places,
    make_table,
)
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.deadline import within
from sfumato.tables.linear_programs import linear_program
from sfumato.tables.noise.cell_key import known_sums
from sfumato.tables.noise.feasibility_intervals import (
    feasibility_intervals,
    hull_of,
    on_grid,
    possible_counts,
    reader_counts,
)
from sfumato.tables.noise.perturbed import perturbed_parts
from sfumato.tables.noise.ptable_file import ptable_of
from sfumato.tables.noise.rounding import known_ranges as ranges_by_rounding
from sfumato.tables.plan.sections import CellKey, Rounding
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.protection_levels.resolve_plan import plan_precision
from sfumato.tables.published_tables.audit_table import part_of
from sfumato.tables.published_tables.parse_cells import ParsedTable
from sfumato.values import replace

# Seconds for the intervals of all cells.
PATIENCE = 60.0


def review_perturbed(columns: TextColumns, plan: TablePlan, reading: ParsedTable) -> Audit:
    """Audit a perturbed table by what its file shows.

    Raises:
        DataError: A cell is not a number, or no consistent table is within the perturbation that the plan states.
    """
    if np.isnan(reading.exact).any():
        raise DataError("unreadable-cell.not_a_number")
    if reading.valued:
        parts = perturbed_parts(plan, columns)
        return joined([_with_values(part, plan, columns, reading.exact[part.rows]) for part in parts])
    parts = _parts(columns, plan, reading.exact)
    return joined([_without_values(part, plan, columns, reading.exact[part.rows]) for part in parts])


def _with_values(part: TablePart, plan: TablePlan, columns: TextColumns, published: Numbers) -> Audit:
    """Audit with true values: all sensitive cells are compared with their protection intervals."""
    own = columns.rows(part.rows)
    ranges = _ranges(part, plan, own, published, part.table.values, part.table.values)
    promise, slack, step = part.table.protection_interval, 1e-6 * part.knowledge.precision, part.knowledge.precision
    narrow = (ranges.low > promise.low + slack) | (ranges.high < promise.high - slack)
    return _audit(part, ranges, part.table.sensitive, narrow, step)


def _without_values(part: TablePart, plan: TablePlan, columns: TextColumns, published: Numbers) -> Audit:
    """Audit without true values: cells whose value can be computed are evaluated by the rules."""
    own = columns.rows(part.rows)
    center = _possible(part, on_grid(_known(part, plan, own, published, None), part.knowledge.precision))
    ranges = _ranges(part, plan, own, published, center, None)
    one = ranges.high - ranges.low < part.knowledge.precision * (1 - 1e-6)
    exact = np.where(one, ranges.low, np.nan)
    judged = part_of(plan, own, exact, part.table.constraints, part.table.names)
    return _audit(part, ranges, judged.part.table.sensitive, one, part.knowledge.precision)


def _audit(part: TablePart, ranges: Bounds, judged: BoolArray, narrow: BoolArray, step: float) -> Audit:
    findings = []
    for cell in np.flatnonzero(judged):
        low, high = float(ranges.low[cell]), float(ranges.high[cell])
        exact = high - low < step * (1 - 1e-6)
        verdict = (
            DisclosureStatus.EXACT if exact else DisclosureStatus.TOO_NARROW if narrow[cell] else DisclosureStatus.SAFE
        )
        findings.append(Finding(int(cell), part.table.names[cell], low, high, verdict))
    return Audit(tuple(findings))


def _ranges(
    part: TablePart, plan: TablePlan, columns: TextColumns, published: Numbers, center: Numbers, values: Numbers | None
) -> Bounds:
    """Compute the feasibility interval of each cell.

    Args:
        center: Values that satisfy the constraints; the intervals contain them.
        values: The true values, if the file has them.
    """
    method, step, deadline = plan.perturbation, part.knowledge.precision, within(PATIENCE)
    if isinstance(method, CellKey) and plan.table.counts:
        possible = possible_counts(ptable_of(method, plan.folder), published, method.zeros, values)
        return reader_counts(possible, part, deadline, center).ranges
    start = on_grid(_known(part, plan, columns, published, values), step)
    wide = Bounds(np.minimum(start.low, center), np.maximum(start.high, center))
    return feasibility_intervals(wide, part.table.constraints, part.table.sensitive, step, deadline, center).ranges


def _known(
    part: TablePart, plan: TablePlan, columns: TextColumns, published: Numbers, values: Numbers | None
) -> Bounds:
    """Return the interval of each cell implied by its published number alone."""
    method = plan.perturbation
    if isinstance(method, Rounding):
        bases, steps = np.full(len(published), method.base), _steps(method, part, published)
        return ranges_by_rounding(method, published, bases, part.knowledge.precision, part, steps)
    named = [name for name in plan.table.contributions if name in columns]
    if isinstance(method, CellKey) and plan.table.counts:
        return hull_of(possible_counts(ptable_of(method, plan.folder), published, method.zeros, values))
    if isinstance(method, CellKey) and values is not None and named:
        largest = [columns.optional(name) for name in named]
        return known_sums(published, largest, part, method, ptable_of(method, plan.folder), values)
    # Adjusted values, and sums with noise without known contributions, imply no bounds.
    return Bounds(part.table.bounds.low, part.table.bounds.high)


def _steps(method: Rounding, part: TablePart, published: Numbers) -> int:
    """Return the number of further steps to allow for: the fewest for which a consistent table exists."""
    if method.kind != "controlled":
        return 0
    bases = np.full(len(published), method.base)
    for steps in range(method.steps):
        start = ranges_by_rounding(method, published, bases, part.knowledge.precision, part, steps)
        if _feasible(part, start) is not None:
            return steps
    return method.steps


def _feasible(part: TablePart, start: Bounds) -> Numbers | None:
    from highspy import HighsModelStatus

    matrix = part.table.constraints.matrix(len(start))
    highs = linear_program(matrix, np.zeros(len(start)), start)
    highs.run()
    optimal = highs.getModelStatus() == HighsModelStatus.kOptimal
    return np.array(highs.getSolution().col_value) if optimal else None


def _possible(part: TablePart, start: Bounds) -> Numbers:
    point = _feasible(part, start)
    if point is None:
        raise DataError("contradiction.no_table_that_adds")
    return point


def _parts(columns: TextColumns, plan: TablePlan, published: Numbers) -> list[TablePart]:
    """Build the tables of a file without true values."""
    if plan.table.cells is not None:
        return [_part(plan, np.arange(len(columns)), published, relations_of(plan, columns), cell_names(columns))]
    trees, keys = dimensions_of(plan.dimensions, columns, plan.folder)
    parts = []
    for group, rows in grouped(plan, columns):
        own = tuple(keys[row] for row in rows)
        names = tuple(describe(trees, key) for key in own)
        part = _part(plan, rows, published[rows], derive(trees, own), names)
        parts.append(replace(part, trees=trees, keys=own, group=group))
    return parts


def _part(
    plan: TablePlan, rows: Places, published: Numbers, relations: LinearConstraints, names: tuple[str, ...]
) -> TablePart:
    table = make_table(published, relations, names=names)
    return TablePart(
        rows, table, table.bounds, knowledge=AttackerKnowledge(precision=plan_precision(plan.table, published))
    )
