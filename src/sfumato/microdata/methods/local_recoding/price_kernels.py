"""Compiled loops that improve the prices of rows by a subgradient method over the candidate classes (cells).

In some cells the prices of the rows exceed their loss. Rows in several such cells have prices that are too high, rows
in none have prices that are too low. Prices are changed accordingly by shorter and shorter steps, each partly in the
direction of the last one (Held, M., Wolfe, P., Crowder, H. P. (1974). Validation of subgradient optimization,
https://doi.org/10.1007/BF01580223).

Shapes: n combinations in c cells, as in kernels.py.
"""

import numpy as np

from sfumato.microdata.methods.local_recoding.candidate_kernels import CandidateBuffers
from sfumato.native.array_types import Float64, Int32, Int64
from sfumato.native.dispatch import compiled

# Cells with a ratio below this take part until the list is recomputed.
_NEAR = 1.1
# Members are nearly sorted: a cell's true ratio may be lower by this factor.
_UNSURE = 1.15
# Share of a step in the direction of the last one.
_KEPT = 0.3
# Number of steps between sorting the members of cells.
_SORTED = 3


@compiled
def sort_members(found, worth, cell):
    """Sort the members of a cell by decreasing price."""
    members, start = found.members, found.starts[cell]
    for place in range(start + 1, found.starts[cell + 1]):
        row = members[place]
        price, at = worth[row], place
        while at > start and worth[members[at - 1]] < price:
            members[at] = members[at - 1]
            at -= 1
        members[at] = row


@compiled
def ratio_of(found, counts, worth, cell, k):
    """Return the loss of k rows in a cell, divided by the prices of the first k."""
    left, value = k, 0.0
    for at in range(found.starts[cell], found.starts[cell + 1]):
        row = found.members[at]
        some = min(left, counts[row])
        value += some * worth[row]
        left -= some
        if left == 0:
            break
    return k * found.costs[cell] / value if value > 0.0 else np.inf


@compiled
def near_cells(found, counts, worth, k, near):
    """List the cells with a low ratio; return how many."""
    many = 0
    for cell in range(len(found.costs)):
        if ratio_of(found, counts, worth, cell, k) < _NEAR * _UNSURE:
            sort_members(found, worth, cell)
            if ratio_of(found, counts, worth, cell, k) < _NEAR:
                near[many] = cell
                many += 1
    return many


@compiled
def cover(found, counts, worth, cell, k, left):
    """Return by how much the prices of a cell's best rows exceed their loss; these rows are taken from those left."""
    cost, lack, surplus, end = found.costs[cell], k, 0.0, found.starts[cell]
    while end < found.starts[cell + 1]:
        row = found.members[end]
        over = worth[row] - cost
        if over <= 0.0 and lack <= 0:
            break
        some = counts[row] if over > 0.0 else min(lack, counts[row])
        surplus += some * over
        lack -= some
        end += 1
    if surplus <= 0.0 or lack > 0:
        return 0.0
    lack = k
    for at in range(found.starts[cell], end):
        row = found.members[at]
        some = counts[row] if worth[row] > cost else min(lack, counts[row])
        left[row] -= some
        lack -= some
    return surplus


@compiled
def better_prices(
    found: CandidateBuffers, counts: Int32, worth: Float64, k: int, target: float, lengths: Float64, stop: Int64
):
    """Improve prices in place; members of cells are sorted.

    Args:
        target: Approximate loss of the best classes; lengths: step lengths, relative to the remaining gap.
    """
    rows, many, renewal = len(counts), 0, 0
    near = np.empty(len(found.costs), np.int64)
    left, course = np.zeros(rows), np.zeros(rows)
    for step in range(len(lengths)):
        if stop[0]:
            return
        if step == renewal:
            many = near_cells(found, counts, worth, k, near)
            renewal = step + max(2, 2 * step // 5)
        bound = 0.0
        for row in range(rows):
            left[row] = counts[row]
            bound += counts[row] * worth[row]
        for at in range(many):
            if step % _SORTED == 0:
                sort_members(found, worth, near[at])
            bound -= cover(found, counts, worth, near[at], k, left)
        square = 0.0
        for row in range(rows):
            course[row] = left[row] / counts[row] + _KEPT * course[row]
            square += counts[row] * course[row] * course[row]
        if square <= 0.0 or bound >= target:
            return
        length = lengths[step] * (target - bound) / square
        for row in range(rows):
            worth[row] = max(worth[row] + length * course[row], 0.0)
