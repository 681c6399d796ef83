"""The generalization hierarchy: for each value of a column, its label at each level."""

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from sfumato.errors import PlanError
from sfumato.hierarchies.types import NUMBER_TYPES, ColumnType, numbers_of
from sfumato.localization.messages import Message
from sfumato.values import Value

Codes = npt.NDArray[np.int32]
Level = tuple[tuple[str, ...], Codes]
ROOT = "*"


def level_of_labels(labels: Sequence[str]) -> Level:
    """Return the level with given labels of values; labels are in the order of their first value.

    >>> level_of_labels(["b", "a", "b"])
    (('b', 'a'), array([0, 1, 0], dtype=int32))
    """
    places: dict[str, int] = {}
    codes = np.fromiter((places.setdefault(label, len(places)) for label in labels), np.int32, len(labels))
    return tuple(places), codes


def level_of_keys(keys: npt.NDArray[np.int64], label: Callable[[int], str]) -> Level:
    """Return the level in which values with the same key share a label; only distinct keys are formatted.

    >>> level_of_keys(np.array([7, 5, 7]), str)
    (('7', '5'), array([0, 1, 0], dtype=int32))
    """
    distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return tuple(label(int(key)) for key in distinct[order]), place[inverse]


def present_codes(codes: npt.NDArray[np.integer[Any]]) -> list[int]:
    """Return the codes that occur, ascending; faster than NumPy's unique, which sorts.

    >>> present_codes(np.array([3, 1, 3]))
    [1, 3]
    """
    return [int(code) for code in np.flatnonzero(np.bincount(codes))]


def level_above(below: Level, label: Callable[[str], str]) -> Level:
    """Return the level above another; each of its labels gets one label, so merged values stay together.

    >>> level_above((("12", "13", "25"), np.arange(3)), lambda code: code[:1] + "*")
    (('1*', '2*'), array([0, 0, 1], dtype=int32))
    """
    labels, parents = level_of_labels([label(name) for name in below[0]])
    return labels, parents[below[1]]


def root_level(size: int, label: str = ROOT) -> Level:
    """Return the level with one label for all values."""
    return (label,), np.zeros(size, np.int32)


def with_root(levels: Sequence[Level]) -> list[Level]:
    """Return the levels, with a root added unless the last of them has one label of stars."""
    labels, codes = levels[-1]
    if len(levels) > 1 and len(labels) == 1 and set(labels[0]) == {ROOT}:
        return list(levels)
    if len(levels) > 1 and not labels:
        return [*levels[:-1], root_level(0)]
    return [*levels, root_level(len(codes))]


Numbers = npt.NDArray[np.float64]
__all__ = ["ROOT", "BoundHierarchy", "Codes", "Hierarchy", "HierarchyBuilder", "Numbers", "assemble", "make_hierarchy"]


class Hierarchy(Value, dict=True):
    """The levels of one column, from the original values (level 0) to one root.

    Values are in the column's natural order (numbers and dates ascending, files and trees as listed); a value's index
    is its code. The missing value, if there is one, is `None`: it stays missing below the root.

    Attributes:
        values: The domain: every value of the hierarchy, whether or not it occurs in the data.
        labels: For each level, its labels; level 0 has the values themselves.
        codes: For each level, the index of each value's label.
        numbers: The values as numbers (days for dates) if the column is numeric, else None.

    >>> ladder = make_hierarchy(["72021", "72062"], [["7202*", "7206*"], ["*", "*"]])
    >>> ladder.height, ladder.published("72062", 1)
    (3, '7206*')
    """

    values: tuple[str | None, ...]
    labels: tuple[tuple[str | None, ...], ...]
    codes: tuple[Codes, ...]
    numbers: Numbers | None = None

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.codes) or any(len(level) != len(self.values) for level in self.codes):
            raise ValueError(Message("error.value.every_level_needs_label"))
        for level in range(1, len(self.codes)):
            self._check_monotone(level)
        if len(self.labels[-1]) != 1 and self.values:
            raise ValueError(Message("error.value.ladder_needs_one_root"))

    def _check_monotone(self, level: int) -> None:
        """Check that merged values stay together: the label one level below determines the label here."""
        below, here = self.codes[level - 1], self.codes[level]
        parent = np.full(len(self.labels[level - 1]), -1, np.int32)
        parent[below] = here
        parted = np.flatnonzero(parent[below] != here)
        if len(parted):
            label = int(below[parted[0]])
            values = [value for value, code in zip(self.values, below, strict=True) if code == label]
            raise PlanError("hierarchy-not-monotone", level=level, lower=level - 1, count=len(values)).about(
                values=values
            )

    @property
    def height(self) -> int:
        """The number of levels, including original values and root."""
        return len(self.labels)

    @property
    def size(self) -> int:
        """The number of values."""
        return len(self.values)

    @cached_property
    def penalties(self) -> tuple[Numbers, ...]:
        """For each level and label, the loss (M-1)/(|A|-1): M values covered of the |A| of the domain.

        The missing value is not in the domain; its loss is 0 below the root and 1 at the root.
        """
        present = np.array([value is not None for value in self.values], bool)
        width = max(int(present.sum()) - 1, 1)
        return tuple(self._penalty(level, present, width) for level in range(self.height))

    def _penalty(self, level: int, present: npt.NDArray[np.bool_], width: int) -> Numbers:
        covered = np.bincount(self.codes[level][present], minlength=len(self.labels[level]))
        if level == self.height - 1 and level > 0:
            return np.ones(1)
        return np.maximum(covered - 1, 0) / width

    def numbers_as(self, type_: ColumnType) -> Numbers | None:
        """Return the values as numbers if the hierarchy or their type defines them, NaN for the missing value."""
        if self.numbers is not None or type_ not in (*NUMBER_TYPES, "date"):
            return self.numbers
        present = np.array([value is not None for value in self.values], bool)
        try:
            read = numbers_of([value for value in self.values if value is not None], type_)
        except ValueError:
            return None
        if read is None or np.isnan(read).any():
            return None
        numbers = np.full(self.size, np.nan)
        numbers[present] = read
        return numbers

    @cached_property
    def places(self) -> dict[str | None, int]:
        """The code of each value."""
        return {value: place for place, value in enumerate(self.values)}

    def published(self, value: str | None, level: int) -> str | None:
        """Return the label of a value at a level."""
        return self.labels[level][int(self.codes[level][self.places[value]])]

    def step(self, low: int, high: int) -> Codes:
        """Return for each label of level `low` its label at level `high`."""
        parent = np.zeros(len(self.labels[low]), np.int32)
        parent[self.codes[low]] = self.codes[high]
        return parent

    def with_missing(self) -> "Hierarchy":
        """Return the hierarchy with the missing value as an additional value."""
        if None in self.places:
            return self
        top = self.height - 1
        labels = tuple((*level, None) if place < top else level for place, level in enumerate(self.labels))
        codes = tuple(
            np.append(level, np.int32(len(self.labels[place]) if place < top else 0))
            for place, level in enumerate(self.codes)
        )
        numbers = None if self.numbers is None else np.append(self.numbers, np.nan)
        return Hierarchy((*self.values, None), labels, codes, numbers)

    def rows(self) -> list[tuple[str | None, ...]]:
        """Return one row per value with its label at each level: the layout of a hierarchy file."""
        return [
            tuple(self.labels[level][self.codes[level][place]] for level in range(self.height))
            for place in range(self.size)
        ]


class BoundHierarchy(Value):
    """A hierarchy for the values of a column, and the values that the builder does not accept."""

    hierarchy: Hierarchy
    rejected: tuple[str, ...] = ()


@runtime_checkable
class HierarchyBuilder(Protocol):
    """Hierarchy builder: the plan parameters from which a hierarchy is made for the values of a column."""

    name: ClassVar[str]

    @property
    def is_rule_based(self) -> bool:
        """Whether a value's labels depend on that value alone, so that new values get labels as well."""
        ...

    def fit(self, values: Sequence[str]) -> BoundHierarchy:
        """Return a hierarchy that covers the values, except those it rejects; values are distinct and not missing."""
        ...

    def resolve_paths(self, folder: Path) -> "HierarchyBuilder":
        """Return the builder with its paths, if it has some, resolved from a folder."""
        ...


def make_hierarchy(values: Sequence[str], levels: Sequence[Sequence[str]]) -> Hierarchy:
    """Return a hierarchy from the values and each level's label of each value; a root is added if missing.

    >>> make_hierarchy(["a", "b"], []).labels
    (('a', 'b'), ('*',))
    """
    return assemble(values, [level_of_labels(level) for level in levels])


def assemble(
    values: Sequence[str], levels: Sequence[Level], numbers: Sequence[float] | Numbers | None = None
) -> Hierarchy:
    """Return a hierarchy from distinct values and the levels above them; a root is added if the last level is none."""
    raw: Level = (tuple(values), np.arange(len(values), dtype=np.int32))
    labels, codes = zip(*with_root([raw, *levels]), strict=True)
    return Hierarchy(tuple(values), labels, codes, None if numbers is None else np.asarray(numbers, np.float64))


def hierarchy_csv(ladder: Hierarchy, separator: str = ";") -> str:
    """Return a hierarchy as the text of a hierarchy file, without the missing value.

    >>> from sfumato.hierarchies.hierarchy import make_hierarchy
    >>> hierarchy_csv(make_hierarchy(["a;b", "c"], []))
    '"a;b";*\\nc;*\\n'
    """
    rows = (row for row in ladder.rows() if row[0] is not None)
    return "".join(separator.join(_quoted(cell or "", separator) for cell in row) + "\n" for row in rows)


def _quoted(cell: str, separator: str) -> str:
    """Return a field, quoted if a reader or an editor of the file could misinterpret it."""
    if cell and cell == cell.strip() and not any(sign in cell for sign in (separator, '"', "\r", "\n", "\ufeff")):
        return cell
    return '"' + cell.replace('"', '""') + '"'
