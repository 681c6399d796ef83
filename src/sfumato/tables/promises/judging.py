"""From a plan's rules and the facts of a table to its promises: unsafe cells, bounds that are known, costs."""

from collections.abc import Sequence

import numpy as np

from sfumato.errors import DataError
from sfumato.tables.cells.cells import Mask, Numbers, Relations, Status, Table
from sfumato.tables.cells.columns import Columns
from sfumato.tables.cells.relations import finest_of
from sfumato.tables.plan.plan import Protection, TablePlan
from sfumato.tables.plan.rules import Facts, Judgment, Range, combine
from sfumato.tables.promises.shown_cases import shows_zeros, told_bounds
from sfumato.tables.promises.widths import reach, step_of

Bounds = tuple[Numbers, Numbers]


def judged(
    plan: TablePlan, facts: Facts, relations: Relations, names: tuple[str, ...], heights: Numbers
) -> tuple[Table, Bounds]:
    """The table as the strongest attacker knows it, and the bounds that every reader knows."""
    values = facts.values
    found = judgment_of(plan, facts)
    public = public_bounds(plan, facts)
    lower, upper = known_bounds(plan, facts, found, public)
    lower = with_parts(lower, relations)
    down, up = reach(values, found.unsafe, (lower, upper), (found.down, found.up))
    table = Table(
        values=values,
        status=_status(found, facts, plan.method.zeros),
        costs=costs_of(plan, facts) * plan.method.level_factor**heights,
        lower=lower,
        upper=upper,
        need_down=down,
        need_up=up,
        relations=relations,
        names=names,
        alone=alone_in(facts),
    )
    floor, ceiling = shown_bounds(plan, found, public)
    return table, (with_parts(floor, relations), ceiling)


def judgment_of(plan: TablePlan, facts: Facts) -> Judgment:
    """What the rules of the plan say, with the plan's own reach where it gives one."""
    found = combine([rule.apply(facts) for rule in plan.primary], len(facts.values))
    return found if plan.protection is None else overruled(found, facts.values, plan.protection)


def known_bounds(plan: TablePlan, facts: Facts, found: Judgment, public: Bounds) -> Bounds:
    """The bounds for one who knows the rules, as far as the plan says or the publication itself tells which cells are
    primary."""
    lower, upper = np.maximum(public[0], found.floor), np.minimum(public[1], found.ceiling)
    rules = plan.primary if plan.attacker.rule else [rule for rule in plan.primary if isinstance(rule, Range)]
    if plan.attacker.rule or shows_primaries(plan):
        floor, ceiling = told_bounds(rules, facts, found.unsafe)
        return np.maximum(lower, floor), np.minimum(upper, ceiling)
    return lower, upper


def with_parts(lower: Numbers, relations: Relations) -> Numbers:
    """Lower bounds of totals that are no less than those of their parts together; coarser totals after finer ones."""
    raised = lower.copy()
    while True:
        before = raised.copy()
        for relation in range(len(relations)):
            cells, coefs = relations.row(relation)
            total = cells[coefs < 0]
            raised[total] = np.maximum(raised[total], raised[cells[coefs > 0]].sum())
        if np.array_equal(before, raised):
            return raised


def shown_bounds(plan: TablePlan, found: Judgment, public: Bounds) -> Bounds:
    """The bounds that published ranges may make use of."""
    if not shows_primaries(plan) and plan.method.name != "intervals":
        return public
    return np.maximum(public[0], found.floor), np.minimum(public[1], found.ceiling)


def shows_primaries(plan: TablePlan) -> bool:
    """Whether published ranges tell primary cells from others: the range of a rule is printed for the former only."""
    ranged = any(isinstance(rule, Range) for rule in plan.primary)
    return ranged and (plan.method.name == "ranges" or (plan.method.name == "intervals" and plan.method.repair))


def facts_of(plan: TablePlan, columns: Columns, values: Numbers, relations: Relations) -> Facts:
    """What the rules may look at."""
    source = plan.table
    return Facts(
        values=values,
        frequency=columns.numbers(source.frequency) if source.frequency else as_counts(values, source.contributions),
        holdings=columns.numbers(source.holdings) if source.holdings else None,
        contributions=tuple(columns.optional(name) for name in source.contributions),
        finest=finest_of(relations, len(values)),
        counts=source.frequency is None and not source.contributions,
        columns=columns,
    )


def as_counts(values: Numbers, contributions: Sequence[str]) -> Numbers | None:
    """A table without contributions or respondents is one of counts: its values are the respondents."""
    return None if contributions or (values < 0).any() else values


def public_bounds(plan: TablePlan, facts: Facts) -> Bounds:
    """What anyone assumes: nothing negative, unless something is; nothing masked is 0, where zeros are published."""
    values = facts.values
    floor, ceiling = _limits(plan, values)
    if (values < floor).any() or (values > ceiling).any():
        raise DataError(
            "a value lies outside the bounds of the attacker.", "Correct attacker.lower or upper.", "bounds"
        )
    least = np.full(len(values), floor)
    if not plan.method.zeros and floor >= 0 and shows_zeros(plan.primary, facts):
        least[~(values <= 0)] = max(floor, step_of(values))
    return least, np.full(len(values), ceiling)


def _limits(plan: TablePlan, values: Numbers) -> tuple[float, float]:
    given = plan.attacker
    floor = given.lower if given.lower is not None else (-np.inf if (values < 0).any() else 0.0)
    return floor, np.inf if given.upper is None else given.upper


def overruled(found: Judgment, values: Numbers, protection: Protection) -> Judgment:
    """The judgment with the plan's own reach instead of what the rules imply."""
    if protection.percent is not None:
        down = up = np.abs(values) * protection.percent / 100.0
    else:
        down = np.full(len(values), protection.lower or 0.0)
        up = np.full(len(values), protection.upper or 0.0)
    unsafe = found.unsafe
    reach = np.where(unsafe, down, 0.0), np.where(unsafe, up, 0.0)
    return Judgment(unsafe, *reach, found.floor, found.ceiling, found.waived, found.published)


def _status(found: Judgment, facts: Facts, zeros: bool) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
    """Empty cells are published unless the plan allows otherwise: that nobody is there is often known anyway."""
    status = np.where(found.published | (facts.empty & (not zeros)), Status.PUBLISH, Status.SAFE)
    return np.where(found.unsafe, Status.UNSAFE, status).astype(np.int8)


def costs_of(plan: TablePlan, facts: Facts) -> Numbers:
    """What masking each cell costs."""
    size = np.abs(facts.values)
    if plan.method.cost == "frequency":
        return facts.respondents("cost: frequency")
    known = {"unit": np.ones(len(size)), "value": size, "log": np.log1p(size)}
    costs = known.get(plan.method.cost)
    if costs is None:
        costs = facts.columns.numbers(plan.method.cost)
    if (costs < 0).any():
        raise DataError("a cost is negative.", "Costs must be at least 0.", "costs", column=plan.method.cost)
    return costs


def alone_in(facts: Facts) -> Mask:
    """Cells with one holding, or one respondent where holdings are not given: one contribution, when nothing else."""
    counted = facts.frequency if facts.holdings is None else facts.holdings
    if counted is not None:
        return np.asarray(counted == 1)
    if len(facts.contributions) < 2:
        return np.zeros(len(facts.values), bool)
    return np.asarray((facts.top(1, "") > 0) & (facts.top(2, "") == facts.top(1, "")))
