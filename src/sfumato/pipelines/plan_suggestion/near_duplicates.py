"""Redundant quasi-identifiers: columns that separate rows together hardly more than one of them alone.

Examples are a birth date and an age, a postcode and its town, an admission and a discharge. Generalizing one requires
generalizing the other. Both take one place among the few quasi-identifiers that a plan should have.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from sfumato.engines.engine import MissingRules
from sfumato.hierarchies.dates import read_moments
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.hierarchies.types import canonical, numerals
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.pipelines.plan_suggestion.counted_rows import RowCounter

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
# One column is a function of the other if pairs of rows that agree in the other agree in it, beyond chance. A minimum
# number of such pairs is needed. Numbers and dates are near duplicates if they are nearly linear in each other.
_AGREEMENT, _LEAST_PAIRS = 0.9, 30
_CORRELATION = 0.97
# Minimum average rows per value, because a column with many values determines everything by chance.
_ROWS_EACH = 5
# Above this number of rows, a sample is enough.
_MOST_ROWS = 50_000


def no_twins(_one: str, _other: str) -> bool:
    """Return False: columns are no near duplicates if they were not compared."""
    return False


def groups_of(names: Sequence[str], are_near_duplicates: Callable[[str, str], bool]) -> list[list[str]]:
    """Return the groups of near-duplicate columns, two or more each: a country, its code and its label.

    >>> groups_of(["age", "code", "country", "sex", "label"], lambda one, other: "c" in one and "l" in other)
    [['code', 'country', 'label']]
    """
    groups: list[list[str]] = []
    for name in names:
        near = [group for group in groups if any(are_near_duplicates(other, name) for other in group)]
        groups = [group for group in groups if group not in near] + [[*(one for group in near for one in group), name]]
    return [group for group in groups if len(group) > 1]


def near_duplicates_among(source: RowCounter, suggestions: Mapping[str, Suggestion]) -> Callable[[str, str], bool]:
    """Return a function that tests whether two quasi-identifiers are near duplicates, by rows counted once."""
    names = tuple(name for name, one in suggestions.items() if one.role == "quasi-identifier")
    if len(names) < 2:
        return no_twins
    counted = _one_spelling(_some(source.count(names, MissingRules())))
    places = {name: place for place, name in enumerate(names)}

    @cache
    def numbers(name: str) -> Floats | None:
        return _numbers(suggestions[name], counted.values[places[name]])

    @cache
    def are_near_duplicates(one: str, other: str) -> bool:
        if not {one, other} <= places.keys():
            return False
        first, second = counted.codes[:, places[one]], counted.codes[:, places[other]]
        mine, theirs = numbers(one), numbers(other)
        if mine is not None and theirs is not None and _correlated(mine[first], theirs[second], counted.counts):
            return True
        return _is_function(first, second, counted.counts)

    return are_near_duplicates


def _some(text_counts: ValueCounts) -> ValueCounts:
    """Return a sample of the counts if they are many."""
    step = max(len(text_counts.counts) // _MOST_ROWS, 1)
    codes, counts = text_counts.codes[::step], text_counts.counts[::step]
    return ValueCounts(text_counts.columns, text_counts.values, codes, counts, int(counts.sum()))


def _one_spelling(text_counts: ValueCounts) -> ValueCounts:
    """Return the counts with spellings merged that differ in case or white space, as towns often do."""
    values, codes = [], []
    for texts, column in zip(text_counts.values, text_counts.codes.T, strict=True):
        plain = [None if text is None else text.strip().casefold() for text in texts]
        places = {text: place for place, text in enumerate(dict.fromkeys(plain))}
        values.append(tuple(places))
        codes.append(np.array([places[text] for text in plain], np.int32)[column])
    table = np.column_stack(codes)
    return ValueCounts(text_counts.columns, tuple(values), table, text_counts.counts, text_counts.rows)


def _numbers(suggestion: Suggestion, texts: Iterable[str | None]) -> Floats | None:
    """Return the numbers or days that the texts of a column represent, NaN if missing; None for other columns."""
    plain = ["" if text is None else text.strip() for text in texts]
    hierarchy = suggestion.hierarchy or {}
    if hierarchy.get("type") == "date":
        moments = read_moments(plain, hierarchy["format"], hierarchy.get("latest_year"))
        return np.where(moments.valid, moments.ordinals, np.nan)
    if suggestion.type in ("integer", "decimal", "amount"):
        return numerals([text or "" for text in canonical(plain, suggestion.type)[0]])
    return None


def _correlated(one: Floats, other: Floats, counts: npt.NDArray[np.int64]) -> bool:
    fine = ~(np.isnan(one) | np.isnan(other))
    if counts[fine].sum() < _LEAST_PAIRS or not (np.ptp(one[fine]) and np.ptp(other[fine])):
        return False
    covariances = np.cov(one[fine], other[fine], fweights=counts[fine])
    return bool(abs(covariances[0, 1]) >= _CORRELATION * np.sqrt(covariances[0, 0] * covariances[1, 1]))


def _is_function(one: Codes, other: Codes, counts: npt.NDArray[np.int64]) -> bool:
    """Return whether one of two columns nearly determines the other."""
    width = int(other.max(initial=0)) + 1
    keys, owners = np.unique(one.astype(np.int64) * width + other, return_inverse=True)
    both, *each = (_pairs(codes, counts) for codes in (owners, one, other))
    rows = float(counts.sum())
    whole = rows * (rows - 1)
    if any(_agrees(both, mine, theirs / whole) for mine, theirs in (each, each[::-1])):
        return True
    sizes = np.bincount(owners.reshape(-1), weights=counts).astype(np.float64)
    sides = (keys // width, keys % width)
    return any(_most_agree(mine, theirs, sizes) for mine, theirs in (sides, sides[::-1]))


def _most_agree(one: Ints, other: Ints, counts: Floats) -> bool:
    """Return whether most rows have the most frequent value for their value, beyond chance; a few are typing errors."""
    several = np.count_nonzero(np.bincount(one)) * _ROWS_EACH <= counts.sum()
    return several and agreement(one, other, counts) >= _AGREEMENT


def agreement(one: Ints, other: Ints, counts: npt.NDArray[np.float64] | npt.NDArray[np.int64]) -> float:
    """Return how far a column determines another: the proportion of rows with the usual value, beyond chance.

    Args:
        one: The codes of the first column; each pair of codes occurs once.
        other: The codes of the second column.
        counts: The rows of each pair.
    """
    rows = float(counts.sum())
    chance = float(np.bincount(other, weights=counts).max()) / rows
    most = np.zeros(int(one.max(initial=0)) + 1)
    np.maximum.at(most, one, counts)
    return (float(most.sum()) / rows - chance) / (1 - chance) if chance < 1 else 0.0


def _agrees(both: float, mine: float, chance: float) -> bool:
    """Return whether rows that agree in one column agree in another, too, beyond chance."""
    return mine >= 2 * _LEAST_PAIRS and chance < _AGREEMENT and both / mine - chance >= _AGREEMENT * (1 - chance)


def _pairs(codes: npt.NDArray[np.integer], counts: npt.NDArray[np.int64]) -> float:
    """Return how many ordered pairs of rows share a code."""
    sizes = np.bincount(codes.reshape(-1), weights=counts)
    return float((sizes * (sizes - 1)).sum())
