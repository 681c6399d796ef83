"""Detect quasi-identifiers, and select a few of different kinds by how widely known and how identifying they are."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from sfumato.hierarchies.role_detection import role_reasons
from sfumato.hierarchies.role_detection.content_detection import Content, mixed_units
from sfumato.hierarchies.role_detection.evidence import NUMERIC, Column, evidence_of
from sfumato.hierarchies.role_detection.identifier_formats import are_written_by_hand, has_sentences
from sfumato.hierarchies.role_detection.lexicon.concepts import WORDS
from sfumato.hierarchies.role_detection.lexicon.name_terms import words_of
from sfumato.hierarchies.role_detection.profile import FEW_VALUES, Profile
from sfumato.hierarchies.role_detection.suggestion import UNKNOWN_RANK, Suggestion
from sfumato.hierarchies.role_detection.unexplained_numbers import may_number_units
from sfumato.hierarchies.types import canonical
from sfumato.localization.messages import Message
from sfumato.values import replace

_MANY_NUMBERS = 0.5


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


# Maximum number of quasi-identifiers that count fully in the information loss, and of all. The others count little, so
# that they become coarse before the first ones do.
MAX_QUASI_IDENTIFIERS, MOST_QUASI_IDENTIFIERS, _LITTLE = 8, 20, 0.1
# A categorical column is lost if less than this proportion of its rows share their value with k - 1 others.
_KEPT_SHARE = 0.5
# With a handful of rows, the data are an example, and its values allow no conclusion.
_ENOUGH = 10
# Categories of an unknown column that are no texts: maximum number, and nearly all rows in frequent ones.
_MOST_CATEGORIES, _COMMON = 30, 0.95


def is_unknown(suggestion: Suggestion) -> bool:
    """Return whether nothing indicates the meaning of a column; free text and mixed units do not count as unknown."""
    if suggestion.concept is not None:
        return False
    if suggestion.role == "quasi-identifier":
        return suggestion.rank == UNKNOWN_RANK
    return suggestion.undecided and suggestion.reason.endswith(role_reasons.OWN_NUMBER)


# Each further quasi-identifier costs detail in all others; with more than a handful, a release carries no information
# any more (Aggarwal 2005, "On k-anonymity and the curse of dimensionality", VLDB).
def select(
    suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile], k: int, needed: Collection[str] = ()
) -> dict[str, Suggestion]:
    """Rank the quasi-identifiers, and keep columns of unknown meaning that are no texts, codes or numbers of units.

    A plan needs a quasi-identifier: if no column is widely known, unknown ones become quasi-identifiers; if there are
    none either, the least identifying column becomes one.

    Args:
        needed: The columns of the purpose, if there is one: of the quasi-identifiers, they alone count fully.
    """
    known = [name for name, one in suggestions.items() if one.role == "quasi-identifier" and not is_unknown(one)]
    unknown = [name for name, one in suggestions.items() if is_unknown(one)]
    if not known:
        known = [name for name in unknown if suggestions[name].role == "quasi-identifier"]
        unknown = [name for name in unknown if name not in known]
    lost = [name for name in known if name not in needed and _is_lost(suggestions[name], profiles[name], k)]
    ranked = _ranked([name for name in known if name not in lost], suggestions, profiles)
    ranked = sorted(ranked, key=lambda name: name not in needed)
    chosen = dict(suggestions)
    for name in lost:
        chosen[name] = suggestions[name].withheld(role_reasons.RARE.format(known=suggestions[name].reason, count=k))
    for place, name in enumerate(ranked):
        if place >= MOST_QUASI_IDENTIFIERS:
            reason = role_reasons.LESS.format(known=suggestions[name].reason, count=MOST_QUASI_IDENTIFIERS)
            chosen[name] = suggestions[name].withheld(reason)
        elif name not in needed if needed else place >= MAX_QUASI_IDENTIFIERS:
            chosen[name] = replace(suggestions[name], weight=_LITTLE)
    for name, one in suggestions.items():
        if one.needed:
            continue
        if one.role == "sensitive" and _singles_out(profiles[name], k):
            chosen[name] = one.withheld(role_reasons.TELLING.format(known=one.reason))
        elif one.role == "sensitive" and (one.asked or one.guessed):
            chosen[name] = replace(one, kept=True)
    for name in unknown:
        chosen[name] = _if_kept(suggestions[name], profiles[name])
    return chosen if ranked else chosen | _substitute(chosen, profiles)


def is_few_categories(profile: Profile) -> bool:
    """Return whether a column has a few values, and nearly all rows have a frequent one."""
    return len(profile.counts) <= _MOST_CATEGORIES and profile.share_in_groups(FEW_VALUES) >= _COMMON


def _if_kept(suggestion: Suggestion, profile: Profile) -> Suggestion:
    """Return an unknown column as sensitive, unless its values may point to somebody."""
    content = evidence_of(profile).content
    technical = {*words_of(profile.name)} & WORDS["technical"]
    if technical or not (
        is_few_categories(profile) if content.kind == "categories" else content.kind in (*NUMERIC, "scale")
    ):
        return suggestion if suggestion.undecided else suggestion.withheld(suggestion.reason)
    if content.kind in NUMERIC and may_number_units(profile):
        return suggestion if suggestion.undecided else suggestion.withheld(suggestion.reason)
    reason = Message("reason.kept", kind=content.words)
    return Suggestion("sensitive", reason, "text" if content.rejected else content.type, kept=True)


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
