"""How wide the range of an unsafe cell must stay at least: no promise may be kept by a range that is a single value."""

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.tables.cells.cells import Bounds, Mask, Numbers, Reach

# More decimals than these are noise of sums, not the precision of a table.
MOST_DECIMALS = 4


def step_of(values: Numbers) -> float:
    """The smallest step between the values of a table: 1 for whole numbers, else a unit of their last decimal.

    >>> step_of(np.array([3.0, 17.0])), step_of(np.array([3.0, 17.25])), step_of(np.array([np.nan, 4.0]))
    (1.0, 0.01, 1.0)
    """
    known = values[np.isfinite(values)]
    slack = 1e-7 + 1e-13 * np.abs(known)
    for decimals in range(MOST_DECIMALS):
        if (np.abs(known - np.round(known, decimals)) <= slack).all():
            return float(10.0**-decimals)
    return float(10.0**-MOST_DECIMALS)


def attainable(values: Numbers, unsafe: Mask, bounds: Bounds, wished: Reach, spared: Mask | None = None) -> Reach:
    """How far below and above its value the range of each unsafe cell must reach, within what is possible at all.

    A promise that no second value of the table's precision satisfies is widened by one step, on every side that has
    room for it: a cell of which everyone knows the value is not masked. Spared cells are left as wished.

    Raises:
        UnattainableError: The bounds that everyone knows leave an unsafe cell a single value.
    """
    room = Reach(np.maximum(values - bounds.low, 0.0), np.maximum(bounds.high - values, 0.0))
    down, up = np.clip(wished.down, 0.0, room.down), np.clip(wished.up, 0.0, room.up)
    step = step_of(values)
    least = step * (1 - 1e-9)
    thin = unsafe & (down < least) & (up < least)
    if spared is not None:
        thin &= ~spared
    _refuse(thin & (room.down < least) & (room.up < least))
    down, up = np.where(thin & (room.down >= least), step, down), np.where(thin & (room.up >= least), step, up)
    return Reach(np.minimum(down, room.down), np.minimum(up, room.up))


def _refuse(hopeless: Mask) -> None:
    if hopeless.any():
        raise UnattainableError(
            "the bounds that everyone knows leave an unsafe cell a single value.",
            "Widen the rule or the bounds of the attacker.",
            "no-room",
            rows=[int(cell) + 1 for cell in np.flatnonzero(hopeless)],
        )
