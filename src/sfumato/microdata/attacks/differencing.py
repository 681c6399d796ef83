"""Differencing attack: find persons who are isolated when several releases are compared.

Persons who are in the same class in every release cannot be distinguished by comparing releases. Persons with a history
of classes that fewer than k persons share can be. If persons are not known, rows of two releases with the same labels
are compared: classes that differ by fewer than k rows reveal who was added or removed.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from sfumato.dataclass import dataclass
from sfumato.microdata.attacks.attack_result import AttackResult, Rate
from sfumato.microdata.release_histories import History, groups_of

NAME = "differences"


@dataclass(frozen=True, slots=True)
class HistoryBranches:
    """Number of persons per history branch.

    `persons` counts everyone once; a person with several branches is counted in each of these.
    """

    groups: Mapping[History, int]
    persons: int

    @property
    def smallest(self) -> int:
        return min(self.groups.values(), default=0)

    def below(self, k: int) -> int:
        """Return how many persons share a branch with fewer than k; a person with several such branches counts once."""
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
        f"histories over {len(releases)} releases",
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
        earlier, later: For each class, its rows by their other values.
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
        "rows of both releases",
        Rate(isolated, rows),
        Rate(0, rows),
        certain=isolated,
        details={"classes": classes, "k": k},
    )
