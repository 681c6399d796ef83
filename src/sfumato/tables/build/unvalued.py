"""Tables of a publication without true values: relations, bounds, and what the rules say of what is shown."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.errors import DataError, PlanError
from sfumato.tables.build.build import dimensions_of, grouped
from sfumato.tables.build.groups import check_groups
from sfumato.tables.cells.cells import Mask, Numbers, Places, Relations, Status, make_relations, make_table
from sfumato.tables.cells.columns import Columns
from sfumato.tables.cells.parts import Part, in_group
from sfumato.tables.cells.relations import check, derive, describe, finest_of
from sfumato.tables.plan.plan import TablePlan
from sfumato.tables.plan.rules import Facts, Frequency, Range, Rule, combine
from sfumato.tables.promises.judging import as_counts, public_bounds
from sfumato.tables.promises.widths import step_of


@dataclass(frozen=True, slots=True)
class Unvalued:
    """The tables of a publication, and the rules that cannot be judged without columns that it does not have."""

    parts: tuple[Part, ...]
    unjudged: tuple[str, ...]


def build_unvalued(plan: TablePlan, columns: Columns, exact: Numbers) -> Unvalued:
    """The tables of a publication; cells that a rule calls unsafe by what is published of them have that status.

    Raises:
        DataError: Cells stand twice, parents are missing, or published totals do not add up.
    """
    if plan.table.cells is not None:
        return _given(plan, columns, exact)
    trees, keys = dimensions_of(plan, columns)
    parts, unjudged = [], set[str]()
    for group, rows in grouped(plan, columns):
        own = tuple(keys[row] for row in rows)
        try:
            relations = derive(trees, own)
            check(_published(relations, exact[rows]), np.nan_to_num(exact[rows]), plan.table.tolerance)
        except DataError as error:
            raise in_group(error, group, rows) from None
        names = tuple(describe(trees, key) for key in own)
        part, missed = _part(plan, columns.rows(rows), exact[rows], relations, names)
        parts.append(replace(part, rows=rows, trees=trees, keys=own, group=group))
        unjudged |= missed
    _check_groups(plan, parts, exact)
    return Unvalued(tuple(parts), tuple(sorted(unjudged)))


def _given(plan: TablePlan, columns: Columns, exact: Numbers) -> Unvalued:
    from sfumato.tables.build.given import ROUNDING, marked_unsafe, optional_bounds, relations_of

    relations = relations_of(plan, columns)
    check(_published(relations, exact), np.nan_to_num(exact), plan.table.tolerance or ROUNDING)
    names = tuple(f"cell {text}" for text in columns.text("id"))
    part, unjudged = _part(plan, columns, exact, relations, names)
    lower, upper = optional_bounds(columns, exact, plan.attacker)
    status = np.where(marked_unsafe(columns) & ~np.isnan(exact), Status.UNSAFE, part.table.status).astype(np.int8)
    table = part.table.with_columns(lower=lower, upper=upper, status=status)
    return Unvalued((replace(part, table=table),), tuple(sorted(unjudged)))


def _part(
    plan: TablePlan, columns: Columns, exact: Numbers, relations: Relations, names: tuple[str, ...]
) -> tuple[Part, set[str]]:
    facts = _facts(plan, columns, exact, relations)
    unsafe, unjudged = _unsafe(plan.primary, facts)
    lower, upper = public_bounds(plan, facts)
    table = make_table(
        np.nan_to_num(exact),
        relations,
        status=np.where(unsafe, Status.UNSAFE, Status.SAFE).astype(np.int8),
        lower=lower,
        upper=upper,
        names=names,
    )
    return Part(np.arange(len(exact)), table), unjudged


def _facts(plan: TablePlan, columns: Columns, exact: Numbers, relations: Relations) -> Facts:
    """What the file itself says; not a number where a value is masked."""
    source = plan.table
    given = all(name in columns for name in source.contributions)
    frequency = columns.optional(source.frequency) if source.frequency in columns and source.frequency else None
    counts = source.frequency is None and not source.contributions
    return Facts(
        values=exact,
        frequency=as_counts(exact, ()) if counts else frequency,
        holdings=columns.optional(source.holdings) if source.holdings and source.holdings in columns else None,
        contributions=tuple(columns.optional(name) for name in source.contributions) if given else (),
        finest=finest_of(relations, len(exact)),
        counts=counts,
        columns=columns,
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


def _published(relations: Relations, exact: Numbers) -> Relations:
    """The relations whose cells are all published."""
    whole = [place for place in range(len(relations)) if not np.isnan(exact[relations.row(place)[0]]).any()]
    rows = [tuple(part.tolist() for part in relations.row(place)) for place in whole]
    return make_relations([(cells, coefs) for cells, coefs in rows], [relations.names[place] for place in whole])


def _check_groups(plan: TablePlan, parts: Sequence[Part], exact: Numbers) -> None:
    shown = [replace(part, table=part.table.with_columns(values=exact[part.rows])) for part in parts]
    check_groups(plan, shown)


def told_floor(plan: TablePlan, part: Part, masked: Mask, primary: Mask, rows: Places, exact: Numbers) -> Numbers:
    """The bounds for a reader to whom the file tells which masked cells are primary: the others are above the rule."""
    floor = part.table.lower.copy()
    step = step_of(exact[rows])
    for rule in plan.primary:
        cells = masked & ~primary
        if isinstance(rule, Range):
            # A cell below the range is not primary either: only where there is no room below is one above it.
            above = cells & part.finest & (part.table.lower >= rule.min)
            floor[above] = np.maximum(floor[above], rule.max + step)
        elif isinstance(rule, Frequency) and plan.table.frequency is None and not plan.table.contributions:
            floor[cells] = np.maximum(floor[cells], np.ceil(rule.min))
    return floor
