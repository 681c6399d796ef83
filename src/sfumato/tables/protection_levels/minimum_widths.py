"""Minimum widths of feasibility intervals of sensitive cells, so that none is a single value."""

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.tables.cells.cells import BoolArray, Bounds, Numbers, ProtectionLevels


def attainable(
    values: Numbers, unsafe: BoolArray, bounds: Bounds, wished: ProtectionLevels, step: float
) -> ProtectionLevels:
    """Return the protection levels of sensitive cells, limited to what the bounds permit.

    Raises:
        UnattainableError: The public bounds leave a sensitive cell a single value.
    """
    reach = thickened(values, unsafe, bounds, wished, step)
    least = step * (1 - 1e-9)
    _refuse(unsafe & (reach.lower < least) & (reach.upper < least))
    return reach


def thickened(
    values: Numbers, unsafe: BoolArray, bounds: Bounds, wished: ProtectionLevels, step: float
) -> ProtectionLevels:
    """Limit levels to the bounds, and raise levels below the precision to one unit where the bounds permit.

    A level that no second value of the table's precision satisfies protects nothing. A cell with a publicly known value
    is not suppressed.
    """
    room = ProtectionLevels(np.maximum(values - bounds.low, 0.0), np.maximum(bounds.high - values, 0.0))
    down, up = np.clip(wished.lower, 0.0, room.lower), np.clip(wished.upper, 0.0, room.upper)
    least = step * (1 - 1e-9)
    thin = unsafe & (down < least) & (up < least)
    down, up = np.where(thin & (room.lower >= least), step, down), np.where(thin & (room.upper >= least), step, up)
    return ProtectionLevels(np.minimum(down, room.lower), np.minimum(up, room.upper))


def _refuse(hopeless: BoolArray) -> None:
    if hopeless.any():
        raise UnattainableError("no-room").about(rows=[int(cell) + 1 for cell in np.flatnonzero(hopeless)])
