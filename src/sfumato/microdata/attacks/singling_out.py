"""Singling-out attack: predicates on published columns that exactly one original row satisfies.

Predicates are taken from the release: a value that occurs in one published row, or a combination of a few values that
occurs in one row. A predicate succeeds when exactly one original row satisfies it. The control counts rows that were
never published instead. Because uniqueness depends on the number of rows, both are compared at the size of the smaller
set, and the control rate is scaled in the way the rate of the original rows changes with size. Giomi et al. (2023);
Cohen & Nissim (2020), https://doi.org/10.1073/pnas.1914598117.
"""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.localization.messages import Message
from sfumato.microdata.attacks.coded_rows import AttackColumn, AttackRows, Codes
from sfumato.microdata.attacks.kernels import count_rows, rows_of_codes
from sfumato.microdata.attacks.result import SENSITIVE_KNOWN, AttackResult, Rate
from sfumato.values import Value, replace

# Batch size of predicates: conditions stay small in memory, and progress is reported regularly.
AT_ONCE = 250
Counts = npt.NDArray[np.int64]
Told = Callable[[], None]


class Condition(Value):
    """A condition on a column: equal to a published label, or a number not below (or not above) it.

    A guesser has no labels: its conditions use a value of other rows (`guessed`).
    """

    column: int
    label: int
    op: str = "="
    guessed: bool = False


Predicate = tuple[Condition, ...]


def rows_by_code(codes: Codes, size: int) -> tuple[Codes, Counts]:
    """Return the rows sorted by their codes, and where those of each code begin.

    >>> [part.tolist() for part in rows_by_code(np.array([1, 0, 1], np.int32), 2)]
    [[1, 0, 2], [0, 1, 3]]
    """
    begins = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=size))]).astype(np.int64)
    members: Codes = rows_of_codes(codes, begins)
    return members, begins


class PredicateCounts:
    """Counts predicates in the published, the original or the control rows."""

    def __init__(self, columns: Sequence[AttackColumn], which: str) -> None:
        self._columns, self._which = columns, which
        self._codes = np.array([getattr(column, which) for column in columns], np.int32)
        sizes = [len(column.labels if which == "published" else column.values) for column in columns]
        lists = [rows_by_code(codes, size) for codes, size in zip(self._codes, sizes, strict=True)]
        self._members = np.array([members for members, _ in lists], np.int32)
        self._begins = [begins for _, begins in lists]

    def of(self, predicates: Sequence[Predicate], enough: int, told: Told = lambda: None) -> Counts:
        """Return the number of rows that satisfy each predicate; numbers above `enough` become `enough` + 1."""
        parts = [np.zeros(0, np.int64)]
        for start in range(0, len(predicates), AT_ONCE):
            parts.append(self._some(predicates[start : start + AT_ONCE], enough))
            told()
        return np.concatenate(parts)

    def _some(self, predicates: Sequence[Predicate], enough: int) -> Counts:
        listed = [one for predicate in predicates for one in predicate]
        places: dict[Condition, int] = {}
        for condition in listed:
            places.setdefault(condition, len(places))
        truths = [self._truth(condition) for condition in places]
        bits = [np.packbits(truth, bitorder="little") for truth in truths]
        numbers = [self._number(one.column, truth) for one, truth in zip(places, truths, strict=True)]
        offsets = np.cumsum([0, *map(len, bits[:-1])])
        of_listed = np.array([places[one] for one in listed], np.int64)
        counts: Counts = count_rows(
            np.cumsum([0, *map(len, predicates)]).astype(np.int64),
            np.array([one.column for one in listed], np.int64),
            offsets[of_listed].astype(np.int64),
            np.array(numbers, np.int64)[of_listed],
            np.concatenate(bits),
            self._codes,
            self._members,
            np.concatenate(self._begins),
            np.cumsum([0, *map(len, self._begins)]).astype(np.int64),
            enough,
        )
        return counts

    def _number(self, column: int, truth: npt.NDArray[np.bool_]) -> int:
        """Return the number of rows whose code satisfies a condition."""
        return int(np.diff(self._begins[column])[truth].sum())

    def _truth(self, condition: Condition) -> npt.NDArray[np.bool_]:
        """Return for each text of a column whether it satisfies a condition."""
        column = self._columns[condition.column]
        if condition.op != "=":
            assert column.numbers is not None
            limit = column.numbers[int(condition.guessed)][condition.label]
            numbers = column.numbers[0] if self._which == "published" else column.numbers[1]
            with np.errstate(invalid="ignore"):
                kept: npt.NDArray[np.bool_] = numbers >= limit if condition.op == ">=" else numbers <= limit
            return kept
        if condition.guessed or self._which == "published":
            texts = column.values if condition.guessed else column.labels
            one: npt.NDArray[np.bool_] = np.arange(len(texts)) == condition.label
            return one
        return column.condition(condition.label)


NAME = "singling-out"
COLUMNS_AT_ONCE = 3
# Number of random predicates tried for each one needed.
_TRIES = 10
# Predicates with more matching rows are unique in no sample.
_MOST_ROWS = 60
_OPS = ("=", ">=", "<=")


def single_out(
    rows: AttackRows, attempts: int, random: np.random.Generator, told: Told = lambda: None
) -> tuple[AttackResult, ...]:
    """Run the attacks by one and by several columns; those that use sensitive values are outside every guarantee.

    Args:
        told: Progress callback, called after each part of the work.
    """
    columns = rows.shown
    if not columns:
        return ()
    known = tuple(column for column in columns if column.name not in rows.promised)
    hunt = _Hunt(rows, columns, random, told)
    attacks = [hunt.attack(Message("note.attack_one"), _values_alone(columns, attempts, random))]
    if len(known) > 1:
        by_known = _Hunt(rows, known, random, told)
        attacks.append(by_known.attack(Message("note.attack_several"), by_known.drawn(attempts)))
    if len(known) < len(columns):
        whole = hunt.attack(Message("note.attack_known"), hunt.drawn(attempts))
        attacks.append(replace(whole, counted=False, remark=SENSITIVE_KNOWN))
    return tuple(attacks)


def _values_alone(columns: Sequence[AttackColumn], attempts: int, random: np.random.Generator) -> list[Predicate]:
    """Return values that occur in one published row, and extreme numbers of a single row."""
    predicates: list[Predicate] = []
    for place, column in enumerate(columns):
        counts = np.bincount(column.published, minlength=len(column.labels))
        alone = [label for label in np.flatnonzero(counts == 1).tolist() if _tells(column.labels[label])]
        predicates += [(Condition(place, label),) for label in alone]
        if column.numbers is not None and column.numbers[0].size:
            labels = np.where(counts > 0, column.numbers[0], np.nan)
            ends = (("<=", int(np.nanargmin(labels))), (">=", int(np.nanargmax(labels))))
            predicates += [(Condition(place, label, op),) for op, label in ends if counts[label] == 1]
    order = random.permutation(len(predicates))[:attempts]
    return [predicates[place] for place in order.tolist()]


def _tells(label: str | None) -> bool:
    return label is not None and bool(label.strip("*"))


def _directions(columns: Sequence[AttackColumn]) -> npt.NDArray[np.int64]:
    """Return for each column and published row which inequality points away from the median; 0 for none."""
    rows = []
    for column in columns:
        if column.numbers is None:
            rows.append(np.zeros(len(column.published), np.int64))
            continue
        numbers = column.numbers[0][column.published]
        above = np.where(numbers >= np.nanmedian(numbers), 1, 2)
        rows.append(np.where(np.isnan(numbers), 0, above))
    return np.stack(rows)


class _Hunt(Value, dict=True):
    """The attack with some columns."""

    rows: AttackRows
    columns: Sequence[AttackColumn]
    random: np.random.Generator
    told: Told

    @cached_property
    def _of_raw(self) -> PredicateCounts:
        return PredicateCounts(self.columns, "raw")

    def drawn(self, attempts: int) -> list[Predicate]:
        """Return combinations of values of a published row in some columns that no other published row has."""
        predicates = _predicates(self.columns, attempts * _TRIES, self.random)
        alone = PredicateCounts(self.columns, "published").of(predicates, 1, self.told) == 1
        return [predicates[place] for place in np.flatnonzero(alone).tolist()][:attempts]

    def attack(self, variant: Message, predicates: list[Predicate]) -> AttackResult:
        """Return the success of predicates on original rows, on control rows, and of the predicates of a guesser."""
        raw = self._of_raw.of(predicates, _MOST_ROWS, self.told)
        control = PredicateCounts(self.columns, "control").of(predicates, _MOST_ROWS, self.told)
        _, of_raw, of_control = self.rows.sizes
        hits = [predicates[place] for place in np.flatnonzero(raw == 1).tolist()]
        names = sorted({self.columns[one.column].name for predicate in hits for one in predicate})
        guesses = _guessed(self.columns, predicates, self.random)
        guessed = self._of_raw.of(guesses, 1, self.told)
        return AttackResult(
            NAME,
            variant,
            Rate(len(hits), len(predicates)),
            Rate(int((guessed == 1).sum()), len(guesses)),
            Rate(_at_size(raw, control, of_raw, of_control) * len(predicates), len(predicates)),
            details={"columns": names, "beyond": [name for name in names if name not in self.rows.quasi_identifiers]},
        )


def _predicates(columns: Sequence[AttackColumn], tries: int, random: np.random.Generator) -> list[Predicate]:
    """Return values of randomly drawn published rows in some columns."""
    size, number = min(COLUMNS_AT_ONCE, len(columns)), len(columns[0].published)
    rows = random.integers(number, size=tries)
    places = np.sort(random.random((tries, len(columns))).argpartition(size - 1, axis=1)[:, :size], axis=1)
    exact = random.random((tries, size)) < 0.5
    labels = np.stack([column.published for column in columns])[places, rows[:, None]]
    kinds = np.where(exact, 0, _directions(columns)[places, rows[:, None]])
    keys = np.concatenate([places, labels, kinds], axis=1)
    _, first = np.unique(keys, axis=0, return_index=True)
    return [
        tuple(Condition(place, label, _OPS[kind]) for place, label, kind in zip(*parts, strict=True))
        for parts in zip(*(part[np.sort(first)].tolist() for part in (places, labels, kinds)), strict=True)
    ]


def _at_size(raw: npt.NDArray[np.int64], control: npt.NDArray[np.int64], of_raw: int, of_control: int) -> float:
    """Return the success rate of a control as large as the original, from both rates at the smaller size."""
    if not len(raw):
        return 0.0
    size = min(of_raw, of_control)
    at_raw, at_control = _expected(raw, of_raw, size), _expected(control, of_control, size)
    whole = float((raw == 1).mean())
    growth = whole / at_raw if at_raw > 0 else 1.0
    return min(1.0, at_control * max(growth, 1.0))


def _expected(counts: npt.NDArray[np.int64], rows: int, size: int) -> float:
    """Return the expected share of predicates satisfied by exactly one of `size` rows, drawn from `rows`."""
    if size == rows:
        return float((counts == 1).mean())
    # Hypergeometric: c * C(rows - c, size - 1) / C(rows, size), as a product over the others that must be left out.
    share, least = size / rows, np.minimum(counts, _MOST_ROWS)
    chances = np.where(counts > 0, counts * share * (1 - share) ** (least - 1), 0.0)
    return float(np.where(counts > _MOST_ROWS, 0.0, chances).mean())


def _guessed(
    columns: Sequence[AttackColumn], predicates: Sequence[Predicate], random: np.random.Generator
) -> list[Predicate]:
    """Return predicates of the same form from a guesser who knows the domain of values but not the release."""
    rows = len(columns[0].control)
    if not rows:
        return []
    return [
        tuple(
            Condition(one.column, int(columns[one.column].control[random.integers(rows)]), one.op, guessed=True)
            for one in predicate
        )
        for predicate in predicates
    ]
