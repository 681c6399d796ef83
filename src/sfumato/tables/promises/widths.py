"""How wide the range of an unsafe cell must stay at least: no promise may be kept by a range that is a single value."""

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.tables.cells.cells import Mask, Numbers

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


def reach(
    values: Numbers,
    unsafe: Mask,
    bounds: tuple[Numbers, Numbers],
    wished: tuple[Numbers, Numbers],
    spared: Mask | None = None,
) -> tuple[Numbers, Numbers]:
    """How far below and above its value the range of each unsafe cell must reach, within what is possible at all.

    A promise that no second value of the table's precision satisfies is widened by one step, on every side that has
    room for it: a cell of which everyone knows the value is not masked. Spared cells are left as wished.

    Raises:
        UnattainableError: The bounds that everyone knows leave an unsafe cell a single value.
    """
    lower, upper = bounds
    room_down, room_up = np.maximum(values - lower, 0.0), np.maximum(upper - values, 0.0)
    down, up = np.clip(wished[0], 0.0, room_down), np.clip(wished[1], 0.0, room_up)
    least = step_of(values) * (1 - 1e-9)
    thin = unsafe & (down < least) & (up < least)
    if spared is not None:
        thin &= ~spared
    _refuse(thin & (room_down < least) & (room_up < least))
    step = step_of(values)
    down = np.where(thin & (room_down >= least), step, down)
    return np.minimum(down, room_down), np.minimum(np.where(thin & (room_up >= least), step, up), room_up)


def _refuse(hopeless: Mask) -> None:
    if hopeless.any():
        raise UnattainableError(
            "the bounds that everyone knows leave an unsafe cell a single value.",
            "Widen the rule or the bounds of the attacker.",
            "no-room",
            rows=[int(cell) + 1 for cell in np.flatnonzero(hopeless)],
        )
