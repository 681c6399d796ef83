"""The features of K-Optimize: the cuts that each column contributes, and the frequency table as arrays of the kernels.

A column contributes its labels at the plan's `min_level`: with `isolate` one feature per label that occurs in the data
("the value is v"), with `ordered` a cut before every label but the first ("the value is v or later"), from the first to
the last label that occurs, in the order of the hierarchy. Cuts with no row between them are the same feature and are
used once.
"""

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.types import inexact, numerals
from sfumato.microdata.counts.combinations import Packing, packing_of
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.methods.full_domain.problem import check_levels
from sfumato.microdata.methods.k_optimize import problem_arrays as at
from sfumato.microdata.methods.k_optimize.problem_arrays import Instance
from sfumato.microdata.models.equivalence_classes import Counts
from sfumato.microdata.plan.methods import KOptimize
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import STAR, ClassRecoding, Labels, class_recoding
from sfumato.microdata.recoding.range_grid import number_grid
from sfumato.values import Value

State = npt.NDArray[np.int8]
Codes = npt.NDArray[np.int64]
KINDS = {"discernibility": at.DISCERNIBILITY, "classification": at.CLASSIFICATION, "loss-metric": at.LOSS_METRIC}


class Alphabet(Value, dict=True):
    """The labels of one column that occur in the data, in order.

    Attributes:
        level: The level whose labels they are.
        present: The labels' codes at that level.
    """

    name: str
    ladder: Hierarchy
    level: int
    present: Codes
    weight: float

    @property
    def labels(self) -> tuple[str | None, ...]:
        return tuple(self.ladder.labels[self.level][code] for code in self.present.tolist())

    @cached_property
    def leaves(self) -> Counts:
        """For each label of the level the number of domain values it covers; 0 for the missing value."""
        known = np.array([value is not None for value in self.ladder.values], bool)
        return np.bincount(self.ladder.codes[self.level][known], minlength=len(self.ladder.labels[self.level]))

    @property
    def spans(self) -> tuple[Counts, Counts]:
        """For each label that occurs, the number of domain values before it, and up to it."""
        ends = np.cumsum(self.leaves)
        return (ends - self.leaves)[self.present], ends[self.present]

    @property
    def missing(self) -> int:
        """The index of the missing value among the labels, -1 if it does not occur."""
        return self.labels.index(None) if None in self.labels else -1

    @property
    def cuts(self) -> int:
        """Number of cuts between the first and the last label, including those that distinguish no rows."""
        return int(self.present[-1] - self.present[0])


class SearchSpace(Value):
    """The search space of K-Optimize: the alphabets, and the distinct combinations of labels.

    Attributes:
        codes: For each combination the index of its label in the alphabet, (combinations, columns).
        owners: The combination of each row of the frequency table.
    """

    alphabets: tuple[Alphabet, ...]
    codes: Codes
    owners: Codes
    instance: Instance

    @property
    def features(self) -> int:
        """The size of the alphabet that the plan describes."""
        if self.instance.params[at.ORDERED]:
            return sum(alphabet.cuts for alphabet in self.alphabets)
        return len(self.instance.features)

    def empty(self) -> State:
        """Return the head without features."""
        return np.full(len(self.instance.features), at.OUT, np.int8)

    def blocks(self, state: State, column: int) -> Codes:
        """Return for each label of a column the number of its block under a head, in order."""
        first, last = self.instance.columns[column : column + 2, at.FIRST]
        chosen = state[first:last] == at.HEAD
        if self.instance.params[at.ORDERED]:
            return np.concatenate([[0], np.cumsum(chosen)]).astype(np.int64)
        names = np.where(chosen, np.arange(len(chosen)), len(chosen))
        return np.unique(names, return_inverse=True)[1].reshape(-1).astype(np.int64)


def space_of(plan: Plan, method: KOptimize, table: FrequencyTable) -> SearchSpace:
    """Return the search space of a plan and its table."""
    check_levels(plan, table)
    alphabets = tuple(_alphabet(plan, table, column) for column in range(len(table.columns)))
    codes = np.column_stack([_coded(alphabet, table, column) for column, alphabet in enumerate(alphabets)])
    unique, owners = np.unique(codes, axis=0, return_inverse=True)
    owners = owners.reshape(-1)
    counts = np.bincount(owners, weights=table.counts, minlength=len(unique)).astype(np.int64)
    label_rows = _label_rows(table, method, owners, len(unique))
    return SearchSpace(alphabets, unique, owners, _instance(plan, method, alphabets, unique, counts, label_rows))


def _alphabet(plan: Plan, table: FrequencyTable, column: int) -> Alphabet:
    name, ladder = table.columns[column], table.ladders[column]
    asked = plan.columns[name]
    present = np.unique(ladder.codes[asked.min_level][table.codes[:, column]]).astype(np.int64)
    return Alphabet(name, ladder, asked.min_level, present, asked.weight)


def _coded(alphabet: Alphabet, table: FrequencyTable, column: int) -> Codes:
    labels = alphabet.ladder.codes[alphabet.level][table.codes[:, column]]
    return np.searchsorted(alphabet.present, labels).astype(np.int64)


def _label_rows(table: FrequencyTable, method: KOptimize, owners: Codes, combinations: int) -> Counts:
    """Return for each combination its rows with each value of the class column, if the loss uses one."""
    if method.class_column is None:
        return np.zeros((combinations, 0), np.int64)
    histogram = table.sensitive[method.class_column]
    rows = np.zeros((combinations, histogram.size), np.int64)
    np.add.at(rows, (owners[histogram.owners], histogram.values), histogram.counts)
    return rows


def _instance(
    plan: Plan, method: KOptimize, alphabets: Sequence[Alphabet], codes: Codes, counts: Counts, label_rows: Counts
) -> Instance:
    sizes = [len(alphabet.present) for alphabet in alphabets]
    packing = packing_of([size + 1 for size in sizes])
    ordered = method.features == "ordered"
    asked = [np.arange(1 if ordered else 0, size) for size in sizes]
    rows = int(counts.sum())
    k = max((model.min_class_size for model in plan.privacy), default=1)
    features = np.repeat(np.arange(len(sizes)), [len(part) for part in asked])
    params = [KINDS[method.loss], int(ordered), k, rows, method.suppression.limit(rows)]
    return Instance(
        np.ascontiguousarray(packing.pack(codes.astype(np.int32)).T).view(np.int64),
        counts,
        label_rows,
        _columns(alphabets, packing, [len(part) for part in asked]),
        np.column_stack([features, np.concatenate(asked), _turns(features, codes, counts)]).astype(np.int64),
        _values(alphabets),
        np.array([alphabet.weight for alphabet in alphabets], np.float64),
        np.array(params, np.int64),
    )


def _turns(columns: Codes, codes: Codes, counts: Counts) -> Codes:
    """Return the order in which a search uses the features: by column, the most informative column first.

    Features of one column can replace each other, so only leaving out all of them coarsens a table; and the more
    information a column has (its entropy), the larger is the effect.
    """
    entropies = np.array([_entropy(codes[:, column], counts) for column in range(codes.shape[1])])
    return np.argsort(-entropies[columns], kind="stable")


def _entropy(codes: Codes, counts: Counts) -> float:
    shares = np.bincount(codes, weights=counts) / counts.sum()
    return float(-(shares[shares > 0] * np.log(shares[shares > 0])).sum())


def _columns(alphabets: Sequence[Alphabet], packing: Packing, features: Sequence[int]) -> Codes:
    """Return the table of columns, with a last row for the ends of features and codes."""
    table = np.zeros((len(alphabets) + 1, at.MISSING + 1), np.int64)
    table[:-1, at.WORD] = packing.word
    table[:-1, at.SHIFT] = packing.shift.astype(np.int64)
    table[:-1, at.MASK] = packing.mask.astype(np.int64)
    table[1:, at.FIRST] = np.cumsum(features)
    table[:-1, at.SIZE] = [len(alphabet.present) for alphabet in alphabets]
    table[1:, at.BASE] = np.cumsum(table[:-1, at.SIZE] + 1)
    table[:-1, at.DOMAIN] = [alphabet.leaves.sum() for alphabet in alphabets]
    table[:-1, at.MISSING] = [alphabet.missing for alphabet in alphabets]
    return table


def _values(alphabets: Sequence[Alphabet]) -> Codes:
    """Return for each code of each column what it covers of the domain; 0 for the rest of a column."""
    parts = []
    for alphabet in alphabets:
        low, high = alphabet.spans
        parts.append(np.column_stack([low, high, alphabet.leaves[alphabet.present]]))
        parts.append(np.zeros((1, 3), np.int64))
    return np.ascontiguousarray(np.concatenate(parts), np.int64)


# Maximum distance of a range's ends from the smallest and largest value, as a share of the range.
_MARGIN = 10
_BRACKETS = re.compile(r"([\[(])([^,]+), ([^,]+)([\])])")
_DASH = re.compile(r"(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)")


def published(space: SearchSpace, state: State) -> tuple[Labels, ...]:
    """Return for each column the labels of its blocks, in the order of the blocks.

    - A single value is published unchanged; so is a rest of `isolate` that is a single value.
    - All values together, the rest of `isolate`, and a block of the missing value and others are `*`.
    - Neighbors of an ordered scale are an interval from the first to the last: `20-34`, `[55, 199)`, `none..mild`;
      intervals of original numbers end at round numbers between these values and the next, if there are some.
    - Other blocks have the hierarchy's label if one covers exactly these values, else they are a set: `{Divorced,
      Widowed}`.
    """
    return tuple(_column_labels(space, state, column) for column in range(len(space.alphabets)))


def recoding_of(space: SearchSpace, state: State, table: FrequencyTable) -> ClassRecoding:
    """Return the recoding that publishes a head; classes are numbered by their labels, small ones are suppressed."""
    columns = range(len(space.alphabets))
    blocks = np.column_stack([space.blocks(state, column)[space.codes[:, column]] for column in columns])
    classes, owners = np.unique(blocks, axis=0, return_inverse=True)
    owners = owners.reshape(-1)[space.owners]
    sizes = np.bincount(owners, weights=table.counts, minlength=len(classes)).astype(np.int64)
    suppressed = sizes < space.instance.params[at.K]
    return class_recoding(table, owners, published(space, state), classes.astype(np.int32), sizes, suppressed)


def _column_labels(space: SearchSpace, state: State, column: int) -> Labels:
    alphabet, blocks = space.alphabets[column], space.blocks(state, column)
    members = [np.flatnonzero(blocks == block) for block in range(int(blocks.max()) + 1)]
    scale = bool(space.instance.params[at.ORDERED]) and _is_scale(alphabet.ladder)
    rest = -1 if space.instance.params[at.ORDERED] else len(members) - 1
    labels = [_label(alphabet, places, scale, block == rest) for block, places in enumerate(members)]
    return tuple(
        _set(alphabet, members[block]) if labels.count(label) > 1 and len(members[block]) > 1 else label
        for block, label in enumerate(labels)
    )


def _label(alphabet: Alphabet, places: Codes, scale: bool, rest: bool) -> str | None:
    """Return the label of one block."""
    labels = alphabet.labels
    if len(places) == 1:
        return labels[int(places[0])]
    if rest or len(places) == len(labels) or alphabet.missing in places:
        return STAR
    if scale:
        return _round_range(alphabet, places) or joined(str(labels[places[0]]), str(labels[places[-1]]))
    return _name(alphabet, places) or _set(alphabet, places)


def _round_range(alphabet: Alphabet, places: Codes) -> str | None:
    """Return the range of a block of original numbers; its ends are round, because a value may be one person's.

    None if values are no numbers, or are hierarchy labels, which reveal no person's value.
    """
    texts = [label for label in alphabet.labels if label is not None]
    numbers = numerals(texts)
    are_exact = bool(np.isfinite(numbers).all()) and not inexact(texts, numbers)
    if alphabet.level or not are_exact or (np.diff(numbers) <= 0).any():
        return None
    grid = number_grid(numbers)
    steps, ends = grid.below(numbers), grid.above(numbers)
    first, last = int(places[0]), int(places[-1])
    beyond = int(steps[-1] - steps[0]) // _MARGIN
    lowest = max(int(steps[0]) - beyond, 0) if steps[0] >= 0 else int(steps[0]) - beyond
    low = grid.roundest(int(steps[first - 1]) + 1 if first else lowest, int(steps[first]))
    if last + 1 < len(steps):
        high = grid.roundest(int(ends[last]) + 1, int(steps[last + 1])) - 1
    else:
        high = grid.roundest(int(ends[last]), int(ends[last]) + beyond)
    if high < ends[last]:  # no round number lies between the block and the next value
        return None
    low_text, high_text = grid.text(low), grid.text(high)
    return joined(low_text, high_text) if grid.decimals == 0 else f"{low_text}..{high_text}"


def _is_scale(ladder: Hierarchy) -> bool:
    """Return whether the values are numbers or dates in ascending order."""
    if ladder.numbers is not None:
        return True
    numbers = numerals([value for value in ladder.values if value is not None])
    return bool((np.diff(numbers) > 0).all()) and not np.isnan(numbers).any()


def joined(first: str, last: str) -> str:
    """Return the interval from one label to another.

    >>> joined("20-24", "30-34"), joined("17", "19"), joined("[55, 127)", "[199, 272]"), joined("<20", "20-39")
    ('20-34', '17-19', '[55, 272]', '<20..20-39')
    """
    low, high = _BRACKETS.fullmatch(first), _BRACKETS.fullmatch(last)
    if low and high:
        return f"{low[1]}{low[2]}, {high[3]}{high[4]}"
    start, end = _ends(first), _ends(last)
    return f"{start[0]}-{end[1]}" if start and end else f"{first}..{last}"


def _ends(label: str) -> tuple[str, str] | None:
    """Return the ends of an integer or of an interval of integers."""
    dashed = _DASH.fullmatch(label)
    if dashed:
        return dashed[1], dashed[2]
    return (label, label) if label.isdigit() else None


def _name(alphabet: Alphabet, places: Codes) -> str | None:
    """Return the hierarchy's label that covers exactly these values of the data, the lowest if there are several."""
    ladder = alphabet.ladder
    for level in range(alphabet.level + 1, ladder.height):
        above: npt.NDArray[np.int32] = ladder.step(alphabet.level, level)[alphabet.present]
        if np.array_equal(np.flatnonzero(above == above[places[0]]), places):
            return ladder.labels[level][int(above[places[0]])]
    return None


def _set(alphabet: Alphabet, places: Sequence[int] | Codes) -> str:
    return "{" + ", ".join(str(alphabet.labels[place]) for place in places) + "}"
