"""Compiled loops of special uniques: which rows a set of columns tells from all others that no smaller set tells.

Going from small sets of columns to large ones, a row that some smaller set singles out is left out: it matches nobody
in any wider set. So of each set only the rows are looked at that none of its parts singles out, and those alone there
have it as a minimal unique.
"""

import numpy as np

from sfumato.loops.arrays import Flags, Halves2, Ints, Reals, Reals2, Words, Words2
from sfumato.loops.compiled import compiled

FREE = -1


@compiled
def alone(codes: Halves2, counts: Ints, columns: Ints, rows: Ints, table: Ints, singled: Flags):
    """Mark in `singled` (n,) which of some rows are alone in some columns among these rows.

    Args:
        codes: (combinations, columns); counts: rows of each combination; columns: those of the set.
        rows: (n,) the combinations to be looked at; table: (a power of two >= 2n,) room for their places.
    """
    size = 1
    while size < 2 * len(rows):
        size *= 2
    mask = size - 1
    table[:size] = FREE
    for place in range(len(rows)):
        row = rows[place]
        key = np.uint64(1469598103934665603)
        for column in columns:
            key = (key ^ np.uint64(codes[row, column] + 1)) * np.uint64(1099511628211)
        slot = np.int64((key ^ (key >> np.uint64(29))) & np.uint64(mask))
        while table[slot] != FREE and not same(codes, columns, rows[table[slot]], row):
            slot = (slot + 1) & mask
        if table[slot] == FREE:
            table[slot] = place
            singled[place] = counts[row] == 1
        else:
            singled[table[slot]] = False
            singled[place] = False


@compiled
def same(codes, columns, one, other):
    """Whether two combinations agree in some columns."""
    for column in columns:  # noqa: SIM110  loops know no generators
        if codes[one, column] != codes[other, column]:
            return False
    return True


@compiled
def common(parts: Words2, rows: Ints):
    """The rows that every part still has: `parts` (parts, words) are sets of bits, `rows` (n,) gets their places.

    Returns:
        How many there are.
    """
    count = 0
    for word in range(parts.shape[1]):
        bits = parts[0, word]
        for part in range(1, parts.shape[0]):
            bits &= parts[part, word]
        place = word * 64
        while bits:
            if bits & np.uint64(1):
                rows[count] = place
                count += 1
            bits >>= np.uint64(1)
            place += 1
    return count


@compiled
def score(
    rows: Ints, counts: Ints, singled: Flags, columns: Ints, points: float, scores: Reals, shares: Reals2, left: Words
):
    """Add the points of a set to the rows that have it as a minimal unique, and keep the others in `left`.

    Args:
        scores: (combinations,); shares: (combinations, columns) the points of each column; left: bits of rows.

    Returns:
        How many rows have it, and how many of those that are left a wider set could single out.
    """
    uniques, others = 0, 0
    for place in range(len(rows)):
        row = rows[place]
        if singled[place]:
            uniques += 1
            scores[row] += points
            for column in columns:
                shares[row, column] += points
        else:
            others += counts[row] == 1
            left[row >> 6] |= np.uint64(1) << np.uint64(row & 63)
    return uniques, others
