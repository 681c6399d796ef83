"""Audits of tables that anyone published: what a file shows, and what its plan promises, become a publication."""

from dataclasses import dataclass, replace

import numpy as np

from sfumato.errors import DataError
from sfumato.tables.attack.audit import Audit, Finding
from sfumato.tables.attack.method_known import attack
from sfumato.tables.attack.publication import Knowledge, Promise, Publication, false_cells
from sfumato.tables.build.build import build
from sfumato.tables.build.unvalued import build_unvalued, told_floor
from sfumato.tables.cells.cells import Mask
from sfumato.tables.cells.columns import Columns
from sfumato.tables.cells.parts import Part
from sfumato.tables.masking import insiders, promise_of
from sfumato.tables.plan.plan import TablePlan
from sfumato.tables.plan.rules import Range
from sfumato.tables.published.reading import Seen

_PRIMARY = ("primär", "primary")


@dataclass(frozen=True, slots=True)
class Review:
    """The audit of a published table, group by group.

    Attributes:
        audits: One for each group.
        unjudged: Rules of the plan that could not be judged, for want of a column.
    """

    audits: tuple[Audit, ...]
    unjudged: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return all(audit.passed for audit in self.audits)

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(finding for audit in self.audits for finding in audit.findings)

    @property
    def leaks(self) -> tuple[Finding, ...]:
        return tuple(finding for audit in self.audits for finding in audit.leaks)

    @property
    def contradictions(self) -> tuple[str, ...]:
        return tuple(name for audit in self.audits for name in audit.contradictions)

    def counts(self) -> dict[str, int]:
        """Masked cells checked, recovered exactly, narrowed too far, and contradicted by their own table."""
        return {
            "checked": sum(audit.checked for audit in self.audits),
            "exact": sum(audit.exact for audit in self.audits),
            "too_narrow": sum(audit.too_narrow for audit in self.audits),
            "contradictory": sum(len(audit.contradictions) for audit in self.audits),
        }


def _valued(columns: Columns, plan: TablePlan, seen: Seen) -> Review:
    """All promises are judged by the true values."""
    values = columns.numbers(plan.table.value)
    if (np.isnan(seen.exact) & (values == 0)).any():
        # Whoever published the table masks zeros too.
        plan = _with_zeros(plan)
    return Review(tuple(_judged(part, plan, seen) for part in build(plan, columns)))


def _unvalued(columns: Columns, plan: TablePlan, seen: Seen) -> Review:
    """What is published is judged by the rules, what is masked by whether it can be computed.

    A reader assumes that nothing is negative until something published is, or nothing else adds up.
    """
    if (np.fmin(seen.low, seen.high) < 0).any():
        plan = _below_zero(plan)
    blank = bool((np.isnan(seen.exact) & np.isnan(seen.low)).any()) and plan.attacker.lower is None
    try:
        review = _with_or_without_zeros(columns, plan, seen)
    except DataError as error:
        if error.code != "data.contradiction" or not blank:
            raise
        return _reviewed(columns, _below_zero(plan), seen)
    if not review.contradictions or not blank:
        return review
    wider = _reviewed(columns, _below_zero(plan), seen)
    return review if wider.contradictions else wider


def _with_or_without_zeros(columns: Columns, plan: TablePlan, seen: Seen) -> Review:
    try:
        review = _reviewed(columns, plan, seen)
    except DataError as error:
        if error.code != "data.contradiction" or plan.method.zeros:
            raise
        return _reviewed(columns, _with_zeros(plan), seen)
    if review.contradictions and not plan.method.zeros:
        # The masked cells do not all fit above 0: zeros must be among them.
        return _reviewed(columns, _with_zeros(plan), seen)
    return review


def _below_zero(plan: TablePlan) -> TablePlan:
    """The plan for values of both signs, unless it says itself what the least one is."""
    lower = -np.inf if plan.attacker.lower is None else plan.attacker.lower
    return replace(plan, attacker=replace(plan.attacker, lower=lower))


def _with_zeros(plan: TablePlan) -> TablePlan:
    return replace(plan, method=replace(plan.method, zeros=True))


def _reviewed(columns: Columns, plan: TablePlan, seen: Seen) -> Review:
    found = build_unvalued(plan, columns, seen.exact)
    return Review(tuple(_computed(part, plan, seen) for part in found.parts), found.unjudged)


def _attacked_by(plan: TablePlan, integer: bool | None, own_contribution: bool | None) -> TablePlan:
    attacker = plan.attacker if integer is None else replace(plan.attacker, integer=integer)
    method = plan.method if own_contribution is None else replace(plan.method, insiders=own_contribution)
    return replace(plan, attacker=attacker, method=method)


def _publication(part: Part, seen: Seen) -> Publication:
    rows, table = part.rows, part.table
    return Publication(
        exact=seen.exact[rows],
        range_low=seen.low[rows],
        range_high=seen.high[rows],
        floor=table.lower,
        ceiling=table.upper,
        relations=table.relations,
        names=table.names,
    )


def _judged(part: Part, plan: TablePlan, seen: Seen) -> Audit:
    table = part.table
    publication = _publication(part, seen)
    alone = table.alone if insiders(plan) else None
    knowledge = Knowledge(plan.attacker.integer, alone, table.values, plan.table.tolerance)
    found = attack(publication, promise_of(table), knowledge, part, [seen.case[row] for row in part.rows])
    return found.with_contradictions(false_cells(publication, table.values))


def _computed(part: Part, plan: TablePlan, seen: Seen) -> Audit:
    publication = _publication(part, seen)
    masked = np.isnan(publication.exact)
    primary = np.array([seen.case[row] in _PRIMARY for row in part.rows], bool) & masked
    if seen.told:
        floor = told_floor(plan, part, masked, primary, part.rows, seen.exact)
        publication = replace(publication, floor=floor)
    promise = _promise(part, plan, publication, primary)
    knowledge = Knowledge(plan.attacker.integer, rounding=plan.table.tolerance)
    cases = [seen.case[row] for row in part.rows]
    found = attack(publication, promise, knowledge, part, cases)
    certain = _within_range(part, plan, found) & np.isnan(promise.low)
    if not certain.any():
        return found
    return attack(publication, _promise(part, plan, publication, primary | certain), knowledge, part, cases)


def _promise(part: Part, plan: TablePlan, publication: Publication, primary: Mask) -> Promise:
    """What was promised of the cells that are primary for certain, as far as a reader can tell.

    The range rule promises its whole range, as far as the bounds that everyone knows leave it possible, unless the plan
    promises something else, which depends on hidden values. A published cell that a rule calls unsafe should not be
    there at all.
    """
    masked = np.isnan(publication.exact)
    low = np.where(part.table.unsafe & ~masked, publication.exact, np.nan)
    high = low.copy()
    for rule in plan.primary if plan.protection is None else ():
        if isinstance(rule, Range):
            least, most = np.maximum(publication.floor, rule.min), np.minimum(publication.ceiling, rule.max)
            shown = (publication.range_low == least) & (publication.range_high == most)
            cells = masked & part.finest & (primary | shown) & (least <= most)
            low[cells], high[cells] = least[cells], most[cells]
    return Promise(low, high)


def _within_range(part: Part, plan: TablePlan, found: Audit) -> Mask:
    """The masked finest cells that can only lie within the range of a rule: they are primary for certain."""
    certain = np.zeros(len(part.rows), bool)
    for finding in found.findings:
        certain[finding.cell] = any(
            isinstance(rule, Range) and rule.min <= finding.lower + 1e-6 and finding.upper - 1e-6 <= rule.max
            for rule in plan.primary
        )
    return certain & part.finest
