"""Detect undeclared sums: lines of numbers that are the sum of other lines."""

import math
from itertools import takewhile

import numpy as np
import numpy.typing as npt

from sfumato.tables.cells.cells import BoolArray, Numbers, Places
from sfumato.tables.linear_programs import solver

# Time limit of one search in seconds; lines that agree in every entry are decided immediately.
SECONDS = 5.0
Lines = npt.NDArray[np.float64]


def parts_of(
    lines: Lines, total: int, slack: float = 0.0, seconds: float = SECONDS, most: int | None = None
) -> Places | None:
    """Return at least two lines that add up to one line in every entry; None if none are found in time.

    All other lines together are tried first, then any selection if there is time; with `most`, only selections of at
    most that many lines, or all but that many.

    >>> parts_of(np.array([[2.0, 5.0], [1.0, 1.0], [3.0, 6.0], [9.0, 9.0]]), 2).tolist()
    [0, 1]
    """
    target = lines[total]
    if not target.any():
        return None
    allowed = slack + 1e-9 * max(1.0, float(np.abs(lines).max(initial=0.0)))
    others = np.delete(np.arange(len(lines)), total)
    others = others[lines[others].any(axis=1)]
    if len(others) > 1 and _equal(lines[others].sum(axis=0), target, allowed):
        return others
    fitting = others[_fitting(lines[others], target, allowed)]
    for sizes in _sizes(len(fitting), len(lines) - 1, most) if seconds > 0 else ():
        chosen = _chosen(lines[fitting], target, allowed, sizes, seconds)
        if chosen is not None:
            return fitting[chosen]
    return None


def _sizes(fitting: int, others: int, most: int | None) -> list[tuple[int, int]]:
    """Return the minimum and maximum sizes of selections."""
    if most is None or 2 * most >= others:
        return [(2, fitting)] if fitting > 1 else []
    return [(low, high) for low, high in ((2, min(most, fitting)), (others - most, fitting)) if low <= high]


def _equal(one: Numbers, two: Numbers, allowed: float) -> bool:
    return bool((np.abs(one - two) <= allowed).all())


def _fitting(others: Lines, target: Numbers, allowed: float) -> BoolArray:
    """Return the lines that can be parts: none exceeds its total if nothing is negative."""
    if (others < 0).any() or (target < 0).any():
        return np.ones(len(others), bool)
    return np.asarray((others <= target + allowed).all(axis=1))


def _chosen(others: Lines, target: Numbers, allowed: float, sizes: tuple[int, int], seconds: float) -> BoolArray | None:
    """Return the smallest selection of lines that adds up to the target, by an integer program."""
    if (others >= 0).all() and (others.sum(axis=0) < target - allowed).any():
        return None
    highs = solver(time_limit=seconds)
    import highspy

    size = len(others)
    places = np.arange(size, dtype=np.int32)
    highs.addVars(size, np.zeros(size), np.ones(size))
    highs.changeColsCost(size, places, np.ones(size))
    highs.changeColsIntegrality(size, places, np.full(size, highspy.HighsVarType.kInteger))
    for entry in np.unique(np.vstack([others, target]).T, axis=0):
        highs.addRow(entry[-1] - allowed, entry[-1] + allowed, size, places, entry[:-1])
    highs.addRow(*sizes, size, places, np.ones(size))
    highs.run()
    if highs.getInfo().primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return None
    chosen = np.array(highs.getSolution().col_value) > 0.5
    return chosen if _equal(others[chosen].sum(axis=0), target, allowed) else None


def most_parts(target: Numbers, others: int, margin: float = 1.0) -> int:
    """Return the largest number of parts, up to half of the others, that would not agree by chance."""
    # The more parts, the more ways to choose them.
    telling = takewhile(lambda parts: is_no_accident(target, parts, others, margin), range(others // 2 + 1))
    return max(telling, default=0)


def is_no_accident(target: Numbers, parts: int, others: int, margin: float = 1.0) -> bool:
    """Return whether agreement is unlikely by chance: the numbers carry more bits than the choice of the parts."""
    information = float(np.log2(1.0 + np.abs(target)).sum())
    return information > math.log2(math.comb(others, parts)) + margin
