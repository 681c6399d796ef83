"""Detect questionnaire columns: the question is unknown, but the answers show that somebody was asked.

Yes or no, several columns with one name stem and one set of answers, and numbered questions of a form hold what
somebody said or what was found, which is sensitive. An answer occurs in many rows, so it identifies no one.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from sfumato.hierarchies.role_detection import role_reasons
from sfumato.hierarchies.role_detection.lexicon.concepts import fold
from sfumato.hierarchies.role_detection.lexicon.name_terms import words_of
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.patterns import regex
from sfumato.values import replace

Chosen = dict[str, Suggestion]
# Answers: maximum number; rare ones are typing errors; proportion of common answers of equal sets.
_MOST_ANSWERS, _RARE, _SHARED = 16, 0.02, 0.75
# Minimum number of columns with the same answers that ask for things of one kind; districts and ranks have numbers,
# too.
_BATTERY = 4
# Number of levels of a scale from 0 or 1 on, for which fewer columns need to share it.
_STEPS, _SCALED_BATTERY = (4, 11), 3
# Minimum number of numbered questions in a form.
_FORM = 5
_QUESTION = regex(r"(?i:(?:q|qu|question|frage|fr|f|item|it|i)[_ .]?\d{1,3}[a-z]?(?:[_ .:)-].*)?)")
# Questions and statements in the headers of form programs: minimum number of words, or fewer with a full stop.
_LONG_TITLE, _TITLE, _STOPS = 7, 3, (".", "?", "!", "…")
# Concepts of words that occur in questions, too: opinions about a town, or safety by day.
_MENTIONED = frozenset(("place", "date", "belongings"))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_YES = _words("y yes j ja 1 t true wahr oui si s sim tak x + 1.0")
_NO = _words("n no nein 0 f false falsch non nao nie nee nej - 0.0")
# Marks in a field that is otherwise empty.
_MARKS = _words("x y yes j ja 1 true wahr oui si + ✓")
# Values that may occur next to yes and no.
_NEITHER = _words(
    "u unk unknown unbekannt k.a. ka na n/a ? 9 -9 -8 99 dk refused former formerly ex ehem. ehem fruher ehemals"
    " teilweise partly maybe vielleicht"
)
# All of these: words that answer something, and name nothing.
ANSWERS = _YES | _NO | _NEITHER
# When a form was opened and sent, and how much was completed.
_FORM_WORDS = _words(
    "start started begin beginn startzeit startdatum startdate end ended ende endzeit endezeit enddatum enddate"
    " submitted submit abgeschickt finished beendet complete completed vollstandig fortschritt progress duration dauer"
    " timestamp datestamp zeitstempel datumstempel horodateur horodatage tijdstempel tidsstempel tidsstampel"
    " submitdate submission recorded lastdata"
)


def answers_of(profile: Profile) -> frozenset[str]:
    """Return the folded values of a column with few values, without rare ones; empty for other columns."""
    if not 2 <= len(profile.counts) <= 2 * _MOST_ANSWERS:
        return frozenset()
    frequent = frozenset(
        fold(value.strip()) for value, rows in profile.counts.items() if rows >= _RARE * profile.present
    )
    return frequent if 2 <= len(frequent) <= _MOST_ANSWERS else frozenset()


def are_same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two sets of answers are the same except for a few."""
    return bool(one) and len(one & other) >= _SHARED * len(one | other)


def is_yes_or_no(profile: Profile) -> bool:
    """Return whether values are yes and no in any notation, perhaps with neither; or a mark and nothing.

    >>> is_yes_or_no(Profile("x", {"Y": 3, "N": 4}, rows=7)), is_yes_or_no(Profile("x", {"M": 3, "F": 4}, rows=7))
    (True, False)
    >>> is_yes_or_no(Profile("x", {"X": 3}, rows=7, missing=4))
    True
    """
    values = {fold(value.strip()) for value in profile.counts} if len(profile.counts) <= _MOST_ANSWERS else set()
    if len(values) == 1 and profile.missing:
        return values <= _MARKS
    return bool(values & _YES) and bool(values & _NO) and values <= _YES | _NO | _NEITHER


def is_box(profile: Profile) -> bool:
    """Return whether a column has one value or none: a box that was ticked or not.

    >>> is_box(Profile("q3_4", {"Netflix": 3}, rows=7, missing=4))
    True
    """
    return len(profile.counts) == 1 and profile.missing > 0


def asked(unknown: Sequence[str], suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]) -> Chosen:
    """Return unknown columns with answers to questions, as sensitive ones.

    Args:
        suggestions: The suggestions for all columns of the file.
    """
    sentences = [name for name in suggestions if _is_sentence(name)]
    form = len(sentences) + sum(_QUESTION.fullmatch(name) is not None for name in suggestions) >= _FORM
    mentioned = [name for name, one in suggestions.items() if form and _is_mentioned(one, profiles[name])]
    answers = {name: answers_of(profiles[name]) for name in (*unknown, *mentioned)}
    flags = _private_flags(suggestions, profiles)
    private = any(one.role == "sensitive" for one in suggestions.values())
    chosen = {name: _of_form(one) for name, one in suggestions.items() if form and _tells_of_form(name, one)}
    chosen |= _stated(sentences, suggestions, profiles)
    for name, own in answers.items():
        alike = [other for other, others in answers.items() if are_same(own, others)]
        scaled = private and _are_steps(own)
        if not scaled:
            alike = [other for other in alike if _stem(other) == _stem(name)]
        if len(alike) >= (_SCALED_BATTERY if scaled else _BATTERY) and len(own) > 2:
            chosen[name] = _answer(role_reasons.BATTERY.format(count=len(alike) - 1))
        elif form and own and _QUESTION.fullmatch(name):
            chosen[name] = _answer(role_reasons.QUESTION)
        elif flags and is_yes_or_no(profiles[name]):
            chosen[name] = _answer(role_reasons.YES_OR_NO)
    return chosen


def _is_sentence(name: str) -> bool:
    """Return whether a name is a full question or statement.

    >>> [_is_sentence(name) for name in ("My work is safe.", "Was fehlt Ihnen?", "Date of birth", "Tel. no.")]
    [True, True, False, False]
    """
    words = len(name.split())
    return words >= _LONG_TITLE or (words >= _TITLE and name.rstrip().endswith(_STOPS))


def _stated(sentences: Sequence[str], suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]) -> Chosen:
    """Return statements that share their answers with several others, as sensitive columns."""
    answers = {name: own for name in sentences if len(own := answers_of(profiles[name])) > 2}
    alike = {name: sum(are_same(own, other) for other in answers.values()) for name, own in answers.items()}
    return {
        name: _answer(role_reasons.BATTERY.format(count=count - 1))
        for name, count in alike.items()
        if count >= _BATTERY and suggestions[name].role == "quasi-identifier"
    }


def _is_mentioned(suggestion: Suggestion, profile: Profile) -> bool:
    """Return whether a numbered question only mentions a place or a time (answered by levels), or asks for a thing."""
    if _QUESTION.fullmatch(profile.name) is None or suggestion.concept not in _MENTIONED:
        return False
    return suggestion.concept == "belongings" or _are_steps(answers_of(profile), _STEPS[0] - 1)


def _tells_of_form(name: str, suggestion: Suggestion) -> bool:
    """Return whether a column of a form states when it was completed, or how far: it is no question."""
    told = suggestion.concept in ("date", "outcome", "use", None) and _QUESTION.fullmatch(name) is None
    return told and bool({*words_of(name)} & _FORM_WORDS)


def _of_form(suggestion: Suggestion) -> Suggestion:
    return replace(suggestion.withheld(role_reasons.FORM), concept="processing")


def steps_of(profile: Profile) -> tuple[str, ...]:
    """Return the levels of a numeric answer scale, including rare ones; empty for other columns.

    >>> steps_of(Profile("q7", {"1": 9, "2": 300, "3": 410, "4": 120, "-9": 3, "99": 2}, rows=844))
    ('1', '2', '3', '4')
    """
    answers = answers_of(profile)
    numbers = sorted({int(value) for value in profile.counts if value.isdecimal()}) if answers else []
    steps = tuple(str(number) for place, number in enumerate(numbers) if number - place == numbers[0])
    return steps if _are_steps(answers.union(steps)) else ()


def _are_steps(answers: frozenset[str], least: int = _STEPS[0]) -> bool:
    """Return whether answers are the numbers from 0 or 1 on, except for codes of "no answer".

    >>> _are_steps(frozenset("12345")), _are_steps(frozenset(("1", "2", "3", "4", "9"))), _are_steps(frozenset("1379"))
    (True, True, False)
    """
    numbers = sorted(int(answer) for answer in answers if answer.isdecimal())
    steps = [number for place, number in enumerate(numbers) if number - place == numbers[0]]
    rest = {str(number) for number in numbers[len(steps) :]} | {one for one in answers if not one.isdecimal()}
    counted = least <= len(steps) <= _STEPS[1] and steps[0] in (0, 1)
    return counted and rest <= _NEITHER


def _stem(name: str) -> str:
    """Return a column's name without its numbers: the questions of one battery share it."""
    return re.sub(r"\d+[a-z]?(?:_.*)?$", "#", name.lower())


def _private_flags(suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]) -> bool:
    """Return whether more yes/no columns are sensitive than widely known, or none is widely known."""
    roles = Counter(one.role for name, one in suggestions.items() if one.concept and is_yes_or_no(profiles[name]))
    return not roles["quasi-identifier"] or roles["sensitive"] > roles["quasi-identifier"]


def _answer(reason: str) -> Suggestion:
    return Suggestion("sensitive", reason, concept="opinion", asked=True)
