"""Suggest how to round or code a column of numbers so that hardly any row has a number of its own.

Anyone who knows a person's exact salary finds the row by it, whatever the models guarantee for the quasi-identifiers.
The smallest rounding base is proposed with which nearly all rows share their number with k - 1 others, with the largest
and smallest numbers top- and bottom-coded. Bases that leave almost no information are not proposed: such a column is
worth no more than a removed one, and its report says how many rows remain unique with the finest useful base.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_FLOOR, Decimal

import numpy as np

from sfumato.hierarchies.types import numerals
from sfumato.microdata.models.classes import Counts, Floats
from sfumato.microdata.publishing.numbers import read_numbers
from sfumato.microdata.publishing.operation import written
from sfumato.microdata.publishing.plan import PublishPlan, limit_at
from sfumato.microdata.recoding.grids import number_grid

# So many rows must share their number with others; of so many the numbers may be the largest, and the smallest.
SHARED = 0.98
_TAIL = 0.01
_STEPS = (Decimal(1), Decimal(2), Decimal(5))
_DECIMALS = re.compile(r"\.(\d+)", re.ASCII)
# Of fewer numbers the largest is a step of a scale, unless it lies far from all others.
_MANY_NUMBERS = 20
# A step is at most so large a part of the range in which the middle half of the rows lies, and leaves so many numbers.
_STEP_SHARE = Decimal("0.5")
_LEAST_LEFT = 6


def proposed_publication(
    counts: Mapping[str, int], k: int, most: int | None = None, coarse: int | None = None
) -> PublishPlan | None:
    """How the numbers of a column should be published; None where it has others than numbers, or needs nothing.

    Args:
        counts: The rows of each text.
        k: How many rows must share a number.
        most: How many different numbers may be left, where two columns together must not single out rows either.
        coarse: How many may be left in any case, however many rows share them: others may know the exact ones.

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
    # Whether a half is rounded up is decided by decimals: what is likely enough is looked at again.
    exact = ((plan, _published(plan, forms, counts.values())) for plan in plans[next(likely, len(plans)) :])
    enough = (plan for plan, sizes in exact if _is_enough(np.array([*sizes.values()], np.int64), k, most))
    return next(enough, plans[-1])


def _rough_counts(plan: PublishPlan, numbers: Floats, rows: Counts) -> Counts:
    """The rows of each number as it is published, but for halves that binary fractions put on the other side."""
    _, owners = np.unique(plan.rough_steps(numbers), return_inverse=True)
    return np.bincount(owners.reshape(-1), weights=rows).astype(np.int64)


def _tails(numbers: Floats, rows: Counts, k: int) -> PublishPlan | None:
    """The largest and the smallest numbers published together, where fewer than k rows have one that lies far out."""
    top = _limit(numbers, rows, k)
    bottom = _limit(-numbers, rows, k)
    if top is None and bottom is None:
        return None
    return PublishPlan(bottom=None if bottom is None else -bottom, top=top)


def _limit(numbers: Floats, rows: Counts, k: int) -> float | None:
    """The roundest number above which at least k rows lie; None where the largest number tells of nobody.

    It does where it is one of many, or farther from the rest than the rest is wide.

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
    """Whether the rows of each number are enough, and numbers few enough."""
    return _shared(published, k) >= SHARED and (most is None or len(published) <= most)


def published_counts(plan: PublishPlan, counts: Mapping[str, int]) -> dict[str, int]:
    """The rows of each number as it is published."""
    return _published(plan, [*counts], counts.values())


def _published(plan: PublishPlan, texts: Sequence[str], rows: Iterable[int]) -> dict[str, int]:
    labels = [label or "" for label in plan.publish(texts)]
    added = dict.fromkeys(labels, 0)
    for label, number in zip(labels, rows, strict=True):
        added[label] += number
    return added


def _shared(rows: Counts, k: int) -> float:
    """The share of rows whose number stands in at least k of them."""
    return int(rows[rows >= k].sum()) / max(int(rows.sum()), 1)


def _plans(forms: list[str], numbers: Floats, rows: Counts, k: int) -> Iterator[PublishPlan]:
    """Ways to publish, from fine to coarse: steps of 1, 2, 5, 10, … of the last decimal, as long as they are useful."""
    order = np.argsort(numbers)
    ordered, sizes = numbers[order], rows[order]
    low, high = _ends(ordered, sizes, k)
    least, most = float(ordered[0]), float(ordered[-1])
    power = -max(map(len, _DECIMALS.findall("\n".join(forms))), default=0)
    largest = _STEP_SHARE * Decimal(str(_middle(ordered, sizes)))
    while low < high and Decimal(10) ** power <= largest:
        for digit in _STEPS:
            step = digit * Decimal(10) ** power
            plan = _plan(step, low, high, least, most)
            left = len(np.unique(plan.rough_steps(ordered)))
            if step <= largest and left >= min(_LEAST_LEFT, len(ordered)):
                yield plan
        power += 1


def _ends(numbers: Floats, rows: Counts, k: int) -> tuple[float, float]:
    """Numbers beyond which few rows lie on either side, but at least k: the others tell nobody apart by their size."""
    share = (np.cumsum(rows) - rows / 2) / rows.sum()
    low, high = (float(number) for number in np.interp((_TAIL, 1 - _TAIL), share, numbers))
    first, last = (min(int(np.searchsorted(np.cumsum(sizes), k)), len(rows) - 1) for sizes in (rows, rows[::-1]))
    return max(low, float(numbers[first])), min(high, float(numbers[-1 - last]))


def _middle(numbers: Floats, rows: Counts) -> float:
    """How wide the middle half of the rows lies; where most rows have one number, that of the others.

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
    """Numbers rounded, and those beyond two multiples of the step told as such; both ends lie beyond these."""
    bottom, top = _multiple_above(low, step), -_multiple_above(-high, step)
    return PublishPlan(
        bottom=limit_at(_number(bottom)) if least < bottom < top else None,
        top=limit_at(_number(top)) if most > top > bottom else None,
        round=_number(step),
    )


def _multiple_above(number: float, step: Decimal) -> Decimal:
    return ((Decimal(str(number)) / step).to_integral_value(ROUND_FLOOR) + 1) * step


def _number(value: Decimal) -> float:
    return float(written(value))
