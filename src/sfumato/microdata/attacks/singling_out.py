"""Singling out: predicates on published columns that hold for exactly one raw person.

A predicate comes from the release: a value that stands in one published row, or a few values of one row that no other
has. It succeeds when exactly one raw row fulfils it. The control counts rows that were never published in place of the
raw ones; since being alone depends on how many rows there are, both are compared at the size of the smaller, and the
control's rate is scaled as that of the raw rows changes with the size. Giomi et al. (2023); Cohen & Nissim (2020),
https://doi.org/10.1073/pnas.1914598117.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.microdata.attacks.outcome import SENSITIVE_KNOWN, Attack, Rate
from sfumato.microdata.attacks.predicate_kernels import count_rows
from sfumato.microdata.attacks.rows import AttackColumn, AttackRows

NAME = "singling-out"
COLUMNS_AT_ONCE = 3
# So many random predicates are tried for each that is wanted.
_TRIES = 10
_ENOUGH = 1 << 30
_OPS = ("=", ">=", "<=")


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a column: equal to a published label, or a number not below (or not above) it.

    A guesser has no labels: his conditions are about a value that others have (`guessed`).
    """

    column: int
    label: int
    op: str = "="
    guessed: bool = False


Predicate = tuple[Condition, ...]


def single_out(rows: AttackRows, attempts: int, random: np.random.Generator) -> tuple[Attack, ...]:
    """The attacks by one column and by several; by sensitive values beside others, as what no promise is about."""
    columns = rows.shown
    if not columns:
        return ()
    known = tuple(column for column in columns if column.name not in rows.promised)
    attacks = [_attack(rows, columns, "one column", _values_alone(columns, attempts, random), random)]
    if len(known) > 1:
        attacks.append(_attack(rows, known, "several columns", _drawn(known, attempts, random), random))
    if len(known) < len(columns):
        whole = _attack(
            rows, columns, "several columns, sensitive values known too", _drawn(columns, attempts, random), random
        )
        attacks.append(replace(whole, counted=False, remark=SENSITIVE_KNOWN))
    return tuple(attacks)


def _values_alone(columns: Sequence[AttackColumn], attempts: int, random: np.random.Generator) -> list[Predicate]:
    """Values that stand in one published row, and the least and the greatest number where one row has it."""
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


def _drawn(columns: Sequence[AttackColumn], attempts: int, random: np.random.Generator) -> list[Predicate]:
    """Values of a published row in some columns, which no other published row has."""
    size, number, tries = min(COLUMNS_AT_ONCE, len(columns)), len(columns[0].published), attempts * _TRIES
    rows = random.integers(number, size=tries)
    places = np.sort(random.random((tries, len(columns))).argpartition(size - 1, axis=1)[:, :size], axis=1)
    exact = random.random((tries, size)) < 0.5
    labels = np.stack([column.published for column in columns])[places, rows[:, None]]
    kinds = np.where(exact, 0, _directions(columns)[places, rows[:, None]])
    keys = np.concatenate([places, labels, kinds], axis=1)
    _, first = np.unique(keys, axis=0, return_index=True)
    predicates = [
        tuple(Condition(place, label, _OPS[kind]) for place, label, kind in zip(*parts, strict=True))
        for parts in zip(*(part[np.sort(first)].tolist() for part in (places, labels, kinds)), strict=True)
    ]
    alone = _count(columns, predicates, "published") == 1
    return [predicates[place] for place in np.flatnonzero(alone).tolist()][:attempts]


def _directions(columns: Sequence[AttackColumn]) -> npt.NDArray[np.int64]:
    """For each column and published row, which condition on a number goes away from the middle; 0 where none does."""
    rows = []
    for column in columns:
        if column.numbers is None:
            rows.append(np.zeros(len(column.published), np.int64))
            continue
        numbers = column.numbers[0][column.published]
        above = np.where(numbers >= np.nanmedian(numbers), 1, 2)
        rows.append(np.where(np.isnan(numbers), 0, above))
    return np.stack(rows)


def _attack(
    rows: AttackRows,
    columns: Sequence[AttackColumn],
    variant: str,
    predicates: list[Predicate],
    random: np.random.Generator,
) -> Attack:
    raw, control = _count(columns, predicates, "raw"), _count(columns, predicates, "control")
    _, of_raw, of_control = rows.sizes
    rate = Rate(int((raw == 1).sum()), len(predicates))
    names = sorted(
        {
            columns[one.column].name
            for predicate, hit in zip(predicates, raw == 1, strict=True)
            if hit
            for one in predicate
        }
    )
    guesses = _guessed(columns, predicates, random)
    guessed = _count(columns, guesses, "raw")
    return Attack(
        NAME,
        variant,
        rate,
        Rate(int((guessed == 1).sum()), len(guesses)),
        Rate(_at_size(raw, control, of_raw, of_control) * len(predicates), len(predicates)),
        details={"columns": names, "beyond": [name for name in names if name not in rows.quasi_identifiers]},
    )


def _at_size(raw: npt.NDArray[np.int64], control: npt.NDArray[np.int64], of_raw: int, of_control: int) -> float:
    """How often a control of as many rows as the raw ones would be hit, by what both do at the smaller size."""
    if not len(raw):
        return 0.0
    size = min(of_raw, of_control)
    at_raw, at_control = _expected(raw, of_raw, size), _expected(control, of_control, size)
    whole = float((raw == 1).mean())
    growth = whole / at_raw if at_raw > 0 else 1.0
    return min(1.0, at_control * max(growth, 1.0))


def _expected(counts: npt.NDArray[np.int64], rows: int, size: int) -> float:
    """The share of predicates that hold for one row of `size`, drawn from `rows` of which so many fulfil each."""
    if size == rows:
        return float((counts == 1).mean())
    # Hypergeometric: c * C(rows - c, size - 1) / C(rows, size), as a product over the others that must be left out.
    share, least = size / rows, np.minimum(counts, 60)
    chances = np.where(counts > 0, counts * share * (1 - share) ** (least - 1), 0.0)
    return float(np.where(counts > 60, 0.0, chances).mean())


def _guessed(
    columns: Sequence[AttackColumn], predicates: Sequence[Predicate], random: np.random.Generator
) -> list[Predicate]:
    """Predicates of the same form by who knows what values there are, but not the release: those of others."""
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


def _count(columns: Sequence[AttackColumn], predicates: Sequence[Predicate], which: str) -> npt.NDArray[np.int64]:
    """How many rows of a kind fulfil each predicate."""
    if not predicates:
        return np.zeros(0, np.int64)
    offsets: dict[Condition, int] = {}
    parts, at = [], 0
    for condition in {one for predicate in predicates for one in predicate}:
        truth = _truth(columns[condition.column], condition, which)
        offsets[condition] = at
        parts.append(truth)
        at += len(truth)
    starts = np.concatenate([[0], np.cumsum([len(predicate) for predicate in predicates])]).astype(np.int64)
    listed = [one for predicate in predicates for one in predicate]
    codes = np.array([getattr(column, which) for column in columns], np.int32)
    counts: npt.NDArray[np.int64] = count_rows(
        starts,
        np.array([one.column for one in listed], np.int64),
        np.array([offsets[one] for one in listed], np.int64),
        np.concatenate(parts),
        codes,
        _ENOUGH,
    )
    return counts


def _truth(column: AttackColumn, condition: Condition, which: str) -> npt.NDArray[np.bool_]:
    """For each text of a column, whether it fulfils a condition."""
    if condition.op != "=":
        assert column.numbers is not None
        limit = column.numbers[int(condition.guessed)][condition.label]
        numbers = column.numbers[0] if which == "published" else column.numbers[1]
        with np.errstate(invalid="ignore"):
            kept: npt.NDArray[np.bool_] = numbers >= limit if condition.op == ">=" else numbers <= limit
        return kept
    if condition.guessed or which == "published":
        texts = column.values if condition.guessed else column.labels
        one: npt.NDArray[np.bool_] = np.arange(len(texts)) == condition.label
        return one
    return column.condition(condition.label)
