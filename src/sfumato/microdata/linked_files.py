"""Linked files: levels at which persons are identical with all their rows in several joined files.

Persons who cannot be matched are suppressed. If there are few levels, all are tried and the least loss is proven; else
the levels are refined from the top, one level of one column at a time, the one that loses least.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import UnattainableError
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.microdata.methods.search_result import Deadline
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, EquivalenceClasses, Histogram, histogram
from sfumato.microdata.models.model import PrivacyModel
from sfumato.values import Value, replace

Codes = npt.NDArray[np.int32]
Level = tuple[str, str]


class FileRows(Value):
    """The rows of one file.

    Attributes:
        parent: The parent file; None for that of the persons.
        columns: The quasi-identifiers of the file.
        ladders: The hierarchies of the quasi-identifiers.
        codes: The value codes, an array (rows, columns).
        above: For each row the index of its parent row.
    """

    name: str
    parent: str | None
    columns: tuple[str, ...]
    ladders: tuple[Hierarchy, ...]
    codes: Codes
    above: Counts


class Values(Value):
    """The values of a sensitive column by person, each pair of person and value once."""

    persons: Counts
    codes: Codes
    texts: tuple[str | None, ...]


class LinkedFiles(Value, dict=True):
    """All files, parents first, and the sensitive values of persons.

    Attributes:
        values: For each sensitive column with a model, which persons have which values.
    """

    files: tuple[FileRows, ...]
    values: Mapping[str, Values]

    @property
    def number_of_persons(self) -> int:
        return len(self.files[0].codes)

    @cached_property
    def persons(self) -> dict[str, Counts]:
        """For each file the person of each row."""
        found: dict[str, Counts] = {}
        for file in self.files:
            found[file.name] = np.arange(len(file.codes)) if file.parent is None else found[file.parent][file.above]
        return found

    @cached_property
    def columns(self) -> tuple[Level, ...]:
        """All quasi-identifiers, as file and column."""
        return tuple((file.name, name) for file in self.files for name in file.columns)

    @cached_property
    def ladders(self) -> tuple[Hierarchy, ...]:
        return tuple(ladder for file in self.files for ladder in file.ladders)

    def classes(self, groups: Counts, number: int) -> EquivalenceClasses:
        """Return groups of persons as classes, with the persons who have each value."""
        sizes = np.bincount(groups, minlength=number).astype(np.int64)
        contents: dict[str, Histogram] = {
            name: histogram(
                groups[values.persons], values.codes, np.ones(len(values.codes), np.int64), number, len(values.texts)
            )
            for name, values in self.values.items()
        }
        return EquivalenceClasses(sizes, contents, counts_persons=True)

    @cached_property
    def whole(self) -> EquivalenceClasses:
        """All persons as one class."""
        return self.classes(np.zeros(self.number_of_persons, np.int64), 1)


Words = npt.NDArray[np.uint64]
LANES = 2
# The bits above the codes hold the column and the file.
_COLUMN_BITS, _FILE_BITS = 32, 48
Levels = tuple[int, ...]
MOST_LEVELS = 2_000


class LinkedLevels(Value):
    """Levels, and the persons who are suppressed at them.

    Attributes:
        loss: The sum over columns of the mean loss of rows, with 1 for rows of suppressed persons.
        per_column: The information loss of each column.
        reached: The achieved parameter of each model.
        proved_optimal: Whether the loss is proven to be minimal.
    """

    levels: Levels
    withheld: BoolArray
    loss: float
    per_column: tuple[float, ...]
    groups: int
    smallest: int
    reached: tuple[float, ...]
    checked: int = 1
    total: int = 1
    proved_optimal: bool = False


class Search(Value):
    """The search problem.

    Attributes:
        most_withheld: Maximum number of suppressed persons.
        lowest: The lowest level the search may use, for each column.
        highest: The highest level the search may use, for each column.
    """

    relations: LinkedFiles
    models: tuple[PrivacyModel, ...]
    most_withheld: int
    lowest: Levels
    highest: Levels
    time_limit: float = 60.0

    def find(self, progress: Callable[[int, int], None] | None = None) -> LinkedLevels:
        """Return the levels of least loss.

        Raises:
            UnattainableError: Even at the highest levels too many persons must be suppressed.
        """
        total = prod(high - low + 1 for low, high in zip(self.lowest, self.highest, strict=True))
        few, deadline = total <= MOST_LEVELS, Deadline(self.time_limit)
        best, checked, complete = None, 0, few
        for placement in map(self.place, self._all()) if few else self._refined():
            checked += 1
            if progress is not None:
                progress(checked, total)
            if self._fits(placement) and (best is None or placement.loss < best.loss):
                best = placement
            if deadline.over and best is not None:
                complete = False
                break
        if best is None:
            raise self._unattainable()
        return replace(best, checked=checked, total=total, proved_optimal=complete)

    def place(self, levels: Levels) -> LinkedLevels:
        """Return the suppressed persons and the loss at some levels."""
        groups, number = groups_of(self.relations, levels)
        classes = self.relations.classes(groups, number)
        failing = np.zeros(number, bool)
        for model in self.models:
            failing |= model.violating(classes, self.relations.whole)
        withheld = failing[groups]
        kept = np.flatnonzero(~failing)
        losses = tuple(self._losses(levels, withheld))
        places = np.cumsum(~failing) - 1
        rest = self.relations.classes(np.where(withheld, len(kept), places[groups]), len(kept) + 1)
        reached = tuple(_reached(model, rest, self.relations, len(kept)) for model in self.models)
        sizes = classes.sizes[kept]
        return LinkedLevels(
            levels, withheld, sum(losses), losses, len(kept), int(sizes.min()) if len(sizes) else 0, reached
        )

    def _losses(self, levels: Levels, withheld: BoolArray) -> Iterator[float]:
        place = 0
        for file in self.relations.files:
            hidden = withheld[self.relations.persons[file.name]]
            for column, ladder in enumerate(file.ladders):
                level = levels[place]
                lost = ladder.penalties[level][ladder.codes[level][file.codes[:, column]]]
                yield float(np.where(hidden, 1.0, lost).mean()) if len(hidden) else 0.0
                place += 1

    def _fits(self, placement: LinkedLevels) -> bool:
        return placement.groups > 0 and int(placement.withheld.sum()) <= self.most_withheld

    def _all(self) -> Iterator[Levels]:
        ends = zip(self.lowest, self.highest, strict=True)
        yield from product(*(range(low, high + 1) for low, high in ends))

    def _refined(self) -> Iterator[LinkedLevels]:
        """Yield placements from the top down, each the best refinement of the previous one."""
        current = self.place(self.highest)
        yield current
        while True:
            steps = [self.place(levels) for levels in self._below(current.levels)]
            steps = [step for step in steps if self._fits(step) and step.loss < current.loss]
            if not steps:
                return
            current = min(steps, key=lambda step: (step.loss, step.levels))
            yield current

    def _below(self, levels: Levels) -> Iterator[Levels]:
        for place, level in enumerate(levels):
            if level > self.lowest[place]:
                yield (*levels[:place], level - 1, *levels[place + 1 :])

    def _unattainable(self) -> UnattainableError:
        top = self.place(self.highest)
        many, everybody = int(top.withheld.sum()), self.relations.number_of_persons
        return UnattainableError("relations", count=many, total=everybody, share=many / max(everybody, 1))


def _reached(model: PrivacyModel, classes: EquivalenceClasses, relations: LinkedFiles, kept: int) -> float:
    """Return the achieved parameter of the worst kept group for a model."""
    contents = {}
    for name, content in classes.sensitive.items():
        inside = content.owners < kept
        contents[name] = histogram(
            content.owners[inside], content.values[inside], content.counts[inside], kept, content.size
        )
    return model.achieved(EquivalenceClasses(classes.sizes[:kept], contents, counts_persons=True), relations.whole)


# The hash of a row is made of its labels and the hashes of its child rows in any order; the hash of a person is that of
# the row at the root. Two 64-bit sums represent it during the search; published rows are afterwards compared label by
# label.
def groups_of(relations: LinkedFiles, levels: Sequence[int]) -> tuple[Counts, int]:
    """Return the group of each person at some levels, and the number of groups.

    Args:
        levels: One for each quasi-identifier of all files, in their order.
    """
    sums = {file.name: np.zeros((len(file.codes), LANES), np.uint64) for file in relations.files}
    ends = np.cumsum([0, *(len(file.columns) for file in relations.files)])
    for place in reversed(range(len(relations.files))):
        file = relations.files[place]
        # Scattered before they are combined; otherwise a label of the row could be confused with a child.
        own = _mixed(_labels(file, levels[ends[place] : ends[place + 1]], place) ^ _mixed(sums[file.name]))
        if file.parent is None:
            unique, groups = np.unique(own, axis=0, return_inverse=True)
            return groups.reshape(-1).astype(np.int64), len(unique)
        for lane in range(LANES):
            np.add.at(sums[file.parent][:, lane], file.above, own[:, lane])
    raise AssertionError


def _labels(file: FileRows, levels: Sequence[int], place: int) -> Words:
    """Return the labels of each row as words that include their file, so that equal labels of files differ."""
    words = _mixed(np.full((len(file.codes), LANES), place + 1 << _FILE_BITS, np.uint64))
    for column, (ladder, level) in enumerate(zip(file.ladders, levels, strict=True)):
        codes = ladder.codes[level][file.codes[:, column]].astype(np.uint64)
        words = _mixed(words ^ _mixed(codes[:, None] + np.full(LANES, column + 1 << _COLUMN_BITS, np.uint64)))
    return words


def _mixed(words: Words) -> Words:
    """Scatter words over all 64 bits, each lane differently (splitmix64)."""
    steps = np.array([0x9E3779B97F4A7C15, 0xD1B54A32D192ED03], np.uint64)
    first = np.array([0xBF58476D1CE4E5B9, 0xAEF17502108EF2D9], np.uint64)
    second = np.array([0x94D049BB133111EB, 0xF135AEA2E62A9C5B], np.uint64)
    with np.errstate(over="ignore"):
        mixed: Any = words + steps
        mixed = (mixed ^ (mixed >> np.uint64(30))) * first
        mixed = (mixed ^ (mixed >> np.uint64(27))) * second
        scattered: Words = mixed ^ (mixed >> np.uint64(31))
    return scattered
