"""The minimum of each cell that anyone infers from a published table: from what it shows, whatever the rules are."""

import numpy as np

from sfumato.tables.cells.cells import BoolArray, Numbers


def public_floor(
    values: Numbers, hidden: BoolArray, step: float, least: float | None = None, announced: bool = False
) -> Numbers:
    """Return the least possible value of each cell, by what the published table shows.

    Values are nonnegative unless one is negative. If all cells of value 0 are published, a suppressed cell is not 0,
    whichever rule suppressed it. Sums with decimals may be 0 without an empty cell.

    Args:
        values: The values; NaN where unknown.
        hidden: The cells that are suppressed, or that may be.
        step: The precision of the table.
        least: The least value that the plan names.
        announced: Whether the plan announces that empty cells may be suppressed.

    >>> public_floor(np.array([5.0, 2.0, 3.0, 0.0]), np.array([False, True, True, False]), 1.0).tolist()
    [1.0, 1.0, 1.0, 0.0]
    >>> public_floor(np.array([5.0, 2.0, 3.0, 0.0]), np.array([False, True, True, True]), 1.0).tolist()
    [0.0, 0.0, 0.0, 0.0]
    """
    floor = least if least is not None else (-np.inf if (values < 0).any() else 0.0)
    low = np.full(len(values), floor)
    zeros = values <= 0
    if floor >= 0 and not announced and not (hidden & zeros).any() and (zeros.any() or step >= 1):
        low[~zeros] = max(floor, step)
    return low
