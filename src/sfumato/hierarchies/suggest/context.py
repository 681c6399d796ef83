"""Context: columns of which neither name nor values tell what they are, judged by the other columns of the file.

Who asks ten questions with the same answers asks after ten things of one kind, and a number that is neither a code nor
a key, among measures that are private, is one more of these. Where the others tell nothing, a column stays withheld.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.hierarchies.suggest import reasons
from sfumato.hierarchies.suggest.profile import Profile
from sfumato.hierarchies.suggest.suggestion import UNKNOWN_RANK, Suggestion
from sfumato.hierarchies.suggest.words.concepts import WORDS, fold
from sfumato.hierarchies.suggest.words.vocabulary import words_of
from sfumato.hierarchies.types import numerals

Suggestions = Mapping[str, Suggestion]
Profiles = Mapping[str, Profile]
# Answers: so many at the most; rare ones are typing errors; sets are the same that share so much.
_MOST_ANSWERS, _RARE, _SHARED = 16, 0.02, 0.75
# Numbers: so many rows must hold one, with so many decimals at the most; more are of places on a map or of weights.
_NUMBERS, _DECIMALS = 0.95, 3
_FRACTIONS, _OTHER_LENGTH, _MANY, _COUNTED = 0.2, 0.05, 30, 3
# Private numbers that a file must hold for another number to be one of these.
_MEASURES = 2
# A few rows tell nothing.
_FEW_ROWS = 30


@dataclass(frozen=True, slots=True)
class _Told:
    """A column of which something tells what it is."""

    name: str
    suggestion: Suggestion
    answers: frozenset[str]
    measured: bool


def with_context(suggestions: Suggestions, profiles: Profiles) -> dict[str, Suggestion]:
    """The suggestions, unknown columns sensitive that are answered or measured as sensitive ones are."""
    unknown = [
        name
        for name, one in suggestions.items()
        if _is_unknown(one) and not {*words_of(name)} & WORDS["technical"] and profiles[name].rows >= _FEW_ROWS
    ]
    chosen = dict(suggestions)
    told = [_told(name, one, profiles[name]) for name, one in chosen.items() if unknown and not _is_unknown(one)]
    private = [one for one in told if one.suggestion.role == "sensitive"]
    known = [one for one in told if one.suggestion.role == "quasi-identifier"]
    for name in unknown if private else []:
        like = _answered_alike(profiles[name], private, known) or _measured_alike(profiles[name], private)
        chosen[name] = like or suggestions[name]
    return chosen


def _is_unknown(suggestion: Suggestion) -> bool:
    """Whether nothing tells what a column is; what is written freely, or in several units, is no such column."""
    if suggestion.concept is not None:
        return False
    if suggestion.role == "quasi-identifier":
        return suggestion.rank == UNKNOWN_RANK
    return suggestion.undecided and suggestion.reason.endswith(reasons.OWN_NUMBER)


def _told(name: str, suggestion: Suggestion, profile: Profile) -> _Told:
    private = suggestion.role == "sensitive"
    return _Told(name, suggestion, _answers(profile), private and _are_numbers(profile) and len(profile.counts) > 2)


def _answered_alike(profile: Profile, private: Sequence[_Told], known: Sequence[_Told]) -> Suggestion | None:
    """A column as a sensitive one whose answers it has, where these are more than what others know has."""
    answers = _answers(profile)
    if not answers:
        return None
    like = [one for one in private if _are_same(one.answers, answers)]
    if len(like) <= sum(_are_same(one.answers, answers) for one in known):
        return None
    return _as(like[0], reasons.SAME_ANSWERS.format(names=_names(like)))


def _answers(profile: Profile) -> frozenset[str]:
    """The values of a column of few, folded, without rare ones; none where it is no such column."""
    if not 2 <= len(profile.counts) <= 2 * _MOST_ANSWERS:
        return frozenset()
    frequent = frozenset(
        fold(value.strip()) for value, rows in profile.counts.items() if rows >= _RARE * profile.present
    )
    return frequent if 2 <= len(frequent) <= _MOST_ANSWERS else frozenset()


def _are_same(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one) and len(one & other) >= _SHARED * len(one | other)


def _measured_alike(profile: Profile, private: Sequence[_Told]) -> Suggestion | None:
    """A column of numbers as a sensitive one, where a file has private numbers, and these are no codes."""
    like = [one for one in private if one.measured]
    named = bool({*words_of(profile.name)} & WORDS["quantity"])
    if len(like) < (1 if named else _MEASURES) or not _is_measure(profile, named):
        return None
    return _as(like[0], reasons.LIKE_MEASURES.format(names=_names(like)))


def _is_measure(profile: Profile, named: bool) -> bool:
    """Whether numbers measure or count something: with fractions, of several lengths, or the fewer the larger.

    Args:
        named: Whether the name says that something is counted.
    """
    if not _are_numbers(profile) or len(profile.counts) <= 2:
        return False
    shortened = [value.strip().rstrip("0") for value in profile.sample]
    decimals = [len(value.partition(".")[2] or value.partition(",")[2]) for value in shortened]
    if max(decimals) > _DECIMALS:
        return False
    if np.mean(np.array(decimals) > 0) >= _FRACTIONS:
        return not profile.few
    lengths = np.array([len(value) for value in profile.sample])
    several = profile.share(lambda value: len(value) != np.bincount(lengths).argmax()) >= _OTHER_LENGTH
    return named or (several and len(profile.counts) > _MANY) or _are_counts(profile)


def _are_numbers(profile: Profile) -> bool:
    texts, wrong = profile.decimals
    rows = [*profile.counts.values()]
    return len(wrong) < len(texts) and sum(rows[place] for place in wrong) <= (1 - _NUMBERS) * sum(rows)


def _are_counts(profile: Profile) -> bool:
    """Whether numbers from 0 on get rarer the larger they are, as counts of events do."""
    texts = profile.decimals[0]
    pairs = sorted(
        (number, rows)
        for number, rows in zip(numerals([text or "" for text in texts]), profile.counts.values(), strict=True)
        if not np.isnan(number)
    )
    numbers, rows = zip(*pairs, strict=True)
    if numbers[0] != 0 or len(numbers) < _COUNTED or numbers[-1] < _COUNTED:
        return False
    first = rows[: max(len(rows) // 2, 1)]
    return bool(rows[0] == max(rows) and sum(first) > 2 * sum(rows[len(first) :]))


def _names(like: Sequence[_Told]) -> str:
    return _quoted([one.name for one in like])


def _quoted(names: Sequence[str]) -> str:
    return " and ".join(f'"{name}"' for name in names[:2])


def _as(like: _Told, reason: str) -> Suggestion:
    return Suggestion("sensitive", reason, protected=like.suggestion.protected, concept=like.suggestion.concept)
