"""Resolve a plan for a table: the attackers' knowledge, and the protection level of each cell."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.errors import DataError
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import finest_of, precision_of
from sfumato.tables.cells.system import (
    AttackerKnowledge,
    BoolArray,
    Bounds,
    LinearConstraints,
    Numbers,
    Places,
    ProtectionLevels,
    public_floor,
)
from sfumato.tables.cells.table_part import PublicRuleInfo, SafetyMargin, TablePart
from sfumato.tables.plan.rules import (
    DEFAULT_PERCENT,
    Dominance,
    Frequency,
    GroupDisclosure,
    PriorPosterior,
    RangeRule,
    RuleInputs,
    RuleResult,
    SensitivityRule,
    StatusColumn,
    Waiver,
    ZeroUnsafe,
    combine,
)
from sfumato.tables.plan.sections import COUNT, MethodChoice, Protection, TableSource
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.protection_levels.insiders import attackers_of
from sfumato.values import replace


def case_bounds(
    rules: Sequence[SensitivityRule],
    counts: bool,
    finest: BoolArray,
    low: Numbers,
    step: float,
    primary: BoolArray,
    others: BoolArray,
) -> Bounds:
    """Return bounds of cells by whether they are shown to be primary; infinite if that implies none.

    A primary cell has a value that some rule classifies as sensitive; any other suppressed cell has none. If its value
    cannot be below these, it is above them, unless cells may be waived.

    Args:
        rules: The rules that the primary cells follow.
        counts: Whether the values are counts of respondents.
        finest: Cells that are no total of others.
        low: The public lower bound of each cell.
        primary: The cells that are shown to be primary.
        others: The cells that are shown not to be.

    >>> bounds = case_bounds(
    ...     [Frequency(3)], True, np.ones(2, bool), np.ones(2), 1.0, np.array([True, False]), np.array([False, True])
    ... )
    >>> bounds.low.tolist(), bounds.high.tolist()
    ([1.0, 3.0], [2.0, inf])
    """
    size, all_cells = len(low), np.ones(len(low), bool)
    spans = [(_span(rule, counts), finest if isinstance(rule, RangeRule) else all_cells) for rule in rules]
    least, most = np.full(size, np.inf), np.full(size, -np.inf)
    for (first, last), cells in spans:
        least[cells], most[cells] = np.minimum(least[cells], first), np.maximum(most[cells], last)
    restricted = primary & (least <= most)
    floor, ceiling = np.where(restricted, least, -np.inf), np.where(restricted, most, np.inf)
    if any(isinstance(rule, Waiver) for rule in rules):
        return Bounds(floor, ceiling)
    for (first, last), cells in sorted(spans, key=lambda one: one[0]):
        if np.isfinite(first):
            above = others & cells & (np.maximum(low, floor) >= first)
            floor[above] = np.maximum(floor[above], (np.floor(last / step + 1e-9) + 1.0) * step)
    return Bounds(floor, ceiling)


def _span(rule: SensitivityRule, counts: bool) -> tuple[float, float]:
    """Return the range of values that a rule classifies as sensitive; empty for a waiver."""
    match rule:
        case RangeRule():
            return rule.min, rule.max
        case Frequency() if counts:
            return 1.0, float(np.ceil(rule.min)) - 1.0
        case ZeroUnsafe():
            return 0.0, 0.0
        case Waiver():
            return np.inf, -np.inf
        case _:
            return -np.inf, np.inf


def facts_of(
    source: TableSource,
    columns: TextColumns,
    values: Numbers,
    relations: LinearConstraints,
    lines: Mapping[str, Places] | None = None,
) -> RuleInputs:
    """Return the inputs of sensitivity rules."""
    unit, counts = _unit(source, columns, values), as_counts(source, values)
    return RuleInputs(
        values=values,
        frequency=_people(columns, source.frequency) if source.frequency else counts,
        holdings=_people(columns, source.holdings) if source.holdings else None,
        contributions=tuple(columns.optional(name) * unit for name in source.contributions),
        finest=finest_of(relations, len(values)),
        counts=counts is not None,
        columns=columns,
        singles=tuple(columns.optional(name) * unit for name in source.respondents),
        lines=lines or {},
        records=source.value == COUNT,
    )


def _unit(source: TableSource, columns: TextColumns, values: Numbers) -> Numbers:
    """Return the factor from a unit of the contributions to a unit of the value; not 1 only with a shadow
    variable.

    A value of 0 with a shadow is evaluated by the shadow itself, so that a single respondent makes it sensitive.
    """
    if source.shadow is None:
        return np.ones(len(values))
    shadow, size = np.abs(columns.numbers(source.shadow)), np.abs(values)
    return np.divide(size, shadow, out=np.ones(len(values)), where=(shadow > 0) & (size > 0))


def as_counts(source: TableSource, values: Numbers) -> Numbers | None:
    """Return the values as counts of respondents, if the table has neither contributions nor respondents; else
    None.

    Negative values and fractions are no counts, except weighted record counts; nor are tables for which the plan gives
    a fractional precision.
    """
    known = values[~np.isnan(values)]
    fine = source.precision is not None and source.precision < 1
    whole = source.value == COUNT or (not fine and np.array_equal(known, np.round(known)))
    return values if source.counts and whole and not (known < 0).any() else None


def _people(columns: TextColumns, name: str) -> Numbers:
    """Return the number of respondents or holdings of each cell.

    Raises:
        DataError: A number is negative.
    """
    numbers = columns.numbers(name)
    negative = np.flatnonzero(numbers < 0)
    if len(negative):
        rows = [int(row) + 1 for row in negative]
        raise DataError("range", column=name, count=len(negative), row=negative[0] + 1).about(column=name, rows=rows)
    return numbers


def judgment_of(plan: TablePlan, facts: RuleInputs, *marks: RuleResult) -> RuleResult:
    """Combine marks and the rules of the plan, with the plan's own protection levels if it has any."""
    judgment = combine([*marks, *(rule.apply(facts) for rule in plan.primary)], len(facts.values))
    if plan.protection is None:
        return judgment
    reach = _protection_reach(plan.protection, facts.values).at(judgment.unsafe)
    return RuleResult(judgment.unsafe, reach, judgment.bounds, judgment.waived, judgment.published)


def _protection_reach(protection: Protection, values: Numbers) -> ProtectionLevels:
    if protection.percent is not None:
        share = np.abs(values) * protection.percent / 100.0
        return ProtectionLevels(share, share)
    size = len(values)
    return ProtectionLevels(np.full(size, protection.lower or 0.0), np.full(size, protection.upper or 0.0))


def plan_precision(source: TableSource, values: Numbers) -> float:
    """Return the precision of a table: as the plan gives it, otherwise from its values."""
    return precision_of(values) if source.precision is None else source.precision


def knowledge_of(plan: TablePlan, values: Numbers) -> AttackerKnowledge:
    """Return the outsider's knowledge in addition to the bounds."""
    return AttackerKnowledge(plan.attacker.integer, plan.table.tolerance, plan_precision(plan.table, values))


def with_attackers(plan: TablePlan, part: TablePart, facts: RuleInputs) -> TablePart:
    """Add all insiders to the part."""
    attackers = attackers_of(plan, facts, part.table, part.knowledge.precision)
    return replace(part, knowledge=replace(part.knowledge, attackers=attackers))


def public_bounds(plan: TablePlan, values: Numbers, hidden: BoolArray) -> Bounds:
    """Return the public bounds of a table of which some cells are suppressed, or may be; for tables that are read or
    will be written.

    Raises:
        DataError: A value lies outside the bounds that the plan names.
    """
    least, most = plan.attacker.lower, plan.attacker.upper
    if (values < (-np.inf if least is None else least)).any() or (values > (np.inf if most is None else most)).any():
        raise DataError("bounds.bounds")
    announced = plan.method.zeros or any(getattr(rule, "suppresses_empty", False) for rule in plan.primary)
    low = public_floor(values, hidden, plan_precision(plan.table, values), least, announced)
    return Bounds(low, np.full(len(values), np.inf if most is None else most))


def known_bounds(plan: TablePlan, facts: RuleInputs, judgment: RuleResult, public: Bounds) -> Bounds:
    """Return the bounds for an attacker who knows the rules, if the plan or the publication shows which cells are
    primary.
    """
    bounds = public.within(judgment.bounds)
    if not knows_cases(plan):
        return bounds
    # Published intervals show which cells are primary by a range rule; not which are by other rules.
    rules = (
        plan.primary if plan.attacker.rule else [rule for rule in plan.primary if isinstance(rule, RangeRule | Waiver)]
    )
    primary = judgment.unsafe if plan.attacker.rule else np.zeros(len(facts.values), bool)
    # The publication may show that no suppressed cell is 0.
    step = plan_precision(plan.table, facts.values)
    low = np.where((public.low >= 0) & (facts.values > 0), np.maximum(public.low, step), public.low)
    return bounds.within(case_bounds(rules, facts.counts, facts.finest, low, step, primary, ~judgment.unsafe))


def knows_cases(plan: TablePlan) -> bool:
    """Return whether the attacker knows which suppressed cells are primary."""
    return plan.attacker.rule or shows_primaries(plan)


def shows_primaries(plan: TablePlan) -> bool:
    """Return whether published intervals distinguish primary cells: only these show the range of a rule."""
    ranged = any(isinstance(rule, RangeRule) for rule in plan.primary)
    return ranged and (plan.method.name == "ranges" or (plan.method.name == "intervals" and plan.method.repair))


def reader_bounds(plan: TablePlan, judgment: RuleResult, public: Bounds) -> Bounds:
    """Return the bounds that published intervals may use."""
    if not shows_primaries(plan) and plan.method.name != "intervals":
        return public
    return public.within(judgment.bounds)


def with_parts(bounds: Bounds, relations: LinearConstraints, values: Numbers) -> Bounds:
    """Raise lower bounds of totals to the sum of those of their parts, from finer to coarser totals.

    A total with a single part equals it.
    """
    size = np.diff(relations.starts)
    owner = np.repeat(np.arange(len(size)), size)
    part, total = relations.coefs == 1, relations.coefs == -1
    plain = (np.bincount(owner, part, len(size)) == size - 1) & (np.bincount(owner, total, len(size)) == 1)
    total &= plain[owner]
    only = part & (plain & (size == 2))[owner]
    whole = np.full(len(size), -1, np.int64)
    whole[owner[total]] = relations.cells[total]
    low = bounds.low
    for _ in range(len(relations)):
        sums = np.bincount(owner, np.where(part, low[relations.cells], 0.0), len(size))
        before, low = low, low.copy()
        np.maximum.at(low, relations.cells[total], sums[owner[total]])
        np.maximum.at(low, relations.cells[only], low[whole[owner[only]]])
        # Sums of rounded numbers may exceed a total.
        low = np.maximum(np.minimum(low, values), bounds.low)
        if np.array_equal(before, low):
            break
    return Bounds(low, bounds.high)


def costs_of(method: MethodChoice, facts: RuleInputs) -> Numbers:
    """Return the cost of suppressing each cell."""
    size = np.abs(facts.values)
    if method.cost == "frequency":
        return facts.respondents("cost: frequency")
    measures = {"unit": np.ones(len(size)), "value": size, "log": np.log1p(size)}
    costs = measures[method.cost] if method.cost in measures else facts.columns.numbers(method.cost)
    if (costs < 0).any():
        raise DataError("costs").about(column=method.cost)
    return costs


def terms_of(plan: TablePlan, counts: bool) -> PublicRuleInfo:
    """Return what the rules of a plan make public about sensitive cells.

    Args:
        counts: Whether the values are counts of respondents.
    """
    rules = plan.primary
    ranges = [rule for rule in rules if isinstance(rule, RangeRule)]
    only = ranges[0] if len(rules) == len(ranges) == 1 and plan.protection is None else None
    zone = (rule.min - 1 for rule in rules if counts and isinstance(rule, Frequency))
    return PublicRuleInfo(
        span=(only.min, only.max) if only else None,
        small=bool(rules) and len(ranges) == len(rules),
        margins=_margins(plan, counts),
        zone=max(zone, default=0.0),
    )


def _margins(plan: TablePlan, counts: bool) -> tuple[SafetyMargin, ...]:
    """Return one safety margin per rule of a plan, and one for the sensitive cells of a table given by cells."""
    margins = [_margin(rule, counts) for rule in plan.primary]
    if plan.table.cells is not None:
        # The levels that the file gives for each cell are as confidential as the cell.
        margins.append(SafetyMargin(fixed=math.inf))
    protection = plan.protection
    if protection is None:
        return tuple(margins)
    if protection.percent is not None:
        return tuple(SafetyMargin(share=protection.percent / 100.0, limit=margin.limit) for margin in margins)
    fixed = max(protection.lower or 0.0, protection.upper or 0.0)
    return tuple(SafetyMargin(fixed=fixed, limit=margin.limit) for margin in margins)


def _margin(rule: SensitivityRule, counts: bool) -> SafetyMargin:
    match rule:
        case Waiver():
            return SafetyMargin(limit=0.0)
        case RangeRule():
            return SafetyMargin(fixed=rule.max - rule.min, limit=max(abs(rule.min), abs(rule.max)))
        case Frequency() if counts:
            return SafetyMargin(fixed=1.0, limit=rule.min)
        case StatusColumn() if counts:
            return SafetyMargin(fixed=1.0)
        case GroupDisclosure():
            return SafetyMargin(fixed=1.0 if rule.k == 100 else math.inf)
        case ZeroUnsafe():
            return SafetyMargin(fixed=rule.margin, limit=0.0)
        case Dominance():
            return SafetyMargin(share=100.0 / rule.k - 1.0)
        case PriorPosterior():
            return SafetyMargin(share=rule.p / rule.q)
        case _:
            return SafetyMargin(share=DEFAULT_PERCENT / 100.0)
