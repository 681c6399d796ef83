"""Count the rows that satisfy predicates: rows are indexed by code, and each predicate scans its rarest code."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.microdata.attacks.attack_data import AttackColumn
from sfumato.microdata.attacks.dictionary_encoding import Codes
from sfumato.microdata.attacks.predicate_kernels import count_rows, rows_of_codes

# Batch size of predicates: conditions stay small in memory, and progress is reported regularly.
AT_ONCE = 250
Counts = npt.NDArray[np.int64]
Told = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Condition:
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
        """Return how many rows satisfy each predicate; numbers above `enough` are reported as `enough` + 1."""
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
        """Return how many rows have a code that satisfies a condition."""
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
