"""Transform many numbers at once: numbers in one rounding interval are published identically, so its ends suffice."""

import re
from collections.abc import Callable, Sequence
from decimal import Decimal

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.microdata.models.equivalence_classes import Counts, Floats

# Longer numbers may differ though their binary fractions are equal: these are transformed one by one.
_EXACT = 15
# Integers up to this are distinguished by binary fractions, including the error of multiplication.
_MOST_WHOLE = 2.0**50
_DECIMALS = re.compile(r"\.(\d+)", re.ASCII)


def rough_steps(
    numbers: Floats,
    bottom: float | None = None,
    top: float | None = None,
    rounded: float | None = None,
    width: float | None = None,
) -> Floats:
    """Return the rounding interval of each number, up to rounding errors of binary fractions at the ends.

    >>> rough_steps(np.array([1.0, 24.0, 26.0, 99.0]), top=50, rounded=10)
    array([ 0.,  2.,  3., inf])
    """
    steps = numbers
    if rounded is not None:
        steps = np.floor(np.abs(numbers) / rounded + 0.5) * np.sign(numbers)
    elif width is not None:
        steps = np.floor(numbers / width)
    steps = steps if bottom is None else np.where(numbers < bottom, -np.inf, steps)
    return steps if top is None else np.where(numbers > top, np.inf, steps)


@dataclass(frozen=True, slots=True)
class RoundingGrid:
    """Division of numbers into rounding intervals: two limits, and the multiples to round to or where bins begin."""

    bottom: Decimal | None = None
    top: Decimal | None = None
    rounded: Decimal | None = None
    width: Decimal | None = None

    def steps(self, forms: Sequence[str], numbers: Floats) -> Counts | None:
        """Return the interval of each number exactly, by integers in units of the last decimal; None if too long.

        >>> grid = RoundingGrid(top=Decimal(50), rounded=Decimal("0.1"))
        >>> grid.steps(["0.15", "0.24", "-0.25"], np.array([0.15, 0.24, -0.25]))
        array([ 2,  2, -3])
        """
        parts = [part for part in (self.bottom, self.top, self.rounded, self.width) if part is not None]
        decimals = max(_decimals_of(forms), *(-int(part.as_tuple().exponent) for part in parts))
        most = max(float(np.abs(numbers).max(initial=0.0)), *(float(abs(part)) for part in parts))
        if max(map(len, forms), default=0) > _EXACT or not most * 10.0**decimals < _MOST_WHOLE:
            return None
        whole = np.rint(numbers * 10.0**decimals).astype(np.int64)
        return self._divided(whole, decimals)

    def _divided(self, whole: Counts, decimals: int) -> Counts:
        def scaled(part: Decimal) -> int:
            return int(part.scaleb(decimals))

        steps = whole
        if self.rounded is not None:
            step = scaled(self.rounded)
            steps = (2 * np.abs(whole) + step) // (2 * step) * np.sign(whole)
        elif self.width is not None:
            steps = whole // scaled(self.width)
        ends = np.iinfo(np.int64)
        steps = steps if self.bottom is None else np.where(whole < scaled(self.bottom), ends.min, steps)
        return steps if self.top is None else np.where(whole > scaled(self.top), ends.max, steps)


def _decimals_of(forms: Sequence[str]) -> int:
    return max(map(len, _DECIMALS.findall("\n".join(forms))), default=0)


def publish_once(forms: Sequence[str], steps: Counts, publish: Callable[[str], str]) -> Sequence[str]:
    """Return the published text of each number if all numbers of an interval have the same one."""
    _, first, owners = np.unique(steps, return_index=True, return_inverse=True)
    labels = np.array([publish(forms[place]) for place in first.tolist()], object)
    return list(labels[owners.reshape(-1)])


def publish_steps(forms: Sequence[str], numbers: Floats, steps: Floats, publish: Callable[[str], str]) -> Sequence[str]:
    """Return the published text of each number, for operations that are monotone.

    Args:
        steps: Approximately which numbers share a text; if the smallest and largest of an interval do not, each
            number is transformed separately.
    """
    if not forms or max(map(len, forms)) > _EXACT:
        return [publish(form) for form in forms]
    order = np.lexsort((numbers, steps))
    ordered = steps[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    labels = np.empty(len(forms), object)
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True):
        places = order[start:end]
        first, last = publish(forms[places[0]]), publish(forms[places[-1]])
        labels[places] = first if first == last else [publish(forms[place]) for place in places]
    return list(labels)
