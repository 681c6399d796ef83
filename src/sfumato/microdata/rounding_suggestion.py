"""Suggest how to round or code a column of numbers so that hardly any row has a unique number.

Anyone who knows a person's exact salary finds the row by it, even if the models protect the quasi-identifiers.
The smallest rounding base is proposed with which nearly all rows share their number with k - 1 others, with the largest
and smallest numbers top- and bottom-coded. Bases that leave almost no information are not proposed: such a column is
worth no more than a removed one, and its report says how many rows remain unique with the finest useful base.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_FLOOR, Decimal

import numpy as np

from sfumato.hierarchies.types import numerals, plain
from sfumato.microdata.models.equivalence_classes import Counts, Floats
from sfumato.microdata.publish_plan import PublishPlan, limit_at, read_numbers
from sfumato.microdata.recoding.range_grid import number_grid

# Share of rows that must share their number with others; maximum share of rows in each tail.
SHARED = 0.98
_TAIL = 0.01
_STEPS = (Decimal(1), Decimal(2), Decimal(5))
_DECIMALS = re.compile(r"\.(\d+)", re.ASCII)
# With fewer numbers, the largest is a step of a scale, unless it is far from all others.
_MANY_NUMBERS = 20
# Maximum base as a share of the interquartile range, and the minimum number of numbers left.
_STEP_SHARE = Decimal("0.5")
_LEAST_LEFT = 6
# Minimum number of bands of a column whose bands are widened until few rows are unique.
_LEAST_BANDS = 3
# Maximum number of bands in proportion to the next finer ones; proportions of rows in each tail that are tried.
_FEWER, _TAILS = 0.8, (_TAIL, 0.1, 0.3)


def proposed_publication(
    counts: Mapping[str, int], k: int, most: int | None = None, coarse: int | None = None
) -> PublishPlan | None:
    """Suggest how to publish the numbers of a column; None if it has other values or needs no change.

    Args:
        k: Minimum number of rows that share a number.
        most: Maximum number of distinct numbers, if two columns together must not make rows unique either.
        coarse: Maximum number in any case, however many rows share them: attackers may know the exact ones.

    >>> plan = proposed_publication({str(30_000 + 7 * place): 1 for place in range(1000)}, 5)
    >>> plan.bottom, plan.top, plan.round
    (30100.0, 36900.0, 50.0)
    >>> proposed_publication({"0": 40, "1": 60}, 5)
    """
    forms = [form for form in read_numbers(list(counts)) if form is not None]
    if not forms or len(forms) < len(counts):
        return None
    numbers, rows = numerals(forms), np.array([*counts.values()], np.int64)
    if _shared(rows, k) >= SHARED and (coarse is None or len(rows) <= coarse):
        return _tails(numbers, rows, k)
    most = min((limit for limit in (most, coarse) if limit is not None), default=None)
    plans = list(_plans(forms, numbers, rows, k))
    if not plans:
        return _tails(numbers, rows, k)
    likely = (place for place, plan in enumerate(plans) if _is_enough(_rough_counts(plan, numbers, rows), k, most))
    # Rounding of halves is decided by decimals: likely solutions are checked again.
    exact = ((plan, _published(plan, forms, counts.values())) for plan in plans[next(likely, len(plans)) :])
    enough = (plan for plan, sizes in exact if _is_enough(np.array([*sizes.values()], np.int64), k, most))
    return next(enough, plans[-1])


def bands(counts: Mapping[str, int], k: int) -> Iterator[PublishPlan | None]:
    """Yield ways to publish the numbers of a column from fine to coarse, each number with at least k rows.

    None means unchanged; nothing is yielded if a value is no number.

    >>> [plan and (plan.bottom, plan.top, plan.round) for plan in bands({"0": 90, "1": 40, "2": 9, "3": 4, "4": 2}, 5)]
    [(None, 2.0, None), (None, 1.0, None)]
    """
    forms = [form for form in read_numbers(list(counts)) if form is not None]
    if not forms or len(forms) < len(counts):
        return
    numbers, rows = numerals(forms), np.array([*counts.values()], np.int64)
    if rows.min() >= k:
        yield None
    plans = [plan for tail in _TAILS for plan in _plans(forms, numbers, rows, k, Decimal(1), _LEAST_BANDS, tail)]
    plans += reversed([*_cut_tails(numbers, rows, k)])  # of as many numbers, the last plan is taken: the fewest change
    published = {len(sizes): plan for plan in plans if (sizes := _rough_counts(plan, numbers, rows)).min() >= k}
    last = 2 * len(rows)
    for size in sorted(published, reverse=True):
        if size <= _FEWER * last:
            last = size
            yield published[size]


def _cut_tails(numbers: Floats, rows: Counts, k: int) -> Iterator[PublishPlan]:
    """Yield codings of the largest and the smallest numbers with the others unchanged, from fine to coarse."""
    order = np.argsort(numbers)
    ordered, sizes = numbers[order], rows[order]
    rare = np.flatnonzero(sizes < k)
    common = len(sizes) - np.count_nonzero(sizes < k)
    if common > _MANY_NUMBERS:
        return
    lows = [place for place in range(len(sizes)) if not place or sizes[:place].sum() >= k]
    for low in lows:
        highs = (place for place in range(len(sizes), low + 1, -1) if place == len(sizes) or sizes[place:].sum() >= k)
        for high in highs:
            if not ((rare >= low) & (rare < high)).any():
                bottom = limit_at(float(ordered[low])) if low else None
                top = limit_at(float(ordered[high - 1])) if high < len(sizes) else None
                if bottom is not None or top is not None:
                    yield PublishPlan(bottom=bottom, top=top)
        if not (rare < low + 1).any():
            return


def _rough_counts(plan: PublishPlan, numbers: Floats, rows: Counts) -> Counts:
    """Return the rows of each published number, up to rounding errors of binary fractions."""
    _, owners = np.unique(plan.rough_steps(numbers), return_inverse=True)
    return np.bincount(owners.reshape(-1), weights=rows).astype(np.int64)


def _tails(numbers: Floats, rows: Counts, k: int) -> PublishPlan | None:
    """Top- or bottom-code the largest and the smallest numbers if fewer than k rows have extreme ones."""
    top = _limit(numbers, rows, k)
    bottom = _limit(-numbers, rows, k)
    if top is None and bottom is None:
        return None
    return PublishPlan(bottom=None if bottom is None else -bottom, top=top)


def _limit(numbers: Floats, rows: Counts, k: int) -> float | None:
    """Return the roundest number with at least k rows above it; None if the largest number identifies no person.

    It reveals someone if it is one of many numbers, or farther from the rest than the range of the rest.

    >>> _limit(np.array([1200.0, 1300.0, 1400.0, 9_450_000.0]), np.array([40, 40, 40, 1]), 5)
    1350.0
    """
    order = np.argsort(numbers)
    numbers, rows = numbers[order], rows[order]
    enough = np.flatnonzero(np.cumsum(rows[::-1])[::-1] >= k)
    if rows[-1] >= k or not len(enough) or enough[-1] == 0:
        return None
    rest, largest = numbers[: enough[-1] + 1], float(numbers[-1])
    if len(numbers) <= _MANY_NUMBERS and largest <= 2 * float(rest[-1]) - float(rest[0]):
        return None
    grid = number_grid(numbers)
    low, high = (int(step) for step in grid.below(rest[-2:]))
    return float(grid.text(grid.roundest(min(low + 1, high - 1), high - 1)))


def _is_enough(published: Counts, k: int, most: int | None) -> bool:
    """Return whether each number has enough rows, and there are few enough numbers."""
    return _shared(published, k) >= SHARED and (most is None or len(published) <= most)


def published_counts(plan: PublishPlan, counts: Mapping[str, int]) -> dict[str, int]:
    """Return the rows of each published number."""
    return _published(plan, [*counts], counts.values())


def _published(plan: PublishPlan, texts: Sequence[str], rows: Iterable[int]) -> dict[str, int]:
    labels = [label or "" for label in plan.publish(texts)]
    added = dict.fromkeys(labels, 0)
    for label, number in zip(labels, rows, strict=True):
        added[label] += number
    return added


def _shared(rows: Counts, k: int) -> float:
    """Return the share of rows whose number occurs in at least k rows."""
    return int(rows[rows >= k].sum()) / max(int(rows.sum()), 1)


def _plans(
    forms: list[str],
    numbers: Floats,
    rows: Counts,
    k: int,
    step_share: Decimal = _STEP_SHARE,
    least_left: int = _LEAST_LEFT,
    tail: float = _TAIL,
) -> Iterator[PublishPlan]:
    """Yield plans from fine to coarse: bases of 1, 2, 5, 10, … units of the last decimal, as long as useful."""
    order = np.argsort(numbers)
    ordered, sizes = numbers[order], rows[order]
    low, high = _ends(ordered, sizes, k, tail)
    least, most = float(ordered[0]), float(ordered[-1])
    power = -max(map(len, _DECIMALS.findall("\n".join(forms))), default=0)
    largest = step_share * Decimal(str(_middle(ordered, sizes)))
    while low < high and Decimal(10) ** power <= largest:
        for digit in _STEPS:
            step = digit * Decimal(10) ** power
            plan = _plan(step, low, high, least, most)
            left = len(np.unique(plan.rough_steps(ordered)))
            if step <= largest and left >= min(least_left, len(ordered)):
                yield plan
        power += 1


def _ends(numbers: Floats, rows: Counts, k: int, tail: float) -> tuple[float, float]:
    """Return numbers beyond which few rows lie on either side, but at least k, so that size identifies no one."""
    share = (np.cumsum(rows) - rows / 2) / rows.sum()
    low, high = (float(number) for number in np.interp((tail, 1 - tail), share, numbers))
    first, last = (min(int(np.searchsorted(np.cumsum(sizes), k)), len(rows) - 1) for sizes in (rows, rows[::-1]))
    return max(low, float(numbers[first])), min(high, float(numbers[-1 - last]))


def _middle(numbers: Floats, rows: Counts) -> float:
    """Return the interquartile range; if most rows have one number, that of the others.

    >>> _middle(np.array([10.0, 20.0, 30.0, 40.0]), np.array([1, 1, 1, 1]))
    20.0
    >>> _middle(np.array([0.0, 5.0, 9.0]), np.array([9, 1, 1]))
    4.0
    """
    shares = np.cumsum(rows) / rows.sum()
    first, last = (float(numbers[np.searchsorted(shares, end)]) for end in (0.25, 0.75))
    if first < last or len(numbers) <= 2:
        return last - first if first < last else float(np.ptp(numbers))
    rest = np.arange(len(rows)) != int(rows.argmax())
    return _middle(numbers[rest], rows[rest])


def _plan(step: Decimal, low: float, high: float, least: float, most: float) -> PublishPlan:
    """Return a plan that rounds numbers, with top and bottom coding beyond two multiples of the base."""
    bottom, top = _multiple_above(low, step), -_multiple_above(-high, step)
    return PublishPlan(
        bottom=limit_at(_number(bottom)) if least < bottom < top else None,
        top=limit_at(_number(top)) if most > top > bottom else None,
        round=_number(step),
    )


def _multiple_above(number: float, step: Decimal) -> Decimal:
    return ((Decimal(str(number)) / step).to_integral_value(ROUND_FLOOR) + 1) * step


def _number(value: Decimal) -> float:
    return float(plain(value))
