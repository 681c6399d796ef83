"""What one who knows the primary rules concludes from seeing which masked cells are primary and which are not."""

from collections.abc import Sequence

import numpy as np

from sfumato.tables.cells.cells import Bounds, Mask, Numbers
from sfumato.tables.cells.precision import step_of
from sfumato.tables.plan.facts import Facts
from sfumato.tables.plan.rules import Frequency, Range, Rule, ZeroUnsafe


def case_bounds(rules: Sequence[Rule], facts: Facts, unsafe: Mask) -> Bounds:
    """Bounds of the cells, where the case of each masked one is known; infinite where a rule says nothing of values.

    A rule on contributions, holdings or marks bounds no value. The bounds that the range rule gives its primary cells
    are public in any case and stand in its judgment.
    """
    floor, ceiling = np.full(len(unsafe), -np.inf), np.full(len(unsafe), np.inf)
    step = step_of(facts.values)
    for rule in rules:
        if isinstance(rule, Range):
            _raise(floor, facts.finest & ~unsafe & (facts.values > rule.max), rule.max + step)
        elif isinstance(rule, Frequency) and facts.counts:
            small = unsafe & rule.apply(facts).unsafe
            _raise(floor, small, 1.0)
            ceiling[small] = np.minimum(ceiling[small], np.ceil(rule.min) - 1)
            _raise(floor, ~unsafe & (facts.values >= rule.min), np.ceil(rule.min))
        elif isinstance(rule, ZeroUnsafe):
            ceiling[unsafe & (facts.values == 0)] = 0.0
            if (facts.values >= 0).all():
                _raise(floor, ~unsafe & (facts.values > 0), step)
    return Bounds(floor, ceiling)


def _raise(floor: Numbers, cells: Mask, least: float) -> None:
    floor[cells] = np.maximum(floor[cells], least)
