"""The hierarchy `order`: neighbors in the order of the values are grouped, in larger groups at each level."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.hierarchies.explicit_domains import PathFree, check_distinct, check_nesting, outside
from sfumato.hierarchies.hierarchy import BoundHierarchy, Numbers, assemble
from sfumato.hierarchies.levels import Level, level_of_keys
from sfumato.hierarchies.types import numerals, ranks_of
from sfumato.localization.messages import Message
from sfumato.schema.dataclass_schema import KeyInfo, TextOrNumber

_SIZE = "Instead of groups: neighbors per group at the first level, then its powers."
Neighbors = Annotated[int, KeyInfo(minimum=2)]


@dataclass(frozen=True, slots=True)
class Order(PathFree):
    """Groups of neighbors, published as `first..last`.

    Attributes:
        groups: The group size at each level; each a multiple of the one before.
        size: Instead of groups: this many at the first level, its square at the second, until one group is left.
        values: The domain in its order; without it, the data's values by number or, if not all are numbers, by text.

    >>> Order(size=2, values=("low", "medium", "high", "top")).fit([]).hierarchy.labels[1:]
    (('low..medium', 'high..top'), ('*',))
    """

    groups: Annotated[tuple[Neighbors, ...], KeyInfo("How many neighbors a group has at each level.", at_least=1)] = ()
    size: Annotated[int | None, KeyInfo(_SIZE, minimum=2)] = None
    values: Annotated[tuple[TextOrNumber, ...] | None, KeyInfo("The domain in its order.", at_least=1)] = None

    def __post_init__(self) -> None:
        if bool(self.groups) == bool(self.size):
            raise ValueError(Message("error.value.groups_or_size"))
        check_nesting(self.groups)
        if self.values is not None:
            check_distinct(self.values)

    @property
    def is_rule_based(self) -> bool:
        return False

    def fit(self, values: Sequence[str]) -> BoundHierarchy:
        """Return the hierarchy of the data's values or of the fixed domain, in order."""
        if self.values is None:
            ordered, numbers = in_order(values)
            return BoundHierarchy(assemble(ordered, self._levels(ordered), numbers))
        ladder = assemble(self.values, self._levels(self.values), _ascending(self.values))
        return BoundHierarchy(ladder, outside(values, set(self.values)))

    def _levels(self, ordered: Sequence[str]) -> list[Level]:
        places = np.arange(len(ordered), dtype=np.int64)
        return [level_of_keys(places // size, partial(_label, ordered, size)) for size in self._sizes(len(ordered))]

    def _sizes(self, count: int) -> list[int]:
        if self.size is None:
            return list(self.groups)
        sizes = [self.size]
        while sizes[-1] * self.size < count:
            sizes.append(sizes[-1] * self.size)
        return sizes if sizes[0] < count else []


def _label(ordered: Sequence[str], size: int, group: int) -> str:
    first, last = ordered[group * size], ordered[min((group + 1) * size, len(ordered)) - 1]
    return first if first == last else f"{first}..{last}"


def in_order(values: Sequence[str]) -> tuple[list[str], Numbers | None]:
    """Return the values by number, with their numbers, if all are numbers; else by text.

    >>> in_order(["10", "9"])[0], in_order(["10", "9", "x"])[0]
    (['9', '10'], ['10', '9', 'x'])
    """
    texts = sorted(values)
    numbers = numerals(texts)
    if np.isnan(numbers).any() or not texts:
        return texts, None
    order = np.argsort(ranks_of(texts, numbers), kind="stable")
    return [texts[place] for place in order], numbers[order]


def _ascending(values: Sequence[str]) -> Numbers | None:
    """Return the numbers of listed values if these are ascending; any other list is no numeric scale."""
    numbers = numerals(values)
    return numbers if bool((np.diff(ranks_of(values, numbers)) > 0).all()) and not np.isnan(numbers).any() else None
