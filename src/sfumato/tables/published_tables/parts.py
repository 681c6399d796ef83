"""Published tables without true values: relations, bounds, and protection levels of what is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import DataError, PlanError
from sfumato.tables.build import (
    cell_names,
    dimensions_of,
    grouped,
    lines_of,
    marked_unsafe,
    optional_bounds,
    relations_of,
)
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import check, derive, describe, finest_of
from sfumato.tables.cells.system import (
    BoolArray,
    CellStatus,
    LinearConstraints,
    Numbers,
    Places,
    make_constraints,
    make_table,
)
from sfumato.tables.cells.table_part import TablePart, in_group
from sfumato.tables.groups import check_groups
from sfumato.tables.plan.rule_inputs import RuleInputs
from sfumato.tables.plan.rules import RuleResult, SensitivityRule, combine
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.protection_levels.resolve_plan import knowledge_of, plan_precision, public_bounds
from sfumato.tables.published_tables.parse_cells import ParsedTable
from sfumato.tables.published_tables.shown_facts import ShownFacts, shown_facts


@dataclass(frozen=True, slots=True)
class PublishedPart:
    """A table of a publication.

    Attributes:
        shown: What the file shows of its cells.
        unjudged: The rules that cannot be judged without columns that the file does not have.
    """

    part: TablePart
    shown: ShownFacts
    unjudged: tuple[str, ...]


def published_parts(plan: TablePlan, columns: TextColumns, reading: ParsedTable) -> list[PublishedPart]:
    """The tables of a publication; cells that a rule calls unsafe by what is published of them have that status.

    Raises:
        DataError: Cells stand twice, parents are missing, or published totals do not add up.
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
    """A table by what is published of it.

    Args:
        exact: The published values; not a number where suppressed.
        lines: For each dimension, the place of the total that each cell is a part of; rules on groups need it.
        least: The published least values of suppressed cells; not a number where there is none.
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
    """The lines of totals that nobody takes to be empty, by cells that are not 0 for certain."""
    kept = {}
    for name, above in lines.items():
        held, parts = positive.copy(), np.flatnonzero((above >= 0) & positive)
        held[above[parts]] = True
        kept[name] = np.where((above >= 0) & held[above], above, -1)
    return kept


def _judged(rules: Sequence[SensitivityRule], facts: RuleInputs) -> tuple[list[RuleResult], tuple[str, ...]]:
    """What rules say, and the names of those that miss a column."""
    judgments, unjudged = [], set[str]()
    for rule in rules:
        try:
            judgments.append(rule.apply(facts))
        except PlanError:
            unjudged.add(rule.name)
    return judgments, tuple(sorted(unjudged))


def published_relations(relations: LinearConstraints, exact: Numbers) -> LinearConstraints:
    """The relations whose cells are all published."""
    whole = [place for place in range(len(relations)) if not np.isnan(exact[relations.row(place)[0]]).any()]
    rows = [tuple(part.tolist() for part in relations.row(place)) for place in whole]
    return make_constraints([(cells, coefs) for cells, coefs in rows], [relations.names[place] for place in whole])


def _check_groups(plan: TablePlan, parts: Sequence[TablePart], exact: Numbers) -> None:
    shown = [replace(part, table=part.table.with_columns(values=exact[part.rows])) for part in parts]
    check_groups(plan, shown)
