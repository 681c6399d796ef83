"""Suppressed cells of a published table for which the rules of its plan do not allow so narrow a range."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.errors import PlanError
from sfumato.tables.attack.attacker_view import AttackerView
from sfumato.tables.attack.audit import audit_publication
from sfumato.tables.attack.audit_evidence import AuditEvidence
from sfumato.tables.attack.findings import Finding
from sfumato.tables.cells.cells import Bounds, Places, no_bounds
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.plan.plan import TablePlan
from sfumato.tables.plan.rules import SensitivityRule
from sfumato.tables.protection_levels.minimum_widths import thickened
from sfumato.tables.protection_levels.resolve_plan import judgment_of
from sfumato.tables.published_tables.shown_facts import ShownFacts

# So many values of a range are tried; in a wider one some value is taken to be allowed.
MOST_VALUES = 10_000


def narrow_ranges(
    plan: TablePlan, part: TablePart, shown: ShownFacts, publication: AttackerView, findings: Sequence[Finding]
) -> Bounds:
    """Return what must stay open of cells that are sensitive whichever value of their range they have, and whose range
    would be too narrow for each of these; not a number elsewhere.

    What is known of a cell whatever is suppressed need not stay open.
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
    """What the rules ask of all values of each range together; not a number where one of them asks no more than it."""
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
        judgment = judgment_of(asked, shown.safest_at(cells[here], value[here]))
        reach = thickened(value[here], judgment.unsafe, own.rows(here), judgment.reach, step)
        least, most = value[here] - reach.lower, value[here] + reach.upper
        allowed = (least >= ends.low[here] - step / 2) & (most <= ends.high[here] + step / 2)
        left[here] = judgment.unsafe & ~allowed
        low[here], high[here] = np.minimum(low[here], least), np.maximum(high[here], most)
    left &= (first <= last) & (last - first < step * MOST_VALUES)
    return Bounds(np.where(left, low, np.nan), np.where(left, high, np.nan))


def _judges(rule: SensitivityRule, shown: ShownFacts) -> bool:
    """Whether a rule judges a cell by its value and what the file shows of it."""
    try:
        rule.apply(shown.safest_at(np.zeros(1, np.int64), np.zeros(1)))
    except PlanError:
        return False
    return True


def _known_anyway(publication: AttackerView, part: TablePart, cells: Places) -> Bounds:
    """Between which values some cells lie for anyone who sees the zeros of a table, and nothing else of it."""
    exact = np.where(publication.exact == 0, 0.0, np.nan)
    bare = replace(publication, exact=exact, ranges=no_bounds(len(exact)))
    promise, ends = no_bounds(len(exact)), no_bounds(len(exact))
    promise.low[cells] = promise.high[cells] = 0.0
    for one in audit_publication(bare, promise, part.knowledge, None, AuditEvidence(promised=True)).findings:
        ends.low[one.cell], ends.high[one.cell] = one.lower, one.upper
    return ends
