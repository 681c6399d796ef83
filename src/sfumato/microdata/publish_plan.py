"""How columns that are no quasi-identifiers are published: rounding, top and bottom coding, binning, perturbation."""

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from functools import cached_property, partial
from typing import Annotated, Protocol

import numpy as np

from sfumato.hierarchies.label_bounds import ends_of
from sfumato.hierarchies.types import MANY_DIGITS, canonical, numerals, plain
from sfumato.localization.messages import Message
from sfumato.microdata.models.equivalence_classes import Counts, Floats
from sfumato.microdata.perturbation.plan import (
    MICROAGGREGATE,
    NOISE,
    PRAM,
    PSEUDONYM,
    SHIFT_DAYS,
    SWAP,
    SWAP_HOUSEHOLDS,
    Microaggregate,
    Noise,
    Perturbation,
    Pram,
    Pseudonym,
    RankSwap,
    ShiftDays,
    SwapHouseholds,
)
from sfumato.schema.composite import Number, UnionSchema
from sfumato.schema.dataclass_schema import KeyInfo, record_of
from sfumato.schema.typed_parts import PlanPart
from sfumato.values import Value, force_setattr


class Operation(Protocol):
    """An operation on the numbers of a column."""

    def publish(self, number: Decimal) -> str | None:
        """Return the published text of a number; None if this operation leaves it to the next."""
        ...


class Bin(Value):
    """The interval from one multiple of the width (included) to the next (excluded).

    >>> Bin(Decimal(10)).publish(Decimal(25)), Bin(Decimal("0.5")).publish(Decimal("-0.2"))
    ('[20, 30)', '[-0.5, 0)')
    """

    width: Decimal

    def publish(self, number: Decimal) -> str:
        step = MANY_DIGITS.divide(number, self.width).to_integral_value(ROUND_FLOOR)
        low, high = (MANY_DIGITS.multiply(end, self.width) for end in (step, MANY_DIGITS.add(step, 1)))
        return f"[{plain(low)}, {plain(high)})"


class Bottom(Value):
    """Numbers below the limit are published as `<limit`.

    >>> Bottom(Decimal(10)).publish(Decimal(9)), Bottom(Decimal(10)).publish(Decimal(10))
    ('<10', None)
    """

    limit: Decimal

    def publish(self, number: Decimal) -> str | None:
        return f"<{plain(self.limit)}" if number < self.limit else None


class Top(Value):
    """Numbers above the limit are published as `>limit`.

    >>> Top(Decimal(100)).publish(Decimal("100.5")), Top(Decimal(100)).publish(Decimal(100))
    ('>100', None)
    """

    limit: Decimal

    def publish(self, number: Decimal) -> str | None:
        return f">{plain(self.limit)}" if number > self.limit else None


class Round(Value, dict=True):
    """The nearest multiple of the base; with limits, the nearest one between them, if there is one.

    >>> Round(Decimal(10)).publish(Decimal(25)), Round(Decimal("0.5")).publish(Decimal("1.2"))
    ('30', '1')
    >>> Round(Decimal(25), high=Decimal("118.5")).publish(Decimal(118))
    '100'
    """

    step: Decimal
    low: Decimal | None = None
    high: Decimal | None = None

    def publish(self, number: Decimal) -> str:
        multiple = MANY_DIGITS.divide(number, self.step).to_integral_value(ROUND_HALF_UP)
        return plain(MANY_DIGITS.multiply(self._within(multiple), self.step))

    def _within(self, multiple: Decimal) -> Decimal:
        """Return a multiple between the limits: 125 next to >118.5 would look like an error."""
        least, most = self._ends
        multiple = multiple if least is None else max(multiple, least)
        return multiple if most is None else min(multiple, most)

    @cached_property
    def _ends(self) -> tuple[Decimal | None, Decimal | None]:
        """Return the smallest and the largest multiple between the limits; None if there is none."""
        least = None if self.low is None else MANY_DIGITS.divide(self.low, self.step).to_integral_value(ROUND_CEILING)
        most = None if self.high is None else MANY_DIGITS.divide(self.high, self.step).to_integral_value(ROUND_FLOOR)
        return (None, None) if least is not None and most is not None and least > most else (least, most)


def read_numbers(texts: Sequence[str]) -> list[str | None]:
    """Return the number in each text, without padding, unit and thousands separators; None if a text is no number.

    >>> read_numbers(["  3201", "1'000", "10 %", "12-14", "500-", "0x10"])
    ['3201', '1000', '10', None, None, None]
    """
    return canonical(texts, "amount")[0]


# Longer numbers may differ though their binary fractions are equal: these are transformed one by one.
_EXACT = 15
# Integers up to this are distinguished by binary fractions, including the error of multiplication.
_MOST_WHOLE = 2.0**50
_DECIMALS = re.compile(r"\.(\d+)", re.ASCII)
# Keys of `publish` and the operation of each, in the order in which they are applied.
OPERATIONS: dict[str, Callable[[Decimal], Operation]] = {"bottom": Bottom, "top": Top, "round": Round, "bin": Bin}
PERTURBATIONS = ("microaggregate", "noise", "swap", "pram", "swap_households", "pseudonym", "shift_days")


class Limit(PlanPart):
    """A limit as a share of the rows (0.99 is the value that 99 % of the numbers do not exceed), or as a number.

    A plain number between 0 and 1 is a share; a value in this range needs its name. Plans of releases state both:
    the requested share, and the resulting number.
    """

    share: Annotated[float | None, KeyInfo("of the numbers, from the least on", minimum=0, maximum=1)] = None
    value: Annotated[
        float | None, KeyInfo("the number itself, where a plain one would be a share, or that a share became")
    ] = None

    def check_part(self) -> None:
        if self.share is None and self.value is None:
            raise ValueError(Message("error.value.limit_share_or_value"))

    @property
    def open_share(self) -> float | None:
        """The share, if it has not been resolved to a number yet."""
        return self.share if self.value is None else None


def limit_at(value: float) -> float | Limit:
    """Return a number as a limit: plain if it cannot be mistaken for a share.

    >>> limit_at(100.0), limit_at(0.5)
    (100.0, Limit(share=None, value=0.5))
    """
    return Limit(value=value) if 0 < value < 1 else value


def _limit(about: str) -> UnionSchema:
    return UnionSchema((((int, float), Number()), ((dict,), record_of(Limit))), about)


BOTTOM = _limit("numbers below it are published as <bottom; between 0 and 1 it is a share of the rows")
TOP = _limit("numbers above it are published as >top; between 0 and 1 it is a share of the rows")


class PublishPlan(PlanPart):
    """How the values of a column are published.

    A limit between 0 and 1 is a share of the rows.

    Of bottom, top, round and bin, the first that applies to a number decides. Or one perturbation, after which
    numbers may be rounded.
    """

    bottom: Annotated[float | Limit | None, BOTTOM] = None
    top: Annotated[float | Limit | None, TOP] = None
    round: Annotated[float | None, KeyInfo("numbers are rounded to a multiple of it")] = None
    bin: Annotated[float | None, KeyInfo("numbers are published as intervals of this width")] = None
    microaggregate: Annotated[Microaggregate | None, MICROAGGREGATE] = None
    noise: Annotated[Noise | None, NOISE] = None
    swap: Annotated[RankSwap | None, SWAP] = None
    pram: Annotated[Pram | None, PRAM] = None
    swap_households: Annotated[SwapHouseholds | None, SWAP_HOUSEHOLDS] = None
    pseudonym: Annotated[Pseudonym | None, PSEUDONYM] = None
    shift_days: Annotated[ShiftDays | None, SHIFT_DAYS] = None

    def check_part(self) -> None:
        for name in ("bottom", "top"):
            limit = getattr(self, name)
            if isinstance(limit, int | float) and 0 < limit < 1:
                force_setattr(self, name, Limit(share=limit))
        asked = [name for name in PERTURBATIONS if getattr(self, name) is not None]
        if not asked and not any(getattr(self, name) is not None for name in OPERATIONS):
            raise ValueError(
                Message("error.value.publish_names_operation", names=", ".join((*OPERATIONS, *PERTURBATIONS)))
            )
        if len(asked) > 1:
            raise ValueError(Message("error.value.and_do_not_go", first=asked[0], second=asked[1]))
        if asked and any(getattr(self, name) is not None for name in ("bottom", "top", "bin")):
            raise ValueError(Message("error.value.goes_with_round_alone", first=asked[0]))
        if asked and self.round is not None and not getattr(self, asked[0]).numbers:
            raise ValueError(Message("error.value.categories_without_round", first=asked[0]))
        if self.round is not None and self.bin is not None:
            raise ValueError(Message("error.value.round_and_bin"))
        if any(step is not None and step <= 0 for step in (self.round, self.bin)):
            raise ValueError(Message("error.value.round_and_bin_positive"))
        bottom, top = (number_of(limit) for limit in (self.bottom, self.top))
        if bottom is not None and top is not None and bottom > top:
            raise ValueError(Message("error.value.bottom_is_above_top"))

    @property
    def perturbation(self) -> Perturbation | None:
        """The perturbation of the column, if any."""
        return next((part for name in PERTURBATIONS if (part := getattr(self, name)) is not None), None)

    @property
    def shares(self) -> bool:
        """Whether a limit is a share of the rows, to be resolved from them."""
        return any(isinstance(limit, Limit) and limit.open_share is not None for limit in (self.bottom, self.top))

    def operations(self) -> Iterator[Operation]:
        """Yield the requested operations on single numbers."""
        for name, operation in OPERATIONS.items():
            asked = _decimal(getattr(self, name))
            if asked is not None:
                yield operation(asked) if name != "round" else Round(asked, _decimal(self.bottom), _decimal(self.top))

    def publish(self, texts: Sequence[str]) -> list[str | None]:
        """Return the published text of each text; None for one that is no number.

        >>> PublishPlan(top=100, round=10).publish(["007", "55", "1e3", "many"])
        ['10', '60', '>100', None]
        """
        operations = tuple(self.operations())
        forms = read_numbers(texts)
        present = [form for form in forms if form is not None]
        numbers = numerals(present)
        labels = self._labels(present, numbers, partial(_published, operations))
        if len(present) == len(forms):
            return [*labels]
        rest = iter(labels)
        return [None if form is None else next(rest) for form in forms]

    def _labels(self, forms: Sequence[str], numbers: Floats, publish: Callable[[str], str]) -> Sequence[str]:
        limits = (_decimal(self.bottom), _decimal(self.top), _decimal(self.round), _decimal(self.bin))
        steps = RoundingGrid(*limits).steps(forms, numbers) if any(limit is not None for limit in limits) else None
        if steps is not None:
            return publish_once(forms, steps, publish)
        return publish_steps(forms, numbers, self.rough_steps(numbers), publish)

    def rough_steps(self, numbers: Floats) -> Floats:
        """Return which numbers share a label, up to rounding errors of binary fractions at the ends."""
        return rough_steps(numbers, number_of(self.bottom), number_of(self.top), self.round, self.bin)

    def keeps(self, text: str) -> bool:
        """Return whether a published text is valid: a number that is published as itself, or a label of numbers.

        >>> [PublishPlan(top=90, bin=5).keeps(text) for text in ("[5, 10)", ">90", "[6, 10)", ">95", "7", "secret")]
        [True, True, False, False, False, False]
        >>> PublishPlan(bottom=5, bin=10).keeps("[0, 10)")
        True
        >>> [PublishPlan(bottom=7, bin=5).keeps(text) for text in ("<7", "[5, 10)", "[0, 5)")]
        [True, True, False]
        >>> PublishPlan(top=1e30).keeps(f">1{30 * '0'}")
        True
        """
        low, high = ends_of(text)
        if low is not None:
            inside = low if high is not None else plain(MANY_DIGITS.add(Decimal(low), 1))
        elif high is not None:
            inside = plain(MANY_DIGITS.subtract(Decimal(high), 1))
        else:
            return False
        # A limit within an interval, or next to a multiple, is published with it although its end is not.
        limits = [plain(limit) for limit in (_decimal(self.bottom), _decimal(self.top)) if limit is not None]
        return text in self.publish([inside, *limits])


def number_of(limit: float | Limit | None) -> float | None:
    """Return the number of a limit; None if it is an unresolved share, or there is none."""
    return limit.value if isinstance(limit, Limit) else limit


def _decimal(limit: float | Limit | None) -> Decimal | None:
    number = number_of(limit)
    return None if number is None else Decimal(str(number))


def _published(operations: Sequence[Operation], text: str) -> str:
    number = Decimal(text)
    return next((label for one in operations if (label := one.publish(number)) is not None), text)


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


class RoundingGrid(Value):
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
