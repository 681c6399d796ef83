"""The multiple of a base below each value, and the remainder."""

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.cells import BoolArray, Numbers
from sfumato.tables.cells.precision import NOISE, precision_of


@dataclass(frozen=True, slots=True)
class Multiples:
    """Where values lie between multiples.

    Attributes:
        bases: The base of each cell.
        below: How many bases lie below each value.
        rest: What is left, as a share of the base; 0 for a multiple.
    """

    bases: Numbers
    below: Numbers
    rest: Numbers

    @property
    def whole(self) -> BoolArray:
        """Which values are multiples."""
        return np.asarray(self.rest == 0.0)


def between_multiples(values: Numbers, bases: Numbers) -> Multiples:
    """Where values lie between multiples of their bases.

    >>> between_multiples(np.array([7.0, -1.0, 8.0]), np.full(3, 4.0)).rest.tolist()
    [0.75, 0.75, 0.0]
    """
    shares = values / bases
    # Less than a step off a multiple is noise of binary fractions.
    near = np.abs(shares - np.round(shares)) <= NOISE * precision_of(values) / bases
    below = np.where(near, np.round(shares), np.floor(shares))
    return Multiples(bases, below, np.where(near, 0.0, shares - below))
