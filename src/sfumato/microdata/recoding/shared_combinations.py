"""Published combinations that share the rows of a divided original combination.

The rows of a divided combination are assigned to its classes at random, row by row, and a frequency table does not know
rows. For columns that the division does not use, only the counts of values over all these classes together can be
expected.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.microdata.counts.count_differences import CountDifference, numbers_of
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, Histogram
from sfumato.microdata.recoding.recoding import STAR, Division, Labels, Recoding

NOWHERE = -1
Node = Labels | int


@dataclass(frozen=True, slots=True)
class SharedCombinations:
    """Groups of published combinations with shared rows, by number.

    Attributes:
        numbers: The group of each published combination that is in one.
        classes: The pool of each class, or NOWHERE.
        leaky: Which groups have rows that are not shown, so that only upper bounds of their counts are known.
    """

    numbers: Mapping[Labels, int]
    classes: Counts
    leaky: BoolArray

    def foretell(self, recoding: Recoding, content: Histogram, values: Labels) -> CountDifference:
        """Return the expected rows of each group with each value, including those that are not shown."""
        pools = self.classes[recoding.owners[content.owners]]
        inside = pools != NOWHERE
        codes = np.column_stack([pools[inside], content.values[inside].astype(np.int64)])
        return CountDifference((self._texts, (*values, STAR)), codes, content.counts[inside])

    def parted(self, recount: CountDifference) -> tuple[CountDifference, CountDifference]:
        """Split a recount by a last column of values: combinations in no group, and groups."""
        sizes = [len(texts) for texts in recount.texts[:-1]]
        owners, first = numbers_of(recount.codes[:, :-1], sizes)
        labels = (
            tuple(texts[code] for texts, code in zip(recount.texts[:-1], codes, strict=True))
            for codes in recount.codes[first, :-1].tolist()
        )
        pools = np.array([self.numbers.get(entry, NOWHERE) for entry in labels] or [NOWHERE], np.int64)[owners]
        inside = pools != NOWHERE
        codes = np.column_stack([pools[inside], recount.codes[inside, -1]])
        outside = CountDifference(recount.texts, recount.codes[~inside], recount.rows[~inside])
        return outside, CountDifference((self._texts, recount.texts[-1]), codes, recount.rows[inside])

    def differing(self, prediction: CountDifference, recount: CountDifference) -> int:
        """Return how many values have other rows in a group than expected; in leaky ones, more."""
        wrong = 0
        for leaky in (False, True):
            here, there = (_kept(tally, self.leaky[tally.codes[:, 0]] == leaky) for tally in (prediction, recount))
            wrong += here.exceeded(_without_veil(there)) if leaky else here.differing(there)
        return wrong

    @property
    def _texts(self) -> tuple[str, ...]:
        return tuple(map(str, range(len(self.leaky))))


def pools_of(division: Division, labels: Sequence[Labels], visible: BoolArray) -> SharedCombinations:
    """Return the groups of a division.

    Args:
        labels: The published labels of each class.
        visible: The classes whose rows are shown with their values.
    """
    # Nodes are published combinations, and original ones by their numbers.
    roots: dict[Node, Node] = {}
    for combination, owner in zip(division.combinations.tolist(), division.classes.tolist(), strict=True):
        roots[_root(roots, labels[owner])] = _root(roots, combination)
    numbers: dict[Labels, int] = {}
    pools: dict[Node, int] = {}
    for entry in dict.fromkeys(labels[owner] for owner in division.classes.tolist()):
        numbers[entry] = pools.setdefault(_root(roots, entry), len(pools))
    classes = np.array([numbers.get(entry, NOWHERE) for entry in labels], np.int64)
    leaky = np.zeros(len(pools), bool)
    leaky[classes[(classes != NOWHERE) & ~visible]] = True
    return SharedCombinations(numbers, classes, leaky)


def _root(roots: dict[Node, Node], entry: Node) -> Node:
    """Return the representative of a connected component."""
    while (above := roots.setdefault(entry, entry)) != entry:
        roots[entry] = roots[above]
        entry = above
    return entry


def _kept(tally: CountDifference, kept: BoolArray) -> CountDifference:
    return CountDifference(tally.texts, tally.codes[kept], tally.rows[kept])


def _without_veil(tally: CountDifference) -> CountDifference:
    """Return the counts without values that are published as `*`."""
    veiled = np.array([text == STAR for text in tally.texts[-1]] or [False], bool)
    return _kept(tally, ~veiled[tally.codes[:, -1]])
