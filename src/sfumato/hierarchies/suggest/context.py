"""Infer the role of a column that neither name nor values explain from the other columns of the file.

Ten columns with the same set of answers ask about ten things of one kind; a number that is neither a code nor a key, in
a file of sensitive measures, is likely another one. If the other columns explain nothing, the column stays removed.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sfumato.dataclass import dataclass
from sfumato.hierarchies.suggest import reasons
from sfumato.hierarchies.suggest.animals import breeds
from sfumato.hierarchies.suggest.coded_numbers import LISTS
from sfumato.hierarchies.suggest.contents import spread_of
from sfumato.hierarchies.suggest.evidence import evidence_of
from sfumato.hierarchies.suggest.known_roles import judge_rest
from sfumato.hierarchies.suggest.nameless import known_by_spread, private_like
from sfumato.hierarchies.suggest.pointing import are_counts, are_measures
from sfumato.hierarchies.suggest.profile import Profile
from sfumato.hierarchies.suggest.questions import answers_of, are_same, asked
from sfumato.hierarchies.suggest.suggestion import UNKNOWN_RANK, Suggestion
from sfumato.hierarchies.suggest.words.concepts import WORDS
from sfumato.hierarchies.suggest.words.vocabulary import concepts_of, meanings_of, words_of

Suggestions = Mapping[str, Suggestion]
Profiles = Mapping[str, Profile]
# Numbers: so many rows must hold one.
_NUMBERS = 0.95
# Words of counts that number things in other names, or abbreviate others: a precinct is no percentage.
_NO_QUANTITIES = frozenset(("nombre", "zahl", "pct", "size"))
# Units behind what is measured; alone, or before it, they may be other words.
_LAST_UNITS = frozenset(("min", "sec", "std", "hr", "wks", "mths"))
# A scale of numbers is shared by so many columns at least: districts have numbers, too.
_SCALED = 3
# An unknown column may not single out more rows than those do that are known to be private, save for chance.
_HARDLY_ANY, _SLACK, _SLACK_BITS = 5, 0.1, 0.5
# Private numbers that a file must hold for another number to be one of these.
_MEASURES = 2
# So many columns of health are what doctors found, not what a watch measured.
_FINDINGS = 4
# A few rows tell nothing.
_FEW_ROWS = 30
_ROUNDS = 2
# Codes of so many letters stand for many things.
_LETTERS = 2


@dataclass(frozen=True, slots=True)
class _Told:
    """A column of which something tells what it is."""

    profile: Profile
    suggestion: Suggestion
    answers: frozenset[str]
    measured: bool


def with_context(suggestions: Suggestions, profiles: Profiles) -> dict[str, Suggestion]:
    """The suggestions, unknown columns sensitive that are asked, answered or measured as sensitive ones are."""
    chosen = _without_second_codes(suggestions, profiles)
    chosen |= breeds(chosen, profiles) | _weighed_by_doctors(chosen)
    unknown = [
        name
        for name, one in chosen.items()
        if is_unknown(one) and not {*words_of(name)} & WORDS["technical"] and profiles[name].rows >= _FEW_ROWS
    ]
    known_numbers = {name for name in unknown if not _counts(name) and known_by_spread(profiles[name])}
    chosen |= asked([name for name in unknown if name not in known_numbers], chosen, profiles)
    # What one round tells, tells of others in the next.
    for _ in range(_ROUNDS):
        chosen |= _alike([name for name in unknown if is_unknown(chosen[name])], known_numbers, chosen, profiles)
    return chosen


def _weighed_by_doctors(suggestions: Suggestions) -> dict[str, Suggestion]:
    """What persons weigh as something special that others see, in a file of what doctors found."""
    if sum(one.concept == "health" and one.role == "sensitive" for one in suggestions.values()) < _FINDINGS:
        return {}
    weights = [
        name
        for name, one in suggestions.items()
        if one.concept == "body" and one.role == "quasi-identifier" and _tells_weight(name)
    ]
    return {
        name: replace(suggestions[name], reason=reasons.WEIGHED + reasons.PROTECTED, protected=True)
        for name in weights
        if not suggestions[name].rejected
    }


def _tells_weight(name: str) -> bool:
    return bool({*words_of(name), *meanings_of(name)} & (WORDS["weighing"] | WORDS["units_of_weight"]))


def _without_second_codes(suggestions: Suggestions, profiles: Profiles) -> dict[str, Suggestion]:
    """The suggestions; one by letters in the values alone is none where another column says the same by its name.

    M and F are sexes, but misdemeanors and felonies beside a column that is called sex.
    """
    by_name = {
        name: one.concept in {concept.key for concept, _ in concepts_of(name)}
        for name, one in suggestions.items()
        if one.concept is not None
    }
    named = {suggestions[name].concept for name, told in by_name.items() if told}
    second = [
        name
        for name, told in by_name.items()
        if not told
        and suggestions[name].concept in named
        and suggestions[name].role == "quasi-identifier"
        and max(map(len, profiles[name].values), default=0) <= _LETTERS
    ]
    return dict(suggestions) | {name: judge_rest(evidence_of(profiles[name])) for name in second}


def _alike(
    unknown: Sequence[str], known_numbers: Collection[str], suggestions: Suggestions, profiles: Profiles
) -> dict[str, Suggestion]:
    """The unknown columns that have the answers, or numbers of the kind, that private ones of the file have."""
    told = [_told(one, profiles[name]) for name, one in suggestions.items() if unknown and not is_unknown(one)]
    private = [one for one in told if one.suggestion.role == "sensitive"]
    known = [one for one in told if one.suggestion.role == "quasi-identifier"]
    scales = Counter(answers_of(profiles[name]) for name in unknown)
    chosen = {}
    for name in unknown if private else []:
        if name in known_numbers:
            continue
        alike = _answered_alike(profiles[name], private, known, scales)
        if like := alike or _measured_alike(profiles[name], private):
            chosen[name] = like
    return chosen


def is_unknown(suggestion: Suggestion) -> bool:
    """Whether nothing tells what a column is; what is written freely, or in several units, is no such column."""
    if suggestion.concept is not None:
        return False
    if suggestion.role == "quasi-identifier":
        return suggestion.rank == UNKNOWN_RANK
    return suggestion.undecided and suggestion.reason.endswith(reasons.OWN_NUMBER)


def _told(suggestion: Suggestion, profile: Profile) -> _Told:
    measured = suggestion.role == "sensitive" and len(profile.counts) > 2 and _are_numbers(profile)
    measured = measured and suggestion.concept not in LISTS and not _is_scale(profile)
    return _Told(profile, suggestion, answers_of(profile), measured)


def _is_scale(profile: Profile) -> bool:
    """Whether a few whole numbers are steps or codes, which measure nothing; counts begin with 0 and get rarer."""
    spread, whole = spread_of(profile) if profile.few else (None, False)
    return spread is not None and whole and not are_counts(spread)


def _answered_alike(
    profile: Profile, private: Sequence[_Told], known: Sequence[_Told], scales: Mapping[frozenset[str], int]
) -> Suggestion | None:
    """A column as a sensitive one whose answers it has, where these are more than what others know has.

    Args:
        scales: How many unknown columns have some answers.
    """
    answers = answers_of(profile)
    if not answers:
        return None
    like = [one for one in private if are_same(one.answers, answers)]
    if len(like) <= sum(are_same(one.answers, answers) for one in known):
        return None
    numbered = len(answers) > 2 and _are_numbers(profile)
    if numbered and len(like) + scales[answers] < _SCALED:
        return None
    return replace(_as(like[0], reasons.SAME_ANSWERS.format(names=_names(like))), asked=True)


def _measured_alike(profile: Profile, private: Sequence[_Told]) -> Suggestion | None:
    """A column of numbers as a sensitive one, where a file has private numbers, and these point to nobody."""
    like = [one for one in private if one.measured]
    named = _counts(profile.name)
    if named and are_measures(profile, named):
        return _as_measure(like)
    if not like or _tells_apart_more(profile, [one.profile for one in like]):
        return None
    if len(like) < _MEASURES or not are_measures(profile, named):
        return private_like(profile)
    return _as_measure(like)


def _as_measure(like: Sequence[_Told]) -> Suggestion:
    """A column that measures or counts something, as private ones do; it is published roughly."""
    if not like:
        return Suggestion("sensitive", reasons.LIKE["measure"], concept="performance", guessed=True)
    return replace(_as(like[0], reasons.LIKE_MEASURES.format(names=_names(like))), guessed=True)


def _counts(name: str) -> bool:
    """Whether a column's name says that it counts or measures something, and numbers nothing."""
    words = words_of(name)
    spoken = {*words} & WORDS["quantity"] - WORDS["numbering"] - _NO_QUANTITIES
    return bool(spoken) or any(sign in name for sign in "%‰") or (len(words) > 1 and words[-1] in _LAST_UNITS)


def _tells_apart_more(profile: Profile, others: Sequence[Profile]) -> bool:
    """Whether a column singles out more rows than each of some others, alone or, having more detail, with another."""
    single = max(_singled_out(other) for other in others)
    detail = max(other.separation for other in others)
    return _singled_out(profile) > single + _SLACK or profile.separation > detail + _SLACK_BITS


def _singled_out(profile: Profile) -> float:
    """The share of rows that hardly any other row has the value of."""
    return 1 - profile.share_in_groups(_HARDLY_ANY)


def _are_numbers(profile: Profile) -> bool:
    texts, wrong = profile.decimals
    rows = [*profile.counts.values()]
    return len(wrong) < len(texts) and sum(rows[place] for place in wrong) <= (1 - _NUMBERS) * sum(rows)


def _names(like: Sequence[_Told]) -> str:
    return _quoted([one.profile.name for one in like])


def _quoted(names: Sequence[str]) -> str:
    return " and ".join(f'"{name}"' for name in names[:2])


def _as(like: _Told, reason: str) -> Suggestion:
    return Suggestion("sensitive", reason, protected=like.suggestion.protected, concept=like.suggestion.concept)
