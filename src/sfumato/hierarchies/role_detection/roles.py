"""Suggest role, type and hierarchy of a column from the evidence in its name and values, with the reason.

What others may know of a person is a quasi-identifier; what identifies one person is removed; what is private or an
outcome is sensitive. Without any evidence, a column is a quasi-identifier of the lowest rank: this may cost detail, but
it discloses nothing.
"""

from collections.abc import Callable

from sfumato.hierarchies.role_detection import role_reasons
from sfumato.hierarchies.role_detection.free_text import SEVERAL_WORDS, are_written_by_hand
from sfumato.hierarchies.role_detection.identifiers import (
    judge_format,
    judge_given_numbers,
    judge_key_words,
    judge_own_values,
)
from sfumato.hierarchies.role_detection.key_columns import LETTERS_AND_DIGITS, REPEATED, UNIQUE_SHARE
from sfumato.hierarchies.role_detection.lexicon.concepts import BY_KEY, WORDS, Concept
from sfumato.hierarchies.role_detection.lexicon.name_terms import (
    concepts_of,
    head_of,
    meanings_of,
    spoken_word,
    words_of,
)
from sfumato.hierarchies.role_detection.lexicon.person_names import share_of_full_names, share_of_names
from sfumato.hierarchies.role_detection.lexicon.value_terms import concept_of_values
from sfumato.hierarchies.role_detection.profile import FEW_VALUES, Profile
from sfumato.hierarchies.role_detection.quasi_identifiers import judge_knowledge, judge_rest, judge_units
from sfumato.hierarchies.role_detection.role_evidence import Evidence, evidence_of, is_listed
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.patterns import regex

# A sentence with a number in it, and the minimum proportion of rows with one; many texts are no list to choose from.
_COUNTED_TEXT, _MOST, _MANY_TEXTS = regex(r"[^\W\d_]{3,}.* \d[\d./]* [^\W\d_]{3,}.*"), 0.5, 0.1
_YES_OR_NO = regex("(?i:[01ynjsox]|yes|no|ja|nein|nee|nej|nei|oui|non|s[ií]|sim|n[aã]o|tak|nie)")
_DAYS = 31
# Questions with a free-text answer.
_OFTEN_WRITTEN = frozenset(("use", "outcome", "reason", "need", "opinion", "performance"))


def judge_person_names(evidence: Evidence) -> Suggestion | None:
    """Return a role for values that are common names."""
    if evidence.content.kind != "categories":
        return None
    # White and Black are surnames, too: for a few values, a word list is stronger evidence than a list of names.
    if evidence.profile.few and concept_of_values(evidence.profile):
        return None
    other = (
        evidence.likeliest("quasi-identifier", "sensitive")
        and not {*words_of(evidence.profile.name)} & WORDS["whole_names"]
    )
    share = share_of_full_names(evidence.profile) if other else share_of_names(evidence.profile)
    return Suggestion("identifier", role_reasons.by_values(share, "name"), concept="name") if share else None


def judge_written_remarks(evidence: Evidence) -> Suggestion | None:
    """Return a role for remarks whose values have several words each, whatever else name and values indicate."""
    words = [*words_of(evidence.profile.name), *meanings_of(evidence.profile.name)]
    word = next((word for word in words if word in WORDS["remarks"]), None)
    if word is None or evidence.profile.words_each < SEVERAL_WORDS:
        return None
    reason = role_reasons.by_name(spoken_word(evidence.profile.name, word), "free_text")
    return Suggestion("identifier", reason, concept="free_text")


def judge_nameless_texts(evidence: Evidence) -> Suggestion | None:
    """Return a role for many texts of several words with numbers in an unnamed column: remarks."""
    profile = evidence.profile
    if evidence.concepts or evidence.content.kind != "categories" or profile.distinct_share < _MANY_TEXTS:
        return None
    counted = profile.share_of(_COUNTED_TEXT)
    return Suggestion("identifier", role_reasons.FREE_TEXT, concept="free_text") if counted >= _MOST else None


def judge_remarks(evidence: Evidence) -> Suggestion | None:
    """Return a role for a remarks field with only a few texts so far."""
    spoken = next((word for concept, word in concepts_of(evidence.profile.name) if concept.key == "free_text"), None)
    answers = evidence.profile.share_of(_YES_OR_NO) == 1
    if (
        spoken is None
        or answers
        or is_listed(evidence.profile, spoken)
        or evidence.concepts
        or evidence.content.kind != "categories"
    ):
        return None
    reason = role_reasons.REMARKS.format(word=spoken_word(evidence.profile.name, spoken))
    return Suggestion("identifier", role_reasons.UNDECIDED + reason, undecided=True, concept="free_text")


def judge_privacy(evidence: Evidence) -> Suggestion | None:
    """Return a role for special categories of the GDPR, other private matters, and study outcomes."""
    named = evidence.likeliest("sensitive")
    # Others know when a person was arrested or died, not how fast a person ran.
    timed = evidence.content.kind in ("years", "times") or _are_days_or_months(evidence.profile)
    dated = timed and head_of(evidence.profile.name) in BY_KEY["date"].words
    if evidence.content.kind == "dates" or dated or (not named and evidence.concepts):
        return None
    if named and named[0].key in _OFTEN_WRITTEN and are_written_by_hand(evidence.profile):
        return Suggestion(
            "identifier", role_reasons.UNDECIDED + role_reasons.WRITTEN, undecided=True, concept=named[0].key
        )
    if named:
        return _sensitive(
            evidence, named[0], role_reasons.by_name(spoken_word(evidence.profile.name, named[1]), named[0].key)
        )
    by_values = concept_of_values(evidence.profile)
    if by_values and by_values[0].role == "sensitive":
        return _sensitive(evidence, by_values[0], role_reasons.by_values(by_values[1], by_values[0].key))
    return None


def _are_days_or_months(profile: Profile) -> bool:
    """Return whether all values are days of a month, or months."""
    return all(text.isdecimal() and 1 <= int(text) <= _DAYS for text in profile.counts)


def _sensitive(evidence: Evidence, concept: Concept, reason: str) -> Suggestion:
    # A sensitive value is published unchanged, so a type must fit every one of them.
    content = evidence.content
    type_ = "text" if content.rejected else content.type
    protected = role_reasons.is_special(concept.key)
    return Suggestion("sensitive", reason, type_, protected=protected, concept=concept.key)


def suggest(profile: Profile) -> Suggestion:
    """Suggest role, type and hierarchy of a column."""
    if not profile.counts:
        return Suggestion("insensitive", role_reasons.EMPTY)
    evidence = evidence_of(profile)
    if len(profile.counts) == 1 and not profile.missing:
        return _same_for_all(evidence)
    return next(suggestion for judge in _JUDGES if (suggestion := judge(evidence)))


def _same_for_all(evidence: Evidence) -> Suggestion:
    """Suggest to publish a constant column, unless it identifies the one person whom all rows are about."""
    judges = (judge_format, judge_key_words, judge_person_names)
    pointing = next((found.reason for judge in judges if (found := judge(evidence))), None)
    return Suggestion("insensitive", role_reasons.SAME) if pointing is None else Suggestion("identifier", pointing)


def may_name_persons(profile: Profile) -> bool:
    """Return whether the values of a removed column repeat as person keys do; names repeat by chance.

    >>> may_name_persons(Profile("who", {f"p{place}": 3 for place in range(9)}, rows=27))
    True
    >>> may_name_persons(Profile("name", {"Anna Becker": 2, "Max Becker": 1, "Ida Kern": 1}, rows=4))
    False
    """
    if not profile.counts or profile.present < REPEATED * profile.distinct_keys:
        return False
    coded = profile.share_of(LETTERS_AND_DIGITS) >= UNIQUE_SHARE
    return suggest(profile).role == "person" or (
        coded and not profile.few and evidence_of(profile).content.kind != "dates"
    )


def points_to_persons(profile: Profile) -> bool:
    """Return whether the values of a column, used as categories, may be names or keys of single persons.

    >>> points_to_persons(Profile("who", {"Anna Becker": 2, "Max Becker": 1, "Ida Kern": 1}, rows=4))
    True
    >>> points_to_persons(Profile("sex", {"f": 2, "m": 1}, rows=3))
    False
    """
    unique = len(profile.counts) > FEW_VALUES and profile.distinct_share >= UNIQUE_SHARE
    return bool(profile.counts) and (unique or suggest(profile).role in ("identifier", "person"))


_JUDGES: tuple[Callable[[Evidence], Suggestion | None], ...] = (
    judge_format,
    judge_key_words,
    judge_written_remarks,
    judge_person_names,
    judge_own_values,
    judge_given_numbers,
    judge_nameless_texts,
    judge_privacy,
    judge_units,
    judge_knowledge,
    judge_remarks,
    judge_rest,
)
