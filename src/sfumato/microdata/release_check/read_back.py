"""Reading back: an attacker infers the value of a generalized quasi-identifier from other columns of the same file.

Where a quasi-identifier is published finely in some rows and coarsely in others, an attacker learns from the former
what a further column says of it, and applies this to the latter. Rows of one class then no longer look alike. A rule
"who has this value has that label" is drawn from the published rows alone. It counts where it is right for at least
95 % of at least k rows, and so often that chance does not explain it; or where the column as a whole predicts the label
of 95 % of the other rows (leaving one out), whatever the number of rows with one value. A value that never stands with
a fine label tells, too: its rows have none of those.

What quasi-identifiers say of each other is no disclosure: all rows of a class agree in them, and none leaves it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.microdata.counts.frequencies import TextCounts
from sfumato.microdata.counts.tallies import numbers_of

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
# A rule is right so often; chance would make one of all rules that are tried with this probability.
RIGHT, CHANCE = 0.95, 0.001
# A value never stands with a label where so many of its rows should.
EXPECTED = 20
# What is read where a value is none of those that are shown more finely.
NONE_SHOWN = "(none of the finer labels)"
# What most rows have anyhow is no inference: coarse labels are published where the value is another one.
USUAL = 0.75
# A column as a whole predicts a label where it takes away so many of the wrong guesses.
LESS_WRONG = 0.6
# Cells of tables of values by labels that are looked at, for each combination and at all; beyond that,
# quasi-identifiers are named as not fully checked.
CELLS_EACH, MOST_CELLS = 300, 20_000_000
# More values of two columns are numbered by those that occur.
FEW_GROUPS = 20_000


@dataclass(frozen=True, slots=True)
class Inference:
    """Columns from which a quasi-identifier is read back.

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
        text_counts: The rows, their quasi-identifiers as read back.
        unchecked: Columns that were too large to be looked at.
    """

    text_counts: TextCounts
    inferences: tuple[Inference, ...] = ()
    unchecked: tuple[tuple[str, ...], ...] = ()


def mixed_columns(finer: Mapping[str, Mask]) -> tuple[str, ...]:
    """The quasi-identifiers that are published more finely in some rows than in others."""
    return tuple(name for name, mask in finer.items() if mask.any())


def read_back(
    text_counts: TextCounts, finer: Mapping[str, Mask], further: Sequence[str], k: int, weights: Floats | None = None
) -> ReadBack:
    """The rows as an attacker reads them who has nothing but them.

    Args:
        text_counts: The published rows, counted by quasi-identifiers and further columns.
        finer: For each quasi-identifier which of its labels are finer than others.
        further: The published columns that are no quasi-identifiers.
        k: A rule is drawn from so many rows at least.
        weights: How much each combination counts as evidence; its rows by default.
    """
    reader = _Reader(text_counts, finer, k, text_counts.counts.astype(np.float64) if weights is None else weights)
    mixed = sorted(mixed_columns(finer), key=lambda name: len(finer[name]))
    for sources in (_single(further), _pairs(further, tuple(finer))):
        for name in mixed:
            reader.read(name, [source for source in sources if name not in source])
    return ReadBack(reader.text_counts_read(), tuple(reader.inferences), tuple(dict.fromkeys(reader.unchecked)))


def _single(further: Sequence[str]) -> list[tuple[str, ...]]:
    return [(name,) for name in further]


def _pairs(further: Sequence[str], known: Sequence[str]) -> list[tuple[str, ...]]:
    return [*((column, other) for column in further for other in known), *combinations(further, 2)]


class _Reader:
    """Draws rules from rows, within a limit of work."""

    def __init__(self, text_counts: TextCounts, finer: Mapping[str, Mask], k: int, weights: Floats) -> None:
        self.text_counts, self.finer, self.k, self.weights = text_counts, finer, k, weights
        self.columns = {name: codes.astype(np.int64) for name, codes in _columns_of(text_counts)}
        self.sizes = {name: len(texts) for name, texts in zip(text_counts.columns, text_counts.values, strict=True)}
        self.coarse = {
            name: [(place, np.flatnonzero(mask[place])) for place in np.flatnonzero(mask.any(axis=1)).tolist()]
            for name, mask in finer.items()
        }
        known = [text_counts.columns.index(name) for name in finer]
        self.owners = numbers_of(text_counts.codes[:, known], [len(text_counts.values[at]) for at in known])[0]
        self.work, self.total = min(CELLS_EACH * len(weights), MOST_CELLS), float(weights.sum())
        self.unchecked: list[tuple[str, ...]] = []
        self.inferences: list[Inference] = []
        self.labels_read: dict[str, Ints] = {}
        self._first: dict[tuple[str, ...], Ints] = {}
        self._known: dict[str, Ints] = {}

    def read(self, name: str, sources: Sequence[tuple[str, ...]]) -> None:
        """Read a quasi-identifier back from some sources; pairs of a column that tells it by itself add nothing."""
        read = self.labels_read.setdefault(name, np.full(len(self.owners), -1, np.int64))
        alone = {entry.columns for entry in self.inferences if entry.quasi_identifier == name}
        trials = len(self.columns) ** 2
        for source in sources:
            if len(source) > 1 and (self._sparse(source) or any((column,) in alone for column in source)):
                continue
            labels = self._labels(name, source, trials)
            fresh = (labels >= 0) & (read < 0)
            if fresh.any():
                fresh &= labels != self._usual(name)
                read[fresh] = labels[fresh]
            if fresh.any():
                self.inferences.append(Inference(source, name, int(self.text_counts.counts[fresh].sum())))

    def text_counts_read(self) -> TextCounts:
        """The rows with the labels that were read back."""
        codes, values = self.text_counts.codes.copy(), list(self.text_counts.values)
        for name, labels in self.labels_read.items():
            place = self.text_counts.columns.index(name)
            codes[:, place] = np.where(labels >= 0, labels, codes[:, place])
            values[place] = (*values[place], *(f"{label} {NONE_SHOWN}" for label in values[place]))
        return replace(self.text_counts, codes=codes, values=tuple(values))

    def _sparse(self, source: tuple[str, ...]) -> bool:
        """Whether most pairs of values are of fewer than k rows, even if all occur: nothing is learned from those."""
        return bool(self.k * np.prod([float(self.sizes[name]) for name in source]) > self.total)

    def _usual(self, name: str) -> Ints:
        """What the other quasi-identifiers say, the same for all rows of a class; -1 where they say nothing."""
        if name in self._known:
            return self._known[name]
        usual = np.full(len(self.owners), -1, np.int64)
        for other in self.finer:
            if other != name:
                labels = self._labels(name, (other,), 1)
                usual = np.where(labels >= 0, labels, usual)
        self._known[name] = usual
        return usual

    def _labels(self, name: str, source: tuple[str, ...], trials: int) -> Ints:
        """For each combination the label that a source says, or -1."""
        groups, size = self._groups(source)
        labels, width = self.columns[name], self.sizes[name]
        cells = size * width
        work = size * (width + sum(len(inner) for _, inner in self.coarse[name]))
        if work > self.work:
            self.unchecked.append((name, *source))
            return np.full(len(groups), -1, np.int64)
        self.work -= work
        counted: Floats = np.bincount(groups * width + labels, self.weights, cells).astype(np.float64)
        rows = counted.reshape(size, width)
        rules: Ints | None = None
        classes: Floats | None = None
        for coarse, inner in self.coarse[name]:
            evidence = _Evidence(rows[:, inner], self.k, trials, len(source))
            asked = np.flatnonzero((rows[:, coarse] > 0) & evidence.right) if evidence.may_rule else ()
            if len(asked):
                classes = (
                    self._classes(source, groups, labels, width, cells).reshape(size, width)
                    if classes is None
                    else classes
                )
                rules = np.full((size, width), -1, np.int64) if rules is None else rules
                rules[asked, coarse] = np.where(
                    evidence.rules(classes[:, inner], self._by_parts(name, source, inner))[asked],
                    inner[evidence.place[asked]],
                    -1,
                )
            if len(source) == 1 and source[0] not in self.finer:
                apart = self._apart(name, source[0], coarse, rows)
                if apart.any():
                    rules = np.full((size, width), -1, np.int64) if rules is None else rules
                    rules[apart & (rules[:, coarse] < 0), coarse] = width + coarse
        return np.full(len(groups), -1, np.int64) if rules is None else rules[groups, labels]

    def _by_parts(self, name: str, source: tuple[str, ...], inner: Ints) -> float:
        """The share of finer labels that one column of a pair predicts by itself; 0 for a single column."""
        shares, width = [0.0], self.sizes[name]
        for part in source if len(source) > 1 else ():
            cells = self.sizes[part] * width
            rows = np.bincount(self.columns[part] * width + self.columns[name], self.weights, cells)
            hits, guesses = _hits(rows.astype(np.float64).reshape(-1, width)[:, inner])
            shares.append(hits / max(guesses, 1.0))
        return max(shares)

    def _apart(self, name: str, source: str, coarse: int, rows: Floats) -> Mask:
        """Which values of a column never stand with any of the finer labels, though many of their rows should.

        Their rows have none of these labels then. What another quasi-identifier explains is not counted: where it has
        the same label, as many rows of a value should have a fine label as of the others.
        """
        inner = self.finer[name][coarse]
        fine, hidden = rows[:, inner].sum(axis=1), rows[:, coarse]
        expected = (fine + hidden) * fine.sum() / max(fine.sum() + hidden.sum(), 1)
        others = [other for other in self.finer if other != name]
        while (apart := (hidden > 0) & (expected >= EXPECTED) & (fine <= (1 - RIGHT) * expected)).any() and others:
            by_other = self._expected(self.columns[name], inner, coarse, source, others.pop())
            expected = np.minimum(expected, by_other)
        found: Mask = apart
        return found

    def _expected(self, labels: Ints, inner: Mask, coarse: int, source: str, other: str) -> Floats:
        """For each value of a column how many of its rows would have a fine label, by another column alone."""
        fine = inner[labels]
        either = fine | (labels == coarse)
        groups, size = self.columns[other], self.sizes[other]
        shown = np.bincount(groups[fine], self.weights[fine], size)
        share = shown / np.maximum(np.bincount(groups[either], self.weights[either], size), 1)
        values = self.columns[source][either]
        rows = np.bincount(values, self.weights[either] * share[groups[either]], self.sizes[source])
        return rows.astype(np.float64)

    def _classes(self, source: tuple[str, ...], groups: Ints, labels: Ints, width: int, cells: int) -> Floats:
        """For each value of a source and label the classes that show both: their rows have one label together."""
        further = tuple(name for name in source if name not in self.finer)
        if further not in self._first:
            values, size = self._groups(further)
            self._first[further] = np.unique(self.owners * size + values, return_index=True)[1]
        first = self._first[further]
        return np.bincount(groups[first] * width + labels[first], minlength=cells).astype(np.float64)

    def _groups(self, source: tuple[str, ...]) -> tuple[Ints, int]:
        """A number for each value of a column, or of several together, and how many there are."""
        groups, size = np.zeros(len(self.owners), np.int64), 1
        for other in source:
            groups, size = groups * self.sizes[other] + self.columns[other], size * self.sizes[other]
        if size > FEW_GROUPS:
            groups = np.unique(groups, return_inverse=True)[1].reshape(-1).astype(np.int64)
            size = int(groups.max(initial=0)) + 1
        return groups, size


def _columns_of(text_counts: TextCounts) -> Iterator[tuple[str, npt.NDArray[np.int32]]]:
    yield from zip(text_counts.columns, text_counts.codes.T, strict=True)


class _Evidence:
    """What rows say for the rules of a source: each value of it has one finer label.

    Rows of a class have their label together, so that classes are what agrees by chance or not.

    Attributes:
        may_rule: Whether rules may be found at all, by the rows alone; right: for which values they would be right.
    """

    def __init__(self, rows: Floats, k: int, trials: int, columns: int) -> None:
        self.rows, self.k, self.trials, self.columns = rows, k, trials, columns
        self.total, self.most = rows.sum(axis=1), rows.max(axis=1, initial=0)
        self.right: Mask = (self.total > 0) & (self.most >= RIGHT * self.total)
        several = self.total >= 2
        whole = self.most[several].sum() >= RIGHT * max(self.total[several].sum(), self.k)
        self.may_rule = bool(whole or (columns == 1 and (self.right & (self.total >= k)).any()))

    @property
    def place(self) -> Ints:
        most: Ints = self.rows.argmax(axis=1)
        return most

    def rules(self, classes: Floats, by_parts: float) -> Mask:
        """For which values of the source the label is inferred that most of their rows have.

        Args:
            classes: The classes that show each value with each label.
            by_parts: The share of labels that one of two columns predicts without the other.
        """
        shares = self.rows.sum(axis=0) / self.rows.sum()
        if self._predicts(classes, max(float(shares.max()), by_parts)):
            return self.right
        if self.columns > 1:
            return np.zeros(len(self.total), bool)
        usual, tried = shares[self.place], self.total >= self.k
        surprise = _surprise(classes[np.arange(len(classes)), self.place], classes.sum(axis=1), usual)
        enough = np.log(max(int(tried.sum()), 1) * self.trials / CHANCE)
        found: Mask = self.right & tried & (usual <= USUAL) & (surprise >= enough)
        return found

    def _predicts(self, classes: Floats, usual: float) -> bool:
        """Whether the source as a whole predicts the labels of other rows, and of other classes."""
        if _hits(self.rows)[1] < self.k:
            return False
        for counts in (self.rows, classes):
            hits, guesses = _hits(counts)
            if hits < RIGHT * guesses or hits - usual * guesses < LESS_WRONG * (1 - usual) * guesses:
                return False
        surprise = _surprise(np.array([hits]), np.array([guesses]), np.array([usual]))[0]
        return bool(surprise >= np.log(self.trials / CHANCE))


def _hits(counts: Floats) -> tuple[float, float]:
    """How many guesses by the others of a line are right, and how many there are; a tie is half a guess.

    >>> _hits(np.array([[3.0, 0.0], [1.0, 0.0], [1.0, 1.0]]))
    (3.0, 5.0)
    """
    ordered = np.sort(counts, axis=1)
    most, second = ordered[:, -1], ordered[:, -2] if counts.shape[1] > 1 else np.zeros(len(counts))
    several = counts.sum(axis=1) >= 2
    hits = np.where(most - 1 > second, most, np.where((most - 1 == second) & (second > 0), most / 2, 0.0))
    hits = np.where((second == 0) & (most >= 2), most, hits)
    return float(hits[several].sum()), float(counts[several].sum())


def _surprise(right: Floats, total: Floats, chance: Floats) -> Floats:
    """How unlikely so many right guesses are by chance (Chernoff's bound), as a logarithm; 0 for fewer.

    >>> float(_surprise(np.array([10.0]), np.array([10.0]), np.array([0.5]))[0].round(2))
    6.93
    """
    share = right / np.maximum(total, 1)
    chance = np.clip(chance, 1e-12, 1 - 1e-12)
    with np.errstate(divide="ignore", invalid="ignore"):
        hit = np.where(share > 0, share * np.log(share / chance), 0.0)
        miss = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - chance)), 0.0)
    return np.where(share > chance, total * (hit + miss), 0.0)
