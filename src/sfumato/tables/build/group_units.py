"""Groups of a table that contain the same numbers in different units: persons and thousands, counts and proportions."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.tables.build.shared_detail import shared_lines
from sfumato.tables.cells.constraints import precision_of
from sfumato.tables.cells.system import Numbers
from sfumato.tables.cells.table_part import TablePart

Lines = npt.NDArray[np.float64]
# Bits of agreement beyond chance that prove a common unit.
PROOF = 6.0
# Relative difference within which related series, such as years, resemble each other without a common unit.
RESEMBLANCE = 0.1
# Maximum difference of an integer from its exact value, and numerical noise.
HALF = 0.5 + 1e-6
# Factors between this and its inverse are not units: the years hardly changed.
ALIKE = 0.97
# Number of largest cells compared first; nearly all pairs of groups differ in them.
FIRST = 8


def has_units(parts: Sequence[TablePart]) -> bool:
    """Return whether one group is a multiple of another up to rounding, so that it discloses suppressed cells."""
    return len(parts) > 1 and any(_any_multiple(lines) for _, lines in shared_lines(parts))


def is_multiple(line: Numbers, other: Numbers) -> bool:
    """Return whether one series equals another exactly, or is a multiple of it up to rounding.

    >>> persons = np.array([23.0, 51.0])
    >>> is_multiple(persons, persons), is_multiple(persons, persons / 1000), is_multiple(persons, persons + 8)
    (True, True, False)
    """
    same = np.count_nonzero(line) > 1 and np.array_equal(line, other)
    return bool(same or _tells(line, precision_of(line), other, precision_of(other), 2))


def is_computed(line: Numbers, others: Lines, tried: int = 1) -> bool:
    """Return whether a series of integers is a linear function of others up to rounding, beyond chance.

    Args:
        tried: How many functions are compared with the series.

    >>> one, other = np.array([[30.0, 51.0, 17.0, 88.0, 45.0, 60.0], [64.0, 12.0, 39.0, 25.0, 70.0, 31.0]])
    >>> is_computed(5 * one + 3 * other, np.array([one, other])), is_computed(one, np.array([other]))
    (True, False)
    """
    terms = np.vstack([others, np.ones(len(line))]).T
    factors, _, rank, _ = np.linalg.lstsq(terms, line)
    # The largest numbers determine the function.
    told = np.sort(_bits(line, 1.0))[: len(line) - rank].sum()
    return bool(told > PROOF + np.log2(tried) and np.abs(terms @ factors - line).max() <= HALF)


def _any_multiple(lines: Lines) -> bool:
    lines = lines[:, np.argsort(-np.abs(lines).sum(axis=0), kind="stable")]
    steps = np.array([precision_of(line) for line in lines])
    return any(_is_multiple(lines, steps, one) for one in range(len(lines) - 1))


def _is_multiple(lines: Lines, steps: Numbers, one: int) -> bool:
    """Return whether a later series is a multiple of the given one."""
    others = np.arange(one + 1, len(lines))
    low, high = _factors(lines[one, :FIRST], steps[one], lines[others, :FIRST], steps[others])
    return any(_tells(lines[one], steps[one], lines[other], steps[other], len(lines)) for other in others[low <= high])


def _tells(line: Numbers, step: float, other: Numbers, other_step: float, lines: int) -> bool:
    """Return whether a series is a multiple of another beyond chance."""
    if _moved(line, other):
        return True
    least, most = (float(end[0]) for end in _factors(line, step, other[None], np.array([other_step])))
    if least > most or least <= 0 or (least <= 1 / ALIKE and most >= ALIKE):
        return False
    bits = _bits(other, least * step + other_step)
    # The largest number fits any factor, unless the factor is an expected one.
    told = bits.sum() - (0.0 if _expected(least, most, line, other) else bits.max(initial=0.0))
    return bool(told > PROOF + np.log2(lines))


def _moved(line: Numbers, other: Numbers) -> bool:
    """Return whether all numbers are equal except for the position of the decimal point."""
    used = line != 0
    if used.sum() < 2 or not np.array_equal(used, other != 0):
        return False
    power = np.round(np.log10(np.abs(other[used] / line[used])))
    return bool(power[0] != 0 and np.allclose(other, line * 10.0 ** power[0], rtol=1e-9, atol=0.0))


def _expected(least: float, most: float, line: Numbers, other: Numbers) -> bool:
    """Return whether a factor may be a power of ten, or a conversion to proportions."""
    power = float(10.0 ** np.round(np.log10(least)))
    totals = float(line.sum()), float(other.sum())
    return least <= power <= most or any(
        abs(here - whole) < whole / 100 and abs(there - whole) > whole / 100
        for whole in (1.0, 100.0)
        for here, there in (totals, totals[::-1])
    )


def _factors(line: Numbers, step: float, others: Lines, steps: Numbers) -> tuple[Numbers, Numbers]:
    """Return the smallest and the largest factor from a series to each of the others, allowing for rounding of both."""
    sign = np.where(line < 0, -1.0, 1.0)
    size, numbers, half = line * sign, others * sign, steps[:, None] / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(numbers > half, (numbers - half) / (size + step / 2), 0.0)
        most = np.where(size > step / 2, (numbers + half) / (size - step / 2), np.inf)
    return least.max(axis=1, initial=0.0), most.min(axis=1, initial=np.inf)


def _bits(line: Numbers, step: float) -> Numbers:
    """Return the information in each number, in bits, beyond the resemblance of related series."""
    return np.log2(np.maximum(1.0, RESEMBLANCE * np.abs(line) / step))
