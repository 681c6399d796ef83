"""Ranges drawn from what every reader has anyway: the plan, the published cells, and what they leave possible.

How far a range reaches must not be computed from hidden values, for its width would tell them. So the reach is the most
that the plan's rules can ask for any cell that hangs together with the others, unsafe or not, with the largest value
that the rule allows an unsafe cell, or else with the largest that a reader holds possible.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.tables.cells.cells import Mask, Numbers, Places
from sfumato.tables.cells.parts import Part
from sfumato.tables.plan.plan import Protection, TablePlan
from sfumato.tables.plan.rules import (
    DEFAULT_PERCENT,
    Dominance,
    Frequency,
    PriorPosterior,
    Range,
    Rule,
    StatusColumn,
    Waiver,
    ZeroUnsafe,
)
from sfumato.tables.promises.widths import step_of
from sfumato.tables.ranges.ranges import Grid, Reader, Span, clusters, draw, free_cells, rounded_up


@dataclass(frozen=True, slots=True)
class Margin:
    """How far the range of an unsafe cell must reach at most, on each side.

    Attributes:
        fixed: Whatever its value is.
        share: As a share of its value.
        limit: The largest value, without its sign, that the rule calls unsafe.
    """

    fixed: float = 0.0
    share: float = 0.0
    limit: float = math.inf

    def of(self, size: float) -> float:
        """The reach, where a cell may be so large.

        >>> Margin(share=0.1).of(500), Margin(share=1, limit=10).of(500), Margin(fixed=2).of(math.inf)
        (50.0, 10, 2)
        """
        return max(self.fixed, self.share * min(self.limit, size)) if self.share else self.fixed


def margins(plan: TablePlan) -> tuple[Margin, ...]:
    """One margin for each rule of a plan, and one for the cells that a table of cells and relations calls unsafe."""
    counts = _counts(plan)
    found = [_margin(rule, counts) for rule in plan.primary]
    if plan.table.cells is not None:
        # What the file asks for each cell is as hidden as the cell.
        found.append(Margin(fixed=math.inf))
    return tuple(found if plan.protection is None else (_overruled(margin, plan.protection) for margin in found))


def _margin(rule: Rule, counts: bool) -> Margin:
    match rule:
        case Waiver():
            return Margin(limit=0.0)
        case Range():
            return Margin(fixed=rule.max - rule.min, limit=max(abs(rule.min), abs(rule.max)))
        case Frequency() if counts:
            return Margin(fixed=1.0, limit=rule.min)
        case StatusColumn() if counts:
            return Margin(fixed=1.0)
        case ZeroUnsafe():
            return Margin(fixed=rule.margin, limit=0.0)
        case Dominance():
            return Margin(share=100.0 / rule.k - 1.0)
        case PriorPosterior():
            return Margin(share=rule.p / rule.q)
        case _:
            return Margin(share=DEFAULT_PERCENT / 100.0)


def _overruled(margin: Margin, protection: Protection) -> Margin:
    if protection.percent is not None:
        return Margin(share=protection.percent / 100.0, limit=margin.limit)
    return Margin(fixed=max(protection.lower or 0.0, protection.upper or 0.0), limit=margin.limit)


def drawn(part: Part, plan: TablePlan, masked: Mask) -> tuple[Numbers, Numbers]:
    """The ends of the ranges of some masked cells; not a number where the reader is left with what he computes."""
    relations = part.table.relations
    cluster = clusters(relations, masked)
    low, high = np.full(len(masked), np.nan), np.full(len(masked), np.nan)
    for number in range(cluster.max(initial=-1) + 1):
        for cell, span in _together(part, plan, np.flatnonzero(cluster == number)).items():
            low[cell], high[cell] = span
    return low, high


def _together(part: Part, plan: TablePlan, cells: Places) -> dict[int, Span]:
    """The ranges of cells that hang together; none where one who knows the method would narrow any of them too far."""
    table = part.table
    reader = Reader(table.relations, table.values, cells, part.public)
    step = step_of(table.values)
    own = [reader.span(int(cell)) for cell in cells]
    reach = _reach(plan, own, step)
    if not math.isfinite(reach):
        return {}
    found = draw(reader, table.values, free_cells(table.relations, cells), Grid(reach, step, _zone(plan)))
    told = [reader.span(int(cell)) for cell in cells]
    narrow = any(_width(new) < min(2 * reach, _width(old)) - step / 2 for new, old in zip(told, own, strict=True))
    return {} if narrow else {cell: span for cell, (span, _) in found.items()}


def _reach(plan: TablePlan, spans: Sequence[Span], step: float) -> float:
    """The most that any of some cells can need, in round numbers."""
    size = max(max(abs(low), abs(high)) for low, high in spans)
    most = max((margin.of(size) for margin in margins(plan)), default=0.0)
    return rounded_up(max(most, step), 1) if math.isfinite(most) else math.inf


def _zone(plan: TablePlan) -> float:
    """The widest range of values that a rule on counts calls unsafe, from 1 to below its limit."""
    counts = _counts(plan)
    return max((rule.min - 1 for rule in plan.primary if counts and isinstance(rule, Frequency)), default=0.0)


def _counts(plan: TablePlan) -> bool:
    return plan.table.frequency is None and not plan.table.contributions


def _width(span: Span) -> float:
    return span[1] - span[0]
