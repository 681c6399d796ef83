"""Strengthen capacity cuts by mixed-integer rounding.

A cut Σ w·x ≥ 1 counts cells that are too small alone by a fraction; of whole cells as many are needed as together
suffice. Mixed-integer rounding, with cells that are almost suppressed at a point counted as suppressed, derives that
(Marchand and Wolsey 2001, doi:10.1287/opre.49.3.363.11211; knapsack covers are a special case).
"""

from collections.abc import Iterator

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.cells import BoolArray, Numbers
from sfumato.tables.suppression.master_problem import Cut

# From which share on a cell counts as masked: each choice is tried.
ALMOST = (0.9999, 0.7, 0.5, 0.3)
# Divisors beyond so many are thinned out; a rounding of less than this share of one is left to numerical noise.
MOST_DIVISORS, LEAST_FRACTION = 60, 0.02
# How far a point must lie beyond a cut, by its distance, to make it worth a row.
DISTANCE = 1e-3
# What a rounded cut gives away, so that no error of arithmetic makes it too strong.
ALLOWANCE = 1e-9


def is_roundable(cut: Cut) -> bool:
    """Whether rounding can say more than a cut does: some cell in it does not suffice alone, but all together do."""
    if cut.least <= 0 or (cut.weights <= 0).any():
        return False
    return bool((cut.weights < cut.least - 1e-6).any() and cut.weights.sum() >= cut.least)


def rounded_cut(cut: Cut, shares: Numbers) -> Cut | None:
    """The rounding of a cut that a point violates most; None where it violates none.

    >>> cut = Cut(np.arange(3), np.array([0.9, 0.9, 0.9]), 1.0)
    >>> rounded = rounded_cut(cut, np.array([0.5, 0.4, 0.3]))
    >>> (np.round(rounded.weights, 6).tolist(), round(rounded.least, 6))
    ([1.0, 1.0, 1.0], 2.0)
    """
    roundings = [rounding for masked in _choices(cut, shares) for rounding in _roundings(cut, shares, masked)]
    best = max(roundings, key=lambda rounding: rounding.distance, default=None)
    return None if best is None or best.distance < DISTANCE else best.cut(cut)


@dataclass(frozen=True, slots=True)
class _Rounding:
    """A rounding: its weights and right side where the cells of `masked` are counted from the other end."""

    masked: BoolArray
    weights: Numbers
    least: float
    distance: float

    def cut(self, base: Cut) -> Cut:
        """The same in the cells as they are, at most 1 each."""
        weights = np.where(self.masked, -self.weights, self.weights)
        least = self.least - float(self.weights[self.masked].sum())
        scale = float(np.abs(weights).max())
        # What is left out is less than the allowance.
        counted = np.abs(weights) > 1e-12 * scale
        return Cut(base.cells[counted], weights[counted] / scale, least / scale - ALLOWANCE)


def _choices(cut: Cut, shares: Numbers) -> Iterator[BoolArray]:
    """Which cells may count as masked, such that something is left to ask."""
    tried: set[bytes] = set()
    for share in ALMOST:
        masked = shares[cut.cells] > share
        if masked.tobytes() not in tried and cut.least - cut.weights[masked].sum() > 1e-6:
            tried.add(masked.tobytes())
            yield masked


def _roundings(cut: Cut, shares: Numbers, masked: BoolArray) -> Iterator[_Rounding]:
    """The best rounding over all divisors, for one choice of cells that count as masked."""
    own = shares[cut.cells]
    asked = cut.least - float(cut.weights[masked].sum())
    divisors = _divisors(cut.weights[(own > 1e-6) & (own < 1 - 1e-6)], asked + float(cut.weights.max()) + 1.0)
    parts = asked / divisors - np.floor(asked / divisors)
    useful = (parts > LEAST_FRACTION) & (parts < 1 - 1e-6)
    if not useful.any():
        return
    divisors, parts = divisors[useful], parts[useful]
    weights = _rounded(np.where(masked, -cut.weights, cut.weights) / divisors[:, None], parts[:, None])
    least = np.ceil(asked / divisors)
    short = least - weights @ np.where(masked, 1 - own, own)
    distance = short / np.sqrt((weights * weights).sum(axis=1) + 1e-12)
    place = int(np.argmax(distance))
    yield _Rounding(masked, weights[place], float(least[place]), float(distance[place]))


def _divisors(weights: Numbers, large: float) -> Numbers:
    """The divisors to try: the weights of undecided cells and parts of them, and one larger than all."""
    ends = np.unique(np.round(weights[weights > 1e-3], 9))
    divisors = np.unique(np.concatenate([ends, ends / 2, ends / 3, [large]]))
    if len(divisors) <= MOST_DIVISORS:
        return divisors
    return np.asarray(divisors[np.linspace(0, len(divisors) - 1, MOST_DIVISORS).astype(np.int64)])


def _rounded(weights: Numbers, part: Numbers) -> Numbers:
    """The rounding function: whole units, and of the rest as much as the right side's rest makes a unit."""
    whole = np.floor(weights)
    return np.asarray(whole + np.minimum((weights - whole) / part, 1.0))
