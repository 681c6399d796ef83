"""Insiders of a table: what each contributor knows, and what of a cell belongs to others.

Without names, the single respondent of a cell is the same in all totals without other respondents; with names
(`contributors`) a holding is one attacker in all its cells. Against each, only the contributions of others are
protected: the rules are applied again without the insider's part, and a cell in which the insider is alone is not
protected.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import comb

import numpy as np

from sfumato.errors import PlanError, UnattainableError
from sfumato.localization.messages import Message, joined
from sfumato.tables.cells.system import (
    AttackerKind,
    BoolArray,
    Bounds,
    CellStatus,
    Insider,
    LinearConstraints,
    Numbers,
    Places,
    ProtectionLevels,
    Table,
)
from sfumato.tables.plan.rules import GroupDisclosure, RuleInputs, RuleResult, SensitivityRule, combine, evaluate
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.values import State, field


def attainable(
    values: Numbers, unsafe: BoolArray, bounds: Bounds, wished: ProtectionLevels, step: float
) -> ProtectionLevels:
    """Return the protection levels of sensitive cells, limited to what the bounds permit.

    Raises:
        UnattainableError: The public bounds leave a sensitive cell a single value.
    """
    reach = thickened(values, unsafe, bounds, wished, step)
    least = step * (1 - 1e-9)
    unprotected = np.flatnonzero(unsafe & (reach.lower < least) & (reach.upper < least))
    if len(unprotected):
        raise UnattainableError("no-room").about(rows=[int(cell) + 1 for cell in unprotected])
    return reach


def thickened(
    values: Numbers, unsafe: BoolArray, bounds: Bounds, wished: ProtectionLevels, step: float
) -> ProtectionLevels:
    """Limit levels to the bounds, and raise levels below the precision to one unit where the bounds permit.

    A level that no second value of the table's precision satisfies protects nothing. A cell with a publicly known value
    is not suppressed.
    """
    capacity = ProtectionLevels(np.maximum(values - bounds.low, 0.0), np.maximum(bounds.high - values, 0.0))
    down, up = np.clip(wished.lower, 0.0, capacity.lower), np.clip(wished.upper, 0.0, capacity.upper)
    least = step * (1 - 1e-9)
    thin = unsafe & (down < least) & (up < least)
    down, up = (
        np.where(thin & (capacity.lower >= least), step, down),
        np.where(thin & (capacity.upper >= least), step, up),
    )
    return ProtectionLevels(np.minimum(down, capacity.lower), np.minimum(up, capacity.upper))


# Maximum number of coalitions.
MOST_COALITIONS = 20_000


class _InsiderDraft(State):
    """An insider under construction: the contribution to each cell, and the cells without other contributors."""

    name: Message
    kind: AttackerKind
    parts: dict[int, float] = field(default_factory=dict)
    alone: set[int] = field(default_factory=set)


def kinds_considered(plan: TablePlan) -> tuple[AttackerKind, ...]:
    """Return the kinds of attackers that the plan considers for its kind of table, whether or not there are
    any.

    >>> from sfumato.tables.plan.table_plan import read_table_plan
    >>> plan = {"version": 1, "table": {"value": "n"}, "dimensions": {"sex": {"column": "sex"}}}
    >>> plan["primary"] = [{"rule": "frequency", "min": 3}]
    >>> [str(kind) for kind in kinds_considered(read_table_plan(plan))]
    ['outsider', 'persons']
    """
    source = plan.table
    kind = _kind(source.holdings is not None or bool(source.contributors), source.counts)
    if not _considers(plan, kind):
        return (AttackerKind.OUTSIDER,)
    return (AttackerKind.OUTSIDER, kind, *((AttackerKind.COALITION,) if plan.attackers.coalition > 1 else ()))


def attackers_of(plan: TablePlan, facts: RuleInputs, table: Table, step: float) -> tuple[Insider, ...]:
    """Return all insiders that the plan considers.

    Raises:
        PlanError: There are too many coalitions.
    """
    number, kind = _number(facts)
    if not _considers(plan, kind):
        return ()
    if plan.table.contributors:
        insiders = _named(plan.table.contributors, facts, number)
    else:
        alone = _alone(facts, number)
        insiders = _unnamed(table, alone, kind) + _dominant(table, facts, alone, kind)
    _add_empty_parts(insiders, facts, table)
    insiders += _coalitions(insiders, plan.attackers.coalition, number)
    return _resolved(plan, facts, table, step, insiders)


def _add_empty_parts(insiders: Sequence[_InsiderDraft], facts: RuleInputs, table: Table) -> None:
    """Add to an insider who is alone in a total the knowledge that its sensitive empty parts are empty."""
    empty = np.flatnonzero(table.sensitive & facts.empty)
    below: dict[int, list[int]] = {}
    for above in facts.lines.values():
        for cell in empty[above[empty] >= 0].tolist():
            below.setdefault(int(above[cell]), []).append(cell)
    for insider in insiders if below else ():
        for cell in [cell for total in sorted(insider.alone) for cell in below.get(total, ())]:
            insider.parts.setdefault(cell, 0.0)
            insider.alone.add(cell)


def _considers(plan: TablePlan, kind: AttackerKind) -> bool:
    """Return whether the plan considers insiders of a kind."""
    switches = {
        AttackerKind.HOLDING: plan.attackers.holdings,
        AttackerKind.RESPONDENT: plan.attackers.respondents,
        AttackerKind.PERSON: plan.attackers.persons,
    }
    return switches[kind]


def _number(facts: RuleInputs) -> tuple[Numbers | None, AttackerKind]:
    """Return the number of contributors to each cell, and their kind."""
    kind = _kind(facts.holdings is not None, facts.counts)
    return (facts.holdings if kind == AttackerKind.HOLDING else facts.frequency), kind


def _kind(holdings: bool, counts: bool) -> AttackerKind:
    """Return the kind of contributors to the cells of a table."""
    return AttackerKind.HOLDING if holdings else AttackerKind.PERSON if counts else AttackerKind.RESPONDENT


def _alone(facts: RuleInputs, number: Numbers | None) -> BoolArray:
    """Return the cells with one holding, or one respondent if holdings are not given; otherwise with one
    contribution.
    """
    if number is not None:
        return np.asarray(number == 1)
    if len(facts.contributions) < 2:
        return np.zeros(len(facts.values), bool)
    return np.asarray((facts.top(1, "") > 0) & (facts.top(2, "") == facts.top(1, "")))


def _named(contributors: Sequence[str], facts: RuleInputs, number: Numbers | None) -> list[_InsiderDraft]:
    """Return every named contributor, with all their cells."""
    alone, everyone = _alone(facts, number), dict[str, _InsiderDraft]()
    for who, amounts in zip(contributors, facts.contributions, strict=True):
        for cell, (name, amount) in enumerate(zip(facts.columns.text(who), amounts, strict=True)):
            if name:
                insider = everyone.setdefault(
                    name, _InsiderDraft(Message("error.part.attacker_named", name=name), AttackerKind.HOLDING)
                )
                insider.parts[cell] = insider.parts.get(cell, 0.0) + float(np.nan_to_num(amount))
                if alone[cell]:
                    insider.alone.add(cell)
    return list(everyone.values())


def _unnamed(table: Table, alone: BoolArray, kind: AttackerKind) -> list[_InsiderDraft]:
    """Return the single respondents of cells: one per group of connected totals, with the contribution to further
    totals.

    A respondent may be in a finest cell of each of two tables; if alone in a total of both, it is the same one.
    """
    above = _around(table)
    insiders: list[_InsiderDraft] = []
    who = {AttackerKind.PERSON: "attacker.one_person", AttackerKind.HOLDING: "attacker.one_holding"}.get(
        kind, "attacker.one_respondent"
    )
    starts = np.flatnonzero(alone).tolist()
    totals = {total for cell in starts for total in above.get(cell, ())}
    seen: set[int] = set()
    # The finest cells first: a total with a single respondent follows from its single part.
    for cell in sorted(starts, key=lambda cell: cell in totals):
        if cell not in seen:
            insider = _InsiderDraft(Message(who, name=table.names[cell]), kind)
            _climb(insider, cell, float(table.values[cell]), above)
            insider.alone = {place for place in insider.parts if alone[place]}
            if not seen.isdisjoint(insider.alone):
                insiders = _with_same(insiders, insider)
            seen |= insider.alone
            insiders.append(insider)
    return insiders


def _with_same(insiders: Sequence[_InsiderDraft], insider: _InsiderDraft) -> list[_InsiderDraft]:
    """Merge into an insider all others who are alone in the same cells; return the remaining ones."""
    others = []
    for one in insiders:
        if one.alone.isdisjoint(insider.alone):
            others.append(one)
            continue
        insider.parts = {**one.parts, **insider.parts}
        insider.alone |= one.alone
    return others


def _dominant(table: Table, facts: RuleInputs, alone: BoolArray, kind: AttackerKind) -> list[_InsiderDraft]:
    """Return the largest contributors of sensitive cells with several: they know more about cells suppressed with
    theirs.

    The sum of two suppressed cells of one constraint is published, so the rules must hold for unions of cells too.
    """
    if not facts.contributions:
        return []
    stack = np.nan_to_num(np.stack(facts.contributions))
    largest = np.take_along_axis(stack, np.abs(stack).argmax(axis=0)[None], 0)[0]
    above, insiders = _around(table), []
    for cell in np.flatnonzero(table.sensitive & facts.finest & ~alone & (largest > 0)).tolist():
        insider = _InsiderDraft(Message("attacker.largest", name=table.names[cell]), kind)
        _climb(insider, cell, float(largest[cell]), above)
        insiders.append(insider)
    return insiders


def _climb(insider: _InsiderDraft, cell: int, part: float, above: Mapping[int, tuple[int, ...]]) -> None:
    """Add a contribution to all totals of a cell, and to the only nonempty part of each such total."""
    waiting = [cell]
    while waiting:
        place = waiting.pop()
        if place not in insider.parts:
            insider.parts[place] = part
            waiting += above.get(place, ())


def _around(table: Table) -> Mapping[int, tuple[int, ...]]:
    """Return the totals of each cell; and for a total whose other parts are publicly empty the remaining part, since
    both have the same contributors.
    """
    empty = (table.values == 0) & (table.status == CellStatus.PUBLISH)
    above: dict[int, tuple[int, ...]] = {}
    for total, parts in _sums(table.constraints):
        for cell in parts.tolist():
            above[cell] = (*above.get(cell, ()), total)
        left = parts[~empty[parts]]
        if len(left) == 1:
            above[total] = (*above.get(total, ()), int(left[0]))
    return above


def _sums(relations: LinearConstraints) -> Iterator[tuple[int, Places]]:
    """Yield the constraints that are a total of parts."""
    for relation in range(len(relations)):
        cells, coefs = relations.row(relation)
        total = cells[coefs < 0]
        if len(total) == 1 and (coefs[coefs > 0] == 1).all() and coefs.min() == -1:
            yield int(total[0]), cells[coefs > 0]


def _coalitions(insiders: Sequence[_InsiderDraft], size: int, number: Numbers | None) -> list[_InsiderDraft]:
    """Return all coalitions up to a size; members know a cell without further contributors exactly."""
    if size < 2:
        return []
    if sum(comb(len(insiders), many) for many in range(2, size + 1)) > MOST_COALITIONS:
        raise PlanError("coalitions", count=size, total=len(insiders))
    groups = (group for many in range(2, size + 1) for group in combinations(insiders, many))
    return [_together(group, number) for group in groups]


def _together(group: Sequence[_InsiderDraft], number: Numbers | None) -> _InsiderDraft:
    union = _InsiderDraft(joined(member.name for member in group), AttackerKind.COALITION)
    for member in group:
        for cell, part in member.parts.items():
            union.parts[cell] = union.parts.get(cell, 0.0) + part
        union.alone |= member.alone
    for cell in union.parts if number is not None else ():
        if number is not None and number[cell] <= sum(cell in member.parts for member in group):
            union.alone.add(cell)
    return union


def _resolved(
    plan: TablePlan, facts: RuleInputs, table: Table, step: float, insiders: Sequence[_InsiderDraft]
) -> tuple[Insider, ...]:
    """Return the insiders with their knowledge and protection levels, computed for all their cells at once."""
    active = [insider for insider in insiders if insider.parts]
    if not active:
        return ()
    cells = np.concatenate([np.array(sorted(insider.parts), np.int64) for insider in active])
    parts = np.concatenate([[insider.parts[cell] for cell in sorted(insider.parts)] for insider in active])
    alone = np.concatenate([[cell in insider.alone for cell in sorted(insider.parts)] for insider in active])
    values, public = table.values[cells], table.bounds.rows(cells)
    least = np.where(public.low >= 0, np.clip(parts, public.low, np.maximum(values, public.low)), public.low)
    ends = np.cumsum([len(insider.parts) for insider in active])
    owns = np.split(np.arange(len(cells)), ends[:-1])
    least = _with_floors(table, cells, np.where(alone, values, least), owns)
    knowledge = Bounds(np.where(alone, values, least), np.where(alone, values, public.high))
    reach, unsafe = _not_his(plan, facts, table, cells, parts)
    reach = thickened(values, unsafe & ~alone, knowledge, reach.at(unsafe & ~alone), step)
    return tuple(
        Insider(
            insider.name,
            insider.kind,
            cells[own],
            knowledge.rows(own),
            ProtectionLevels(reach.lower[own], reach.upper[own]),
        )
        for insider, own in zip(active, owns, strict=True)
    )


def _with_floors(table: Table, cells: Places, least: Numbers, owns: Sequence[Places]) -> Numbers:
    """Raise the lower bounds that insiders know: a total is at least the own contribution plus the minimum of other
    parts.

    Args:
        cells: The cells of all insiders.
        least: The lower bound that each insider knows by the own contribution.
        owns: The positions of each insider among these.
    """
    low, above = table.bounds.low, _floors_above(table)
    least = least.copy()
    for own in owns if (low >= 0).all() else ():
        places = dict(zip(cells[own].tolist(), own.tolist(), strict=True))
        waiting = list(places)
        while waiting:
            cell = waiting.pop()
            for total, floor in above.get(cell, ()):
                place = places.get(total, -1)
                known = min(floor + least[places[cell]] - low[cell], table.values[total])
                if place >= 0 and known > least[place] + 1e-9 * max(1.0, known):
                    least[place] = known
                    waiting.append(total)
    return least


def _floors_above(table: Table) -> Mapping[int, tuple[tuple[int, float], ...]]:
    """Return the totals of each cell, with the sum of public lower bounds of all parts."""
    above: dict[int, tuple[tuple[int, float], ...]] = {}
    for total, parts in _sums(table.constraints):
        for cell in parts.tolist():
            above[cell] = (*above.get(cell, ()), (total, float(table.bounds.low[parts].sum())))
    return above


def _not_his(
    plan: TablePlan, facts: RuleInputs, table: Table, cells: Places, parts: Numbers
) -> tuple[ProtectionLevels, BoolArray]:
    """Return the protection levels for contributions of others, at most those against an outsider, and where they
    apply.
    """
    base, unsafe, values = table.protection_levels, table.sensitive[cells], table.values[cells]
    if plan.table.cells is not None or (plan.protection is not None and plan.protection.percent is not None):
        share = np.abs(values - parts) / np.maximum(np.abs(values), 1e-300)
        share = np.where(values == 0, 1.0, np.minimum(share, 1.0))
        return ProtectionLevels(base.lower[cells] * share, base.upper[cells] * share), unsafe
    judgment = combine([_seen_by(rule, facts, cells, parts) for rule in plan.primary], len(cells))
    if plan.protection is not None:
        return ProtectionLevels(base.lower[cells], base.upper[cells]).at(
            judgment.unsafe & unsafe
        ), judgment.unsafe & unsafe
    down, up = np.minimum(judgment.reach.lower, base.lower[cells]), np.minimum(judgment.reach.upper, base.upper[cells])
    return ProtectionLevels(down, up), judgment.unsafe & unsafe


def _seen_by(rule: SensitivityRule, facts: RuleInputs, cells: Places, parts: Numbers) -> RuleResult:
    """Apply a rule without an insider's contribution; group disclosure is the same for everyone."""
    if not isinstance(rule, GroupDisclosure):
        return rule.apply(facts.without(cells, parts))
    whole = rule.apply(facts)
    return evaluate(whole.unsafe[cells], whole.reach.lower[cells], whole.reach.upper[cells])
