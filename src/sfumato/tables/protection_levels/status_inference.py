"""What an attacker who knows the rules infers from seeing which suppressed cells are primary and which secondary."""

from collections.abc import Sequence

import numpy as np

from sfumato.tables.cells.cells import BoolArray, Bounds, Numbers
from sfumato.tables.plan.rules import Frequency, RangeRule, SensitivityRule, Waiver, ZeroUnsafe


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
    told = primary & (least <= most)
    floor, ceiling = np.where(told, least, -np.inf), np.where(told, most, np.inf)
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
