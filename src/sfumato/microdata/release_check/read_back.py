"""Inference of generalized values: an attacker predicts finer labels of a quasi-identifier from other columns.

If a quasi-identifier is published finely in some rows and coarsely in others, an attacker learns from the former how a
further column relates to it, and applies this to the latter. Rows of one class can then be distinguished. A rule "rows
with this value have that label" is learned from the published rows alone. It counts if it is correct for at least 95 %
of at least k rows, and more often than by chance; or if the column as a whole predicts the label of 95 % of the other
rows (leave-one-out), whatever the number of rows per value. A value that never occurs with a fine label is informative,
too: its rows have none of those. In columns whose values hardly repeat, neighbors in their order have the same label;
so have neighbors in the file if the rows keep their order.

Inference among quasi-identifiers is no disclosure: all rows of a class agree in them, and none becomes distinguishable.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.microdata.counts.frequencies import TextCounts
from sfumato.microdata.counts.tallies import numbers_of
from sfumato.microdata.release_check.evidence import (
    RIGHT,
    Evidence,
    coarse_labels,
    hits_of,
    is_better,
    is_beyond_chance,
)
from sfumato.microdata.release_check.neighbors import between, guessed_between, orders_of

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
# Function that finds the label that a source predicts for each combination.
Find = Callable[[str, tuple[str, ...], int], Ints | None]
# Minimum expected rows of a value that never occurs with a label.
EXPECTED = 20
# Inferred label of a value that is none of those shown more finely.
NONE_SHOWN = "(none of the finer labels)"
# Limits of table cells (values times labels), per combination and in total; beyond them, quasi-identifiers are reported
# as not fully checked.
CELLS_EACH, MOST_CELLS = 300, 20_000_000
# With more pairs of values, only those that occur are numbered.
FEW_GROUPS = 20_000
# Keys are looked up if the range has at most this many numbers per key.
MOST_PER_KEY = 16


@dataclass(frozen=True, slots=True)
class Inference:
    """Columns from which a quasi-identifier is inferred.

    Attributes:
        columns: One column, or two together.
        rows: The published rows in which a finer label is inferred.
    """

    columns: tuple[str, ...]
    quasi_identifier: str
    rows: int


@dataclass(frozen=True, slots=True)
class ReadBack:
    """Published rows with the labels that an attacker infers.

    Attributes:
        text_counts: The rows, with inferred quasi-identifiers.
        unchecked: Columns that were too large to be checked.
    """

    text_counts: TextCounts
    inferences: tuple[Inference, ...] = ()
    unchecked: tuple[tuple[str, ...], ...] = ()


def mixed_columns(finer: Mapping[str, Mask]) -> tuple[str, ...]:
    """Return the quasi-identifiers that are published more finely in some rows than in others."""
    return tuple(name for name, mask in finer.items() if mask.any())


def read_back(
    text_counts: TextCounts, finer: Mapping[str, Mask], further: Sequence[str], k: int, weights: Floats | None = None
) -> ReadBack:
    """Return the rows as an attacker without further data infers them.

    Args:
        text_counts: The published rows, counted by quasi-identifiers and further columns.
        finer: For each quasi-identifier which of its labels are finer than others.
        further: The published columns that are no quasi-identifiers.
        k: Minimum number of rows for a rule.
        weights: How much each combination counts as evidence; its rows by default.
    """
    reader = _Reader(text_counts, finer, k, text_counts.counts.astype(np.float64) if weights is None else weights)
    mixed = sorted(mixed_columns(finer), key=lambda name: len(finer[name]))
    alone, pairs = _single(further), _pairs(further, tuple(finer))
    for sources, find in ((alone, reader.by_value), (alone, reader.by_neighbors), (pairs, reader.by_value)):
        for name in mixed:
            reader.read(name, [source for source in sources if name not in source], find)
    return ReadBack(reader.text_counts_read(), tuple(reader.inferences), tuple(dict.fromkeys(reader.unchecked)))


def _single(further: Sequence[str]) -> list[tuple[str, ...]]:
    return [(name,) for name in further]


def _pairs(further: Sequence[str], known: Sequence[str]) -> list[tuple[str, ...]]:
    return [*((column, other) for column in further for other in known), *combinations(further, 2)]


class _Reader:
    """Learns rules from rows, within a work limit."""

    def __init__(self, text_counts: TextCounts, finer: Mapping[str, Mask], k: int, weights: Floats) -> None:
        self.text_counts, self.finer, self.k, self.weights = text_counts, finer, k, weights
        self.columns = {name: codes.astype(np.int64) for name, codes in _columns_of(text_counts)}
        self.sizes = {name: len(texts) for name, texts in zip(text_counts.columns, text_counts.values, strict=True)}
        self.coarse = {
            name: coarse_labels(mask, np.bincount(self.columns[name], weights, self.sizes[name]).astype(np.float64))
            for name, mask in finer.items()
        }
        known = [text_counts.columns.index(name) for name in finer]
        self.owners, first = numbers_of(text_counts.codes[:, known], [len(text_counts.values[at]) for at in known])
        self.work, self.total = min(CELLS_EACH * len(weights), MOST_CELLS), float(weights.sum())
        self.steps = self.work
        self.unchecked: list[tuple[str, ...]] = []
        self.inferences: list[Inference] = []
        self.labels_read: dict[str, Ints] = {}
        self._first: dict[tuple[str, ...], Ints] = {(): first}
        self._known: dict[str, Ints] = {}
        self._shares: dict[tuple[str, str, int], float] = {}

    def read(self, name: str, sources: Sequence[tuple[str, ...]], find: Find) -> None:
        """Infer a quasi-identifier from some sources; pairs of a column that predicts it alone are skipped."""
        read = self.labels_read.setdefault(name, np.full(len(self.owners), -1, np.int64))
        alone = {entry.columns for entry in self.inferences if entry.quasi_identifier == name}
        trials = len(self.columns) ** 2
        for source in sources:
            if len(source) > 1 and (self._sparse(source) or any((column,) in alone for column in source)):
                continue
            if (labels := find(name, source, trials)) is None:
                continue
            fresh = (labels >= 0) & (read < 0)
            if fresh.any():
                fresh &= labels != self._usual(name)
                read[fresh] = labels[fresh]
            if fresh.any():
                self.inferences.append(Inference(source, name, int(self.text_counts.counts[fresh].sum())))

    def text_counts_read(self) -> TextCounts:
        """Return the rows with the inferred labels."""
        codes, values = self.text_counts.codes.copy(), list(self.text_counts.values)
        for name, labels in self.labels_read.items():
            place = self.text_counts.columns.index(name)
            codes[:, place] = np.where(labels >= 0, labels, codes[:, place])
            values[place] = (*values[place], *(f"{label} {NONE_SHOWN}" for label in values[place]))
        return replace(self.text_counts, codes=codes, values=tuple(values))

    def _sparse(self, source: tuple[str, ...]) -> bool:
        """Return whether most pairs of values have fewer than k rows, so that nothing can be learned from them."""
        return bool(self.k * np.prod([float(self.sizes[name]) for name in source]) > self.total)

    def _usual(self, name: str) -> Ints:
        """Return the label predicted by the other quasi-identifiers, the same for all rows of a class; -1 for none."""
        if name in self._known:
            return self._known[name]
        usual = np.full(len(self.owners), -1, np.int64)
        for other in self.finer:
            if other != name:
                labels = self.by_value(name, (other,), 1)
                usual = usual if labels is None else np.where(labels >= 0, labels, usual)
        self._known[name] = usual
        return usual

    def by_neighbors(self, name: str, source: tuple[str, ...], trials: int) -> Ints | None:
        """Return for each combination the label on both sides of it in the order of a column with few repetitions.

        The rows with finer labels test the rule: each is guessed by its neighbors of other classes.
        """
        labels, coarse = self.columns[name], self.coarse[name]
        read = np.full(len(labels), -1, np.int64)
        for ranks in self._orders(source[0]) if self._sparse(source) else ():
            order = np.argsort(ranks, kind="stable")
            order = order[ranks[order] >= 0]
            for at, place in enumerate(coarse.labels.tolist()):
                self.steps -= len(order)
                if self.steps < 0:
                    self.unchecked.append((name, *source))
                    return read
                shown = np.isin(labels, coarse.of(at))
                fine = order[shown[order]]
                if self._tells_between(labels, fine, float(coarse.usual[at]), trials):
                    hidden = order[(labels[order] == place) & (read[order] < 0)]
                    read[hidden] = between(ranks[fine], labels[fine], ranks[hidden])
        return read

    def _tells_between(self, labels: Ints, fine: Ints, usual: float, trials: int) -> bool:
        """Return whether rows with finer labels mostly have the label of both neighbors of other classes.

        All rows of a class share their label, so only the number of classes counts against chance.
        """
        hits, guesses = guessed_between(labels[fine[np.diff(self.owners[fine], prepend=-1) != 0]])
        if guesses < self.k or not is_better(hits, guesses, usual):
            return False
        classes = min(len(np.unique(self.owners[fine])) / guesses, 1.0)
        return is_beyond_chance(hits * classes, guesses * classes, usual, trials)

    def _orders(self, column: str) -> list[Ints]:
        """Return the rank of each combination in the possible orders of a column; -1 without a value."""
        texts = self.text_counts.values[self.text_counts.columns.index(column)]
        return [ranks[self.columns[column]] for ranks in orders_of(texts)]

    def by_value(self, name: str, source: tuple[str, ...], trials: int) -> Ints | None:
        """Return for each combination the label that the values of a source predict, or -1; None without any."""
        groups, size = self._groups(source)
        if size >= self.total:  # no value repeats
            return None
        labels, width, coarse = self.columns[name], self.sizes[name], self.coarse[name]
        work = size * (width + len(coarse.inner))
        if work > self.work:
            self.unchecked.append((name, *source))
            return None
        self.work -= work
        rows = self._table(groups, size, name, self.weights)
        classes = cache(partial(self._classes, source, groups, size, name))
        rules: dict[int, Ints] = {}
        for part in coarse.parts(size):
            evidence = Evidence(rows, part, self.k, trials, len(source))
            for at in evidence.ruled:
                place = int(part.labels[at])
                rules[place] = evidence.rules(at, classes, partial(self._by_parts, name, source, place))
            if len(source) == 1 and source[0] not in self.finer:
                for at, apart in self._apart(name, source[0], part.labels, evidence):
                    place = int(part.labels[at])
                    others = rules.get(place, np.full(size, -1, np.int64))
                    rules[place] = np.where(apart & (others < 0), width + place, others)
        rules = {place: found for place, found in rules.items() if (found >= 0).any()}
        if not rules:
            return None
        found = np.full((width, size), -1, np.int64)
        found[[*rules]] = [*rules.values()]
        told: Ints = found[labels, groups]
        return told

    def _table(self, groups: Ints, size: int, name: str, weights: Floats | None = None) -> Floats:
        """Return how often each label of a quasi-identifier (row) occurs with each of some groups (columns)."""
        width = self.sizes[name]
        cells = np.bincount(self.columns[name] * size + groups, weights, width * size)
        return cells.astype(np.float64, copy=False).reshape(width, size)

    def _by_parts(self, name: str, source: tuple[str, ...], coarse: int) -> float:
        """Return the share of finer labels that one column of a pair predicts alone; 0 for a single column."""
        for part in source if len(source) > 1 else ():
            if (part, name, coarse) not in self._shares:
                rows = self._table(self.columns[part], self.sizes[part], name, self.weights)
                hits, guesses = hits_of(rows[self.finer[name][coarse]])
                self._shares[part, name, coarse] = hits / max(guesses, 1.0)
        return max((self._shares[part, name, coarse] for part in source), default=0.0) if len(source) > 1 else 0.0

    def _apart(self, name: str, source: str, coarse: Ints, evidence: "Evidence") -> Iterator[tuple[int, Mask]]:
        """Yield which values of a column never occur with any of the finer labels, though many of their rows should.

        Their rows then have none of these labels. What another quasi-identifier explains is not counted: if it has
        the same label, as many rows of a value should have a fine label as of the others.
        """
        fine, hidden = evidence.total, evidence.hidden
        shown = fine.sum(axis=1, keepdims=True)
        expected = (fine + hidden) * shown / np.maximum(shown + hidden.sum(axis=1, keepdims=True), 1)
        for at in np.flatnonzero(_is_apart(fine, hidden, expected).any(axis=1)).tolist():
            place, rest = int(coarse[at]), expected[at]
            for other in reversed([other for other in self.finer if other != name]):
                if not (apart := _is_apart(fine[at], hidden[at], rest)).any():
                    break
                rest = np.minimum(
                    rest, self._expected(self.columns[name], self.finer[name][place], place, source, other)
                )
            apart = _is_apart(fine[at], hidden[at], rest)
            if apart.any():
                yield at, apart

    def _expected(self, labels: Ints, inner: Mask, coarse: int, source: str, other: str) -> Floats:
        """Return for each value of a column the expected rows with a fine label, from another column alone."""
        fine = inner[labels]
        either = fine | (labels == coarse)
        groups, size = self.columns[other], self.sizes[other]
        shown = np.bincount(groups[fine], self.weights[fine], size)
        share = shown / np.maximum(np.bincount(groups[either], self.weights[either], size), 1)
        values = self.columns[source][either]
        rows = np.bincount(values, self.weights[either] * share[groups[either]], self.sizes[source])
        return rows.astype(np.float64)

    def _classes(self, source: tuple[str, ...], groups: Ints, size: int, name: str) -> Floats:
        """Return for each value of a source and label the number of classes that show both (a class has one label)."""
        further = tuple(column for column in source if column not in self.finer)
        if further not in self._first:
            values, many = self._groups(further)
            self._first[further] = _firsts(self.owners * many + values)
        first = self._first[further]
        width = self.sizes[name]
        cells = np.bincount(self.columns[name][first] * size + groups[first], minlength=width * size)
        return cells.astype(np.float64).reshape(width, size)

    def _groups(self, source: tuple[str, ...]) -> tuple[Ints, int]:
        """Return a number for each value of a column, or of several together, and how many there are."""
        groups, size = np.zeros(len(self.owners), np.int64), 1
        for other in source:
            groups, size = groups * self.sizes[other] + self.columns[other], size * self.sizes[other]
        if size > FEW_GROUPS:
            groups = np.unique(groups, return_inverse=True)[1].reshape(-1).astype(np.int64)
            size = int(groups.max(initial=0)) + 1
        return groups, size


def _columns_of(text_counts: TextCounts) -> Iterator[tuple[str, npt.NDArray[np.int32]]]:
    yield from zip(text_counts.columns, text_counts.codes.T, strict=True)


def _firsts(keys: Ints) -> Ints:
    """Return the first position of each key; small ranges are looked up instead of sorted.

    >>> _firsts(np.array([2, 0, 2])).tolist()
    [1, 0]
    """
    most = int(keys.max(initial=-1)) + 1
    if most > MOST_PER_KEY * len(keys):
        return np.unique(keys, return_index=True)[1]
    first = np.full(most, -1, np.int64)
    first[keys[::-1]] = np.arange(len(keys) - 1, -1, -1)
    return first[first >= 0]


def _is_apart(fine: Floats, hidden: Floats, expected: Floats) -> Mask:
    apart: Mask = (hidden > 0) & (expected >= EXPECTED) & (fine <= (1 - RIGHT) * expected)
    return apart
