"""A data user's view of a release: for each published label, the values it may represent and the rows that have it.

It is computed from the frequency table and the recoding alone. A data user is assumed to know the values of each column
and the meaning of its hierarchy labels, and to consider all values that a label covers equally likely, whether or not
they occur behind this label. A label of numbers or dates covers all values from its minimum to its maximum. Among
numbers, a missing value counts as the largest.
"""

from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.errors import InternalError
from sfumato.microdata.counts import kernels
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.measures.label_coverage import Domain, Pairs, Places, covers, domain_of
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, Floats
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import ClassRecoding, Labels, LevelRecoding, Recoding, tells_something
from sfumato.values import Value

# Up to this number of possible pairs, a table of all of them is used for counting.
DENSE_PAIRS = 4_000_000


class Pieces(Value):
    """The rows of each combination in each class, as parallel arrays: combination, class and number of rows."""

    combinations: Places
    classes: Places
    rows: Counts

    def kept(self, keep: BoolArray) -> "Pieces":
        return Pieces(self.combinations[keep], self.classes[keep], self.rows[keep])


def pieces_of(table: FrequencyTable, recoding: Recoding) -> Pieces:
    """Return which rows belong to which class."""
    every = np.arange(len(table.counts))
    division = recoding.division if isinstance(recoding, ClassRecoding) else None
    if division is None:
        return Pieces(every, recoding.owners.astype(np.int64), table.counts)
    whole = np.ones(len(every), bool)
    whole[division.combinations] = False
    return Pieces(
        np.concatenate([every[whole], division.combinations]),
        np.concatenate([recoding.owners[whole].astype(np.int64), division.classes]),
        np.concatenate([table.counts[whole], division.rows]),
    )


def label_pairs(table: FrequencyTable, recoding: Recoding, pieces: Pieces, place: int) -> tuple[Places, Places, Counts]:
    """Return the pairs of value and label of a column that rows have, as parallel arrays of codes and rows."""
    height, width = table.ladders[place].size, len(recoding.labels[place])
    if height * width <= DENSE_PAIRS:
        rows = kernels.label_rows(
            table.codes, recoding.classes, pieces.combinations, pieces.classes, pieces.rows, place, height, width
        )
        values, labels = np.nonzero(rows)
        return values, labels, rows[values, labels]
    codes = table.codes[pieces.combinations, place].astype(np.int64)
    values, labels, sums = distinct_pairs(codes, recoding.classes[pieces.classes, place], width, pieces.rows)
    return values, labels, sums.astype(np.int64)


class ColumnView(Value, dict=True):
    """One column, before and after recoding.

    Attributes:
        values: Values that occur, in their order.
        numbers: The values as numbers; None if they are no numbers.
        present: Which values are not missing.
        pairs: Published rows of each value code with each label, as returned by `label_pairs`.
        label_rows: Published rows of each label.
        labels: Label codes, parallel to `covered`.
        covered: For each entry of `labels`, the index of a value that the label covers.
        informative: Which labels are neither missing nor `*`; measures treat both as missing.
    """

    name: str
    values: Places
    numbers: Floats | None
    present: BoolArray
    before: Counts
    pairs: tuple[Places, Places, Counts]
    label_rows: Floats
    labels: Places
    covered: Places
    informative: BoolArray

    @cached_property
    def widths(self) -> Floats:
        """The number of values each label covers; 1 for labels that do not occur."""
        return np.maximum(np.bincount(self.labels, minlength=len(self.label_rows)), 1).astype(np.float64)

    @cached_property
    def after(self) -> Floats:
        """The rows of each value as a data user estimates them, from informative labels and those of one value."""
        used = self.informative | (self.widths == 1)
        each = (self.label_rows * used / self.widths)[self.labels]
        found: Floats = np.bincount(self.covered, weights=each, minlength=len(self.values)).astype(np.float64)
        return found

    @cached_property
    def means(self) -> Floats | None:
        """The mean of the numbers that each label covers."""
        if self.numbers is None:
            return None
        sums = np.bincount(self.labels, weights=self.numbers[self.covered], minlength=len(self.label_rows))
        found: Floats = sums / self.widths
        return found

    def inside(self, chosen: BoolArray) -> Floats:
        """Return, for each label, the proportion of its values that are among the chosen."""
        covered_rows = np.bincount(
            self.labels, weights=chosen[self.covered].astype(float), minlength=len(self.label_rows)
        )
        found: Floats = covered_rows / self.widths
        return found


class RecodedView(Value):
    """A release as a data user sees it.

    Attributes:
        pieces: The class of each row.
        published: The rows that are not suppressed.
        class_rows: The number of published rows of each class.
        class_labels: The label codes, an array (classes, columns).
    """

    table: FrequencyTable
    pieces: Pieces
    published: Pieces
    columns: tuple[ColumnView, ...]
    class_rows: Counts
    class_labels: npt.NDArray[np.int32]

    @property
    def rows(self) -> int:
        return int(self.published.rows.sum())


def view_of(plan: Plan, table: FrequencyTable, recoding: Recoding) -> RecodedView:
    """Return the view of the release that a recoding makes of a table."""
    pieces = pieces_of(table, recoding)
    published = pieces.kept(~recoding.suppressed[pieces.classes])
    columns = tuple(_column(plan, table, recoding, published, place) for place in range(len(table.columns)))
    rows = np.bincount(published.classes, weights=published.rows, minlength=len(recoding.sizes)).astype(np.int64)
    return RecodedView(table, pieces, published, columns, rows, recoding.classes)


def _column(plan: Plan, table: FrequencyTable, recoding: Recoding, published: Pieces, place: int) -> ColumnView:
    name, marginal = table.columns[place], table.marginal(place)
    domain = domain_of(table.ladders[place], plan.columns[name], marginal)
    count = len(recoding.labels[place])
    pairs = label_pairs(table, recoding, published, place)
    label_rows = np.bincount(pairs[1], weights=pairs[2], minlength=count).astype(np.float64)
    owners, covered = _covers(plan, table, recoding, domain, place)
    if domain.numbers is not None:
        owners, covered = _stretched(owners, covered, count)
    width = len(domain.values)
    if not np.isin(pairs[1] * width + domain.ranks[pairs[0]], owners * width + covered).all():
        raise InternalError("label", name=name)
    present = are_informative(table.ladders[place].values)[domain.values]
    informative = are_informative(recoding.labels[place])
    before = marginal[domain.values]
    return ColumnView(
        name, domain.values, domain.numbers, present, before, pairs, label_rows, owners, covered, informative
    )


def are_informative(texts: Labels) -> BoolArray:
    """Return which values or labels are neither missing nor `*`."""
    return np.array([tells_something(text) for text in texts], bool)


def _covers(plan: Plan, table: FrequencyTable, recoding: Recoding, domain: Domain, place: int) -> Pairs:
    """Return parallel arrays of a label and the rank of a value it covers; numbers cover all ranks in between."""
    if isinstance(recoding, LevelRecoding):
        return recoding.label_codes(place)[domain.values].astype(np.int64), np.arange(len(domain.values))
    if plan.method.recoding == "means":
        # A group mean is no value: it represents the values of its group and all between them.
        pieces = pieces_of(table, recoding)
        ranks = domain.ranks[table.codes[pieces.combinations, place]]
        labels = recoding.classes[pieces.classes, place].astype(np.int64)
        found, ranks, _ = distinct_pairs(labels, ranks, len(domain.values), pieces.rows)
        return found, ranks
    if plan.method.recoding == "cuts":
        # A constant recoding is reported as such: `*` is what no other label covers.
        label = np.zeros(domain.ladder.size, np.int64)
        label[table.codes[:, place]] = recoding.classes[recoding.owners, place]
        return label[domain.values], np.arange(len(domain.values))
    owners, covered = covers(recoding.labels[place], domain)
    if plan.method.recoding == "cells":
        # A value published as missing may be any value.
        every = np.arange(len(domain.values))
        owners = np.append(owners, np.full(len(every), len(recoding.labels[place]) - 1))
        covered = np.append(covered, every)
    found, ranks, _ = distinct_pairs(owners, covered, len(domain.values), np.ones(len(owners), np.int64))
    return found, ranks


def distinct_pairs(
    first: Places, second: npt.NDArray[np.integer], width: int, rows: Counts
) -> tuple[Places, Places, Floats]:
    """Return the sorted distinct pairs of codes, and the rows of each; `width` is the upper limit of `second`.

    >>> [part.tolist() for part in distinct_pairs(np.array([1, 0, 1]), np.array([2, 0, 2]), 3, np.array([5, 1, 1]))]
    [[0, 1], [0, 2], [1.0, 6.0]]
    """
    pairs = first * width + second
    size = int(pairs.max(initial=-1)) + 1
    cells: Places
    if size <= DENSE_PAIRS:
        sums: Floats = np.bincount(pairs, weights=rows, minlength=size).astype(np.float64)
        cells = np.flatnonzero(sums).astype(np.int64)
        sums = sums[cells]
    else:
        cells, owners = np.unique(pairs, return_inverse=True)
        sums = np.bincount(owners.reshape(-1), weights=rows, minlength=len(cells)).astype(np.float64)
    return cells // max(width, 1), cells % max(width, 1), sums


def _stretched(labels: Places, ranks: Places, count: int) -> tuple[Places, Places]:
    """Extend covers to all values between the minimum and the maximum of each label."""
    low, high = np.full(count, np.iinfo(np.int64).max), np.full(count, -1)
    np.minimum.at(low, labels, ranks)
    np.maximum.at(high, labels, ranks)
    lengths = np.where(high >= 0, high - low + 1, 0)
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    owners = np.repeat(np.arange(count), lengths)
    return owners, low[owners] + np.arange(int(lengths.sum())) - starts
