"""Detect text columns that can name anyone: names of persons, and fields for remarks."""

from sfumato.hierarchies.role_detection import role_reasons
from sfumato.hierarchies.role_detection.free_text import SEVERAL_WORDS
from sfumato.hierarchies.role_detection.lexicon.concepts import WORDS
from sfumato.hierarchies.role_detection.lexicon.name_terms import concepts_of, meanings_of, spoken_word, words_of
from sfumato.hierarchies.role_detection.lexicon.person_names import share_of_full_names, share_of_names
from sfumato.hierarchies.role_detection.lexicon.value_terms import concept_of_values
from sfumato.hierarchies.role_detection.role_evidence import RoleEvidence, is_listed
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.patterns import regex

# A sentence with a number in it, and the minimum proportion of rows with one; many texts are no list to choose from.
_COUNTED_TEXT, _MOST, _MANY_TEXTS = regex(r"[^\W\d_]{3,}.* \d[\d./]* [^\W\d_]{3,}.*"), 0.5, 0.1
_YES_OR_NO = regex("(?i:[01ynjsox]|yes|no|ja|nein|nee|nej|nei|oui|non|s[ií]|sim|n[aã]o|tak|nie)")


def judge_person_names(evidence: RoleEvidence) -> Suggestion | None:
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


def judge_written_remarks(evidence: RoleEvidence) -> Suggestion | None:
    """Return a role for remarks whose values have several words each, whatever else name and values indicate."""
    words = [*words_of(evidence.profile.name), *meanings_of(evidence.profile.name)]
    word = next((word for word in words if word in WORDS["remarks"]), None)
    if word is None or evidence.profile.words_each < SEVERAL_WORDS:
        return None
    reason = role_reasons.by_name(spoken_word(evidence.profile.name, word), "free_text")
    return Suggestion("identifier", reason, concept="free_text")


def judge_nameless_texts(evidence: RoleEvidence) -> Suggestion | None:
    """Return a role for many texts of several words with numbers in an unnamed column: remarks."""
    profile = evidence.profile
    if evidence.concepts or evidence.content.kind != "categories" or profile.distinct_share < _MANY_TEXTS:
        return None
    counted = profile.share_of(_COUNTED_TEXT)
    return Suggestion("identifier", role_reasons.FREE_TEXT, concept="free_text") if counted >= _MOST else None


def judge_remarks(evidence: RoleEvidence) -> Suggestion | None:
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
