"""Search for levels at which persons with all their rows are identical; persons who cannot be matched are suppressed.

If there are few levels, all are tried and the least loss is proven; else the levels are refined from the top, one level
of one column at a time, the one that loses least.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from math import prod

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import UnattainableError
from sfumato.microdata.linked_files.person_hashes import groups_of
from sfumato.microdata.linked_files.rows import LinkedFiles
from sfumato.microdata.methods.time_limit import Deadline
from sfumato.microdata.models.equivalence_classes import BoolArray, EquivalenceClasses, histogram
from sfumato.microdata.models.model import PrivacyModel

Levels = tuple[int, ...]
MOST_LEVELS = 2_000


@dataclass(frozen=True, slots=True)
class LinkedLevels:
    """Levels, and the persons who are suppressed at them.

    Attributes:
        loss: The sum over columns of the mean loss of rows, with 1 for rows of suppressed persons.
        per_column: The same for each column.
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


@dataclass(frozen=True)
class Search:
    """The search problem.

    Attributes:
        most_withheld: Maximum number of suppressed persons.
        lowest, highest: The levels of each column between which the search stays.
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
        return UnattainableError(
            f"with all rows of a person together the promises need {many} of {everybody} persons withheld, even at the "
            "highest levels: numbers of rows tell persons apart, too.",
            f"Allow them (method.suppression: {many / max(everybody, 1):.3g}), or ask for less.",
            "relations",
        )


def _reached(model: PrivacyModel, classes: EquivalenceClasses, relations: LinkedFiles, kept: int) -> float:
    """Return the achieved parameter of the worst kept group for a model."""
    contents = {}
    for name, content in classes.sensitive.items():
        inside = content.owners < kept
        contents[name] = histogram(
            content.owners[inside], content.values[inside], content.counts[inside], kept, content.size
        )
    return model.achieved(EquivalenceClasses(classes.sizes[:kept], contents, counts_persons=True), relations.whole)
