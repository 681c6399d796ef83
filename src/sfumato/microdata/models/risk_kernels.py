"""Compiled loops of the individual risk: the expectation of 1 / persons, given a class of the sample."""

import numpy as np

from sfumato.native.array_types import Float64, Int64
from sfumato.native.dispatch import compiled

# Up to this size, and below this share, the recurrence is faster than the series and as accurate.
RECURRING = 40
SMALL_SHARE = 0.4


@compiled
def expectations(rows: Int64, persons: Float64, out: Float64):
    """Compute for each class of `rows` (n,) in the sample with `persons` (n,) the expectation, into `out` (n,)."""
    for one in range(len(rows)):
        out[one] = expectation(rows[one], rows[one] / persons[one])


@compiled
def expectation(rows: int, share: float):
    """Return r(f) for f rows and the share p: the integral from 0 to 1 of u^(f-1) p / (p + (1-p) u).

    For small p by r(1) = p/q ln(1/p), r(f) = p/q (1/(f-1) - r(f-1)), whose errors decrease. Else by the series
    p/f (1 + sum of q^j j! / ((f+1)...(f+j))), all of whose terms are positive.
    """
    if share >= 1.0:
        return 1.0 / rows
    rest = 1.0 - share
    if rows <= RECURRING and share < SMALL_SHARE:
        risk = share / rest * np.log(1.0 / share)
        for size in range(2, int(rows) + 1):
            risk = share / rest * (1.0 / (size - 1) - risk)
        return risk
    term, total, step = 1.0, 1.0, 0
    while term > 1e-17 * total:
        step += 1
        term *= rest * step / (rows + step)
        total += term
    return share / rows * total
