"""Detect integers that are category codes, which must not be put into intervals, and codes for missing quantities."""

from collections.abc import Collection

import numpy as np

from sfumato.hierarchies.role_detection.lexicon.concepts import WORDS
from sfumato.hierarchies.role_detection.lexicon.name_terms import words_of
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.robust_intervals import NumberDistribution

# Maximum number of codes that are recognized by a gap, and by a name.
_FEW_CODES, _MANY_CODES = 12, 100
# Category codes are small; a gap counts only if this proportion of rows follows it.
_LARGEST, _SOME = 20, 0.02
_NO_ANSWERS = frozenset(
    (*range(-9, 0), 8, 9, *range(-99, -95), 88, *range(95, 100), 888, *range(995, 1000), 9999, -999)
)
# For these concepts, numbers are codes of a list, whatever their size.
LISTS = frozenset(("sex", "nationality", "religion", "politics", "origin", "union"))


def are_codes(profile: Profile, spread: NumberDistribution, concepts: Collection[str]) -> bool:
    """Return whether integers are category codes: by the name, or by codes for "no answer" among a few others.

    >>> sexes = Profile("sex_of_driver", {"1": 60, "2": 35, "-1": 5}, rows=100)
    >>> are_codes(sexes, NumberDistribution(np.array([-1.0, 1, 2]), np.array([5.0, 60, 35])), ["sex"])
    True
    """
    words = {*words_of(profile.name)}
    if not profile.few and len(spread.numbers) > _FEW_CODES:
        return bool(words & WORDS["category"]) and len(spread.numbers) <= _MANY_CODES and not words & WORDS["quantity"]
    if words & WORDS["quantity"] or "age" in concepts:
        return False
    listed = bool(words & WORDS["category"]) or bool({*list(concepts)[:1]} & LISTS)
    return listed or (len(spread.numbers) <= _FEW_CODES and (_has_no_answer(spread) or _has_gap(spread)))


def _has_no_answer(spread: NumberDistribution) -> bool:
    """Return whether a code for "no answer" is separate from others that count from 0 or 1."""
    rest = without_no_answers(spread)
    apart = len(rest.numbers) < len(spread.numbers)
    return apart and rest.numbers[0] in (0, 1) and rest.numbers[-1] == rest.numbers[0] + len(rest.numbers) - 1


def _has_gap(spread: NumberDistribution) -> bool:
    """Return whether small numbers from 1 on have a gap followed by frequent ones."""
    numbers = spread.numbers
    gaps = np.flatnonzero(np.diff(numbers) > 1)
    if numbers[0] != 1 or numbers[-1] > _LARGEST or not gaps.size or len({*np.diff(numbers)}) == 1:
        return False
    return bool((spread.rows[gaps[0] + 1 :] >= _SOME * spread.rows.sum()).all())


def without_no_answers(spread: NumberDistribution) -> NumberDistribution:
    """Return the numbers without codes for "no answer": the only negative ones, or far above all others.

    >>> without_no_answers(NumberDistribution(np.array([-1.0, 0, 1, 2, 3, 99]), np.ones(6))).numbers.tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    numbers = spread.numbers
    usual = np.array([number in _NO_ANSWERS for number in numbers])
    below = numbers < 0
    codes = below if usual[below].all() else np.zeros(len(numbers), bool)
    if (numbers[~codes] < 0).any() or not (~codes).any():
        return spread
    codes = codes | _far_beyond(numbers, usual)
    return NumberDistribution(numbers[~codes], spread.rows[~codes]) if (~codes).sum() >= 2 else spread


def _far_beyond(
    numbers: np.ndarray[tuple[int], np.dtype[np.float64]], usual: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which usual codes follow a gap that is wider than all numbers before it."""
    first = len(numbers)
    while first > 2 and usual[first - 1] and numbers[first - 1] > 0:
        first -= 1
    starts = (
        place for place in range(first, len(numbers)) if numbers[place] - numbers[place - 1] > _gap(numbers[:place])
    )
    start = next(starts, len(numbers))
    return np.arange(len(numbers)) >= start


def _gap(others: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Return how far a code must exceed others: their range, and more than one unit."""
    return max(float(others[-1] - max(others[0], 0)), 1.0)
