"""Reading back: an attacker infers the value of a generalized quasi-identifier from other columns of the same file.

Where a quasi-identifier is published finely in some rows and coarsely in others, an attacker learns from the former
what a further column says of it, and applies this to the latter. Rows of one class then no longer look alike. A rule
"who has this value has that label" is drawn from the published rows alone. It counts where it is right for at least
95 % of at least k rows, and so often that chance does not explain it; or where the column as a whole predicts the label
of 95 % of the other rows (leaving one out), whatever the number of rows with one value.

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
# What most rows have anyhow is no inference: coarse labels are published where the value is another one.
USUAL = 0.75
# A column as a whole predicts a label where it takes away so many of the wrong guesses.
LESS_WRONG = 0.6
# Cells of all tables of values by labels that are looked at; beyond that, columns are named as not checked.
MOST_CELLS, MOST_CELLS_EACH = 60_000_000, 20_000_000
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
    codes, inferences = text_counts.codes.copy(), []
    for name in mixed_columns(finer):
        place = text_counts.columns.index(name)
        labels, found = reader.read(name, [*_sources(name, tuple(finer), further)])
        codes[:, place] = np.where(labels >= 0, labels, codes[:, place])
        inferences += found
    return ReadBack(replace(text_counts, codes=codes), tuple(inferences), tuple(dict.fromkeys(reader.unchecked)))


def _sources(name: str, known: Sequence[str], further: Sequence[str]) -> Iterator[tuple[str, ...]]:
    yield from ((other,) for other in further)
    yield from ((column, other) for column in further for other in known if other != name)
    yield from combinations(further, 2)


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
        self.work, self.total = MOST_CELLS, float(weights.sum())
        self.unchecked: list[tuple[str, ...]] = []
        self._first: dict[tuple[str, ...], Ints] = {}

    def read(self, name: str, sources: Sequence[tuple[str, ...]]) -> tuple[Ints, list[Inference]]:
        """For each combination the label read back for a quasi-identifier, or -1, and from which columns."""
        read, found = np.full(len(self.owners), -1, np.int64), []
        usual: Ints | None = None
        alone: set[str] = set()
        for source in sources:
            if alone & {*source} or (len(source) > 1 and self._sparse(source)):
                continue
            labels = self._labels(name, source, len(sources))
            fresh = (labels >= 0) & (read < 0)
            if fresh.any():
                usual = self._usual(name) if usual is None else usual
                fresh &= labels != usual
                read[fresh] = labels[fresh]
            if fresh.any():
                found.append(Inference(source, name, int(self.text_counts.counts[fresh].sum())))
                alone |= {*source} if len(source) == 1 else set()
        return read, found

    def _sparse(self, source: tuple[str, ...]) -> bool:
        """Whether most pairs of values are of fewer than k rows, even if all occur: nothing is learned from those."""
        return bool(self.k * np.prod([float(self.sizes[name]) for name in source]) > self.total)

    def _usual(self, name: str) -> Ints:
        """What the other quasi-identifiers say, the same for all rows of a class; -1 where they say nothing."""
        usual = np.full(len(self.owners), -1, np.int64)
        for other in self.finer:
            if other != name:
                labels = self._labels(name, (other,), 1)
                usual = np.where(labels >= 0, labels, usual)
        return usual

    def _labels(self, name: str, source: tuple[str, ...], trials: int) -> Ints:
        """For each combination the label that a source says, or -1."""
        groups, size = self._groups(source)
        labels, width = self.columns[name], self.sizes[name]
        cells = size * width
        if cells > MOST_CELLS_EACH or self.work < cells:
            self.unchecked.append((name, *source))
            return np.full(len(groups), -1, np.int64)
        counted: Floats = np.bincount(groups * width + labels, self.weights, cells).astype(np.float64)
        rows = counted.reshape(size, width)
        rules: Ints | None = None
        classes: Floats | None = None
        for coarse, inner in self.coarse[name]:
            self.work -= size * len(inner)
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
                    evidence.rules(classes[:, inner])[asked], inner[evidence.place[asked]], -1
                )
        return np.full(len(groups), -1, np.int64) if rules is None else rules[groups, labels]

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

    def rules(self, classes: Floats) -> Mask:
        """For which values of the source the label is inferred that most of their rows have.

        Args:
            classes: The classes that show each value with each label.
        """
        shares = self.rows.sum(axis=0) / self.rows.sum()
        if self._predicts(classes, float(shares.max())):
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
