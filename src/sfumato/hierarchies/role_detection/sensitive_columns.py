"""Detect sensitive columns: special categories of GDPR Article 9, other private matters, and outcomes of a study."""

from sfumato.hierarchies.role_detection import role_reasons
from sfumato.hierarchies.role_detection.free_text import are_written_by_hand
from sfumato.hierarchies.role_detection.lexicon.concepts import BY_KEY, Concept
from sfumato.hierarchies.role_detection.lexicon.name_terms import head_of, spoken_word
from sfumato.hierarchies.role_detection.lexicon.value_terms import concept_of_values
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.role_evidence import RoleEvidence
from sfumato.hierarchies.role_detection.suggestion import Suggestion

_DAYS = 31
# Questions with a free-text answer.
_OFTEN_WRITTEN = frozenset(("use", "outcome", "reason", "need", "opinion", "performance"))


def judge_privacy(evidence: RoleEvidence) -> Suggestion | None:
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


def _sensitive(evidence: RoleEvidence, concept: Concept, reason: str) -> Suggestion:
    # A sensitive value is published unchanged, so a type must fit every one of them.
    content = evidence.content
    type_ = "text" if content.rejected else content.type
    protected = role_reasons.is_special(concept.key)
    return Suggestion("sensitive", reason, type_, protected=protected, concept=concept.key)
