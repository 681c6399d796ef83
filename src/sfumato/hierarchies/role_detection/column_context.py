"""Infer the role of a column that neither name nor values explain from the other columns of the file.

Ten columns with the same set of answers ask about ten things of one kind; a number that is neither a code nor a key, in
a file of sensitive measures, is likely another one. If the other columns explain nothing, the column stays removed.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from sfumato.hierarchies.role_detection import role_reasons
from sfumato.hierarchies.role_detection.coded_numbers import LISTS
from sfumato.hierarchies.role_detection.content_detection import distribution_of
from sfumato.hierarchies.role_detection.evidence import evidence_of
from sfumato.hierarchies.role_detection.lexicon.concepts import BY_KEY, WORDS
from sfumato.hierarchies.role_detection.lexicon.name_terms import meanings_of, spoken_word, words_of
from sfumato.hierarchies.role_detection.lexicon.value_terms import holds_words_of
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.quasi_identifiers import is_unknown, quasi_identifier
from sfumato.hierarchies.role_detection.questionnaire_columns import answers_of, are_same, asked
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.hierarchies.role_detection.unexplained_numbers import (
    are_counts,
    are_measures,
    known_by_spread,
    private_like,
)
from sfumato.patterns import regex
from sfumato.values import Value, replace

# Breeds are words; letters and numbers may be codes of races.
_WORD, _MOST = regex(r".*[^\W\d_]{4}.*"), 0.8
Suggestions = Mapping[str, Suggestion]
Profiles = Mapping[str, Profile]
# Minimum proportion of rows that are numbers.
_NUMBERS = 0.95
# Words of counts that mean a number in other names, or abbreviate others: a precinct is no percentage.
_NO_QUANTITIES = frozenset(("nombre", "zahl", "pct", "size"))
# Units after the measured quantity; alone, or before it, they may be other words.
_LAST_UNITS = frozenset(("min", "sec", "std", "hr", "wks", "mths"))
# Minimum number of columns that share a numeric scale: districts have numbers, too.
_SCALED = 3
# An unknown column may not make more rows unique than the known sensitive ones do, except by chance.
_HARDLY_ANY, _SLACK, _SLACK_BITS = 5, 0.1, 0.5
# Number of sensitive numeric columns a file must have for another one to count as such.
_MEASURES = 2
# Minimum number of health columns that are medical findings and not measured by a watch.
_FINDINGS = 4
# Fewer rows allow no conclusion.
_FEW_ROWS = 30
_ROUNDS = 2


class _Told(Value):
    """A column of known meaning."""

    profile: Profile
    suggestion: Suggestion
    answers: frozenset[str]
    measured: bool


def with_context(suggestions: Suggestions, profiles: Profiles) -> dict[str, Suggestion]:
    """Return the suggestions with unknown columns made sensitive if asked, answered or measured like sensitive ones."""
    chosen = dict(suggestions)
    chosen |= breeds(chosen, profiles) | _weighed_by_doctors(chosen)
    unknown = [
        name
        for name, one in chosen.items()
        if is_unknown(one) and not {*words_of(name)} & WORDS["technical"] and profiles[name].rows >= _FEW_ROWS
    ]
    known_numbers = {name for name in unknown if not _counts(name) and known_by_spread(profiles[name])}
    chosen |= asked([name for name in unknown if name not in known_numbers], chosen, profiles)
    # Results of one round are used in the next.
    for _ in range(_ROUNDS):
        chosen |= _alike([name for name in unknown if is_unknown(chosen[name])], known_numbers, chosen, profiles)
    return chosen


def _weighed_by_doctors(suggestions: Suggestions) -> dict[str, Suggestion]:
    """Treat body weight as a special category that others see, in a file of medical findings."""
    if sum(one.concept == "health" and one.role == "sensitive" for one in suggestions.values()) < _FINDINGS:
        return {}
    weights = [
        name
        for name, one in suggestions.items()
        if one.concept == "body" and one.role == "quasi-identifier" and _tells_weight(name)
    ]
    return {
        name: replace(suggestions[name], reason=role_reasons.WEIGHED + role_reasons.PROTECTED, protected=True)
        for name in weights
        if not suggestions[name].rejected
    }


def _tells_weight(name: str) -> bool:
    return bool({*words_of(name), *meanings_of(name)} & (WORDS["weighing"] | WORDS["units_of_weight"]))


def _alike(
    unknown: Sequence[str], known_numbers: Collection[str], suggestions: Suggestions, profiles: Profiles
) -> dict[str, Suggestion]:
    """Return the unknown columns with the answers, or with numbers of the kind, of sensitive columns of the file."""
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


def _told(suggestion: Suggestion, profile: Profile) -> _Told:
    measured = suggestion.role == "sensitive" and len(profile.counts) > 2 and _are_numbers(profile)
    measured = measured and suggestion.concept not in LISTS and not _is_scale(profile)
    return _Told(profile, suggestion, answers_of(profile), measured)


def _is_scale(profile: Profile) -> bool:
    """Return whether a few integers are levels or codes, which measure nothing; counts begin with 0 and decrease."""
    spread, whole = distribution_of(profile) if profile.few else (None, False)
    return spread is not None and whole and not are_counts(spread)


def _answered_alike(
    profile: Profile, private: Sequence[_Told], known: Sequence[_Told], scales: Mapping[frozenset[str], int]
) -> Suggestion | None:
    """Return a column as sensitive if more sensitive columns than known ones have the same answers.

    Args:
        scales: How many unknown columns have each set of answers.
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
    return replace(_as(like[0], role_reasons.SAME_ANSWERS.format(names=_names(like))), asked=True)


def _measured_alike(profile: Profile, private: Sequence[_Told]) -> Suggestion | None:
    """Return a numeric column as sensitive if the file has sensitive numbers, and these identify no one."""
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
    """Return the suggestion for a sensitive measure or count; it is published rounded."""
    if not like:
        return Suggestion("sensitive", role_reasons.LIKE["measure"], concept="performance", guessed=True)
    return replace(_as(like[0], role_reasons.LIKE_MEASURES.format(names=_names(like))), guessed=True)


def _counts(name: str) -> bool:
    """Return whether a column's name indicates a count or measure, and not the number of something."""
    words = words_of(name)
    spoken = {*words} & WORDS["quantity"] - WORDS["numbering"] - _NO_QUANTITIES
    return bool(spoken) or any(sign in name for sign in "%‰") or (len(words) > 1 and words[-1] in _LAST_UNITS)


def _tells_apart_more(profile: Profile, others: Sequence[Profile]) -> bool:
    """Return whether a column makes more rows unique than each of some others, alone or with another column."""
    single = max(_singled_out(other) for other in others)
    detail = max(other.separation for other in others)
    return _singled_out(profile) > single + _SLACK or profile.separation > detail + _SLACK_BITS


def _singled_out(profile: Profile) -> float:
    """Return the proportion of rows whose value hardly any other row has."""
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


def breeds(suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]) -> dict[str, Suggestion]:
    """Return columns called race as visible attributes if other columns are about animals and no value is an origin."""
    races = {name: word for name, one in suggestions.items() if one.concept == "origin" and (word := _race_in(name))}
    if not races or not any(_speak_of(name, "animals") for name in suggestions):
        return {}
    return {name: _breed(profiles[name], word) for name, word in races.items() if _holds_breeds(profiles[name])}


def _holds_breeds(profile: Profile) -> bool:
    """Return whether values are words, a frequent one is a breed, and none is an origin.

    Persons have dogs, too, and no list contains all words for the origin of persons.
    """
    words = profile.share_of(_WORD) >= _MOST and not holds_words_of(profile, "origin")
    return words and any({*words_of(value)} & WORDS["breeds"] for value in profile.sample)


def _race_in(name: str) -> str | None:
    return next((word for word in words_of(name) if word in WORDS["races"]), None)


def _speak_of(name: str, words: str) -> bool:
    return bool({*words_of(name), *meanings_of(name)} & WORDS[words])


def _breed(profile: Profile, word: str) -> Suggestion:
    content = evidence_of(profile).content
    known = role_reasons.known(role_reasons.by_name(spoken_word(profile.name, word), "belongings"), content.words)
    return quasi_identifier(content, known, BY_KEY["belongings"].rank, "belongings")
