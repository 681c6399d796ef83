"""Sequential releases of the same persons: whom a comparison isolates, and matching so that it isolates no one.

The history of a person is the class of the person's rows in each release, or none. Persons with the same history cannot
be distinguished by comparing releases; persons with a history that fewer than k share can be (differencing attack). No
file says which rows belong to one person. A person whose rows are the same in every release that has them therefore
also shares the history of each row by itself, called a branch. A person whose rows change has a single branch, the full
history, because a comparison shows the changes. If persons are not known, rows of two releases with the same labels are
compared: classes that differ by fewer than k rows reveal who was added or removed.

Matching chooses whom to publish: groups of persons who share history and class must satisfy the privacy models, and so
must the persons who shared a history and are no longer in the data. This is the idea of m-invariance (Xiao & Tao 2007,
https://doi.org/10.1145/1247480.1247556) without invented rows: a person who cannot be matched is suppressed. A person
with several branches is published in all or in none.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from sfumato.localization.messages import Message
from sfumato.microdata.attacks.result import AttackResult, Rate
from sfumato.values import Value

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


class SharedHistories(Value):
    """Result of comparing releases, computed before a release is published and for published ones.

    Attributes:
        k: Required group size.
        persons: Number of persons in any release.
        groups: Number of groups of persons who share a history.
        smallest: Size of the smallest group.
        below: Number of persons in groups smaller than k.
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
        releases: For each release, the class of each person by key.
        erased: For each release, the number of erased persons who left each row.
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
        groups: The number of persons with each history, where the class in each release is the rows of a person.
        erased: For each release, the number of erased persons who left each row; equal rows of a person count once.

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
    """Return the part of a history in the releases in which another history has no class."""
    return tuple(mine if theirs is None else None for mine, theirs in zip(history, other, strict=True))


def _available(history: History, left: Sequence[Counter[Hashable]]) -> int:
    """Return the number of persons of a history for whom the rows of erased persons suffice."""
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


# Whether persons satisfy the models with rows of a class: now, or (False) as last published.
Keeps = Callable[[Sequence[str], Hashable, bool], bool]
# The branch of a person before and with the current rows; None if none of the rows are published.
Step = tuple[History, History | None]


class PersonMatching(Value):
    """The result of the matching: the persons who are published, and those who are present but suppressed."""

    matched: frozenset[str]
    suppressed_persons: frozenset[str]


def match_persons(
    histories: Mapping[str, History], classes: Mapping[str, Hashable], order: Callable[[str], str], keeps: Keeps
) -> PersonMatching:
    """Decide which persons are published.

    Args:
        histories: The history of every person in an earlier release.
        classes: The current classes of all persons present.
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
    """Return the number of branches in which persons are published."""
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


class _Group(Value):
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


NAME = "differences"


class HistoryBranches(Value):
    """Number of persons per history branch.

    `persons` counts everyone once; a person with several branches is counted in each of these.
    """

    groups: Mapping[History, int]
    persons: int

    @property
    def smallest(self) -> int:
        return min(self.groups.values(), default=0)

    def below(self, k: int) -> int:
        """Return the number of persons in branches of fewer than k; a person with several such branches counts once."""
        return min(self.persons, sum(size for size in self.groups.values() if size < k))


def histories_of(releases: Sequence[Mapping[Hashable, Hashable]]) -> HistoryBranches:
    """Collect the histories of all persons in any release.

    Args:
        releases: For each release, the class of each person; persons without a class are missing.

    >>> histories_of([{"a": 1, "b": 1}, {"a": 1, "b": 2}]).smallest
    1
    """
    persons = {person for release in releases for person in release}
    groups = groups_of(tuple(release.get(person) for release in releases) for person in persons)
    return HistoryBranches(groups, len(persons))


def attack_histories(releases: Sequence[Mapping[Hashable, Hashable]], k: int) -> AttackResult:
    """Find persons singled out by comparing releases in which each person's class is known."""
    histories = histories_of(releases)
    alone = histories.below(2)
    details = {
        "smallest_group": histories.smallest,
        "below_k": histories.below(k),
        "k": k,
        "persons": histories.persons,
    }
    return AttackResult(
        NAME,
        Message("note.attack_histories", count=len(releases)),
        Rate(alone, histories.persons),
        Rate(0, histories.persons),
        certain=histories.below(k),
        details=details,
    )


def attack_rows(
    earlier: Mapping[History, Counter[Hashable]], later: Mapping[History, Counter[Hashable]], k: int
) -> AttackResult:
    """Find classes in both of two releases in which fewer than k rows were added or removed.

    Args:
        earlier: For each class of the earlier release, its rows by their other values.
        later: The same for the later release.
    """
    isolated, classes = 0, 0
    both = earlier.keys() & later.keys()
    # Where most classes differ, the releases are not about the same persons.
    if sum(earlier[labels] == later[labels] for labels in both) * 2 < len(both):
        both = both - both
    for labels in both:
        came, went = later[labels] - earlier[labels], earlier[labels] - later[labels]
        change = max(came.total(), went.total())
        # Where most rows differ the classes are not those of the same persons.
        same = (earlier[labels] & later[labels]).total()
        if 0 < change < k and same >= change:
            isolated += change
            classes += 1
    rows = sum(entry.total() for entry in later.values())
    return AttackResult(
        NAME,
        Message("note.attack_both"),
        Rate(isolated, rows),
        Rate(0, rows),
        certain=isolated,
        details={"classes": classes, "k": k},
    )
