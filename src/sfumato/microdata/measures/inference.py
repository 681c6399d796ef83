"""Inference between columns: published columns that predict a quasi-identifier better than its label does.

The grade of a pupil nearly determines the year of birth. Published unchanged next to a birth year generalized to eight
years, it undoes the generalization: an attacker infers the grade from the birth year and distinguishes the rows of a
class by it. The value of each row is guessed as the most frequent one among *other* rows with the same label, once by
the label alone and once by the label and the further column; a column with a different value in every row predicts
nothing. The share of wrong guesses that the column removes is the lambda of Goodman and Kruskal (1954,
https://doi.org/10.1080/01621459.1954.10501231), with leave-one-out.

Height and weight of a person determine the body mass index; published unchanged, it undoes their generalization, and
two of the three reveal the third. Such pairs are found by numbers (how much of the variance a plane, a quadratic
surface or a product of powers leaves unexplained) and by guesses among other rows with the same two values. Functions
of three columns are not detected.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.types import canonical, numerals
from sfumato.microdata.counts.frequency_table import FrequencyTable, ValueCounts, values_of
from sfumato.microdata.models.equivalence_classes import Counts, Floats, Histogram
from sfumato.values import Value

Integers = npt.NDArray[np.int64]
# A column predicts a quasi-identifier if this share of guesses by it is correct, if it removes this share of the wrong
# guesses, and if that concerns this share of the rows.
RIGHT, LESS_WRONG, ROWS_MORE = 0.75, 0.6, 0.1
# Maximum range of keys that are counted in a direct table, as a multiple of their number.
_DENSE = 8


class InferenceRisk(Value):
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
    """Return whether a column may predict anything; a value that occurs in one row predicts nothing.

    Args:
        rows: Number of all rows.
        distinct: Number of distinct values of the column.
        kept: Number of published rows.

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
    """Return the start of each run of equal numbers."""
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return np.flatnonzero(first)


# A column is determined if at most this share of its variance is unexplained, and if two columns leave much less
# unexplained than the better of them alone.
OPEN, LESS_OPEN = 0.02, 0.2
# Minimum and maximum number of rows for fitting, and the maximum for guessing values: a report must not cost more than
# the release.
MOST_FITTED, LEAST_FITTED, MOST_GUESSED = 5_000, 60, 8_000
MOST_PAIRS = 45
_LEAST_NUMBERS = 5
_SHARE_OF_NUMBERS = 0.95
Positions = Sequence[Floats | None]


class PairInference(Value):
    """A published column and two quasi-identifiers, two of which nearly determine the third.

    Attributes:
        quasi_identifiers: Two of them, or one and another published column.
        share: The explained share of the variance of numbers, or of correctly guessed values.
    """

    column: str
    quasi_identifiers: tuple[str, str]
    share: float


class SensitivePairInference(Value):
    """Two published sensitive numeric columns that together nearly determine a quasi-identifier.

    Attributes:
        share: The explained share of the quasi-identifier's variance.
    """

    column: str
    beside: str
    quasi_identifier: str
    share: float


def pair_inferences(table: FrequencyTable, column: str, positions: Positions | None = None) -> list[PairInference]:
    """Return the pairs of quasi-identifiers that nearly determine a sensitive column, in decreasing order of accuracy.

    Args:
        positions: The numbers of the quasi-identifiers, if already computed.
    """
    rows = _Rows(table, column, positions_of(table) if positions is None else positions)
    pairs = list(combinations(range(len(table.columns)), 2))[:MOST_PAIRS]
    tells = [
        PairInference(column, (table.columns[first], table.columns[second]), share)
        for first, second in pairs
        if (share := rows.share(first, second)) is not None
    ]
    return sorted(tells, key=lambda tell: -tell.share)


def sensitive_pair_inferences(
    text_counts: ValueCounts, known: Sequence[str], private: Sequence[str], missing: Sequence[str] = ()
) -> list[SensitivePairInference]:
    """Return the pairs of sensitive columns that nearly determine a quasi-identifier, in decreasing order of accuracy.

    Args:
        text_counts: Value counts of all these columns together.
        known: The quasi-identifiers among them.
        private: Sensitive columns that are published as well.
        missing: Missing value codes.
    """
    numbers = dict(_columns_of_numbers(text_counts, missing))
    pairs = list(combinations((name for name in private if name in numbers), 2))[:MOST_PAIRS]
    tells = [
        SensitivePairInference(second, first, name, share)
        for first, second in pairs
        for name in known
        if name in numbers
        and (share := _computed(np.column_stack([numbers[name], numbers[first], numbers[second]]))) is not None
    ]
    return sorted(tells, key=lambda tell: -tell.share)


def _columns_of_numbers(text_counts: ValueCounts, missing: Sequence[str]) -> Iterator[tuple[str, Floats]]:
    """Yield the numeric columns, with their numbers in some combinations; NaN for missing ones."""
    step = max(len(text_counts.counts) // MOST_FITTED, 1)
    for name, texts, codes in zip(text_counts.columns, text_counts.values, text_counts.codes.T, strict=True):
        if (numbers := numbers_of(tuple(values_of(texts, missing)))) is not None:
            yield name, numbers[codes[::step]]


class _Rows:
    """The rows of a table with their values of a column, as codes and as numbers."""

    def __init__(self, table: FrequencyTable, column: str, positions: Positions) -> None:
        content = table.sensitive[column]
        self.table = table
        present = np.array([text is not None for text in table.sensitive_values[column]] or [False], bool)
        self.entries = np.flatnonzero(present[content.values] & (content.counts > 0))
        self.values = content.values[self.entries].astype(np.int64)
        self.counts = content.counts[self.entries]
        self.owners = content.owners[self.entries]
        self.numbers = numbers_of(table.sensitive_values[column])
        self.positions = positions
        self.step = max(len(self.entries) // MOST_FITTED, 1)

    def share(self, first: int, second: int) -> float | None:
        """Return how accurately two quasi-identifiers determine the column; None if they do not."""
        return self._fitted(first, second) or self._guessed(first, second)

    def _fitted(self, first: int, second: int) -> float | None:
        left, right = self.positions[first], self.positions[second]
        if self.numbers is None or left is None or right is None:
            return None
        owners = self.owners[:: self.step]
        points = np.column_stack(
            [
                self.numbers[self.values[:: self.step]],
                left[self.table.codes[owners, first]],
                right[self.table.codes[owners, second]],
            ]
        )
        return _computed(points)

    def _guessed(self, first: int, second: int) -> float | None:
        """Return the accuracy by repeating values: of the column by both others, or of the second by the others."""
        if len(self.entries) > MOST_GUESSED:
            return None
        left, right = (self.table.codes[self.owners, place].astype(np.int64) for place in (first, second))
        triples = ((left, right, self.values), (left, self.values, right), (right, self.values, left))
        shares = [self._guess(*triple) for triple in triples]
        return max((share for share in shares if share is not None), default=None)

    def _guess(self, first: Integers, second: Integers, third: Integers) -> float | None:
        """Return the share of rows whose third value the other two determine jointly; None if one alone suffices."""
        both = first * (int(second.max(initial=0)) + 1) + second
        right = correct_guesses(both, third, self.counts)
        if right < 1 - OPEN:
            return None
        alone = max(correct_guesses(first, third, self.counts), correct_guesses(second, third, self.counts))
        return right if 1 - right <= LESS_OPEN * (1 - alone) and alone < 1 - OPEN else None


def _computed(points: Floats) -> float | None:
    """Return how accurately two numeric columns determine the first of three; None if they do not."""
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) < LEAST_FITTED or len({*points[:, 0].tolist()}) < _LEAST_NUMBERS:
        return None
    return max((share for form in _forms(points) if (share := _explained(*form)) is not None), default=None)


def numbers_of(texts: tuple[str | None, ...]) -> Floats | None:
    """Return the numbers of texts, NaN for a few other texts; None if there are many."""
    present = [text for text in texts if text is not None]
    numbers = np.full(len(texts), np.nan)
    numbers[[text is not None for text in texts]] = numerals([form or "" for form in canonical(present, "amount")[0]])
    return numbers if np.isfinite(numbers).sum() >= max(_SHARE_OF_NUMBERS * len(present), 1) else None


def positions_of(table: FrequencyTable) -> Positions:
    """Return the numbers of each quasi-identifier's values; None for other columns."""
    ladders = table.ladders
    return [numbers_of(ladder.values) if ladder.numbers is None else ladder.numbers for ladder in ladders]


Form = tuple[Floats, npt.NDArray[np.float64], tuple[list[int], list[int]]]


def _forms(points: Floats) -> Iterator[Form]:
    """Yield the forms of functions that are fitted: the target, the terms, and the terms of each column alone."""
    target, left, right = _scaled(points).T
    terms = np.column_stack([np.ones_like(left), left, left**2, right, right**2, left * right])
    yield target, terms, ([0, 1, 2], [0, 3, 4])
    if (points > 0).all():
        target, left, right = _scaled(np.log(points)).T
        yield target, np.column_stack([np.ones_like(left), left, right]), ([0, 1], [0, 2])


def _scaled(points: Floats) -> Floats:
    spread = points.std(axis=0)
    scaled: Floats = (points - points.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return scaled


def _explained(target: Floats, terms: Floats, alone: tuple[list[int], list[int]]) -> float | None:
    """Return the proportion of the variance that both columns explain jointly, unless one explains it alone."""
    together = _open(target, terms)
    if together > OPEN:
        return None
    apart = min(_open(target, terms[:, places]) for places in alone)
    return 1 - together if together <= LESS_OPEN * apart else None


def _open(target: Floats, terms: Floats) -> float:
    """Return the share of the variance that the terms do not explain."""
    # There are few, scaled terms, so the normal equations, which cost a tenth, are accurate enough.
    weights = np.linalg.lstsq(terms.T @ terms, terms.T @ target, rcond=None)[0]
    return float(((target - terms @ weights) ** 2).sum() / max(float((target**2).sum()), 1e-12))
