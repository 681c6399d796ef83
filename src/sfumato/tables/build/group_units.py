"""Groups of a table that contain the same numbers in different units: persons and thousands, counts and proportions."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.tables.build.details import shared_lines
from sfumato.tables.cells.cells import Numbers
from sfumato.tables.cells.parts import Part
from sfumato.tables.cells.precision import step_of

Lines = npt.NDArray[np.float64]
# Bits by which numbers of two groups must agree beyond chance.
PROOF = 6.0
# Years, and regions by size, resemble one another that far, as a share, with no unit between them.
RESEMBLANCE = 0.1
# Years that hardly changed are no units of one another: factors from here to its inverse.
ALIKE = 0.97
# Cells, the largest, that are compared first: nearly all pairs of groups differ in them.
FIRST = 8


def has_units(parts: Sequence[Part]) -> bool:
    """Whether one group is another, times a number, but for rounding: what one masks the other tells."""
    return len(parts) > 1 and any(_any_multiple(lines) for _, lines in shared_lines(parts))


def is_multiple(line: Numbers, other: Numbers) -> bool:
    """Whether one line of numbers is another, to the last digit, or a multiple of it but for rounding.

    >>> persons = np.array([23.0, 51.0])
    >>> is_multiple(persons, persons), is_multiple(persons, persons / 1000), is_multiple(persons, persons + 8)
    (True, True, False)
    """
    same = np.count_nonzero(line) > 1 and np.array_equal(line, other)
    return bool(same or _tells(line, step_of(line), other, step_of(other), 2))


def _any_multiple(lines: Lines) -> bool:
    lines = lines[:, np.argsort(-np.abs(lines).sum(axis=0), kind="stable")]
    steps = np.array([step_of(line) for line in lines])
    return any(_is_multiple(lines, steps, one) for one in range(len(lines) - 1))


def _is_multiple(lines: Lines, steps: Numbers, one: int) -> bool:
    """Whether one of the lines behind a line is a multiple of it."""
    others = np.arange(one + 1, len(lines))
    low, high = _factors(lines[one, :FIRST], steps[one], lines[others, :FIRST], steps[others])
    return any(_tells(lines[one], steps[one], lines[other], steps[other], len(lines)) for other in others[low <= high])


def _tells(line: Numbers, step: float, other: Numbers, other_step: float, lines: int) -> bool:
    """Whether a line is a multiple of another, and hardly by chance."""
    if _moved(line, other):
        return True
    least, most = (float(end[0]) for end in _factors(line, step, other[None], np.array([other_step])))
    if least > most or least <= 0 or (least <= 1 / ALIKE and most >= ALIKE):
        return False
    bits = _bits(other, least * step + other_step)
    # The largest number fits any factor, but one that is to be expected.
    told = bits.sum() - (0.0 if _expected(least, most, line, other) else bits.max(initial=0.0))
    return bool(told > PROOF + np.log2(lines))


def _moved(line: Numbers, other: Numbers) -> bool:
    """Whether all numbers are the same, to the last digit, but for the place of the decimal point."""
    used = line != 0
    if used.sum() < 2 or not np.array_equal(used, other != 0):
        return False
    power = np.round(np.log10(np.abs(other[used] / line[used])))
    return bool(power[0] != 0 and np.allclose(other, line * 10.0 ** power[0], rtol=1e-9, atol=0.0))


def _expected(least: float, most: float, line: Numbers, other: Numbers) -> bool:
    """Whether a factor may be a power of ten, or that of shares."""
    power = float(10.0 ** np.round(np.log10(least)))
    totals = float(line.sum()), float(other.sum())
    return least <= power <= most or any(
        abs(here - whole) < whole / 100 and abs(there - whole) > whole / 100
        for whole in (1.0, 100.0)
        for here, there in (totals, totals[::-1])
    )


def _factors(line: Numbers, step: float, others: Lines, steps: Numbers) -> tuple[Numbers, Numbers]:
    """The least and the greatest factor by which a line is each of the others, but for rounding of both."""
    sign = np.where(line < 0, -1.0, 1.0)
    size, numbers, half = line * sign, others * sign, steps[:, None] / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(numbers > half, (numbers - half) / (size + step / 2), 0.0)
        most = np.where(size > step / 2, (numbers + half) / (size - step / 2), np.inf)
    return least.max(axis=1, initial=0.0), most.min(axis=1, initial=np.inf)


def _bits(line: Numbers, step: float) -> Numbers:
    """How much each number tells beyond what such numbers have in common anyway."""
    return np.log2(np.maximum(1.0, RESEMBLANCE * np.abs(line) / step))
