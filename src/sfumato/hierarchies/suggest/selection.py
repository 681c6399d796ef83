"""Select a few quasi-identifiers of different kinds, ranked by how widely known and how identifying they are.

Each further quasi-identifier costs detail in all others; with more than a handful, a release carries no information any
more (Aggarwal 2005, "On k-anonymity and the curse of dimensionality", VLDB).
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from sfumato.dataclass import dataclass
from sfumato.hierarchies.suggest import reasons
from sfumato.hierarchies.suggest.known_roles import as_quasi_identifier
from sfumato.hierarchies.suggest.profile import Profile
from sfumato.hierarchies.suggest.suggestion import UNKNOWN_RANK, Suggestion
from sfumato.hierarchies.suggest.words.concepts import WORDS
from sfumato.hierarchies.suggest.words.vocabulary import words_of
from sfumato.hierarchies.types import canonical

# Columns with a place of their own, and all of them: those that tell the same as another share its place.
MAX_QUASI_IDENTIFIERS, MOST_WITH_TWINS = 8, 12
# A column without groups of values is lost when fewer of its rows than this share their value with k - 1 others.
_KEPT_SHARE = 0.5
# A handful of rows is an example of something larger, and says nothing about its values.
_ENOUGH = 10
# Unknown columns that may take a free place: of so many categories at the most, nearly all rows in common ones.
_MOST_CATEGORIES, _COMMON = 30, 0.95
# Concepts of which one of two columns is enough, where something private is computed from both.
_SPARE = frozenset(("date", "body"))


@dataclass(frozen=True, slots=True)
class Selection:
    """Suggestions with a few quasi-identifiers, and the others that wait for a free place, the best first."""

    suggestions: dict[str, Suggestion]
    waiting: dict[str, Suggestion]


def select(
    suggestions: Mapping[str, Suggestion],
    profiles: Mapping[str, Profile],
    k: int,
    are_twins: Callable[[str, str], bool] = lambda _one, _other: False,
) -> Selection:
    """The suggestions with the best few quasi-identifiers; the others are withheld until somebody decides.

    A plan needs a quasi-identifier: where there is none, the column that is the least identifying is taken for one.

    Args:
        are_twins: Whether two columns tell the same: then they share a place.
    """
    candidates, unknown = _candidates(suggestions, profiles, k)
    lost = [name for name in candidates if _is_lost(suggestions[name], profiles[name], k)]
    telling = [name for name, one in suggestions.items() if one.role == "sensitive" and _singles_out(profiles[name], k)]
    ranked = _ranked([name for name in candidates if name not in lost], suggestions, profiles)
    placed = _placed(ranked, are_twins)
    chosen = dict(suggestions)
    for name in lost:
        chosen[name] = suggestions[name].withheld(reasons.RARE.format(known=suggestions[name].reason, count=k))
    for name in unknown:
        chosen[name] = suggestions[name].withheld(suggestions[name].reason)
    for name in telling:
        chosen[name] = suggestions[name].withheld(reasons.TELLING.format(known=suggestions[name].reason))
    waiting = {name: suggestions[name] for name in ranked if name not in placed}
    chosen = crowded_out(chosen, waiting)
    return Selection(chosen if ranked else chosen | _substitute(chosen, profiles), waiting)


def _candidates(
    suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile], k: int
) -> tuple[list[str], list[str]]:
    """The columns that may be quasi-identifiers, and those of which nothing tells what they are.

    Nobody can say whether others know these: a few categories or groups of numbers take places that are left, the
    others are withheld, unless no column of the file is told.
    """
    columns = [name for name, suggestion in suggestions.items() if suggestion.role == "quasi-identifier"]
    if all(suggestions[name].rank >= UNKNOWN_RANK for name in columns):
        return columns, []
    unfit = [
        name
        for name in columns
        if suggestions[name].rank >= UNKNOWN_RANK and not _may_fill(suggestions[name], profiles[name], k)
    ]
    return [name for name in columns if name not in unfit], unfit


def _ranked(names: Sequence[str], suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]) -> list[str]:
    """Columns, the best first: of each thing that others know the one that tells rows apart most, then the second ones.

    A file with six dates and a marital status keeps the marital status.
    """
    apart = sorted(names, key=lambda name: (suggestions[name].rank, -profiles[name].separation))
    earlier: Counter[str | None] = Counter()
    rounds = {}
    for name in apart:
        concept = suggestions[name].concept
        rounds[name] = 0 if concept is None else earlier[concept]
        earlier[concept] += 1
    return sorted(
        apart, key=lambda name: (suggestions[name].rank >= UNKNOWN_RANK, rounds[name], suggestions[name].rank)
    )


def _may_fill(suggestion: Suggestion, profile: Profile, k: int) -> bool:
    """Whether an unknown column may take a free place: it has steps to go, or a few categories that are common."""
    if {*words_of(profile.name)} & WORDS["technical"]:
        return False
    if suggestion.hierarchy != {"type": "any"}:
        return True
    return len(profile.counts) <= _MOST_CATEGORIES and profile.share_in_groups(k) >= _COMMON


def crowded_out(suggestions: Mapping[str, Suggestion], waiting: Mapping[str, Suggestion]) -> dict[str, Suggestion]:
    """The suggestions with those that wait withheld, and how many quasi-identifiers there are without them."""
    count = sum(one.role == "quasi-identifier" for name, one in suggestions.items() if name not in waiting)
    return dict(suggestions) | {
        name: one.withheld(reasons.LESS.format(known=one.reason, count=count)) for name, one in waiting.items()
    }


def _placed(ranked: Sequence[str], are_twins: Callable[[str, str], bool]) -> list[str]:
    """The columns for which there is room, the best first: each has a place of its own, or that of its twin."""
    placed: list[str] = []
    places = 0
    for name in ranked:
        twin = places and len(placed) < MOST_WITH_TWINS and any(are_twins(other, name) for other in placed)
        if twin or (places < MAX_QUASI_IDENTIFIERS and len(placed) < MOST_WITH_TWINS):
            placed.append(name)
            places += not twin
    return placed


def told_by_several(suggestions: Mapping[str, Suggestion], told: Mapping[str, str | None]) -> dict[str, Suggestion]:
    """The quasi-identifiers that several sensitive columns tell, withheld: they are of what these are about.

    The day of a relapse is missing where nobody relapsed, so every column about relapses tells it. What everybody
    knows of somebody is never withheld for that, nor the last two quasi-identifiers. Of what nobody can place, one that
    a single private column tells is withheld: the private one is worth more.

    Args:
        told: For each sensitive column the quasi-identifier that it tells.
    """
    times = Counter(name for name in told.values() if name is not None)
    known = [name for name, one in suggestions.items() if one.role == "quasi-identifier"]
    unknown = [name for name in times if suggestions[name].rank >= UNKNOWN_RANK][: len(known) - 1]
    several = [name for name in times if times[name] > 1 and suggestions[name].rank and name not in unknown]
    withheld = [*unknown, *several[: max(len(known) - len(unknown) - 2, 0)]]
    return {name: suggestions[name].withheld(_told(name, suggestions, told)) for name in withheld}


def spare_parts(
    suggestions: Mapping[str, Suggestion], computed: Mapping[str, tuple[str, str]]
) -> dict[str, Suggestion]:
    """Of two days, or two measures of the body, from which something private is computed, the later one, withheld.

    How long somebody stayed is worth more than a second day beside the first. The last two quasi-identifiers stay.

    Args:
        computed: For each sensitive column the two quasi-identifiers from which it is nearly computed.
    """
    room = sum(one.role == "quasi-identifier" for one in suggestions.values()) - 2
    spare: dict[str, Suggestion] = {}
    for column, (first, second) in computed.items():
        alike = suggestions[first].concept == suggestions[second].concept and suggestions[first].concept in _SPARE
        if alike and len(spare) < room and not {first, second} & spare.keys():
            reason = reasons.PART.format(known=suggestions[second].reason, column=column, other=first)
            spare[second] = suggestions[second].withheld(reason)
    return spare


def _told(name: str, suggestions: Mapping[str, Suggestion], told: Mapping[str, str | None]) -> str:
    names = [f'"{column}"' for column, other in told.items() if other == name]
    return reasons.TOLD.format(known=suggestions[name].reason, columns=" and ".join(names[:2]))


def without_tells(
    suggestions: Mapping[str, Suggestion],
    profiles: Mapping[str, Profile],
    tells: Mapping[str, str],
    beside: Collection[str] = (),
) -> dict[str, Suggestion]:
    """The suggestions without sensitive columns that nearly tell a quasi-identifier: who knows that knows them, too.

    They become quasi-identifiers themselves; where these are many already, or GDPR protects them most, they are
    withheld until somebody decides.

    Args:
        tells: For each of these columns what it tells, in words.
        beside: Those that do so beside another private one alone, which nobody knows: these are withheld.
    """
    chosen = dict(suggestions)
    room = MAX_QUASI_IDENTIFIERS - sum(one.role == "quasi-identifier" for one in suggestions.values())
    for name, what in tells.items():
        known = suggestions[name].reason
        if room > 0 and not suggestions[name].protected and name not in beside:
            chosen[name] = as_quasi_identifier(profiles[name], reasons.TELLS.format(known=known, tells=what))
            room -= 1
        else:
            chosen[name] = suggestions[name].withheld(reasons.UNDOES.format(known=known, tells=what))
    return chosen


def _singles_out(profile: Profile, k: int) -> bool:
    """Whether most rows have a value of their own that is no number: such values cannot be rounded."""
    if profile.rows < _ENOUGH * k or profile.share_in_groups(k) >= _KEPT_SHARE:
        return False
    return None in canonical(profile.values, "amount")[0]


def _is_lost(suggestion: Suggestion, profile: Profile, k: int) -> bool:
    """Whether a column of categories could not be published even if it were the only one."""
    enough = profile.rows >= _ENOUGH * k
    return enough and suggestion.hierarchy == {"type": "any"} and profile.share_in_groups(k) < _KEPT_SHARE


def _substitute(suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]) -> dict[str, Suggestion]:
    """Some column as the quasi-identifier that a plan needs."""
    roles = ("insensitive", "sensitive", "identifier", "person", "household", "weight")
    name = min(
        suggestions, key=lambda name: (roles.index(suggestions[name].role), profiles[name].separation), default=None
    )
    if name is None:
        return {}
    return {name: Suggestion("quasi-identifier", reasons.ONLY, hierarchy={"type": "any"})}
