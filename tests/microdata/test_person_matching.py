"""Placing random persons with random histories: every group that is published, and every one that is gone, is large."""

import random
from collections import Counter

import pytest

from sfumato.microdata.sequential_releases import judge_histories, match_persons


@pytest.mark.parametrize("seed", range(20))
def test_groups_stay_large_over_time(seed) -> None:
    draw, k = random.Random(seed), draw_k(seed)
    people = {f"p{number}": draw.randrange(4) for number in range(60)}
    histories: dict[str, tuple] = {}
    for month in range(8):
        placement = match_persons(histories, people, lambda person: person, lambda group, *_: len(group) >= k)
        everybody = {**histories, **dict.fromkeys(placement.matched)}
        histories = {
            person: (*histories.get(person, (None,) * month), people[person] if person in placement.matched else None)
            for person in everybody
        }
        assert min(Counter(histories.values()).values(), default=k) >= k
        for person in [person for person in people if draw.random() < 0.05]:
            del people[person]
        people |= {f"q{month}-{number}": draw.randrange(4) for number in range(draw.randrange(6))}
        people |= {person: draw.randrange(4) for person in people if draw.random() < 0.05}


@pytest.mark.parametrize("seed", range(10))
def test_strands_of_persons_with_several_rows_stay_large_over_time(seed) -> None:
    draw, k = random.Random(seed), draw_k(seed)
    people = {f"p{number}": rows(draw) for number in range(120)}
    releases: list[dict[str, tuple]] = []
    for month in range(6):
        histories = {
            person: tuple(release.get(person) for release in releases) for release in releases for person in release
        }
        placement = match_persons(histories, people, lambda person: person, lambda group, *_: len(group) >= k)
        releases.append({person: people[person] for person in placement.matched})
        assert len(releases[0]) > 60 and judge_histories(releases, [{}] * len(releases), k).hold
        for person in [person for person in people if draw.random() < 0.05]:
            del people[person]
        people |= {f"q{month}-{number}": rows(draw) for number in range(draw.randrange(6))}
        people |= {person: rows(draw) for person in people if draw.random() < 0.03}


def rows(draw: random.Random) -> tuple:
    """One row, or now and then several, of classes of their own."""
    return tuple(sorted(f"c{draw.randrange(3)}" for _ in range(draw.choice([1, 1, 1, 2, 3]))))


def test_who_changes_alone_is_withheld_with_company_and_never_alone() -> None:
    histories = {f"p{number}": (("a",),) for number in range(9)} | {"twice": (("a", "a"),), "both": (("a", "b"),)}
    histories |= {f"q{number}": (("b",),) for number in range(5)}
    classes = {person: history[0] for person, history in histories.items()}
    keeps = lambda group, *_: len(group) >= 3  # noqa: E731
    assert not match_persons(histories, classes, str, keeps).suppressed_persons, (
        "who stays as published tells nothing new"
    )
    moved = match_persons(histories, classes | {"twice": ("a",)}, str, keeps)
    assert "twice" in moved.suppressed_persons and len(moved.suppressed_persons) == 3 and "both" in moved.matched
    spread = match_persons(histories, classes | {"both": ("b", "b")}, str, keeps)
    assert len(spread.suppressed_persons) == 5, "two of each class go with who stood in both"


def draw_k(seed: int) -> int:
    return 2 + seed % 4
