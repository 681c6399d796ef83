"""Ranges of cells: whether one value alone lies in them, at the border and from both sides."""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.tables.attack.audit_problem import SLACK, FeasibilityInterval
from sfumato.tables.linear_programs import Extreme

NO_PROOF = Extreme(0.0, *(np.zeros(0) for _ in range(3)))
LESS, MORE = 0.5 * SLACK, 1.5 * SLACK
TINY = Fraction(1, 10**12)

# The ends, in steps; whether values are whole; and whether one value alone lies between them.
RANGES = {
    "a program's low end just above a whole step may lie on it": (2 + LESS, 3.2, True, False),
    "a program's low end farther above it does not": (2 + MORE, 3.2, True, True),
    "a program's high end just below a whole step may lie on it": (1.8, 3 - LESS, True, False),
    "a program's high end farther below it does not": (1.8, 3 - MORE, True, True),
    "both ends on one whole step": (2.0, 2.0, True, True),
    "both ends just within one whole step": (2 + LESS, 2 - LESS, True, True),
    "a proved low end is above a whole step, however little": (2 + TINY, Fraction(16, 5), True, True),
    "a proved low end on a whole step": (Fraction(2), Fraction(16, 5), True, False),
    "a proved high end is below a whole step, however little": (Fraction(9, 5), 3 - TINY, True, True),
    "a proved high end on a whole step": (Fraction(9, 5), Fraction(3), True, False),
    "one proved end alone does not suffice": (2 + TINY, 3.2, True, False),
    "broken steps: a width just below one may be one": (0.3, 1.3 - LESS, False, False),
    "broken steps: a width farther below one is not": (0.3, 1.3 - MORE, False, True),
    "broken steps: a proved width below one, however little": (Fraction(3, 10), Fraction(13, 10) - TINY, False, True),
    "broken steps: a proved width of one": (Fraction(3, 10), Fraction(13, 10), False, False),
    "no end below": (-np.inf, 2.0, True, False),
    "no end above": (2.0, np.inf, False, False),
}


@pytest.mark.parametrize("center", [0, 7, -3])
@pytest.mark.parametrize(("low", "high", "whole", "one"), RANGES.values(), ids=RANGES)
def test_a_range_holds_one_value(low, high, whole, one, center):
    deviations = FeasibilityInterval(low - center, high - center, NO_PROOF, NO_PROOF)
    assert deviations.is_one_value(float(center), whole) is one
