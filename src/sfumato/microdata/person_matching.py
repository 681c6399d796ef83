"""Person matching over releases: choose whom to publish so that comparing with earlier releases isolates no one.

Groups of persons who share history and class must satisfy the privacy models, and so must the persons who shared a
history and are no longer in the data. This is the idea of m-invariance (Xiao & Tao 2007,
https://doi.org/10.1145/1247480.1247556) without invented rows: a person who cannot be matched is suppressed. A person
with several history branches is published in all or in none.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence

from sfumato.dataclass import dataclass
from sfumato.microdata.release_histories import History, history_branches

# Whether persons satisfy the models with rows of a class: now, or (False) as last published.
Keeps = Callable[[Sequence[str], Hashable, bool], bool]
# The branch of a person before, and with the current rows; None if nothing of them is published.
Step = tuple[History, History | None]


@dataclass(frozen=True, slots=True)
class PersonMatching:
    """The result of the matching: the persons who are published, and those who are present but suppressed."""

    matched: frozenset[str]
    suppressed_persons: frozenset[str]


def match_persons(
    histories: Mapping[str, History], classes: Mapping[str, Hashable], order: Callable[[str], str], keeps: Keeps
) -> PersonMatching:
    """Decide which persons are published.

    Args:
        histories: Of every person in an earlier release; classes: current classes of all persons present.
        order: Order in which persons are suppressed to protect others; it must be unpredictable.

    >>> placement = match_persons({"a": (1,), "b": (1,), "c": (1,), "d": (1,)}, {"a": 1, "b": 1, "c": 1}, str,
    ...                   lambda group, state, now: len(group) >= 2)
    >>> sorted(placement.matched), sorted(placement.suppressed_persons)
    (['b', 'c'], ['a'])
    """
    length = len(next(iter(histories.values()), ()))
    steps = {
        person: _steps(histories.get(person, (None,) * length), classes.get(person))
        for person in {**histories, **classes}
    }
    several = {person for person, entries in steps.items() if len(entries) > 1 and person in classes}
    while True:
        placed = _placed(steps, several, order, keeps)
        torn = {person for person in several if placed.get(person, 0) < len(steps[person])}
        if not torn:
            everybody = frozenset(placed)
            return PersonMatching(everybody, frozenset(classes) - everybody)
        several -= torn
        steps |= {person: [(before, None) for before, _ in steps[person]] for person in torn}


def _steps(before: History, now: Hashable) -> list[Step]:
    """Return the branches of a person before, each with its continuation."""
    earlier = history_branches(before)
    if now is None:
        return [(strand, None) for strand in earlier]
    later = history_branches((*before, now))
    if all(state is None for state in before):
        return [(before, strand) for strand in later]
    if len(later) != len(earlier):
        later = later * len(earlier)
    return list(zip(earlier, later, strict=True))


def _placed(
    steps: Mapping[str, Sequence[Step]], several: set[str], order: Callable[[str], str], keeps: Keeps
) -> dict[str, int]:
    """Return in how many of their branches persons are published."""
    cohorts: dict[History, dict[History | None, list[str]]] = {}
    for person, entries in steps.items():
        for before, now in entries:
            cohorts.setdefault(before, {}).setdefault(now, []).append(person)
    numbers: dict[str, int] = {}
    for before, members in cohorts.items():
        for group in _cohort(before, members, lambda person: (person in several, order(person)), keeps):
            for person in group.persons:
                numbers[person] = numbers.get(person, 0) + 1
    return numbers


@dataclass(frozen=True, slots=True)
class _Group:
    """Persons who share history and class."""

    state: Hashable
    persons: list[str]


def _cohort(
    before: History,
    members: Mapping[History | None, list[str]],
    order: Callable[[str], tuple[bool, str]],
    keeps: Keeps,
) -> list[_Group]:
    """Return the groups of one history that can be published such that its missing persons are enough, too."""
    groups = [
        _Group(now[-1], sorted(persons, key=order))
        for now, persons in members.items()
        if now is not None and keeps(persons, now[-1], True)
    ]
    last = next((state for state in reversed(before) if state is not None), None)
    if last is None:
        return groups
    staying = {person for group in groups for person in group.persons}
    gone = [person for persons in members.values() for person in persons if person not in staying]
    groups.sort(key=lambda group: len(group.persons))
    while gone and groups and not keeps(gone, last, False):
        groups, gone = _with_company(groups, gone, last, keeps)
    return groups


def _with_company(
    groups: list[_Group], gone: list[str], last: Hashable, keeps: Keeps
) -> tuple[list[_Group], list[str]]:
    """Return the groups after moving some persons of the largest to the missing ones; all of it if that fails."""
    *others, largest = groups
    persons = largest.persons
    for number in range(1, len(persons)):
        company, rest = persons[:number], persons[number:]
        if keeps([*gone, *company], last, False):
            if not keeps(rest, largest.state, True):
                break
            left = [*others, _Group(largest.state, rest)]
            return sorted(left, key=lambda group: len(group.persons)), [*gone, *company]
    return others, [*gone, *persons]
