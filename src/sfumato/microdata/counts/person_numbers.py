"""Number the persons of rows in memory, and find those whose rows all have one combination."""

import numpy as np
import numpy.typing as npt

from sfumato.microdata.counts import person_kernels
from sfumato.microdata.counts.persons import ADDED_UP, Ints, sorted_once

Words = npt.NDArray[np.uint64]
FIRST_SLOTS = 1 << 12


def number_keys(keys: Words) -> tuple[npt.NDArray[np.int32], Words]:
    """Return the number of each row's key, in order of occurrence, and the distinct keys.

    >>> [part.tolist() for part in number_keys(np.array([7, 9, 7], np.uint64))]
    [[0, 1, 0], [7, 9]]
    """
    numbers, distinct = np.empty(len(keys), np.int32), np.empty(len(keys), np.uint64)
    row, many, slots = 0, 0, FIRST_SLOTS
    while row < len(keys):
        table = np.full(slots, -1, np.int32)
        # Known keys are moved to a larger table and keep their numbers.
        known = distinct[:many].copy()
        person_kernels.number(known, 0, 0, table, distinct, np.empty(many, np.int32))
        row, many = person_kernels.number(keys, row, many, table, distinct, numbers)
        slots *= 4
    return numbers, distinct[:many]


def persons_of_rows(
    combinations: Words, persons: npt.NDArray[np.int32], value_bits: int = 0
) -> tuple[Words, Ints, Ints]:
    """Return combinations with the number of additive persons, and one entry per other person, by number.

    Args:
        combinations: The packed codes of each row; persons: the number of its person.
        value_bits: Bits of a sensitive value's code in these; pairs of value and person are then additive.

    Returns:
        For each entry the combination, the person (or a mark for several additive ones), and how many.
    """
    if value_bits:
        persons = _with_values(combinations & np.uint64(value_bits), persons)
    low = np.full(int(persons.max(initial=-1)) + 1, np.iinfo(np.uint64).max, np.uint64)
    high = np.zeros(len(low), np.uint64)
    np.minimum.at(low, persons, combinations)
    np.maximum.at(high, persons, combinations)
    added, counts = np.unique(low[low == high], return_counts=True)
    spread = (low < high)[persons]
    # One number per combination, so that a pair of it and a person is a small number, too.
    places, named = number_keys(combinations[spread])
    owners, singles = sorted_once(persons[spread].astype(np.int64), places.astype(np.int64))
    everyone = np.concatenate([np.full(len(added), ADDED_UP, np.int64), owners])
    return np.concatenate([added, named[singles]]), everyone, np.concatenate([counts, np.ones(len(owners), np.int64)])


def _with_values(values: Words, persons: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Number the pairs of a value and a person."""
    codes, distinct = number_keys(values)
    return number_keys(persons.astype(np.uint64) * np.uint64(len(distinct)) + codes.astype(np.uint64))[0]
