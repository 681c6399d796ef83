"""Minimum widths of feasibility intervals of sensitive cells, so that none is a single value."""

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.tables.cells.cells import Bounds, Mask, Numbers, Reach


def attainable(values: Numbers, unsafe: Mask, bounds: Bounds, wished: Reach, step: float) -> Reach:
    """Return the protection levels of sensitive cells, limited to what the bounds permit.

    Raises:
        UnattainableError: The public bounds leave a sensitive cell a single value.
    """
    reach = thickened(values, unsafe, bounds, wished, step)
    least = step * (1 - 1e-9)
    _refuse(unsafe & (reach.down < least) & (reach.up < least))
    return reach


def thickened(values: Numbers, unsafe: Mask, bounds: Bounds, wished: Reach, step: float) -> Reach:
    """Limit levels to the bounds, and raise levels below the precision to one unit where the bounds permit.

    A level that no second value of the table's precision satisfies protects nothing. A cell with a publicly known value
    is not suppressed.
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
            "the publicly known bounds leave a sensitive cell a single value.",
            "Widen the rule or the bounds of the attacker.",
            "no-room",
            rows=[int(cell) + 1 for cell in np.flatnonzero(hopeless)],
        )
