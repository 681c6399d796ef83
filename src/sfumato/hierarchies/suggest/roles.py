"""Roles by evidence: from a column's name and values a role, a type and a hierarchy, with the reason in plain words.

What others may know of a person is a quasi-identifier; what points to one person is withheld; what is private or an
outcome is sensitive. Where nothing tells, a column is a quasi-identifier of the last rank: that can cost detail, but it
cannot betray anyone.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sfumato.hierarchies.suggest import reasons
from sfumato.hierarchies.suggest.contents import Content, content_of, mixed_units
from sfumato.hierarchies.suggest.formats import format_of
from sfumato.hierarchies.suggest.key_columns import (
    KEY_SHARE,
    LETTERS_AND_DIGITS,
    REPEATED,
    UNIQUE_SHARE,
    are_keys,
    are_keys_of_persons,
    are_long_numbers,
    are_weights,
    counts_rows,
    numbers_all_rows,
    repeats_as_persons_do,
    rows_each,
    spread_as_weights,
)
from sfumato.hierarchies.suggest.nameless import is_nameless, known_by_spread, private_by_spread
from sfumato.hierarchies.suggest.profile import Profile
from sfumato.hierarchies.suggest.suggestion import UNKNOWN_RANK, Suggestion
from sfumato.hierarchies.suggest.words.concepts import BY_KEY, WORDS, Concept, Demand, Role, fold
from sfumato.hierarchies.suggest.words.person_names import share_of_full_names, share_of_names
from sfumato.hierarchies.suggest.words.value_support import supports
from sfumato.hierarchies.suggest.words.value_words import concept_of_values
from sfumato.hierarchies.suggest.words.vocabulary import concepts_of, head_of, meanings_of, spoken_word, words_of
from sfumato.hierarchies.suggest.written_texts import (
    SEVERAL_WORDS,
    are_written_by_hand,
    has_sentences,
    is_free_text,
    length,
)

_MANY_NUMBERS, _FEW_ROWS = 0.5, 10
_SEVERAL_ROWS = 5
_SHORT_WORD = 4
# Marks are short, whatever they are written in.
_LONGEST_MARK = 3
_PROPER_NOUN = re.compile(r"[A-ZÀ-ÖØ-ÞĀ-Ž][^\W\d_]*(?:['’. -]+[^\W\d_]+)*[. ]*")
_SOME_NAMES = 3
_LONG_CODE = re.compile(r"(?=(?:.*\d){3}).{5,}")
_NUMERIC = ("ages", "years", "whole", "decimal")
# What is asked after with an empty line to write on.
_OFTEN_WRITTEN = frozenset(("use", "outcome", "reason", "need", "opinion", "performance"))
# The concept of measures of which nobody knows what they measure.
_OF_SPREAD = {"measure": "performance"}
_YES_OR_NO = re.compile("(?i:[01ynjsox]|yes|no|ja|nein|nee|nej|nei|oui|non|s[ií]|sim|n[aã]o|tak|nie)")
_SHORT_POSTCODE = re.compile(r"\d{4,5}|\d{2}-\d{3}|\d{3} \d{2}|\d{4} ?[A-Z]{2}")
# Times that are no dates: of a day, of a week, of a year.
_TIME = re.compile(
    r"(?i:.*\d.*|(?:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz]|mon?|tue?|wed?|thu?|fri?|sat?|sun?|di|mi|do|fr|sa|so)"
    r"(?:[a-zä]*day|[a-zä]*tag|woch|uary|ruar|ch|il|ust|t?ember|ober|[a-z]{0,3})?\.?)"
)
_TITLE = re.compile(
    r"(?i:(?:(?:dr|prof|mr|mrs|ms|miss|mx|sir|dame|lord|lady|rev|hon|jr|sr|ii|iii|iv|herrn?|frau|dipl|mag|ing|med|jur|"
    r"phil|rer|nat|hc|habil|msc|bsc|ma|ba|mba|phd|llm|m|mme|mlle|dott|sig|ra|don|dona|d|rn|md|esq|capt|col|major|jonkheer|drs|ir|master)"
    r"[ .,-]*)+)"
)


@dataclass(frozen=True)
class _Evidence:
    """A column's profile, its content, and the concepts that its name speaks of and its values allow."""

    profile: Profile
    content: Content
    concepts: tuple[tuple[Concept, str], ...]

    def likeliest(self, *roles: Role) -> tuple[Concept, str] | None:
        """The likeliest concept of the name, if it is of one of these roles."""
        return next((pair for pair in self.concepts[:1] if pair[0].role in roles), None)


def suggest(profile: Profile) -> Suggestion:
    """What a plan could say of a column."""
    if not profile.counts:
        return Suggestion("insensitive", reasons.EMPTY)
    evidence = _evidence(profile)
    if len(profile.counts) == 1 and not profile.missing:
        return _same_for_all(evidence)
    return next(suggestion for judge in _JUDGES if (suggestion := judge(evidence)))


def _same_for_all(evidence: _Evidence) -> Suggestion:
    """What is the same for everybody may be published, unless it points to the one person whom all rows are about."""
    judges = (_judge_format, _judge_key_words, _judge_person_names)
    pointing = next((found.reason for judge in judges if (found := judge(evidence))), None)
    return Suggestion("insensitive", reasons.SAME) if pointing is None else Suggestion("identifier", pointing)


def may_name_persons(profile: Profile) -> bool:
    """Whether the values of a column that is withheld repeat as keys of persons do; names repeat by chance.

    >>> may_name_persons(Profile("who", {f"p{place}": 3 for place in range(9)}, rows=27))
    True
    >>> may_name_persons(Profile("name", {"Anna Becker": 2, "Max Becker": 1, "Ida Kern": 1}, rows=4))
    False
    """
    if not profile.counts or profile.present < REPEATED * profile.distinct_keys:
        return False
    coded = profile.share_of(LETTERS_AND_DIGITS) >= UNIQUE_SHARE
    return suggest(profile).role == "person" or (
        coded and not profile.few and _evidence(profile).content.kind != "dates"
    )


def _evidence(profile: Profile) -> _Evidence:
    concepts = concepts_of(profile.name)
    content = content_of(profile, [concept.key for concept, _ in concepts])
    believed = (
        (concept, word)
        for concept, word in concepts
        if _MEETS[concept.demand](profile, content) and supports(profile, concept, word)
    )
    sums = _sums_for_charges(believed, content)
    postcodes = () if any(concept.role == "sensitive" for concept, _ in sums) else _postcode(profile)
    told = _without_weak(profile, (*postcodes, *_survey_weight(profile, sums), *sums))
    return _Evidence(profile, content, told)


def _without_weak(profile: Profile, concepts: tuple[tuple[Concept, str], ...]) -> tuple[tuple[Concept, str], ...]:
    """Concepts without those of short words and abbreviations, where values speak of something else.

    Who is asked how often he does something answers with "often", whatever it is that he does.
    """
    if not concepts or not all(_is_weak(profile, *pair) for pair in concepts):
        return concepts
    by_values = concept_of_values(profile)
    other = by_values is not None and by_values[0].key not in {concept.key for concept, _ in concepts}
    return () if other else concepts


def _is_weak(profile: Profile, concept: Concept, word: str) -> bool:
    short = len(word) <= _SHORT_WORD or word not in fold(profile.name)
    return concept.key == "belongings" or (short and concept.role in ("quasi-identifier", "sensitive"))


def _survey_weight(profile: Profile, concepts: Sequence[tuple[Concept, str]]) -> Iterator[tuple[Concept, str]]:
    """The weight of a survey, where a weight is meant that nobody has."""
    word = next((word for concept, word in concepts if concept.key == "body" and word in WORDS["weighing"]), None)
    # Who was born weighs some thousand grams.
    keys = any(concept.key in ("key", "health", "age") for concept, _ in concepts)
    if {*words_of(profile.name)} & WORDS["units_of_weight"]:
        return
    if word is not None and not keys and spread_as_weights(profile):
        yield BY_KEY["weight"], word


def _postcode(profile: Profile) -> Iterator[tuple[Concept, str]]:
    """The place that a short word for postcodes speaks of, where values are such."""
    words = {*words_of(profile.name)} & WORDS["short_postal"]
    if words and profile.distinct_share < _MANY_NUMBERS and profile.share_of(_SHORT_POSTCODE) >= UNIQUE_SHARE:
        yield BY_KEY["place"], min(words)


def _sums_for_charges(concepts: Iterable[tuple[Concept, str]], content: Content) -> list[tuple[Concept, str]]:
    """Concepts without crime where numbers are meant: charges are sums of money then."""
    pairs = list(concepts)
    sums = {word for concept, word in pairs if concept.key == "money"} if content.kind in _NUMERIC else set()
    return [pair for pair in pairs if not (pair[0].key == "crime" and pair[1] in sums)]


def _judge_format(evidence: _Evidence) -> Suggestion | None:
    """Values written like those that point to one person."""
    if evidence.content.kind in ("dates", "times", "scale", "ages", "years"):
        return None
    format_ = format_of(evidence.profile)
    return _key(evidence, format_[0], reasons.by_values(format_[1], format_[0])) if format_ else None


def _judge_key_words(evidence: _Evidence) -> Suggestion | None:
    """A name that says that the column points to one person."""
    named = evidence.likeliest("identifier")
    if not named or (evidence.content.kind in ("dates", "times", "years") and named[0].key != "name"):
        return None
    concept, word = named
    return _key(evidence, concept.key, reasons.by_name(spoken_word(evidence.profile.name, word), concept.key))


def _key(evidence: _Evidence, key: str, why: str) -> Suggestion:
    """What points to one person: withheld, or the person whom promises count where it repeats."""
    profile = evidence.profile
    if key == "household":
        return Suggestion("household", reasons.HOUSEHOLD.format(why=why), concept=key)
    if key == "weight" and are_weights(profile):
        return Suggestion("weight", why, concept=key)
    if not _names_persons(evidence, key):
        return Suggestion("identifier", why, concept=key)
    if profile.missing and not {*meanings_of(profile.name)} & WORDS["staff"]:
        return Suggestion("identifier", reasons.NAMELESS.format(why=why), concept=key)
    rank = 0 if {*meanings_of(profile.name)} & WORDS["persons"] else 2 if key == "key" else 1
    return Suggestion("person", reasons.PERSON.format(why=why, count=rows_each(profile)), rank=rank, concept=key)


def _names_persons(evidence: _Evidence, key: str) -> bool:
    """Whether the values of a column that points to persons repeat as persons do."""
    other = any(concept.role in ("quasi-identifier", "sensitive") for concept, _ in evidence.concepts)
    return repeats_as_persons_do(evidence.profile, key, other)


def _judge_person_names(evidence: _Evidence) -> Suggestion | None:
    if evidence.content.kind != "categories":
        return None
    other = (
        evidence.likeliest("quasi-identifier", "sensitive")
        and not {*words_of(evidence.profile.name)} & WORDS["whole_names"]
    )
    share = share_of_full_names(evidence.profile) if other else share_of_names(evidence.profile)
    return Suggestion("identifier", reasons.by_values(share, "name"), concept="name") if share else None


def _judge_own_values(evidence: _Evidence) -> Suggestion | None:
    """Values that nearly every row has for itself: numbers of rows, keys, texts."""
    profile = evidence.profile
    known = evidence.likeliest("quasi-identifier", "sensitive")
    if evidence.content.kind in ("dates", "times", "scale"):
        return None
    numbering = {*words_of(profile.name)} & WORDS["numbering"]
    # A hospital's numbers are those of its patients, not of hospitals.
    if (not known or numbering) and not profile.missing and are_keys_of_persons(profile):
        return _repeating_keys(profile)
    if evidence.content.kind == "categories" or (evidence.content.kind == "codes" and not known):
        return _own_text(profile, known is not None)
    # What is known to be something numbers rows only where hardly any number is missing or stands twice.
    if counts_rows(profile) and (not known or numbers_all_rows(profile)):
        return Suggestion("identifier", reasons.ROW_NUMBERS)
    numbered = numbering and are_long_numbers(profile)
    if evidence.content.kind == "whole" and (numbered or (not known and are_keys(profile))):
        return Suggestion("identifier", reasons.by_values(1.0, "key"))
    return None


def _repeating_keys(profile: Profile) -> Suggestion:
    """Codes that repeat as keys of persons do: the persons, unless the name says that they are codes of something."""
    rows, words = rows_each(profile), {*meanings_of(profile.name)}
    if words & WORDS["staff"]:
        return Suggestion("identifier", reasons.STAFF_KEYS, concept="key")
    if words & WORDS["events"]:
        return Suggestion("identifier", reasons.CODES.format(count=rows), concept="key")
    rank = 0 if words & WORDS["persons"] else UNKNOWN_RANK
    return Suggestion("person", reasons.PERSON_KEYS.format(count=rows), rank=rank, concept="key")


def _own_text(profile: Profile, known: bool) -> Suggestion | None:
    # What is known to be something is chosen from a list where nearly every text stands in several rows.
    listed = known and profile.share_in_groups(_SEVERAL_ROWS) >= UNIQUE_SHARE
    if is_free_text(profile) and not listed:
        return Suggestion("identifier", reasons.FREE_TEXT)
    if profile.present >= _FEW_ROWS and profile.distinct_share >= UNIQUE_SHARE:
        return Suggestion("identifier", reasons.OWN_TEXT)
    coded = profile.share(lambda value: any(map(str.isdigit, value)) and " " not in value.strip())
    if profile.present >= _FEW_ROWS and coded > 0.9 and profile.distinct_share >= _MANY_NUMBERS and not known:
        return Suggestion("identifier", reasons.by_values(coded, "key"))
    return None


def _judge_privacy(evidence: _Evidence) -> Suggestion | None:
    """What GDPR protects most, what is private, what is studied."""
    named = evidence.likeliest("sensitive")
    dated = evidence.content.kind == "years" and head_of(evidence.profile.name) in BY_KEY["date"].words
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


def _sensitive(evidence: _Evidence, concept: Concept, reason: str) -> Suggestion:
    # A sensitive value is published as it stands, so a type must suit every one of them.
    content = evidence.content
    type_ = "text" if content.rejected else content.type
    protected = "GDPR" in reasons.PHRASES[concept.key]
    return Suggestion("sensitive", reason, type_, protected=protected, concept=concept.key)


def as_quasi_identifier(profile: Profile, reason: str) -> Suggestion:
    """A column as one that others may know, whatever it speaks of."""
    return _quasi_identifier(_evidence(profile).content, reason, UNKNOWN_RANK)


def _judge_units(evidence: _Evidence) -> Suggestion | None:
    """Numbers in several units: no ladder of numbers is honest, and as categories nothing of them would be left."""
    units = mixed_units(evidence.profile) if evidence.content.kind == "categories" else ()
    if not units:
        return None
    reason = reasons.UNITS.format(units=", ".join(units))
    return Suggestion("identifier", reasons.UNDECIDED + reason, undecided=True)


def _judge_knowledge(evidence: _Evidence) -> Suggestion | None:
    """What others may know of a person."""
    known = next(((concept, word) for concept, word in evidence.concepts if concept.role == "quasi-identifier"), None)
    content = evidence.content
    if known:
        what = reasons.by_name(spoken_word(evidence.profile.name, known[1]), known[0].key)
        return _quasi_identifier(content, reasons.known(what, content.words), known[0].rank, known[0].key)
    by_values = concept_of_values(evidence.profile)
    if by_values:
        what = reasons.by_values(by_values[1], by_values[0].key)
        return _quasi_identifier(content, what, by_values[0].rank, by_values[0].key)
    if is_nameless(evidence.profile) and (spread := known_by_spread(evidence.profile)):
        return _quasi_identifier(spread[1], reasons.LIKE[spread[0]], BY_KEY[spread[0]].rank, spread[0])
    if is_nameless(evidence.profile) and (private := private_by_spread(evidence.profile)):
        return Suggestion("sensitive", reasons.LIKE[private], content.type, concept=_OF_SPREAD.get(private, private))
    if content.kind in ("dates", "times", "years"):
        what = reasons.TIME.format(what=_capital(content.words))
        return _quasi_identifier(content, what, 1, "date")
    return None


def _judge_written_remarks(evidence: _Evidence) -> Suggestion | None:
    """A field for remarks whose values have several words each, whatever else its name and its values speak of."""
    words = [*words_of(evidence.profile.name), *meanings_of(evidence.profile.name)]
    word = next((word for word in words if word in WORDS["remarks"]), None)
    if word is None or evidence.profile.words_each < SEVERAL_WORDS:
        return None
    reason = reasons.by_name(spoken_word(evidence.profile.name, word), "free_text")
    return Suggestion("identifier", reason, concept="free_text")


def _judge_remarks(evidence: _Evidence) -> Suggestion | None:
    """A field for remarks that holds a few texts so far."""
    spoken = next((word for concept, word in concepts_of(evidence.profile.name) if concept.key == "free_text"), None)
    answers = evidence.profile.share_of(_YES_OR_NO) == 1
    if spoken is None or answers or evidence.concepts or evidence.content.kind != "categories":
        return None
    reason = reasons.REMARKS.format(word=spoken_word(evidence.profile.name, spoken))
    return Suggestion("identifier", reasons.UNDECIDED + reason, undecided=True, concept="free_text")


def _judge_rest(evidence: _Evidence) -> Suggestion:
    """What nothing is known of."""
    profile, content = evidence.profile, evidence.content
    doubt = reasons.DOUBT.format(what=_capital(content.words), share=round(100 * profile.top_share))
    # Codes whose first digits group them are told by their values: they look like postcodes.
    rank = UNKNOWN_RANK - 1 if content.kind == "codes" and content.hierarchy["type"] == "digits" else UNKNOWN_RANK
    suggestion = _quasi_identifier(content, doubt, rank)
    if content.kind == "categories" and has_sentences(profile):
        return suggestion.withheld(reasons.SENTENCES)
    if content.kind == "categories" and are_written_by_hand(profile):
        return suggestion.withheld(reasons.WRITTEN)
    if content.kind in _NUMERIC and profile.present > 100 and profile.distinct_share > _MANY_NUMBERS:
        return suggestion.withheld(reasons.OWN_NUMBER)
    return suggestion


def _quasi_identifier(content: Content, reason: str, rank: int, concept: str | None = None) -> Suggestion:
    if content.rejected:
        reason += reasons.REJECTED.format(count=len(content.rejected))
    hierarchy, rejected = content.hierarchy, content.rejected
    return Suggestion("quasi-identifier", reason, content.type, hierarchy, rejected, rank, concept=concept)


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]


def _are_many(profile: Profile, _: Content) -> bool:
    """Whether values are many, or few but long ones with digits: persons with many rows have few numbers."""
    return not profile.few or profile.share_of(_LONG_CODE) >= UNIQUE_SHARE


def _is_key(profile: Profile, content: Content) -> bool:
    if content.kind == "decimal":
        return False
    if {*meanings_of(profile.name)} & WORDS["persons"]:
        return len(profile.counts) > 2
    return profile.distinct_share >= KEY_SHARE and _are_many(profile, content)


def _are_marks(profile: Profile, content: Content) -> bool:
    """Whether values are numbers, steps of a scale or short signs; else "note" means a remark."""
    return content.kind in (*_NUMERIC, "scale") or length(profile) <= _LONGEST_MARK


def _are_proper_nouns(profile: Profile) -> bool:
    """Whether values are some words that begin with a capital letter."""
    return len(profile.counts) >= _SOME_NAMES and profile.share_of(_PROPER_NOUN) >= UNIQUE_SHARE


def _is_text(profile: Profile, content: Content) -> bool:
    texts = content.kind in ("categories", "codes")
    words = words_of(profile.name)
    named = words[-1:] in (["name"], ["names"]) and bool({*words} & WORDS["whole_names"])
    named = named or (head_of(profile.name) in BY_KEY["name"].words and _are_proper_nouns(profile))
    return texts and (named or not profile.few or share_of_names(profile) > 0 or has_sentences(profile))


_MEETS: dict[Demand, Callable[[Profile, Content], bool]] = {
    "anything": lambda _, __: True,
    "many": _are_many,
    "key": _is_key,
    "number": lambda _, content: content.kind in _NUMERIC,
    "marks": _are_marks,
    "text": _is_text,
    "few": lambda profile, content: content.kind in ("categories", "codes", "scale") and profile.few,
    "time": lambda profile, content: content.kind in ("dates", *_NUMERIC) or profile.share_of(_TIME) >= UNIQUE_SHARE,
    "titles": lambda profile, _: profile.share_of(_TITLE) >= UNIQUE_SHARE,
}
_JUDGES: tuple[Callable[[_Evidence], Suggestion | None], ...] = (
    _judge_format,
    _judge_key_words,
    _judge_written_remarks,
    _judge_person_names,
    _judge_own_values,
    _judge_privacy,
    _judge_units,
    _judge_knowledge,
    _judge_remarks,
    _judge_rest,
)
