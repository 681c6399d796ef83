"""Placing persons beside their histories: who is published, so that no comparison with earlier releases isolates one.

The history of a person is the class of the person's rows in each earlier release, or none. Persons who share their
history and stand in the same class now can be told apart by no comparison of releases: such groups must keep the
promises of a class, and so must those who shared a history and are no longer there. That is the idea of m-invariance
(Xiao & Tao 2007, https://doi.org/10.1145/1247480.1247556) without invented rows: who cannot be placed is withheld.
"""

from collections import Counter
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


def with_erased(groups: Mapping[History, int], erased: Sequence[Mapping[Hashable, int]], k: int) -> Counter[History]:
    """The groups of persons who share a history, with rows that are published still though their persons were erased.

    Nobody knows any more whose these rows are, but a reader sees them as before. A group that erasures made smaller
    than k is filled up with such rows, each of which is taken once: those of its classes; and somebody who was erased
    in some releases alone goes back to those whom the other releases show alike.

    Args:
        groups: How many persons share each history, the class in each release being the rows of a person.
        erased: For each release, how often each row is left by persons who were erased.

    >>> history = (("c",), ("d",))
    >>> [with_erased({history: 2}, rows, 3)[history] for rows in ([{"c": 1}, {"d": 1}], [{"c": 1}, {}])]
    [3, 2]
    """
    sizes, left = Counter(groups), [Counter(rows) for rows in erased]
    for history in _smaller(sizes, k):
        fellows = _fellows(history, sizes, left)
        if fellows is not None:
            _take(_apart(fellows, history), sizes[history], left)
            sizes[fellows] += sizes.pop(history)
    for history in _smaller(sizes, k):
        number = min(k - sizes[history], _available(history, left))
        _take(history, number, left)
        sizes[history] += number
    return sizes


def _smaller(sizes: Mapping[History, int], k: int) -> list[History]:
    return sorted((history for history, size in sizes.items() if size < k), key=repr)


def _fellows(history: History, sizes: Mapping[History, int], left: Sequence[Counter[Hashable]]) -> History | None:
    """A history that differs from one in nothing but releases that have rows of erased persons in its stead."""
    for other in sorted(sizes, key=repr):
        alike = all(mine is None or mine == theirs for mine, theirs in zip(history, other, strict=True))
        if alike and other != history and _available(_apart(other, history), left) >= sizes[history]:
            return other
    return None


def _apart(history: History, other: History) -> History:
    """What a history has where another has nothing."""
    return tuple(mine if theirs is None else None for mine, theirs in zip(history, other, strict=True))


def _available(history: History, left: Sequence[Counter[Hashable]]) -> int:
    """How many persons of a history the rows of erased ones are enough for."""
    numbers = [
        rows[row] // times
        for rows, state in zip(left, history, strict=True)
        if isinstance(state, tuple)
        for row, times in Counter(state).items()
    ]
    return min(numbers, default=0)


def _take(history: History, number: int, left: Sequence[Counter[Hashable]]) -> None:
    """Use up rows of erased persons for so many of a history."""
    for rows, state in zip(left, history, strict=True):
        if isinstance(state, tuple):
            rows.subtract({row: times * number for row, times in Counter(state).items()})
