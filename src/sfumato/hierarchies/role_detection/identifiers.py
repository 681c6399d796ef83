"""Detect direct identifiers: by the format of the values, by the name, or because nearly every value is unique."""

from sfumato.hierarchies.role_detection import role_reasons
from sfumato.hierarchies.role_detection.assigned_identifiers import are_given_numbers, is_given_number
from sfumato.hierarchies.role_detection.free_text import is_free_text
from sfumato.hierarchies.role_detection.identifier_formats import format_of
from sfumato.hierarchies.role_detection.key_columns import (
    REPEATED,
    UNIQUE_SHARE,
    are_codes_of_persons,
    are_hashes,
    are_keys,
    are_keys_of_persons,
    are_long_numbers,
    are_weights,
    counts_rows,
    has_digit,
    numbers_all_rows,
    repeats_as_persons_do,
    rows_each,
)
from sfumato.hierarchies.role_detection.lexicon.concepts import WORDS
from sfumato.hierarchies.role_detection.lexicon.name_terms import meanings_of, spoken_word, words_of
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.role_evidence import RoleEvidence
from sfumato.hierarchies.role_detection.suggestion import UNKNOWN_RANK, Suggestion

_MANY_NUMBERS, _FEW_ROWS = 0.5, 10
_SEVERAL_ROWS = 5


def judge_format(evidence: RoleEvidence) -> Suggestion | None:
    """Return a role for values in the format of identifiers."""
    if evidence.content.kind in ("dates", "times", "scale", "ages", "years"):
        return None
    format_ = format_of(evidence.profile)
    return _key(evidence, format_[0], role_reasons.by_values(format_[1], format_[0])) if format_ else None


def judge_key_words(evidence: RoleEvidence) -> Suggestion | None:
    """Return a role for a name that indicates an identifier."""
    named = evidence.likeliest("identifier")
    dated = evidence.content.kind in ("dates", "times", "years")
    if not named or (dated and named[0].key not in ("name", "processing")):
        return None
    concept, word = named
    # A column of patients or customers holds their keys if nearly all values have digits.
    coded = concept.key == "name" and evidence.profile.share(has_digit) >= UNIQUE_SHARE
    key = "key" if coded else concept.key
    return _key(evidence, key, role_reasons.by_name(spoken_word(evidence.profile.name, word), key))


def _key(evidence: RoleEvidence, key: str, why: str) -> Suggestion:
    """Return an identifier: removed, or the person column if it repeats."""
    profile = evidence.profile
    if key == "household":
        return Suggestion("household", role_reasons.HOUSEHOLD.format(why=why), concept=key)
    if key == "weight" and are_weights(profile):
        return Suggestion("weight", why, concept=key)
    if not _names_persons(evidence, key):
        return Suggestion("identifier", why, concept=key)
    if profile.missing and not {*meanings_of(profile.name)} & WORDS["staff"]:
        return Suggestion("identifier", role_reasons.NAMELESS.format(why=why), concept=key)
    rank = 0 if {*meanings_of(profile.name)} & WORDS["persons"] else 2 if key == "key" else 1
    return Suggestion("person", role_reasons.PERSON.format(why=why, count=rows_each(profile)), rank=rank, concept=key)


def _names_persons(evidence: RoleEvidence, key: str) -> bool:
    """Return whether the values of an identifying column repeat as persons do."""
    other = any(concept.role in ("quasi-identifier", "sensitive") for concept, _ in evidence.concepts)
    # Numbers of a hospital are those of its patients if many codes of one length occur in a few rows each.
    other = other and not are_keys_of_persons(evidence.profile)
    # A tax number is no tax.
    other = other and not (key == "office_number" and are_given_numbers(evidence.profile))
    return repeats_as_persons_do(evidence.profile, key, other)


def judge_own_values(evidence: RoleEvidence) -> Suggestion | None:
    """Return a role for values that are unique in nearly every row: row numbers, keys, texts."""
    profile = evidence.profile
    known = evidence.likeliest("quasi-identifier", "sensitive")
    if evidence.content.kind in ("dates", "times", "scale"):
        return None
    numbering = {*words_of(profile.name)} & WORDS["numbering"]
    # Numbers of a hospital are those of its patients, not of hospitals.
    if (not known or numbering) and (
        are_codes_of_persons(profile)
        or _are_pseudonyms(profile)
        or (not profile.missing and are_keys_of_persons(profile))
    ):
        return _repeating_keys(profile)
    if evidence.content.kind == "categories" or (evidence.content.kind == "codes" and not known):
        return _own_text(profile, known is not None)
    # A column of known meaning numbers rows only if hardly any number is missing or duplicate.
    if counts_rows(profile) and (not known or numbers_all_rows(profile)):
        return Suggestion("identifier", role_reasons.ROW_NUMBERS)
    numbered = numbering and are_long_numbers(profile)
    # Row numbers have no unit.
    united = evidence.content.type == "amount"
    if evidence.content.kind == "whole" and not united and (numbered or (not known and are_keys(profile))):
        return Suggestion("identifier", role_reasons.by_values(1.0, "key"))
    return None


def judge_given_numbers(evidence: RoleEvidence) -> Suggestion | None:
    """Return a role for numbers of loans, claims, taxes, …: they identify somebody, whatever else the name says."""
    return _key(evidence, "key", role_reasons.by_values(1.0, "key")) if is_given_number(evidence) else None


def _are_pseudonyms(profile: Profile) -> bool:
    """Return whether random or computed values repeat, like pseudonyms of persons."""
    return are_hashes(profile) and profile.present >= REPEATED * profile.distinct_keys


def _repeating_keys(profile: Profile) -> Suggestion:
    """Return the person column for codes that repeat as person keys do, unless the name says otherwise."""
    rows, words = rows_each(profile), {*meanings_of(profile.name)}
    if profile.missing:
        return Suggestion("identifier", role_reasons.NAMELESS.format(why=role_reasons.NO_WORD), concept="key")
    if words & WORDS["staff"]:
        return Suggestion("identifier", role_reasons.STAFF_KEYS, concept="key")
    if words & WORDS["events"]:
        return Suggestion("identifier", role_reasons.CODES.format(count=rows), concept="key")
    rank = 0 if words & WORDS["persons"] else UNKNOWN_RANK
    return Suggestion("person", role_reasons.PERSON_KEYS.format(count=rows), rank=rank, concept="key")


def _own_text(profile: Profile, known: bool) -> Suggestion | None:
    # A column of known meaning is chosen from a list if nearly every text occurs in several rows.
    listed = known and profile.share_in_groups(_SEVERAL_ROWS) >= UNIQUE_SHARE
    if is_free_text(profile) and not listed:
        return Suggestion("identifier", role_reasons.FREE_TEXT)
    if profile.present >= _FEW_ROWS and profile.distinct_share >= UNIQUE_SHARE:
        return Suggestion("identifier", role_reasons.OWN_TEXT)
    coded = profile.share(lambda value: any(map(str.isdigit, value)) and " " not in value.strip())
    if profile.present >= _FEW_ROWS and coded > 0.9 and profile.distinct_share >= _MANY_NUMBERS and not known:
        return Suggestion("identifier", role_reasons.by_values(coded, "key"))
    return None
