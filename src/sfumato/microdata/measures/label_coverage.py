"""Values that the labels of a class recoding cover, as a data user reads them from the texts alone.

- A label of the hierarchy, at any level, covers the values below it; a value covers itself.
- `[min–max]` covers the numbers or dates from one to the other, `<36` and `>64` those below and above, `{a, b}` its
  members, `*` everything.

A text that can be read in several ways (a value may itself contain a comma) covers the values of all readings.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Literal

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.types import inexact, ranks_of
from sfumato.microdata.models.equivalence_classes import Counts, Floats
from sfumato.microdata.plan.model import ColumnPlan
from sfumato.microdata.recoding.mapping import STAR, Labels
from sfumato.microdata.recoding.range_grid import RangeGrid, grid_of, range_ends
from sfumato.values import Value

Places = npt.NDArray[np.int64]
Pairs = tuple[Places, Places]
COMMA = ", "


class NumericDomain(Value):
    """The numbers of all value codes, NaN for the missing value, and the grid of range ends that are no values.

    Attributes:
        ranks: The ranks of all value codes by their exact numbers.
        longer: The exact numbers that floating-point numbers cannot represent, by value code.
    """

    numbers: Floats
    ranks: Places
    longer: Mapping[int, Decimal]
    grid: RangeGrid


class Domain(Value):
    """The values of a column that occur in the data.

    Attributes:
        values: Their codes, in order: numbers by size, the missing value last.
        numbers: The same as numbers, if they are; the missing value counts as the largest.
        scale: How ranges are parsed, if there are numbers.
    """

    ladder: Hierarchy
    values: Places
    numbers: Floats | None
    scale: NumericDomain | None

    @property
    def ranks(self) -> Places:
        """The rank of each value code, -1 if it does not occur in the data."""
        ranks = np.full(self.ladder.size, -1, np.int64)
        ranks[self.values] = np.arange(len(self.values))
        return ranks


def domain_of(ladder: Hierarchy, column: ColumnPlan, rows: Counts) -> Domain:
    """Return the domain of a column with given numbers of rows per value.

    >>> from sfumato.hierarchies.hierarchy import make_hierarchy
    >>> column = ColumnPlan("quasi-identifier", "decimal")
    >>> domain_of(make_hierarchy(["10.5", "9"], []), column, np.array([1, 1])).values.tolist()
    [1, 0]
    """
    values = np.flatnonzero(rows).astype(np.int64)
    numbers = ladder.numbers_as(column.type)
    if numbers is None or np.isnan(numbers[values]).all():
        return Domain(ladder, values, None, None)
    ranks = ranks_of(ladder.values, numbers)
    values = values[np.argsort(ranks[values], kind="stable")]
    ordered = numbers[values]
    longer = inexact(ladder.values, numbers)
    scale = NumericDomain(numbers, ranks, longer, grid_of(column, numbers[~np.isnan(numbers)]))
    return Domain(ladder, values, np.where(np.isnan(ordered), np.nanmax(ordered), ordered), scale)


def covers(labels: Labels, domain: Domain) -> Pairs:
    """Return parallel arrays of labels and the ranks of values they cover; for numbers only the ends; may repeat pairs.

    >>> from sfumato.hierarchies.hierarchy import make_hierarchy
    >>> column = ColumnPlan("quasi-identifier")
    >>> domain = domain_of(make_hierarchy(["a", "b", "c"], [["A", "A", "C"]]), column, np.array([1, 1, 1]))
    >>> [part.tolist() for part in covers(("A", "{b, c}"), domain)]
    [[0, 0, 1, 1], [0, 1, 1, 2]]
    """
    pairs = [
        *_rungs(labels, domain),
        *_ranges(labels, domain),
        *_open_ranges(labels, domain),
        *_sets(labels, domain),
    ]
    if STAR in labels:
        pairs.append((np.full(len(domain.values), labels.index(STAR)), np.arange(len(domain.values))))
    return np.concatenate([pair[0] for pair in pairs]), np.concatenate([pair[1] for pair in pairs])


def _rungs(labels: Labels, domain: Domain) -> Iterator[Pairs]:
    """Yield the pairs of labels that occur on some level of the hierarchy."""
    place = {text: code for code, text in enumerate(labels)}
    for texts, codes in zip(domain.ladder.labels, domain.ladder.codes, strict=True):
        known = np.fromiter((place.get(text, -1) for text in texts), np.int64, len(texts))
        found = known[codes[domain.values]]
        ranks = np.flatnonzero(found >= 0)
        yield found[ranks], ranks


def _ranges(labels: Labels, domain: Domain) -> Iterator[Pairs]:
    """Yield the first and the last value of ranges."""
    pairs = [(code, ends) for code, text in enumerate(labels) if (ends := range_ends(text))]
    if domain.scale is None or not pairs:
        return
    owners = np.array([code for code, _ in pairs], np.int64)
    first = _ranks([ends[0] for _, ends in pairs], domain, domain.scale, "left")
    last = _ranks([ends[1] for _, ends in pairs], domain, domain.scale, "right") - 1
    some = (first >= 0) & (first <= last)
    yield owners[some], first[some]
    yield owners[some], last[some]


def _open_ranges(labels: Labels, domain: Domain) -> Iterator[Pairs]:
    """Yield the first and the last value of ranges that are open at one end."""
    if domain.scale is None or domain.numbers is None:
        return
    present = int((~np.isnan(domain.scale.numbers[domain.values])).sum())
    for code, text in enumerate(labels):
        if not text or text[0] not in "<>":
            continue
        side: Literal["left", "right"] = "left" if text[0] == "<" else "right"
        limit = int(_ranks([text[1:]], domain, domain.scale, side)[0])
        first, last = (0, limit - 1) if side == "left" else (limit, present - 1)
        if limit >= 0 and first <= last:
            yield np.full(2, code, np.int64), np.array([first, last], np.int64)


def _ranks(texts: Sequence[str], domain: Domain, scale: NumericDomain, side: Literal["left", "right"]) -> Places:
    """Return the number of values below, or up to, each end, which is a value or a grid point; -1 for other texts."""
    present = domain.values[~np.isnan(scale.numbers[domain.values])]
    numbers = scale.numbers[present]
    longer = {place: scale.longer[code] for place, code in enumerate(present.tolist()) if code in scale.longer}
    steps = scale.grid.below(numbers, longer) if side == "left" else scale.grid.above(numbers, longer)
    codes = np.array([domain.ladder.places.get(text, -1) for text in texts], np.int64)
    ends = scale.grid.read(texts)
    by_steps = np.searchsorted(steps, scale.grid.below(np.nan_to_num(ends, nan=1.0)), side)
    by_values = np.searchsorted(scale.ranks[present], scale.ranks[codes], side)
    return np.where(codes >= 0, by_values, np.where(np.isnan(ends), -1, by_steps)).astype(np.int64)


def _sets(labels: Labels, domain: Domain) -> Iterator[Pairs]:
    """Yield the members of sets."""
    sets = [(code, text[1:-1].split(COMMA)) for code, text in enumerate(labels) if text and text[0] == "{"]
    if not sets:
        return
    longest = 1 + max(value.count(COMMA) for value in domain.ladder.values if value is not None)
    members = [_members(parts, domain.ladder.places, longest) for _, parts in sets]
    owners = np.repeat([code for code, _ in sets], [len(codes) for codes in members]).astype(np.int64)
    ranks = domain.ranks[[member for codes in members for member in codes]]
    yield owners[ranks >= 0], ranks[ranks >= 0]


def _members(parts: Sequence[str], places: dict[str | None, int], longest: int) -> list[int]:
    """Return the values in a text split at every comma, where a value may itself have up to `longest` parts.

    >>> _members(["a", "b", "c"], {"a, b": 0, "c": 1, "b": 2}, 2)
    [0, 1]
    """
    if longest == 1:
        return [places[part] for part in parts if part in places]
    count = len(parts)
    texts = [
        (first, last, COMMA.join(parts[first:last]))
        for first in range(count)
        for last in range(first + 1, min(first + longest, count) + 1)
    ]
    runs = [(first, last, places[text]) for first, last, text in texts if text in places]
    # A run of parts is a value in some reading if the parts before it and after it can be split into values, too.
    begun, ended = {0}, {count}
    for first, last, _ in runs:
        begun |= {last} if first in begun else set()
    for first, last, _ in reversed(runs):
        ended |= {first} if last in ended else set()
    return [code for first, last, code in runs if first in begun and last in ended]
