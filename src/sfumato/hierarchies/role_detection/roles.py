"""Suggest role, type and hierarchy of a column from the evidence in its name and values, with the reason.

What others may know of a person is a quasi-identifier; what identifies one person is removed; what is private or an
outcome is sensitive. Without any evidence, a column is a quasi-identifier of the lowest rank: this may cost detail, but
it discloses nothing.
"""

from collections.abc import Callable

from sfumato.hierarchies.role_detection import role_reasons
from sfumato.hierarchies.role_detection.identifier_formats import (
    SEVERAL_WORDS,
    are_written_by_hand,
    format_of,
    is_free_text,
)
from sfumato.hierarchies.role_detection.key_columns import (
    LETTERS_AND_DIGITS,
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
from sfumato.hierarchies.role_detection.lexicon.concepts import BY_KEY, WORDS, Concept, fold
from sfumato.hierarchies.role_detection.lexicon.name_terms import (
    concepts_of,
    head_of,
    meanings_of,
    spoken_word,
    words_of,
)
from sfumato.hierarchies.role_detection.lexicon.value_terms import (
    concept_of_values,
    share_of_full_names,
    share_of_names,
)
from sfumato.hierarchies.role_detection.profile import FEW_VALUES, Profile
from sfumato.hierarchies.role_detection.quasi_identifiers import judge_knowledge, judge_rest, judge_units
from sfumato.hierarchies.role_detection.role_evidence import RoleEvidence, evidence_of, is_listed
from sfumato.hierarchies.role_detection.suggestion import UNKNOWN_RANK, Suggestion
from sfumato.patterns import regex

# How a spreadsheet writes an integer if some rows have none.
_POINT_ZERO = regex(r"\.0+$")
# A number, or one after the letters of a country or an authority; separators between its groups of digits.
_NUMBER = regex(r"[A-Za-z]{0,4}[ ./-]?\d(?:[ ./-]?\d){4,}[A-Za-z]?")
# Fewer digits may be an amount or a code of a list; this many in every value are no amount, whatever the name.
_NUMBERED, _CODED, _NO_AMOUNT, _NEVER = 5, 7, 9, 1000
_SOME = 5
# Amounts with this many digits are round.
_ROUND, _MOST_ROUND = "00", 0.1
_COMPOUND = regex(r"(.{3,}?)_?(?:nr|nro|num|nummer|number|numero|no|id)")
# Codes of a list are not evenly distributed: the most frequent one is much more frequent than others.
_EVENLY = 4
_MANY_NUMBERS, _FEW_ROWS = 0.5, 10
_SEVERAL_ROWS = 5
# A sentence with a number in it, and the minimum proportion of rows with one; many texts are no list to choose from.
_COUNTED_TEXT, _MOST, _MANY_TEXTS = regex(r"[^\W\d_]{3,}.* \d[\d./]* [^\W\d_]{3,}.*"), 0.5, 0.1
_YES_OR_NO = regex("(?i:[01ynjsox]|yes|no|ja|nein|nee|nej|nei|oui|non|s[ií]|sim|n[aã]o|tak|nie)")
_DAYS = 31
# Questions with a free-text answer.
_OFTEN_WRITTEN = frozenset(("use", "outcome", "reason", "need", "opinion", "performance"))


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


def is_given_number(evidence: RoleEvidence) -> bool:
    """Return whether a column holds numbers of loans, taxes, policies, …, though a word in its name means money.

    Codes of diagnoses or offenses are chosen from a list, so that some are much more frequent than others: they stay
    codes. An unknown name needs a word for numbers as well.
    """
    profile, content = evidence.profile, evidence.content
    if content.kind in ("dates", "times", "years", "ages", "scale") or content.type == "amount":
        return False
    digits = _digits(profile)
    key = evidence.concepts[0][0].key if evidence.concepts else None
    if key == "money":
        return digits >= _NO_AMOUNT or digits >= _numbering(profile.name)
    private = key is None or BY_KEY[key].role == "sensitive"
    return private and digits >= max(_numbering(profile.name), _CODED) and _is_even(profile)


def are_given_numbers(profile: Profile) -> bool:
    """Return whether numbers are so long, all of one length, that they are no amounts."""
    return _digits(profile) >= _NO_AMOUNT


def _digits(profile: Profile) -> int:
    """Return the common number of digits of all numbers if these are no amounts; else 0."""
    values = [_POINT_ZERO.sub("", value.strip()) for value in profile.sample]
    numbers = [value for value in values if _NUMBER.fullmatch(value)]
    if len(numbers) < max(_SOME, UNIQUE_SHARE * len(values)):
        return 0
    lengths = [sum(map(str.isdigit, value)) for value in numbers]
    usual = max({*lengths}, key=lengths.count)
    alike = lengths.count(usual) >= UNIQUE_SHARE * len(values)
    rounded = sum(value.endswith(_ROUND) for value in numbers) > _MOST_ROUND * len(numbers)
    return usual if alike and not rounded else 0


def _numbering(name: str) -> int:
    """Return how many digits suffice to believe a name that means a number of something."""
    words = {*words_of(name), *meanings_of(name)}
    if words & WORDS["numbering"] or _is_compound(name):
        return _NUMBERED
    return _CODED if words & WORDS["codes"] else _NEVER


def _is_compound(name: str) -> bool:
    """Return whether a word for money, or any other, and one for numbers form one compound."""
    plain = fold(name).replace(" ", "")
    if plain.endswith(("nr", "nummer", "number")):
        return True
    match = _COMPOUND.fullmatch(plain)
    return match is not None and any(match[1].endswith(word) for word in BY_KEY["money"].words if len(word) > 2)


def _is_even(profile: Profile) -> bool:
    rows = profile.present / len(profile.counts)
    return profile.top_share * profile.present <= _EVENLY * rows + _EVENLY


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


def suggest(profile: Profile) -> Suggestion:
    """Suggest role, type and hierarchy of a column."""
    if not profile.counts:
        return Suggestion("insensitive", role_reasons.EMPTY)
    evidence = evidence_of(profile)
    if len(profile.counts) == 1 and not profile.missing:
        return _same_for_all(evidence)
    return next(suggestion for judge in _JUDGES if (suggestion := judge(evidence)))


def _same_for_all(evidence: RoleEvidence) -> Suggestion:
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


_JUDGES: tuple[Callable[[RoleEvidence], Suggestion | None], ...] = (
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
