"""Detect sensitive columns: special categories of GDPR Article 9, other private matters, and outcomes of a study."""

from sfumato.hierarchies.suggest import reasons
from sfumato.hierarchies.suggest.evidence import Evidence
from sfumato.hierarchies.suggest.profile import Profile
from sfumato.hierarchies.suggest.suggestion import Suggestion
from sfumato.hierarchies.suggest.words.concepts import BY_KEY, Concept
from sfumato.hierarchies.suggest.words.value_words import concept_of_values
from sfumato.hierarchies.suggest.words.vocabulary import head_of, spoken_word
from sfumato.hierarchies.suggest.written_texts import are_written_by_hand

_DAYS = 31
# Questions with a free-text answer.
_OFTEN_WRITTEN = frozenset(("use", "outcome", "reason", "need", "opinion", "performance"))


def judge_privacy(evidence: Evidence) -> Suggestion | None:
    """Return a role for special categories of the GDPR, other private matters, and study outcomes."""
    named = evidence.likeliest("sensitive")
    # Others know when a person was arrested or died, not how fast a person ran.
    timed = evidence.content.kind in ("years", "times") or _are_days_or_months(evidence.profile)
    dated = timed and head_of(evidence.profile.name) in BY_KEY["date"].words
    if evidence.content.kind == "dates" or dated or (not named and evidence.concepts):
        return None
    if named and named[0].key in _OFTEN_WRITTEN and are_written_by_hand(evidence.profile):
        return Suggestion("identifier", reasons.UNDECIDED + reasons.WRITTEN, undecided=True, concept=named[0].key)
    if named:
        return _sensitive(
            evidence, named[0], reasons.by_name(spoken_word(evidence.profile.name, named[1]), named[0].key)
        )
    by_values = concept_of_values(evidence.profile)
    if by_values and by_values[0].role == "sensitive":
        return _sensitive(evidence, by_values[0], reasons.by_values(by_values[1], by_values[0].key))
    return None


def _are_days_or_months(profile: Profile) -> bool:
    """Return whether all values are days of a month, or months."""
    return all(text.isdecimal() and 1 <= int(text) <= _DAYS for text in profile.counts)


def _sensitive(evidence: Evidence, concept: Concept, reason: str) -> Suggestion:
    # A sensitive value is published unchanged, so a type must fit every one of them.
    content = evidence.content
    type_ = "text" if content.rejected else content.type
    protected = reasons.is_special(concept.key)
    return Suggestion("sensitive", reason, type_, protected=protected, concept=concept.key)
