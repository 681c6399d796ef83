"""Placing persons beside their histories: who is published, so that no comparison with earlier releases isolates one.

The history of a person is the class of the person's rows in each earlier release, or none. Persons who share their
history and stand in the same class now can be told apart by no comparison of releases: such groups must keep the
promises of a class, and so must those who shared a history and are no longer there. That is the idea of m-invariance
(Xiao & Tao 2007, https://doi.org/10.1145/1247480.1247556) without invented rows: who cannot be placed is withheld.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

History = tuple[Hashable, ...]
# Whether a group of persons keeps the promises: now, or (False) as they were when they were last published.
Keeps = Callable[[Sequence[str], bool], bool]


@dataclass(frozen=True, slots=True)
class Placement:
    """Who is published.

    Attributes:
        placed: The persons who are; withheld: those who are there and cannot be.
        groups: How many groups of persons share history and class; smallest: the persons of the smallest.
    """

    placed: frozenset[str]
    withheld: frozenset[str]
    groups: int
    smallest: int


def place(
    histories: Mapping[str, History], classes: Mapping[str, Hashable], order: Callable[[str], str], keeps: Keeps
) -> Placement:
    """Decide who is published.

    Args:
        histories: Of everybody who was in an earlier release; classes: now, of everybody who is there.
        order: By which persons are withheld for the sake of others; nobody must be able to foretell it.

    >>> placement = place({"a": (1,), "b": (1,), "c": (1,), "d": (1,)}, {"a": 1, "b": 1, "c": 1}, str,
    ...                   lambda group, now: len(group) >= 2)
    >>> sorted(placement.placed), sorted(placement.withheld)
    (['b', 'c'], ['a'])
    """
    cohorts: dict[History, list[str]] = {}
    for person in {**histories, **classes}:
        cohorts.setdefault(histories.get(person, ()), []).append(person)
    placed: list[list[str]] = []
    for history, persons in cohorts.items():
        placed += _cohort(persons, classes, sorted, keeps) if not history else _known(persons, classes, order, keeps)
    everybody = frozenset(person for group in placed for person in group)
    sizes = [len(group) for group in placed]
    return Placement(everybody, frozenset(classes) - everybody, len(sizes), min(sizes, default=0))


def _cohort(
    persons: Sequence[str], classes: Mapping[str, Hashable], order: Callable[[list[str]], list[str]], keeps: Keeps
) -> list[list[str]]:
    """The groups of persons of one history that can be published: those of one class now that keep the promises."""
    groups: dict[Hashable, list[str]] = {}
    for person in persons:
        if person in classes:
            groups.setdefault(classes[person], []).append(person)
    return [order(group) for group in groups.values() if keeps(group, True)]


def _known(
    persons: Sequence[str], classes: Mapping[str, Hashable], order: Callable[[str], str], keeps: Keeps
) -> list[list[str]]:
    """The same of persons who were published before: those who are missing now must be enough, too."""
    groups = _cohort(persons, classes, lambda group: sorted(group, key=order), keeps)
    staying = {person for group in groups for person in group}
    gone = [person for person in persons if person not in staying]
    groups.sort(key=len)
    while gone and not keeps(gone, False) and groups:
        groups, gone = _with_company(groups, gone, keeps)
    return groups


def _with_company(groups: list[list[str]], gone: list[str], keeps: Keeps) -> tuple[list[list[str]], list[str]]:
    """The groups after some persons of the largest have gone with those who are missing; all of it, if that breaks."""
    *others, largest = groups
    for number in range(1, len(largest)):
        company, rest = largest[:number], largest[number:]
        if keeps([*gone, *company], False):
            return (
                (sorted([*others, rest], key=len), [*gone, *company])
                if keeps(rest, True)
                else (others, [*gone, *largest])
            )
    return others, [*gone, *largest]
