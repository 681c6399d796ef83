"""Histories of persons over several releases, and the persons whom a comparison of releases isolates.

The history of a person is the class of the person's rows in each release, or none. Persons with the same history cannot
be distinguished by comparing releases. No file says which rows belong to one person. A person whose rows are the same
in every release that has them therefore also shares the history of each row by itself, called a branch. A person whose
rows change has a single branch, the full history, because a comparison shows the changes.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

from sfumato.dataclass import dataclass

History = tuple[Hashable, ...]


def history_branches(history: History) -> tuple[History, ...]:
    """Return the history branches of a person that are visible in the files.

    Args:
        history: For each release the rows of the person, a tuple of classes; or one class that is no tuple.

    >>> history_branches((("w", "w"), ("w", "w"))), history_branches((None, ("m", "w")))
    (((('w',), ('w',)),), ((None, ('m',)), (None, ('w',))))
    >>> history_branches((("w", "w"), ("w",)))
    ((('w', 'w'), ('w',)),)
    """
    states = {state for state in history if state is not None}
    state = next(iter(states), None)
    if len(states) != 1 or not isinstance(state, tuple):
        return (history,)
    rows = sorted(set(state), key=repr)
    return tuple(tuple(None if entry is None else (row,) for entry in history) for row in rows)


def groups_of(histories: Iterable[History]) -> Counter[History]:
    """Count the persons of each history branch; a person with several branches counts in each.

    >>> groups_of([(("w",),), (("m", "w"),)])[(("w",),)]
    2
    """
    return Counter(strand for history in histories for strand in history_branches(history))


@dataclass(frozen=True, slots=True)
class SharedHistories:
    """Result of comparing releases, computed before a release is published and for published ones.

    Attributes:
        k: Required group size; persons: in any release; groups, smallest: of one history, and the smallest size;
            below: the persons of groups that are smaller than k.
    """

    k: int
    persons: int
    groups: int
    smallest: int
    below: int

    @property
    def hold(self) -> bool:
        return self.smallest >= self.k


def judge_histories(
    releases: Sequence[Mapping[str, Hashable]], erased: Sequence[Mapping[Hashable, int]], k: int
) -> SharedHistories:
    """Evaluate what a comparison of releases reveals.

    Args:
        releases: For each, the class of each person by key; erased: how many erased persons left each row.
    """
    persons = {person for release in releases for person in release}
    groups = groups_of(tuple(release.get(person) for release in releases) for person in persons)
    sizes = with_erased(groups, erased, k)
    below = sum(size for size in sizes.values() if size < k)
    number = len(persons) + sizes.total() - groups.total()
    return SharedHistories(k, number, len(sizes), min(sizes.values(), default=0), min(below, number))


def with_erased(groups: Mapping[History, int], erased: Sequence[Mapping[Hashable, int]], k: int) -> Counter[History]:
    """Return the groups of persons who share a history, with published rows of persons who were erased.

    It is no longer known whose rows these are, but they are still published. A group that erasures made smaller
    than k is filled up with such rows of its classes, each used once. A person who was erased
    in some releases only is returned to the group with the same history in the other releases.

    Args:
        groups: How many persons share each history, the class in each release being the rows of a person.
        erased: For each release, how many persons who were erased left each row: several rows alike of one are one.

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
    """Return a history that differs from another only in releases that have rows of erased persons instead."""
    for other in sorted(sizes, key=repr):
        alike = all(mine is None or mine == theirs for mine, theirs in zip(history, other, strict=True))
        if alike and other != history and _available(_apart(other, history), left) >= sizes[history]:
            return other
    return None


def _apart(history: History, other: History) -> History:
    """Return the part of a history where another one has nothing."""
    return tuple(mine if theirs is None else None for mine, theirs in zip(history, other, strict=True))


def _available(history: History, left: Sequence[Counter[Hashable]]) -> int:
    """Return for how many persons of a history the rows of erased ones suffice."""
    numbers = [
        rows[row] // times
        for rows, state in zip(left, history, strict=True)
        if isinstance(state, tuple)
        for row, times in Counter(state).items()
    ]
    return min(numbers, default=0)


def _take(history: History, number: int, left: Sequence[Counter[Hashable]]) -> None:
    """Use up rows of erased persons of a history."""
    for rows, state in zip(left, history, strict=True):
        if isinstance(state, tuple):
            rows.subtract({row: times * number for row, times in Counter(state).items()})
