"""Published tables without true values: relations, bounds, and protection levels of what is shown."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import DataError, PlanError
from sfumato.tables.build.build import dimensions_of, grouped
from sfumato.tables.build.groups import check_groups
from sfumato.tables.build.instance_file import cell_names, marked_unsafe, optional_bounds, relations_of
from sfumato.tables.cells.cells import Mask, Numbers, Relations, Status, make_relations, make_table
from sfumato.tables.cells.columns import Columns
from sfumato.tables.cells.parts import Part, in_group
from sfumato.tables.cells.relations import check, derive, describe, finest_of
from sfumato.tables.plan.facts import Facts
from sfumato.tables.plan.plan import TablePlan
from sfumato.tables.plan.rules import Rule, combine
from sfumato.tables.promises.resolution import as_counts, knowledge_of, public_bounds, step_in


@dataclass(frozen=True, slots=True)
class PublishedParts:
    """The tables of a publication, and the rules that cannot be judged without columns that it does not have."""

    parts: tuple[Part, ...]
    unjudged: tuple[str, ...]


def published_parts(plan: TablePlan, columns: Columns, exact: Numbers) -> PublishedParts:
    """The tables of a publication; cells that a rule calls unsafe by what is published of them have that status.

    Raises:
        DataError: Cells stand twice, parents are missing, or published totals do not add up.
    """
    if plan.table.cells is not None:
        return _instance(plan, columns, exact)
    trees, keys = dimensions_of(plan.dimensions, columns, plan.folder)
    parts, unjudged = [], set[str]()
    for group, rows in grouped(plan, columns):
        own = tuple(keys[row] for row in rows)
        try:
            relations = derive(trees, own)
            check(
                published_relations(relations, exact[rows]),
                np.nan_to_num(exact[rows]),
                plan.table.tolerance,
                step_in(plan.table, exact),
            )
        except DataError as error:
            raise in_group(error, group, rows) from None
        names = tuple(describe(trees, key) for key in own)
        part, missed = part_of(plan, columns.rows(rows), exact[rows], relations, names)
        parts.append(replace(part, rows=rows, trees=trees, keys=own, group=group))
        unjudged |= missed
    _check_groups(plan, parts, exact)
    return PublishedParts(tuple(parts), tuple(sorted(unjudged)))


def _instance(plan: TablePlan, columns: Columns, exact: Numbers) -> PublishedParts:
    relations = relations_of(plan, columns)
    check(published_relations(relations, exact), np.nan_to_num(exact), plan.table.tolerance, step_in(plan.table, exact))
    part, unjudged = part_of(plan, columns, exact, relations, cell_names(columns))
    bounds = optional_bounds(columns, exact, np.isnan(exact), plan)
    status = np.where(marked_unsafe(columns) & ~np.isnan(exact), Status.UNSAFE, part.table.status).astype(np.int8)
    table = part.table.with_columns(bounds=bounds, status=status)
    return PublishedParts((replace(part, table=table, public=bounds),), tuple(sorted(unjudged)))


def part_of(
    plan: TablePlan, columns: Columns, exact: Numbers, relations: Relations, names: tuple[str, ...]
) -> tuple[Part, set[str]]:
    """A table by what is published of it, and the rules that cannot be judged."""
    facts = _facts(plan, columns, exact, relations)
    unsafe, unjudged = _unsafe(plan.primary, facts)
    bounds = public_bounds(plan, exact, np.isnan(exact))
    status = np.where(unsafe, Status.UNSAFE, Status.SAFE).astype(np.int8)
    table = make_table(np.nan_to_num(exact), relations, status=status, bounds=bounds, names=names)
    return Part(np.arange(len(exact)), table, bounds, knowledge=knowledge_of(plan, exact)), unjudged


def _facts(plan: TablePlan, columns: Columns, exact: Numbers, relations: Relations) -> Facts:
    """What the file itself says; not a number where a value is masked."""
    source = plan.table
    counts = as_counts(source, exact)
    there = {name for name in (source.frequency, source.holdings, *source.contributions) if name in columns}
    return Facts(
        values=exact,
        frequency=columns.optional(source.frequency or "") if source.frequency in there else counts,
        holdings=columns.optional(source.holdings or "") if source.holdings in there else None,
        contributions=tuple(
            columns.optional(name) for name in source.contributions if there.issuperset(source.contributions)
        ),
        finest=finest_of(relations, len(exact)),
        counts=counts is not None,
        columns=columns,
        singles=tuple(columns.optional(name) for name in source.respondents if name in columns),
    )


def _unsafe(rules: Sequence[Rule], facts: Facts) -> tuple[Mask, set[str]]:
    """The published cells that some rule calls unsafe, and the rules that miss a column."""
    judgments, unjudged = [], set[str]()
    for rule in rules:
        try:
            judgments.append(rule.apply(facts))
        except PlanError:
            unjudged.add(rule.name)
    return combine(judgments, len(facts.values)).unsafe & ~np.isnan(facts.values), unjudged


def published_relations(relations: Relations, exact: Numbers) -> Relations:
    """The relations whose cells are all published."""
    whole = [place for place in range(len(relations)) if not np.isnan(exact[relations.row(place)[0]]).any()]
    rows = [tuple(part.tolist() for part in relations.row(place)) for place in whole]
    return make_relations([(cells, coefs) for cells, coefs in rows], [relations.names[place] for place in whole])


def _check_groups(plan: TablePlan, parts: Sequence[Part], exact: Numbers) -> None:
    shown = [replace(part, table=part.table.with_columns(values=exact[part.rows])) for part in parts]
    check_groups(plan, shown)
