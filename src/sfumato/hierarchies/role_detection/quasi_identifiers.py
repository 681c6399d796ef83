"""Detect quasi-identifiers, and select a few of different kinds by how widely known and how identifying they are."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from sfumato.hierarchies.role_detection import role_reasons
from sfumato.hierarchies.role_detection.content_detection import Content, mixed_units
from sfumato.hierarchies.role_detection.evidence import NUMERIC, Column, evidence_of
from sfumato.hierarchies.role_detection.identifier_formats import are_written_by_hand, has_sentences
from sfumato.hierarchies.role_detection.lexicon.concepts import WORDS
from sfumato.hierarchies.role_detection.lexicon.name_terms import words_of
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.suggestion import UNKNOWN_RANK, Suggestion
from sfumato.hierarchies.types import canonical
from sfumato.values import Value

_MANY_NUMBERS = 0.5


def as_quasi_identifier(profile: Profile, reason: str) -> Suggestion:
    """Return a column as one that others may know, whatever its meaning."""
    return quasi_identifier(evidence_of(profile).content, reason, UNKNOWN_RANK)


def judge_units(evidence: Column) -> Suggestion | None:
    """Return a role for numbers in several units: no numeric hierarchy is correct, and few categories repeat."""
    units = mixed_units(evidence.profile) if evidence.content.kind == "categories" else ()
    if not units:
        return None
    reason = role_reasons.UNITS.format(units=", ".join(units))
    return Suggestion("identifier", role_reasons.UNDECIDED + reason, undecided=True)


def judge_rest(evidence: Column) -> Suggestion:
    """Return a role for unknown columns."""
    profile, content = evidence.profile, evidence.content
    doubt = role_reasons.DOUBT.format(what=_capital(content.words), share=round(100 * profile.top_share))
    # Codes with meaningful first digits are recognized by their values: they look like postcodes.
    rank = UNKNOWN_RANK - 1 if content.kind == "codes" and content.hierarchy["type"] == "digits" else UNKNOWN_RANK
    suggestion = quasi_identifier(content, doubt, rank)
    if content.kind == "categories" and has_sentences(profile):
        return suggestion.withheld(role_reasons.SENTENCES)
    if content.kind == "categories" and are_written_by_hand(profile):
        return suggestion.withheld(role_reasons.WRITTEN)
    if content.kind in NUMERIC and profile.present > 100 and profile.distinct_share > _MANY_NUMBERS:
        return suggestion.withheld(role_reasons.OWN_NUMBER)
    return suggestion


def quasi_identifier(content: Content, reason: str, rank: int, concept: str | None = None) -> Suggestion:
    if content.rejected:
        reason += role_reasons.REJECTED.format(count=len(content.rejected))
    hierarchy, rejected = content.hierarchy, content.rejected
    protected = concept is not None and role_reasons.is_special(concept)
    reason += role_reasons.PROTECTED if protected else ""
    return Suggestion(
        "quasi-identifier", reason, content.type, hierarchy, rejected, rank, protected=protected, concept=concept
    )


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]


# Maximum number of columns with a place of their own, and of all: near duplicates share a place.
MAX_QUASI_IDENTIFIERS, MOST_WITH_TWINS = 8, 12
# A categorical column is lost if less than this proportion of its rows share their value with k - 1 others.
_KEPT_SHARE = 0.5
# With a handful of rows, the data are an example, and its values allow no conclusion.
_ENOUGH = 10
# Unknown columns that may take a free place: maximum number of categories, nearly all rows in frequent ones.
_MOST_CATEGORIES, _COMMON = 30, 0.95
# Concepts of which one of two columns suffices if a sensitive column is computed from both.
_SPARE = frozenset(("date", "body"))


# Each further quasi-identifier costs detail in all others; with more than a handful, a release carries no information
# any more (Aggarwal 2005, "On k-anonymity and the curse of dimensionality", VLDB).
class Selection(Value):
    """Suggestions with a few quasi-identifiers, and the remaining candidates, the best first."""

    suggestions: dict[str, Suggestion]
    waiting: dict[str, Suggestion]


def select(
    suggestions: Mapping[str, Suggestion],
    profiles: Mapping[str, Profile],
    k: int,
    are_near_duplicates: Callable[[str, str], bool] = lambda _one, _other: False,
) -> Selection:
    """Select the best few quasi-identifiers; the others are removed until a decision is made.

    A plan needs a quasi-identifier: if there is none, the least identifying column becomes one.

    Args:
        are_near_duplicates: Whether two columns are near duplicates, which count as one.
    """
    candidates, unknown = _candidates(suggestions, profiles, k)
    lost = [name for name in candidates if _is_lost(suggestions[name], profiles[name], k)]
    telling = [name for name, one in suggestions.items() if one.role == "sensitive" and _singles_out(profiles[name], k)]
    ranked = _ranked([name for name in candidates if name not in lost], suggestions, profiles)
    placed = _placed(ranked, are_near_duplicates)
    chosen = dict(suggestions)
    for name in lost:
        chosen[name] = suggestions[name].withheld(role_reasons.RARE.format(known=suggestions[name].reason, count=k))
    for name in unknown:
        chosen[name] = suggestions[name].withheld(suggestions[name].reason)
    for name in telling:
        chosen[name] = suggestions[name].withheld(role_reasons.TELLING.format(known=suggestions[name].reason))
    waiting = {name: suggestions[name] for name in ranked if name not in placed}
    chosen = crowded_out(chosen, waiting)
    return Selection(chosen if ranked else chosen | _substitute(chosen, profiles), waiting)


def _candidates(
    suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile], k: int
) -> tuple[list[str], list[str]]:
    """Return the columns that may be quasi-identifiers, and those of unknown meaning.

    It is unknown whether others know the latter. A few categories or groups of numbers take free places, and the others
    are removed, unless no column of the file is known.
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
    """Rank columns: of each known concept first the most distinguishing one, then the second ones.

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
    """Return whether an unknown column may take a free place: it has levels, or a few frequent categories."""
    if {*words_of(profile.name)} & WORDS["technical"]:
        return False
    if suggestion.hierarchy != {"type": "any"}:
        return True
    return len(profile.counts) <= _MOST_CATEGORIES and profile.share_in_groups(k) >= _COMMON


def crowded_out(suggestions: Mapping[str, Suggestion], waiting: Mapping[str, Suggestion]) -> dict[str, Suggestion]:
    """Return the suggestions with the remaining candidates removed, and the number of quasi-identifiers before them."""
    count = sum(one.role == "quasi-identifier" for name, one in suggestions.items() if name not in waiting)
    return dict(suggestions) | {
        name: one.withheld(role_reasons.LESS.format(known=one.reason, count=count)) for name, one in waiting.items()
    }


def _placed(ranked: Sequence[str], are_near_duplicates: Callable[[str, str], bool]) -> list[str]:
    """Return the selected columns, the best first; near duplicates share a place."""
    placed: list[str] = []
    places = 0
    for name in ranked:
        twin = places and len(placed) < MOST_WITH_TWINS and any(are_near_duplicates(other, name) for other in placed)
        if twin or (places < MAX_QUASI_IDENTIFIERS and len(placed) < MOST_WITH_TWINS):
            placed.append(name)
            places += not twin
    return placed


def inferred_by_several(suggestions: Mapping[str, Suggestion], told: Mapping[str, str | None]) -> dict[str, Suggestion]:
    """Remove the quasi-identifiers that several sensitive columns predict: they belong to the topic of these.

    The day of a relapse is missing without a relapse, so every column about relapses predicts it. Widely known
    columns are never removed for that, nor are the last two quasi-identifiers. A column of unknown meaning that
    a single sensitive column predicts is removed: the sensitive one is more valuable.

    Args:
        told: For each sensitive column the quasi-identifier that it predicts.
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
    """Remove the later of two dates, or two body measures, from which a sensitive column is computed.

    A length of stay is more valuable than a second date. The last two quasi-identifiers stay.

    Args:
        computed: For each sensitive column the two quasi-identifiers from which it is nearly computed.
    """
    room = sum(one.role == "quasi-identifier" for one in suggestions.values()) - 2
    spare: dict[str, Suggestion] = {}
    for column, (first, second) in computed.items():
        alike = suggestions[first].concept == suggestions[second].concept and suggestions[first].concept in _SPARE
        if alike and len(spare) < room and not {first, second} & spare.keys():
            reason = role_reasons.PART.format(known=suggestions[second].reason, column=column, other=first)
            spare[second] = suggestions[second].withheld(reason)
    return spare


def _told(name: str, suggestions: Mapping[str, Suggestion], told: Mapping[str, str | None]) -> str:
    names = [f'"{column}"' for column, other in told.items() if other == name]
    return role_reasons.TOLD.format(known=suggestions[name].reason, columns=" and ".join(names[:2]))


def without_tells(
    suggestions: Mapping[str, Suggestion],
    profiles: Mapping[str, Profile],
    tells: Mapping[str, str],
    beside: Collection[str] = (),
) -> dict[str, Suggestion]:
    """Return the suggestions without sensitive columns that nearly determine a quasi-identifier.

    They become quasi-identifiers themselves; if there are many already, or if they are special categories, they are
    removed until a decision is made.

    Args:
        tells: For each of these columns what it predicts, in words.
        beside: Those that do so only together with another sensitive column: these are removed.
    """
    chosen = dict(suggestions)
    room = MAX_QUASI_IDENTIFIERS - sum(one.role == "quasi-identifier" for one in suggestions.values())
    for name, what in tells.items():
        known = suggestions[name].reason
        if room > 0 and not suggestions[name].protected and name not in beside:
            chosen[name] = as_quasi_identifier(profiles[name], role_reasons.TELLS.format(known=known, tells=what))
            room -= 1
        else:
            chosen[name] = suggestions[name].withheld(role_reasons.UNDOES.format(known=known, tells=what))
    return chosen


def _singles_out(profile: Profile, k: int) -> bool:
    """Return whether most rows have a unique value that is no number and cannot be rounded."""
    if profile.rows < _ENOUGH * k or profile.share_in_groups(k) >= _KEPT_SHARE:
        return False
    return None in canonical(profile.values, "amount")[0]


def _is_lost(suggestion: Suggestion, profile: Profile, k: int) -> bool:
    """Return whether a categorical column could not be published even if it were the only one."""
    enough = profile.rows >= _ENOUGH * k
    return enough and suggestion.hierarchy == {"type": "any"} and profile.share_in_groups(k) < _KEPT_SHARE


def _substitute(suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]) -> dict[str, Suggestion]:
    """Return some column as the quasi-identifier that a plan needs."""
    roles = ("insensitive", "sensitive", "identifier", "person", "household", "weight")
    name = min(
        suggestions, key=lambda name: (roles.index(suggestions[name].role), profiles[name].separation), default=None
    )
    if name is None:
        return {}
    return {name: Suggestion("quasi-identifier", role_reasons.ONLY, hierarchy={"type": "any"})}
