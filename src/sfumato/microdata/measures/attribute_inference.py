"""Inference between columns: published columns that predict a quasi-identifier better than its published label does.

The grade of a pupil nearly determines the year of birth. Published unchanged next to a birth year generalized to eight
years, it undoes the generalization: an attacker infers the grade from the birth year and distinguishes the rows of a
class by it. The measure uses guesses: the value of each row is guessed as the most frequent one among *other* rows with
the same label, once by the label alone and once by the label and the further column. A row does not help to guess
itself, so a column with a different value in every row predicts nothing. The share of wrong guesses that the column
removes is the lambda of Goodman and Kruskal (1954, https://doi.org/10.1080/01621459.1954.10501231), with leave-one-out.

Pairs of columns that determine a quasi-identifier only together are found in `joint_telling`.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.models.equivalence_classes import Counts, Histogram

Integers = npt.NDArray[np.int64]
# A column predicts a quasi-identifier if this share of guesses by it is correct, if it removes this share of the wrong
# guesses, and if that concerns this share of the rows.
RIGHT, LESS_WRONG, ROWS_MORE = 0.75, 0.6, 0.1
# Maximum range of keys that are counted in a direct table, as a multiple of their number.
_DENSE = 8


@dataclass(frozen=True, slots=True)
class InferenceRisk:
    """A published column that predicts a quasi-identifier.

    Attributes:
        level: The finest level of the quasi-identifier that it predicts.
        guessed_by_label: The share of rows whose value at that level is guessed correctly by the published label alone.
        guessed_with_column: The same share with the column known, too.
    """

    column: str
    quasi_identifier: str
    level: int
    guessed_by_label: float
    guessed_with_column: float


def may_infer(rows: int, distinct: int, kept: int) -> bool:
    """Return whether a column may predict anything: nothing can be predicted for rows with a value of their own.

    Args:
        rows: All rows; distinct: values of the column among them; kept: rows that are published.

    >>> may_infer(100, 40, 100), may_infer(100, 90, 100)
    (True, False)
    """
    return 2 * (rows - distinct) >= RIGHT * kept


def inference_risks(
    table: FrequencyTable, column: str, labels: Integers | None = None, kept: Counts | None = None
) -> list[InferenceRisk]:
    """Return the quasi-identifiers that a sensitive column of a table predicts.

    Args:
        labels: For each combination and quasi-identifier the code of its published label; None if nothing is
            published yet.
        kept: For each combination 1 where it is published, else 0.
    """
    content = table.sensitive[column]
    weights = content.counts if kept is None else content.counts * kept[content.owners]
    return [
        tell
        for place in range(len(table.columns))
        if (tell := _tell(table, place, column, content, weights, None if labels is None else labels[:, place]))
    ]


def _tell(
    table: FrequencyTable, place: int, column: str, content: Histogram, weights: Counts, labels: Integers | None
) -> InferenceRisk | None:
    """Return the finest level of a quasi-identifier that a column predicts, if any."""
    ladder, owners = table.ladders[place], content.owners
    raw = table.codes[owners, place].astype(np.int64)
    label = np.zeros(len(raw), np.int64) if labels is None else labels[owners].astype(np.int64) + 1
    # Equal rows are merged once for all levels.
    label, value, raw, rows = _together(label, content.values.astype(np.int64), raw, weights)
    both = label * max(content.size, 1) + value
    for level, by_label, with_column in _shares(ladder.codes[:-1], label, both, raw, rows):
        if with_column >= RIGHT and with_column - by_label >= max(LESS_WRONG * (1 - by_label), ROWS_MORE):
            return InferenceRisk(column, table.columns[place], level, by_label, with_column)
    return None


def _together(label: Integers, value: Integers, raw: Integers, rows: Counts) -> tuple[Integers, ...]:
    sizes = int(value.max(initial=0)) + 1, int(raw.max(initial=0)) + 1
    keys, added = _added((label * sizes[0] + value) * sizes[1] + raw, rows)
    rest, raw = np.divmod(keys, sizes[1])
    label, value = np.divmod(rest, sizes[0])
    return label, value, raw, added


def _shares(
    levels: tuple[npt.NDArray[np.int32], ...], label: Integers, both: Integers, raw: Integers, rows: Counts
) -> Iterator[tuple[int, float, float]]:
    """Yield for each level the share of correct guesses by the label, and by label and column together."""
    for level, codes in enumerate(levels):
        values = codes[raw].astype(np.int64)
        yield level, correct_guesses(label, values, rows), correct_guesses(both, values, rows)


def correct_guesses(groups: Integers, values: Integers, rows: Counts) -> float:
    """Return the share of rows with the most frequent value of the other rows of their group; a tie is half a guess.

    >>> ones = np.ones(4, np.int64)
    >>> correct_guesses(np.array([0, 0, 0, 1]), np.array([7, 7, 7, 8]), ones)
    0.75
    """
    total = int(rows.sum())
    if not total:
        return 0.0
    size = int(values.max()) + 1
    keys, counts = _added(groups * size + values, rows)
    starts = _starts(keys // size)
    most = np.maximum.reduceat(counts, starts)
    at_most = np.flatnonzero(counts == np.repeat(most, np.diff(np.append(starts, len(keys)))))
    group = np.searchsorted(starts, at_most, side="right") - 1
    counts[at_most[_starts(group)]] = 0
    second = np.maximum.reduceat(counts, starts)
    certain = most - 1 > second
    tied = (most - 1 == second) & (second > 0)
    return float((most * certain).sum() + (most * tied).sum() / 2) / total


def _added(keys: Integers, rows: Counts) -> tuple[Integers, Counts]:
    """Return the distinct keys, ascending, and the rows of each."""
    if int(keys.max(initial=0)) < _DENSE * len(keys):
        # Dense numbers are counted in a direct table, which sorts them as well.
        present = np.flatnonzero(np.bincount(keys))
        return present, np.bincount(keys, weights=rows)[present].astype(np.int64)
    order = np.argsort(keys)
    ordered = keys[order]
    starts = _starts(ordered)
    return ordered[starts], np.add.reduceat(rows[order], starts)


def _starts(ordered: Integers) -> npt.NDArray[np.intp]:
    """Where runs of equal numbers begin."""
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return np.flatnonzero(first)
