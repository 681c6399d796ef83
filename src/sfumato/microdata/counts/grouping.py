"""Group a frequency table into the equivalence classes of a node or of a subset of its columns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.microdata.counts import grouping_kernels, kernels
from sfumato.microdata.counts.combinations import Packing, Words, packing_of
from sfumato.microdata.counts.frequency_table import FrequencyTable, ValueCounts
from sfumato.microdata.models.equivalence_classes import Counts, EquivalenceClasses, Histogram
from sfumato.microdata.models.persons import PERSONS
from sfumato.values import Value

Levels = npt.NDArray[np.int16]
Node = tuple[int, ...]
MAX_KEPT_CLASSES = 32_000_000
# Smaller tables stay in the processor cache anyway.
LEAST_IN_RUNS = 100_000
MAX_STAMP = 1 << 31


def hash_capacity(rows: int) -> int:
    """Return the size of the hash table of `grouping_kernels.group`: a power of two, at most half full."""
    return 1 << max((2 * rows).bit_length(), 4)


class KeyGroups:
    """Groups packed keys in reusable arrays.

    Args:
        keys: Those of the original table. All other grouped keys derive from these by generalizing or leaving out
            columns, in the same order: classes are numbered in order of occurrence.
    """

    def __init__(self, keys: Words, packing: Packing) -> None:
        self.packing = packing
        self.sorted = packing.words == 1 and bool((keys[0, 1:] > keys[0, :-1]).all())
        self.keys = np.empty_like(keys)
        self.counts = np.empty(keys.shape[1], np.int64)
        self.owner = np.empty(keys.shape[1], np.int32)
        self.stamp = 0
        self._hashed = np.zeros(hash_capacity(keys.shape[1]), np.int64)

    def group(self, keys: Words, counts: Counts, last: int) -> int:
        """Group keys and return the number of classes; the result arrays are overwritten by the next call.

        If the original table is sorted, keys that are equal in the columns after the last changed one are
        contiguous.

        Args:
            last: The last column that was generalized or left out in any key; -1 where none was.
        """
        rows = keys.shape[1]
        if not self.sorted or last + 1 == len(self.packing.word) or rows < LEAST_IN_RUNS:
            hashed, stamp = self._table(rows, 1)
            return int(grouping_kernels.group(keys, counts, hashed, stamp, self.keys, self.counts, self.owner))
        apart = ~np.uint64(0) << np.uint64(self.packing.shift[last + 1])
        many, longest = grouping_kernels.runs(keys[0], apart)
        hashed, stamp = self._table(longest, many)
        return int(
            grouping_kernels.group_runs(keys[0], counts, apart, hashed, stamp, self.keys[0], self.counts, self.owner)
        )

    def _table(self, rows: int, stamps: int) -> tuple[Counts, int]:
        """Return a hash table just large enough for the rows, to stay in the processor cache, and a new stamp."""
        if self.stamp + stamps >= MAX_STAMP:
            self._hashed[:] = 0
            self.stamp = 0
        first = self.stamp + 1
        self.stamp += stamps
        return self._hashed[: hash_capacity(rows)], first


def regroup(histogram: Histogram, owner: npt.NDArray[np.signedinteger[Any]], classes: int) -> Histogram:
    """Return the histogram of classes from that of their rows; rows of the class `classes` belong to none."""
    rows = histogram.starts, histogram.values, histogram.counts
    starts, values, counts = kernels.regroup(*rows, owner, classes + 1, histogram.size)
    end = int(starts[classes])
    return Histogram(starts[: classes + 1], values[:end], counts[:end], histogram.size)


def without_needless(
    persons: Histogram, owner: npt.NDArray[np.signedinteger[Any]], classes: int, enough: int
) -> Histogram:
    """Return a histogram of persons that lists non-additive ones only in classes with too few additive ones.

    Additive persons stay additive in every coarser class, so such a class has enough persons without the others.
    """
    lengths = np.diff(persons.starts)
    first = persons.starts[:-1][lengths > 0]
    # The code of additive persons comes first in a row.
    added = np.zeros(len(lengths), bool)
    added[lengths > 0] = persons.values[first] < 1
    at = persons.starts[:-1][added]
    together = np.bincount(owner[added], weights=persons.counts[at], minlength=classes + 1)
    named = together[owner] < enough
    keep = np.repeat(named, lengths)
    keep[at] = True
    starts = np.concatenate([[0], np.cumsum(np.where(named, lengths, added))]).astype(np.int64)
    return Histogram(starts, persons.values[keep], persons.counts[keep], persons.size)


class Grouped(Value):
    """The classes at one node: packed labels, sizes, sensitive counts."""

    node: Node
    keys: Words
    classes: EquivalenceClasses

    @property
    def sizes(self) -> Counts:
        return self.classes.sizes


class Grouper:
    """Computes the classes at nodes, and caches them for coarser nodes.

    A node is a level for each column. Recently used grouped nodes are cached, with no more than
    `MAX_KEPT_CLASSES` classes together; the original table is always available.

    Args:
        enough: Number of persons with which a class satisfies all models on persons; None if there is none.
            Classes with this many additive persons omit the others.
    """

    def __init__(self, table: FrequencyTable, enough: int | None = None) -> None:
        self.table, self.enough = table, enough
        self.packing = packing_of([ladder.size for ladder in table.ladders])
        self.base = Grouped((0,) * len(table.columns), self.packing.pack(table.codes), table.whole)
        self._kept: list[Grouped] = []
        self._places: dict[Node, int] = {}
        self._kept_classes = 0
        self._widest = sorted(range(len(table.columns)), key=lambda column: -table.ladders[column].size)
        self._nodes = np.empty((64, len(table.columns)), np.int16)
        self._sizes = np.empty(64, np.int64)
        self._last_use = np.empty(64, np.int64)
        self.steps = LevelMaps(table.ladders, self.packing)
        self._groups = KeyGroups(self.base.keys, self.packing)
        self._relabeled = np.empty_like(self.base.keys)

    def at(self, node: Node) -> Grouped:
        """Return the classes at a node."""
        if node in self._places:
            return self._kept[self._places[node]]
        stone = self._stone(node)
        if stone != node:
            self.at(stone)
        grouped = self.rolled(self._nearest(node), node)
        self._keep(grouped)
        return grouped

    def rolled(self, source: Grouped, node: Node) -> Grouped:
        """Return the classes at a node, computed from those of a finer node."""
        if node == source.node:
            return source
        return self._grouped(source, node, self._roll(source, node))

    def rolled_with_owners(self, node: Node) -> tuple[Grouped, npt.NDArray[np.int32]]:
        """Return the classes at a node, computed from the original table, and the class of each combination."""
        grouped = self._grouped(self.base, node, self._roll(self.base, node))
        return grouped, self._groups.owner.copy()

    def _grouped(self, source: Grouped, node: Node, count: int) -> Grouped:
        """Return the classes that were just grouped."""
        owner, contents = self._groups.owner[: len(source.sizes)], dict(source.classes.sensitive)
        if self.enough is not None and PERSONS in contents:
            contents[PERSONS] = without_needless(contents[PERSONS], owner, count, self.enough)
        sensitive = {name: regroup(histogram, owner, count) for name, histogram in contents.items()}
        keys, sizes = self._groups.keys[:, :count].copy(), self._groups.counts[:count].copy()
        return Grouped(node, keys, EquivalenceClasses(sizes, sensitive))

    def owners(self, node: Node) -> npt.NDArray[np.int32]:
        """Return the class of each combination of the original table at a node."""
        self._roll(self.base, node)
        return self._groups.owner.copy()

    def labels(self, grouped: Grouped) -> np.ndarray:
        """Return the label codes of each class, shape (classes, columns)."""
        return self.packing.unpack(grouped.keys)

    def _roll(self, source: Grouped, node: Node) -> int:
        rows = len(source.sizes)
        relabeled = self._relabeled[:, :rows]
        packing, steps = self.packing, self.steps
        steps.know(source.node, node)
        low, high = np.array(source.node, np.int16), np.array(node, np.int16)
        grouping_kernels.recode(
            source.keys, packing.word, packing.shift, packing.mask, low, high, steps.labels, steps.begins, relabeled
        )
        last = max((column for column, level in enumerate(node) if level), default=-1)
        return self._groups.group(relabeled, source.sizes, last)

    def _stone(self, node: Node) -> Node:
        """Return an intermediate node below a node from which other nodes are likely to be grouped, too.

        The columns with most values are generalized first, which leaves few classes for the remaining levels.
        """
        columns = [column for column in self._widest if node[column]]
        lifted = columns[: len(columns) // 2]
        return tuple(level if column in lifted else 0 for column, level in enumerate(node)) if lifted else node

    def _nearest(self, node: Node) -> Grouped:
        """Return the smallest available table that is nowhere coarser."""
        place = int(grouping_kernels.nearest(self._nodes, self._sizes, len(self._kept), np.array(node, np.int16)))
        if place < 0:
            return self.base
        self._last_use[place] = self._groups.stamp
        return self._kept[place]

    def _keep(self, grouped: Grouped) -> None:
        """Cache a table for coarser nodes; if the cache is full, remove the least recently used ones."""
        if self._kept_classes + len(grouped.sizes) > MAX_KEPT_CLASSES:
            self._forget()
        place = len(self._kept)
        if place == len(self._nodes):
            self._nodes = np.concatenate([self._nodes, np.empty_like(self._nodes)])
            self._sizes = np.concatenate([self._sizes, np.empty_like(self._sizes)])
            self._last_use = np.concatenate([self._last_use, np.empty_like(self._last_use)])
        self._nodes[place] = grouped.node
        self._sizes[place] = len(grouped.sizes)
        self._last_use[place] = self._groups.stamp
        self._kept.append(grouped)
        self._places[grouped.node] = place
        self._kept_classes += len(grouped.sizes)

    def _forget(self) -> None:
        """Free half of the cache."""
        many = len(self._kept)
        recent = np.argsort(-self._last_use[:many], kind="stable")
        recent = np.sort(recent[np.cumsum(self._sizes[recent]) <= MAX_KEPT_CLASSES // 2])
        for array in (self._nodes, self._sizes, self._last_use):
            array[: len(recent)] = array[recent]
        self._kept = [self._kept[place] for place in recent.tolist()]
        self._places = {grouped.node: place for place, grouped in enumerate(self._kept)}
        self._kept_classes = int(self._sizes[: len(recent)].sum())


class LevelMaps:
    """All level maps in one array, so that a compiled loop finds them by itself.

    Attributes:
        labels: The labels, shifted to their position in a key.
        begins: (columns, levels, levels) where the map from one level of a column to another begins.
    """

    def __init__(self, ladders: Sequence[Hierarchy], packing: Packing) -> None:
        self.ladders = ladders
        self.packing = packing
        height = max((ladder.height for ladder in ladders), default=1)
        self.labels: Words = np.zeros(256, np.uint64)
        self.begins = np.zeros((len(ladders), height, height), np.int64)
        self._steps: set[tuple[int, int, int]] = set()
        self._used = 0

    def know(self, low: Sequence[int], high: Sequence[int]) -> None:
        """Prepare the maps from one node to another."""
        for column, pair in enumerate(zip(low, high, strict=True)):
            if pair[0] != pair[1] and (column, *pair) not in self._steps:
                self._add(column, *pair)

    def step(self, column: int, low: int, high: int) -> Words:
        """Return for each label of a level its label at a higher one, shifted to its position in a key."""
        if (column, low, high) not in self._steps:
            self._add(column, low, high)
        begin = int(self.begins[column, low, high])
        return self.labels[begin : begin + len(self.ladders[column].labels[low])]

    def _add(self, column: int, low: int, high: int) -> None:
        new = self.ladders[column].step(low, high).astype(np.uint64) << self.packing.shift[column]
        while self._used + len(new) > len(self.labels):
            self.labels = np.concatenate([self.labels, np.zeros_like(self.labels)])
        self.labels[self._used : self._used + len(new)] = new
        self.begins[column, low, high] = self._used
        self._used += len(new)
        self._steps.add((column, low, high))


Owners = npt.NDArray[np.int32]


class Regrouper:
    """Groups packed combinations by chosen columns in reusable arrays."""

    def __init__(self, table: FrequencyTable) -> None:
        self.columns = table.columns
        self.counts = table.counts
        self.packing = packing_of([ladder.size for ladder in table.ladders])
        self.keys = self.packing.pack(table.codes)
        self._groups = KeyGroups(self.keys, self.packing)
        self._masked = np.empty_like(self.keys)

    def by(
        self, columns: Iterable[int], keys: Words | None = None, counts: Counts | None = None
    ) -> tuple[Words, Counts]:
        """Return packed values and rows of the classes by some columns, from combinations or from finer classes."""
        keys = self.keys if keys is None else keys
        count = self._group(columns, keys, self.counts if counts is None else counts)
        return self._groups.keys[:, :count].copy(), self._groups.counts[:count].copy()

    def sizes_by(self, columns: Iterable[int]) -> tuple[Owners, Counts]:
        """Return for each combination its class by some columns, and the class sizes; the next call overwrites both."""
        count = self._group(columns, self.keys, self.counts)
        return self._groups.owner, self._groups.counts[:count]

    def owners(self, many: int) -> Owners:
        """Return the class of each of the `many` entries grouped last; the next call overwrites it."""
        return self._groups.owner[:many]

    def _group(self, columns: Iterable[int], keys: Words, counts: Counts) -> int:
        kept = set(columns)
        masked = self._masked[:, : keys.shape[1]]
        np.bitwise_and(keys, self.packing.bits(kept)[:, None], out=masked)
        last = max((column for column in range(len(self.columns)) if column not in kept), default=-1)
        return self._groups.group(masked, counts, last)


def counted_by(text_counts: ValueCounts, columns: Sequence[str]) -> ValueCounts:
    """Return the value counts by a subset of the columns, as an engine would count them.

    >>> both = ValueCounts(("a", "b"), (("x", "y"), ("1",)), np.array([[0, 0], [1, 0]], np.int32), np.array([2, 3]), 5)
    >>> counted_by(both, ["b"]).counts.tolist()
    [5]
    """
    places = [text_counts.columns.index(name) for name in columns]
    values = tuple(text_counts.values[place] for place in places)
    codes = np.ascontiguousarray(text_counts.codes[:, places])
    packing = packing_of([len(texts) for texts in values])
    keys = packing.pack(codes)
    order = packing.order_of(keys)
    ordered = keys[:, order]
    first = np.ones(len(order), bool)
    first[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    starts = np.flatnonzero(first)
    counts = np.add.reduceat(text_counts.counts[order], starts) if len(starts) else text_counts.counts[:0]
    return ValueCounts(tuple(columns), values, codes[order[starts]], counts, text_counts.rows)


def in_order(texts: Mapping[str, Sequence[str | None]], number: str) -> ValueCounts:
    """Return one entry per row, with a further column that numbers the rows.

    >>> in_order({"a": ["x", "x"]}, "place").codes.tolist()
    [[0, 0], [0, 1]]
    """
    places = [{text: place for place, text in enumerate(dict.fromkeys(column))} for column in texts.values()]
    rows = len(next(iter(texts.values())))
    pairs = zip(places, texts.values(), strict=True)
    codes = [*([found[text] for text in column] for found, column in pairs), range(rows)]
    values = (*(tuple(found) for found in places), tuple(map(str, range(rows))))
    return ValueCounts((*texts, number), values, np.array(codes, np.int32).T, np.ones(rows, np.int64), rows)


def one_row_each(text_counts: ValueCounts) -> ValueCounts:
    """Return one row per person, without the person column, which comes last: persons do not confirm themselves.

    >>> codes, counts = np.array([[0, 0], [1, 0]], np.int32), np.array([2, 3])
    >>> both = ValueCounts(("a", "who"), (("x", "y"), ("p",)), codes, counts, 5)
    >>> one_row_each(both).counts.tolist()
    [1]
    """
    _, first = np.unique(text_counts.codes[:, -1], return_index=True)
    codes = np.ascontiguousarray(text_counts.codes[first, :-1])
    ones = np.ones(len(first), text_counts.counts.dtype)
    return ValueCounts(text_counts.columns[:-1], text_counts.values[:-1], codes, ones, len(first))
