"""Count the persons behind the rows: persons in one combination add up over classes, others are listed one by one."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.spellings import plain_key
from sfumato.microdata.counts import row_kernels as person_kernels
from sfumato.microdata.counts.combinations import packing_of
from sfumato.microdata.counts.frequency_table import DROPPED, FrequencyTable, ValueCounts
from sfumato.microdata.models.equivalence_classes import Histogram, histogram
from sfumato.microdata.models.persons import PERSONS, counting_persons, persons_with
from sfumato.microdata.plan.model import Plan
from sfumato.values import Value, replace

Ints = npt.NDArray[np.int64]
# Mark for an entry of several persons, each with all its rows in one combination.
ADDED_UP = -1
# Maximum size of a direct table of all possible keys, as a multiple of the existing keys.
MOST_LISTED = 8


class PersonCount(Value):
    """The persons of combinations, optionally with their values of a sensitive column.

    Attributes:
        text_counts: The combinations; its counts are numbers of additive persons, else 1.
        persons: The number of each entry's person, or a mark for several additive ones.
        nameless: Whether some rows have no person key.
    """

    text_counts: ValueCounts
    persons: Ints
    nameless: bool = False


def by_plain_keys(text_counts: ValueCounts) -> ValueCounts:
    """Return value counts with normalized person keys in the last column; rows of one person are not merged."""
    plain = [None if name is None else plain_key(name) for name in text_counts.values[-1]]
    names = tuple(dict.fromkeys(plain))
    places = {name: place for place, name in enumerate(names)}
    codes = text_counts.codes.copy()
    codes[:, -1] = np.array([places[name] for name in plain] or [0], codes.dtype)[codes[:, -1]]
    return replace(text_counts, values=(*text_counts.values[:-1], names), codes=codes)


def all_persons(text_counts: ValueCounts, missing: Sequence[str] = ()) -> PersonCount:
    """Return the persons of value counts whose last column is the person key, none aggregated yet."""
    nameless = any(name is None or name in missing for name in text_counts.values[-1])
    return replace(of_plain_keys(by_plain_keys(text_counts)), nameless=nameless)


def of_plain_keys(text_counts: ValueCounts) -> PersonCount:
    """Return the persons of value counts whose last column is the normalized person key."""
    persons = text_counts.codes[:, -1].astype(np.int64)
    rest = ValueCounts(
        text_counts.columns[:-1],
        text_counts.values[:-1],
        text_counts.codes[:, :-1],
        np.ones(len(persons), np.int64),
        text_counts.rows,
    )
    return PersonCount(rest, persons)


def added_persons(text_counts: ValueCounts, nameless: bool) -> PersonCount:
    """Return the persons of value counts whose last column is the person key, empty for additive persons."""
    together = np.array([name is None for name in text_counts.values[-1]] or [True], bool)[text_counts.codes[:, -1]]
    persons = np.where(together, ADDED_UP, text_counts.codes[:, -1]).astype(np.int64)
    rest = ValueCounts(
        text_counts.columns[:-1],
        text_counts.values[:-1],
        text_counts.codes[:, :-1],
        text_counts.counts,
        text_counts.rows,
    )
    return PersonCount(rest, persons, nameless)


def person_histogram(owners: Ints, values: Ints, entries: PersonCount, classes: int, size: int) -> Histogram:
    """Return the persons of each class.

    Args:
        owners: The class of each entry, or DROPPED.
        values: The code of each entry's value, 0 if no values are counted.
        size: The number of distinct values.
    """
    added = (entries.persons == ADDED_UP) & (owners != DROPPED)
    single = (entries.persons != ADDED_UP) & (owners != DROPPED)
    many = int(entries.persons.max(initial=0)) + 1
    pairs, alone = _pairs(values[single] * many + entries.persons[single], owners[single])
    kept_owners, keys = pairs
    value = keys // many
    spread, codes = np.unique(keys[~alone], return_inverse=True)
    code = value.copy()
    code[~alone] = size + codes.reshape(-1)
    every_code = np.concatenate([values[added], code]).astype(np.int32)
    counts = np.concatenate([entries.text_counts.counts[added], np.ones(len(code), np.int64)])
    content = histogram(np.concatenate([owners[added], kept_owners]), every_code, counts, classes, size + len(spread))
    return replace(content, pair_values=(spread // many).astype(np.int32))


def _pairs(keys: Ints, owners: Ints) -> tuple[tuple[Ints, Ints], npt.NDArray[np.bool_]]:
    """Return each pair of class and key once, and whether its key occurs in that class only."""
    keys, owners = sorted_once(keys, owners)
    alone = np.ones(len(keys), bool)
    same = keys[1:] == keys[:-1]
    alone[1:] &= ~same
    alone[:-1] &= ~same
    return (owners, keys), alone


def sorted_once(keys: Ints, owners: Ints) -> tuple[Ints, Ints]:
    """Return each pair of a key and an owner once, by keys; packed into one number if possible, for speed."""
    size = int(owners.max(initial=0)) + 1
    if int(keys.max(initial=0)) < (1 << 62) // size:
        both = np.sort(keys * size + owners)
        first = np.ones(len(both), bool)
        first[1:] = both[1:] != both[:-1]
        pairs = np.divmod(both[first], size)
        return pairs[0], pairs[1]
    order = np.lexsort((owners, keys))
    keys, owners = keys[order], owners[order]
    first = np.ones(len(keys), bool)
    first[1:] = (keys[1:] != keys[:-1]) | (owners[1:] != owners[:-1])
    return keys[first], owners[first]


def combinations_of(table: FrequencyTable, text_counts: ValueCounts) -> Ints:
    """Return for each counted combination its index in a table, or DROPPED."""
    columns = []
    for name, coding in zip(table.columns, table.codings, strict=True):
        place = text_counts.columns.index(name)
        codes = np.array(
            [coding.places.get(text, DROPPED) for text in text_counts.values[place]] or [DROPPED], np.int32
        )
        columns.append(codes[text_counts.codes[:, place]])
    return places_among(np.column_stack(columns), table.codes, [ladder.size for ladder in table.ladders])


def places_among(codes: npt.NDArray[np.int32], combinations: npt.NDArray[np.int32], sizes: Sequence[int]) -> Ints:
    """Return for each row of codes the index of the equal row among distinct others, or DROPPED."""
    packing = packing_of([max(size, 1) for size in sizes])
    valid = (codes >= 0).all(axis=1)
    sought, keys = (_sortable(packing.pack(np.maximum(part, 0))) for part in (codes, combinations))
    if not len(keys):
        return np.full(len(codes), DROPPED, np.int64)
    if packing.words == 1 and int(max(keys.max(), sought.max(initial=0))) < MOST_LISTED * (len(keys) + len(sought)):
        return np.where(valid, _listed_places(sought, keys), DROPPED)
    order = np.argsort(keys)
    places = order[np.minimum(np.searchsorted(keys[order], sought), len(order) - 1)]
    return np.where(valid & (keys[places] == sought), places, DROPPED)


def _listed_places(sought: npt.NDArray[np.uint64], keys: npt.NDArray[np.uint64]) -> Ints:
    """Return the index of each key among others, by a direct table: much faster than a search for each."""
    listed = np.full(int(max(keys.max(), sought.max(initial=0))) + 1, DROPPED, np.int64)
    listed[keys] = np.arange(len(keys))
    return listed[sought]


def _sortable(keys: npt.NDArray[np.uint64]) -> Any:
    """Keys of several words as one sortable value each."""
    if len(keys) == 1:
        return keys[0]
    return np.ascontiguousarray(keys.T).view([(f"w{word}", np.uint64) for word in range(len(keys))]).reshape(-1)


def value_codes(text_counts: ValueCounts, name: str, codes: dict[str | None, int]) -> Ints:
    """Return the code of each entry's value of a column."""
    place = text_counts.columns.index(name)
    known = np.array([codes[text] for text in text_counts.values[place]] or [0], np.int64)
    return known[text_counts.codes[:, place]]


def with_persons(table: FrequencyTable, entries: Mapping[str | None, PersonCount]) -> FrequencyTable:
    """Return the table with the persons of its combinations.

    Args:
        entries: The persons of combinations, and by the name of a sensitive column those with each of its values.
    """
    contents = {}
    for name, entry in entries.items():
        owners = combinations_of(table, entry.text_counts)
        if name is None:
            content = person_histogram(owners, np.zeros(len(owners), np.int64), entry, len(table.counts), 1)
            contents[PERSONS] = replace(content, texts=(None,))
        else:
            texts = table.sensitive_values[name]
            values = value_codes(entry.text_counts, name, table.codes_of(name))
            content = person_histogram(owners, values, entry, len(table.counts), max(len(texts), 1))
            contents[persons_with(name)] = replace(content, texts=texts)
    return replace(table, persons=contents)


def person_view(plan: Plan, table: FrequencyTable) -> tuple[Plan, FrequencyTable]:
    """Return plan and table for evaluating classes: models count persons, and grouping aggregates persons."""
    if not table.persons:
        return plan, table
    contents = {name: content for name, content in table.persons.items() if name == PERSONS or name in _wanted(table)}
    return (
        replace(plan, privacy=counting_persons(plan.privacy)),
        replace(table, sensitive={**table.sensitive, **contents}, persons=contents),
    )


def _wanted(table: FrequencyTable) -> set[str]:
    return {persons_with(name) for name in table.sensitive}


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
        combinations: The packed codes of each row.
        persons: The number of each row's person.
        value_bits: Bits of a sensitive value's code in these; pairs of value and person are then additive.

    Returns:
        For each entry the combination, the person (or a mark for several additive ones), and their number.
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
