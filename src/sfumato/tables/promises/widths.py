"""Minimum widths of feasibility intervals of sensitive cells, so that none is a single value."""

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.tables.cells.cells import Bounds, Mask, Numbers, Reach


def attainable(values: Numbers, unsafe: Mask, bounds: Bounds, wished: Reach, step: float) -> Reach:
    """How far below and above its value the range of each unsafe cell must reach, within what is possible at all.

    Raises:
        UnattainableError: The bounds that everyone knows leave an unsafe cell a single value.
    """
    reach = thickened(values, unsafe, bounds, wished, step)
    least = step * (1 - 1e-9)
    _refuse(unsafe & (reach.down < least) & (reach.up < least))
    return reach


def thickened(values: Numbers, unsafe: Mask, bounds: Bounds, wished: Reach, step: float) -> Reach:
    """A reach within the bounds, and of one step at least on every side that has room for it.

    A promise that no second value of the table's precision satisfies is none: a cell of which everyone knows the value
    is not masked.
    """
    room = Reach(np.maximum(values - bounds.low, 0.0), np.maximum(bounds.high - values, 0.0))
    down, up = np.clip(wished.down, 0.0, room.down), np.clip(wished.up, 0.0, room.up)
    least = step * (1 - 1e-9)
    thin = unsafe & (down < least) & (up < least)
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
