"""Persons of combinations: where each stands, whatever way the places are found."""

from collections import Counter

import numpy as np
import pytest

from sfumato.microdata.counts.frequency_table import DROPPED, ValueCounts
from sfumato.microdata.counts.persons import ADDED_UP, PersonCount, person_histogram, places_among
from sfumato.microdata.models.persons import persons_in


@pytest.mark.parametrize("sizes", [[4, 3], [2**20, 2**20], [2**31 - 1] * 3])
def test_places_are_found_in_lists_and_by_search(sizes) -> None:
    combinations = np.array([[0, 1, 2], [3, 2, 0], [1, 0, 1]], np.int32)[:, : len(sizes)]
    sought = np.concatenate([combinations[::-1], combinations[:1] + 1, np.full((1, len(sizes)), DROPPED)])
    known = {tuple(row): place for place, row in enumerate(combinations.tolist())}
    expected = [known.get(tuple(row), DROPPED) for row in sought.tolist()]
    assert places_among(sought.astype(np.int32), combinations, sizes).tolist() == expected


@pytest.mark.parametrize("first_number", [0, 1 << 60])
def test_a_person_counts_once_in_each_class(first_number) -> None:
    random = np.random.default_rng(2)
    owners, persons = random.integers(DROPPED, 8, 300), random.integers(0, 40, 300)
    entries = PersonCount(
        ValueCounts((), (), np.zeros((300, 0), np.int32), np.ones(300, np.int64), 300), persons + first_number
    )
    content = person_histogram(owners, np.zeros(300, np.int64), entries, 8, 1)
    by_hand = Counter(owner for owner, _ in set(zip(owners.tolist(), persons.tolist(), strict=True)))
    assert persons_in(content).tolist() == [by_hand[owner] for owner in range(8)]
    assert not (entries.persons == ADDED_UP).any()
