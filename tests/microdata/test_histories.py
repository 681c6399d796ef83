"""Placing random persons with random histories: every group that is published, and every one that is gone, is large."""

import random
from collections import Counter

import pytest

from sfumato.microdata.histories import place


@pytest.mark.parametrize("seed", range(20))
def test_groups_stay_large_over_time(seed) -> None:
    draw, k = random.Random(seed), draw_k(seed)
    people = {f"p{number}": draw.randrange(4) for number in range(60)}
    histories: dict[str, tuple] = {}
    for month in range(8):
        placement = place(histories, people, lambda person: person, lambda group, _: len(group) >= k)
        everybody = {**histories, **dict.fromkeys(placement.placed)}
        histories = {
            person: (*histories.get(person, (None,) * month), people[person] if person in placement.placed else None)
            for person in everybody
        }
        assert min(Counter(histories.values()).values(), default=k) >= k
        for person in [person for person in people if draw.random() < 0.05]:
            del people[person]
        people |= {f"q{month}-{number}": draw.randrange(4) for number in range(draw.randrange(6))}
        people |= {person: draw.randrange(4) for person in people if draw.random() < 0.05}


def draw_k(seed: int) -> int:
    return 2 + seed % 4
