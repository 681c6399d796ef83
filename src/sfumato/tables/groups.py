"""Groups of a table: one that is the total of others, or another in a different unit, is no table of its own."""

import math
import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations, takewhile

import numpy as np
import numpy.typing as npt

from sfumato.errors import DataError
from sfumato.localization.messages import joined
from sfumato.tables.cells.constraints import Key, precision_of
from sfumato.tables.cells.system import BoolArray, Numbers, Places
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.linear_programs import solver
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.values import Value

Lines = npt.NDArray[np.float64]


class _Detail(Value, dict=True):
    """The cells of one group, including those that it omits because they are empty."""

    part: TablePart

    @cached_property
    def values(self) -> dict[Key, float]:
        return dict(zip(self.part.keys, self.part.table.values.tolist(), strict=True))

    @cached_property
    def _split(self) -> set[tuple[int, Key]]:
        """The cells that the group has together with parts of them, by dimension."""
        return {(place, above) for key in self.part.keys for place, above in _above(self.part, key)}

    def value(self, key: Key) -> float:
        """Return the value of a cell; NaN if the group does not show it."""
        found = self.values.get(key)
        return (0.0 if self._empty(key) else np.nan) if found is None else found

    def _empty(self, key: Key) -> bool:
        """Return whether a missing cell is empty: its siblings are present, or its total is empty."""
        return any(
            (place, above) in self._split or (above not in self.values and self._empty(above))
            for place, above in _above(self.part, key)
        )


def _above(part: TablePart, key: Key) -> Iterator[tuple[int, Key]]:
    """Yield the totals that a cell is a part of, by dimension."""
    for place, (tree, code) in enumerate(zip(part.trees, key, strict=True)):
        if code != tree.root:
            yield place, (*key[:place], tree.parents[code], *key[place + 1 :])


def shared_lines(parts: Sequence[TablePart]) -> Iterator[tuple[Places, Lines]]:
    """Yield sets of groups, with the cells that all of them show: for each group's detail, and for all groups."""
    details = [_Detail(part) for part in parts]
    keys = list(dict.fromkeys(key for part in parts for key in part.keys))
    values = np.array([[detail.value(key) for key in keys] for detail in details])
    known = ~np.isnan(values)
    for detail in np.unique(np.vstack([known, known.all(axis=0)]), axis=0):
        groups = np.flatnonzero((known | ~detail).all(axis=1))
        cells = _finest(parts[0], keys, np.flatnonzero(detail))
        yield groups, values[np.ix_(groups, cells)]


def _finest(part: TablePart, keys: Sequence[Key], cells: Places) -> Places:
    """Return the given cells that are not totals of others; totals add no information."""
    chosen = {keys[cell] for cell in cells}
    parts: dict[tuple[int, Key], list[Key]] = {}
    for key in keys:
        for place, above in _above(part, key):
            parts.setdefault((place, above), []).append(key)
    follow = {above for (_, above), below in parts.items() if chosen.issuperset(below)}
    return np.array([cell for cell in cells if keys[cell] not in follow], np.int64)


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
    return bool(same or _is_proportional(line, precision_of(line), other, precision_of(other), 2))


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
    left = np.sort(_bits(line, 1.0))[: len(line) - rank].sum()
    return bool(left > PROOF + np.log2(tried) and np.abs(terms @ factors - line).max() <= HALF)


def _any_multiple(lines: Lines) -> bool:
    lines = lines[:, np.argsort(-np.abs(lines).sum(axis=0), kind="stable")]
    steps = np.array([precision_of(line) for line in lines])
    return any(_is_multiple(lines, steps, one) for one in range(len(lines) - 1))


def _is_multiple(lines: Lines, steps: Numbers, one: int) -> bool:
    """Return whether a later series is a multiple of the given one."""
    others = np.arange(one + 1, len(lines))
    low, high = _factors(lines[one, :FIRST], steps[one], lines[others, :FIRST], steps[others])
    return any(
        _is_proportional(lines[one], steps[one], lines[other], steps[other], len(lines))
        for other in others[low <= high]
    )


def _is_proportional(line: Numbers, step: float, other: Numbers, other_step: float, lines: int) -> bool:
    """Return whether a series is a multiple of another beyond chance."""
    if _moved(line, other):
        return True
    least, most = (float(end[0]) for end in _factors(line, step, other[None], np.array([other_step])))
    if least > most or least <= 0 or (least <= 1 / ALIKE and most >= ALIKE):
        return False
    bits = _bits(other, least * step + other_step)
    # The largest number fits any factor, unless the factor is an expected one.
    left = bits.sum() - (0.0 if _expected(least, most, line, other) else bits.max(initial=0.0))
    return bool(left > PROOF + np.log2(lines))


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


# Time limit of one search in seconds; lines that agree in every entry are decided immediately.
SECONDS = 5.0
# Seconds for all unrestricted searches for group sums together; sums over whole columns are always compared.
PATIENCE = 60.0


def check_groups(plan: TablePlan, parts: Sequence[TablePart]) -> None:
    """Refuse groups of which one is the total of others, or another one in a different unit.

    Protected as independent tables, they would disclose each other.

    Groups are compared on their common cells, first those that differ in one column, then all.
    """
    end = time.monotonic() + PATIENCE
    columns = plan.table.group_by
    for place, column in enumerate(columns):
        siblings: dict[tuple[str, ...], list[TablePart]] = {}
        for part in parts:
            siblings.setdefault((*part.group[:place], *part.group[place + 1 :]), []).append(part)
        if any(_has_total(found, plan.table.tolerance, end) for found in siblings.values()):
            raise _refusal([column])
        if any(map(has_units, siblings.values())):
            raise _unit_refusal(column)
    # Among all groups far more selections are possible, so more bits must agree.
    if len(columns) > 1 and _has_total(parts, plan.table.tolerance, end, 4.0 + math.log2(len(parts))):
        raise _refusal(columns)


def _refusal(columns: Sequence[str]) -> DataError:
    several = len(columns) > 1
    names = joined(columns)
    return DataError("group-is-total.columns" if several else "group-is-total.column", names=names).about(
        column=columns[0]
    )


def _unit_refusal(column: str) -> DataError:
    return DataError("group-in-other-unit", column=column).about(column=column)


def _has_total(parts: Sequence[TablePart], tolerance: float, end: float, margin: float = 1.0) -> bool:
    """Return whether a group is the sum of at least two others in every cell; missing cells are empty."""
    if len(parts) < 3:
        return False
    return any(
        _crossed(lines, [parts[place].group for place in groups], total, tolerance)
        or _selected(lines, total, tolerance, end, margin)
        for groups, lines in shared_lines(parts)
        for total in range(len(lines) if len(lines) > 2 else 0)
    )


def _selected(lines: Lines, total: int, tolerance: float, end: float, margin: float) -> bool:
    """Return whether a series is the sum of all others, or of some beyond chance."""
    target, others = lines[total], len(lines) - 1
    seconds = min(SECONDS, end - time.monotonic())
    found = parts_of(lines, total, tolerance, seconds, most_parts(target, others, margin))
    return found is not None and (len(found) == others or is_no_accident(target, len(found), others, margin))


def _crossed(lines: Lines, groups: Sequence[tuple[str, ...]], total: int, tolerance: float) -> bool:
    """Return whether a series is the sum over all other values of several columns together."""
    own, width = groups[total], len(groups[total])
    if width < 2:
        return False
    slack = tolerance + 1e-9 * max(1.0, float(np.abs(lines).max(initial=0.0)))
    for size in range(2, width + 1):
        for chosen in combinations(range(width), size):
            pool = np.flatnonzero(_differ(own, groups, chosen))
            if len(pool) > 1 and (np.abs(lines[pool].sum(axis=0) - lines[total]) <= slack).all():
                return is_no_accident(lines[total], 1, len(groups), width)
    return False


def _differ(own: tuple[str, ...], groups: Sequence[tuple[str, ...]], chosen: Sequence[int]) -> BoolArray:
    """Return which groups differ from one in exactly the chosen columns."""
    other = np.array(groups) != np.array(own)
    return np.asarray((other == np.isin(np.arange(len(own)), chosen)).all(axis=1))


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
    plausible = takewhile(lambda parts: is_no_accident(target, parts, others, margin), range(others // 2 + 1))
    return max(plausible, default=0)


def is_no_accident(target: Numbers, parts: int, others: int, margin: float = 1.0) -> bool:
    """Return whether agreement is unlikely by chance: the numbers carry more bits than the choice of the parts."""
    information = float(np.log2(1.0 + np.abs(target)).sum())
    return information > math.log2(math.comb(others, parts)) + margin
