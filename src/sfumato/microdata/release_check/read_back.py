"""Inference of generalized values: an attacker predicts finer labels of a quasi-identifier from other columns.

If a quasi-identifier is published finely in some rows and coarsely in others, an attacker learns from the former how a
further column relates to it, and applies this to the latter. Rows of one class can then be distinguished. A rule "rows
with this value have that label" is learned from the published rows alone. It counts if it is correct for at least 95 %
of at least k rows, and more often than by chance; or if the column as a whole predicts the label of 95 % of the other
rows (leave-one-out), whatever the number of rows per value. Fewer rows count if the raw rows, where available, confirm
the rule. A value that never occurs with a fine label is informative, too: its rows have none of those. In columns whose
values hardly repeat, neighbors in their order have the same label; so have neighbors in the file if the rows keep their
order.

Inference among quasi-identifiers is no disclosure: all rows of a class agree in them, and none becomes distinguishable.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import combinations

import numpy as np

from sfumato.microdata.counts.combinations import numbers_of
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.measures.kernels import count_labels, count_values
from sfumato.microdata.release_check.evidence import (
    RIGHT,
    BoolArray,
    Evidence,
    Floats,
    Ints,
    SourceValues,
    between,
    coarse_labels,
    guessed_between,
    hits_of,
    is_better,
    is_beyond_chance,
    orders_of,
)
from sfumato.microdata.release_check.finer_labels import RawRows, confirmed
from sfumato.values import Value, replace

# Function that finds the label that a source predicts for each combination.
Find = Callable[[str, tuple[str, ...], int], Ints | None]
# Minimum expected rows of a value that never occurs with a label.
EXPECTED = 20
# Name of a derived column that states which rows have a value in another column.
FILLED = 'whether "{}" is filled'
# Inferred text for a value that is none of the values with finer labels.
NONE_SHOWN = "(none of the finer labels)"
# Limits of table cells (values times labels), per combination and in total; beyond them, quasi-identifiers are reported
# as not fully checked.
CELLS_EACH, MOST_CELLS = 300, 20_000_000
# With more pairs of values, only those that occur are numbered.
FEW_GROUPS = 20_000
# The share of all rows.
WHOLE = np.ones(1)
# Keys are looked up in an array if it has at most this many entries per key.
MOST_PER_KEY = 16


class Inference(Value):
    """Columns from which a quasi-identifier is inferred.

    Attributes:
        columns: One column, or two together.
        rows: The published rows in which a finer label is inferred.
    """

    columns: tuple[str, ...]
    quasi_identifier: str
    rows: int


class ReadBack(Value):
    """Published rows with the labels that an attacker infers.

    Attributes:
        text_counts: The rows, with inferred quasi-identifiers.
        unchecked: Columns that were too large to be checked.
    """

    text_counts: ValueCounts
    inferences: tuple[Inference, ...] = ()
    unchecked: tuple[tuple[str, ...], ...] = ()


def mixed_columns(finer: Mapping[str, BoolArray]) -> tuple[str, ...]:
    """Return the quasi-identifiers that are published more finely in some rows than in others."""
    return tuple(name for name, mask in finer.items() if mask.any())


def read_back(
    text_counts: ValueCounts,
    finer: Mapping[str, BoolArray],
    further: Sequence[str],
    k: int,
    weights: Floats | None = None,
    missing: Sequence[str] = (),
    raw: RawRows | None = None,
) -> ReadBack:
    """Return the rows as an attacker without further data infers them.

    Args:
        text_counts: The published rows, counted by quasi-identifiers and further columns.
        finer: For each quasi-identifier which of its labels are finer than others.
        further: The published columns that are no quasi-identifiers.
        k: Minimum number of rows for a rule.
        weights: How much each combination counts as evidence; its rows by default.
        missing: Texts that mean a missing value, besides an empty one.
        raw: The raw rows, where they are at hand, which confirm rules of few published rows.
    """
    reader = _Reader(text_counts, finer, k, text_counts.counts.astype(np.float64) if weights is None else weights)
    reader.raw = raw
    mixed = sorted(mixed_columns(finer), key=lambda name: len(finer[name]))
    alone, pairs = _single(further), _pairs(further, tuple(finer))
    filled = _single(reader.add_filled(further, {None, "", *missing}))
    for sources, find in (([*alone, *filled], reader.by_value), (alone, reader.by_neighbors), (pairs, reader.by_value)):
        for name in mixed:
            reader.read(name, [source for source in sources if name not in source], find)
    return ReadBack(reader.text_counts_read(), tuple(reader.inferences), tuple(dict.fromkeys(reader.unchecked)))


def _single(further: Sequence[str]) -> list[tuple[str, ...]]:
    return [(name,) for name in further]


def _pairs(further: Sequence[str], known: Sequence[str]) -> list[tuple[str, ...]]:
    return [*((column, other) for column in further for other in known), *combinations(further, 2)]


class _Reader:
    """Learns rules from rows, within a work limit."""

    def __init__(self, text_counts: ValueCounts, finer: Mapping[str, BoolArray], k: int, weights: Floats) -> None:
        self.text_counts, self.finer, self.k, self.weights = text_counts, finer, k, weights
        by_column = zip(text_counts.columns, text_counts.codes.T, strict=True)
        self.columns = {name: codes.astype(np.int64) for name, codes in by_column}
        self.sizes = {name: len(texts) for name, texts in zip(text_counts.columns, text_counts.values, strict=True)}
        self.coarse = {
            name: coarse_labels(mask, np.bincount(self.columns[name], weights, self.sizes[name]).astype(np.float64))
            for name, mask in finer.items()
        }
        known = [text_counts.columns.index(name) for name in finer]
        self.owners, first = numbers_of(text_counts.codes[:, known], [len(text_counts.values[at]) for at in known])
        self.work, self.total = min(CELLS_EACH * len(weights), MOST_CELLS), float(weights.sum())
        self.steps = self.work
        self.named: dict[str, str] = {}
        self.raw: RawRows | None = None
        self.unchecked: list[tuple[str, ...]] = []
        self.inferences: list[Inference] = []
        self.labels_read: dict[str, Ints] = {}
        self._first: dict[tuple[str, ...], Ints] = {(): first}
        self._alone = np.zeros(len(self.owners), np.int64)
        self._known: dict[str, Ints] = {}
        self._ordered: dict[str, list[tuple[Ints, Ints]]] = {}
        self._shares: dict[tuple[str, str, int], float] = {}

    def add_filled(self, further: Sequence[str], missing: Collection[str | None]) -> list[str]:
        """Add, for each column with missing values and several others, a column that states which rows have a value."""
        added = []
        for column in further:
            texts = self.text_counts.values[self.text_counts.columns.index(column)] if column in self.columns else ()
            filled = np.array([text not in missing for text in texts], np.int64)
            if 1 < filled.sum() < len(filled):
                name = FILLED.format(column)
                self.columns[name], self.sizes[name] = filled[self.columns[column]], 2
                self.named[name] = column
                added.append(name)
        return added

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
                columns = tuple(self.named.get(column, column) for column in source)
                self.inferences.append(Inference(columns, name, int(self.text_counts.counts[fresh].sum())))

    def text_counts_read(self) -> ValueCounts:
        """Return the rows with the inferred labels."""
        codes, values = self.text_counts.codes.copy(), list(self.text_counts.values)
        for name, labels in self.labels_read.items():
            place = self.text_counts.columns.index(name)
            codes[:, place] = np.where(labels >= 0, labels, codes[:, place])
            values[place] = (*values[place], *(f"{label} {NONE_SHOWN}" for label in values[place]))
        return replace(self.text_counts, codes=codes, values=tuple(values))

    def _sparse(self, source: tuple[str, ...]) -> bool:
        """Return whether most pairs of values have fewer than k rows, so that they are no evidence."""
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
        for ranks, order in self._orders(source[0]) if self._sparse(source) else ():
            for at, place in enumerate(coarse.labels.tolist()):
                self.steps -= len(order)
                if self.steps < 0:
                    self.unchecked.append((name, *source))
                    return read
                fine = order[self.finer[name][place][labels[order]]]
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

    def _orders(self, column: str) -> list[tuple[Ints, Ints]]:
        """Return possible orders of a column: each combination's position, -1 without a value; and those with one."""
        if column not in self._ordered:
            texts = self.text_counts.values[self.text_counts.columns.index(column)]
            places = [ranks[self.columns[column]] for ranks in orders_of(texts)]
            self._ordered[column] = [
                (ranks, np.argsort(ranks, kind="stable")[int((ranks < 0).sum()) :]) for ranks in places
            ]
        return self._ordered[column]

    def by_value(self, name: str, source: tuple[str, ...], trials: int) -> Ints | None:
        """Return, for each combination, the label that the source's values predict, or -1; None without prediction."""
        of_source = self._source_values(source)
        size = of_source.size
        if size >= self.total:  # no value repeats
            return None
        labels, width, coarse = self.columns[name], self.sizes[name], self.coarse[name]
        work = size * (width + len(coarse.inner))
        if work > self.work:
            self.unchecked.append((name, *source))
            return None
        self.work -= work
        rows = self._table(of_source, name)
        classes = cache(partial(self._classes, source, of_source, name))
        rules: dict[int, Ints] = {}
        for part in coarse.parts(size):
            evidence = Evidence(rows, part, self.k, trials, len(source))
            for at in evidence.candidates:
                place = int(part.labels[at])
                rules[place] = evidence.rules(at, classes, partial(self._by_parts, name, source, place))
            if len(source) == 1 and source[0] not in self.finer:
                further = (
                    *self._apart(name, source[0], part.labels, evidence),
                    *self._confirmed(name, source[0], evidence),
                )
                for at, told in further:
                    place = int(part.labels[at])
                    earlier = rules.get(place, np.full(size, -1, np.int64))
                    rules[place] = np.where(earlier < 0, told, earlier)
        rules = {place: found for place, found in rules.items() if (found >= 0).any()}
        if not rules:
            return None
        found = np.full((width, size), -1, np.int64)
        found[[*rules]] = [*rules.values()]
        read: Ints = found[labels, of_source.numbers]
        return read

    def _table(self, of_source: SourceValues, name: str) -> Floats:
        """Return the number of rows of each label of a quasi-identifier (row) with each value of a source (column)."""
        rows = np.zeros((self.sizes[name], of_source.size))
        count_labels(self.columns[name], of_source.first, of_source.second, of_source.second_size, self.weights, rows)
        return rows

    def _by_parts(self, name: str, source: tuple[str, ...], coarse: int) -> float:
        """Return the share of finer labels that one column of a pair predicts alone; 0 for a single column."""
        for part in source if len(source) > 1 else ():
            if (part, name, coarse) not in self._shares:
                rows = self._table(self._source_values((part,)), name)
                hits, guesses = hits_of(rows[self.finer[name][coarse]])
                self._shares[part, name, coarse] = hits / max(guesses, 1.0)
        return max((self._shares[part, name, coarse] for part in source), default=0.0) if len(source) > 1 else 0.0

    def _confirmed(self, name: str, source: str, evidence: Evidence) -> Iterator[tuple[int, Ints]]:
        """Yield the labels of each value that few published rows suggest and the raw rows confirm."""
        suggested = np.flatnonzero((evidence.right & (evidence.hidden > 0)).any(axis=1)).tolist()
        if self.raw is None or source not in self.raw.columns or not suggested:
            return
        texts = dict(zip(self.text_counts.columns, self.text_counts.values, strict=True))
        raw = self.raw.table(name, texts[name], source, texts[source])
        if raw is not None:
            yield from ((at, confirmed(raw, at, evidence)) for at in suggested)

    def _apart(self, name: str, source: str, coarse: Ints, evidence: Evidence) -> Iterator[tuple[int, Ints]]:
        """Yield values of a column that never occur with any finer label, although many of their rows should.

        Their rows then have none of these labels. What another quasi-identifier explains is not counted: if it has
        the same label, as many rows of a value should have a fine label as of the others.
        """
        fine, hidden = evidence.total, evidence.hidden
        shown = fine.sum(axis=1, keepdims=True)
        expected = (fine + hidden) * shown / np.maximum(shown + hidden.sum(axis=1, keepdims=True), 1)
        for at in np.flatnonzero(_is_apart(fine, hidden, expected).any(axis=1)).tolist():
            rest = expected[at]
            for other in reversed([other for other in self.finer if other != name]):
                if not (apart := _is_apart(fine[at], hidden[at], rest)).any():
                    break
                rest = np.minimum(rest, self._expected(name, int(coarse[at]), source, other))
            apart = _is_apart(fine[at], hidden[at], rest)
            if apart.any():
                yield at, np.where(apart, len(self.finer[name]) + coarse[at], -1)

    def _expected(self, name: str, coarse: int, source: str, other: str) -> Floats:
        """Return, for each value of a column, the number of rows with a fine label that another column alone
        predicts."""
        inner = self.finer[name][coarse]
        either = inner.copy()
        either[coarse] = True
        shown, both = (self._rows_of(name, labels, other) for labels in (inner, either))
        return self._rows_of(name, either, source, other, shown / np.maximum(both, 1))

    def _rows_of(
        self, name: str, labels: BoolArray, source: str, other: str | None = None, share: Floats = WHOLE
    ) -> Floats:
        """Return the number of rows of each value with some labels, or the part of these that another column
        predicts."""
        rows = np.zeros(self.sizes[source])
        others = self._alone if other is None else self.columns[other]
        count_values(self.columns[name], labels, self.columns[source], others, share, self.weights, rows)
        return rows

    def _classes(self, source: tuple[str, ...], of_source: SourceValues, name: str) -> Floats:
        """Return the number of classes that show each label (row) with each value of a source (column)."""
        further = tuple(column for column in source if column not in self.finer)
        if further not in self._first:
            values = self._source_values(further)
            self._first[further] = _firsts(self.owners * values.size + values.numbers)
        first, rows = self._first[further], np.zeros((self.sizes[name], of_source.size))
        columns = self.columns[name][first], of_source.first[first], of_source.second[first]
        count_labels(*columns, of_source.second_size, np.ones(len(first)), rows)
        return rows

    def _source_values(self, source: tuple[str, ...]) -> SourceValues:
        """Return the values of one or two columns; if there may be many pairs, only those that occur are numbered."""
        first, *second = source
        of_source = SourceValues(self.columns[first], self.sizes[first], self._alone, 1)
        if second:
            of_source = replace(of_source, second=self.columns[second[0]], second_size=self.sizes[second[0]])
        if len(source) > 1 and of_source.size > FEW_GROUPS:
            values, numbers = np.unique(of_source.numbers, return_inverse=True)
            of_source = SourceValues(numbers.reshape(-1).astype(np.int64), len(values), self._alone, 1)
        return of_source


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


def _is_apart(fine: Floats, hidden: Floats, expected: Floats) -> BoolArray:
    apart: BoolArray = (hidden > 0) & (expected >= EXPECTED) & (fine <= (1 - RIGHT) * expected)
    return apart
