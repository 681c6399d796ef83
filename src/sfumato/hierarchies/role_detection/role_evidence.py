"""Evidence about a column: its profile, its content, and the concepts that its name suggests and its values support."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from sfumato.hierarchies.role_detection.coded_numbers import without_no_answers
from sfumato.hierarchies.role_detection.content_detection import Content, content_of, distribution_of, short_postcodes
from sfumato.hierarchies.role_detection.identifier_formats import has_sentences, length
from sfumato.hierarchies.role_detection.key_columns import KEY_SHARE, UNIQUE_SHARE, spread_as_weights
from sfumato.hierarchies.role_detection.lexicon.concepts import BY_KEY, WORDS, Concept, Demand, Role, fold
from sfumato.hierarchies.role_detection.lexicon.name_terms import concepts_of, head_of, meanings_of, words_of
from sfumato.hierarchies.role_detection.lexicon.value_terms import concept_of_values, share_of_names
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.unexplained_numbers import are_bell_shaped
from sfumato.hierarchies.types import canonical, numerals
from sfumato.patterns import regex
from sfumato.values import Value

NUMERIC = ("ages", "years", "whole", "decimal")
# Grades are short, whatever their notation.
_LONGEST_MARK = 3
_PROPER_NOUN = regex(r"[A-ZÀ-ÖØ-ÞĀ-Ž][^\W\d_]*(?:['’. -]+[^\W\d_]+)*[. ]*")
_SOME_NAMES = 3
_LONG_CODE = regex(r"(?=(?:.*\d){3}).{5,}")
# Times that are no dates: of day, of week, of year.
_TIME = regex(
    r"(?i:.*\d.*|(?:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz]|mon?|tue?|wed?|thu?|fri?|sat?|sun?|di|mi|do|fr|sa|so)"
    r"(?:[a-zä]*day|[a-zä]*tag|woch|uary|ruar|ch|il|ust|t?ember|ober|[a-z]{0,3})?\.?)"
)
_TITLE = regex(
    r"(?i:(?:(?:dr|prof|mr|mrs|ms|miss|mx|sir|dame|lord|lady|rev|hon|jr|sr|ii|iii|iv|herrn?|frau|dipl|mag|ing|med|jur|"
    r"phil|rer|nat|hc|habil|msc|bsc|ma|ba|mba|phd|llm|m|mme|mlle|dott|sig|ra|don|dona|d|rn|md|esq|capt|col|major|jonkheer|drs|ir|master)"
    r"[ .,-]*)+)"
)


def _are_many(profile: Profile, _: Content) -> bool:
    """Return whether values are many, or few long ones with digits: persons with many rows have few numbers."""
    return not profile.few or profile.share_of(_LONG_CODE) >= UNIQUE_SHARE


def _is_key(profile: Profile, content: Content) -> bool:
    if content.kind == "decimal":
        return False
    if {*meanings_of(profile.name)} & WORDS["persons"]:
        return len(profile.counts) > 2
    return profile.distinct_share >= KEY_SHARE and _are_many(profile, content)


def _are_marks(profile: Profile, content: Content) -> bool:
    """Return whether values are numbers, grades or short symbols; else "note" means a remark."""
    return content.kind in (*NUMERIC, "scale") or length(profile) <= _LONGEST_MARK


def _are_proper_nouns(profile: Profile) -> bool:
    """Return whether values are words with a capital letter."""
    return len(profile.counts) >= _SOME_NAMES and profile.share_of(_PROPER_NOUN) >= UNIQUE_SHARE


def _is_text(profile: Profile, content: Content) -> bool:
    texts = content.kind in ("categories", "codes")
    words = words_of(profile.name)
    named = words[-1:] in (["name"], ["names"]) and bool({*words} & WORDS["whole_names"])
    named = named or (head_of(profile.name) in BY_KEY["name"].words and _are_proper_nouns(profile))
    return texts and (named or not profile.few or share_of_names(profile) > 0 or has_sentences(profile))


MEETS: dict[Demand, Callable[[Profile, Content], bool]] = {
    "anything": lambda _, __: True,
    "many": _are_many,
    "key": _is_key,
    "number": lambda _, content: content.kind in NUMERIC,
    "marks": _are_marks,
    "text": _is_text,
    "few": lambda profile, content: content.kind in ("categories", "codes", "scale") and profile.few,
    "time": lambda profile, content: content.kind in ("dates", *NUMERIC) or profile.share_of(_TIME) >= UNIQUE_SHARE,
    "titles": lambda profile, _: profile.share_of(_TITLE) >= UNIQUE_SHARE,
}


_MOST = 0.8
_SEVERAL = 5
# Numbers from authorities and banks have more characters than a count of years.
_SHORT = regex(r"\d{1,3}")
_NUMBERS_OF_OFFICES = frozenset(("office_number", "account", "phone"))
# With more numbers than these, they are places or scores of one sex, not codes of several.
_MOST_SEXES = 12
# Words that equal another one without its accents: a loan (lån) is an amount, a county (län) one of a few.
_SUMS = frozenset(("lan",))
# A wage (løn) has no more than two decimals, a longitude has.
_PLACES = frozenset(("lon",))
# Dutch postcodes, with or without their letters; principal components have the same names.
_DUTCH_POSTCODES, _DUTCH_POSTCODE = frozenset(("pc4", "pc6")), regex(r"[1-9]\d{3}(?: ?[A-Za-z]{2})?")
# The foreign language somebody learns, in France; numbers are grades in it.
_SUBJECTS, _MARK = frozenset(("lv1", "lv2", "langue1")), regex(r"\d{1,2}(?:[.,]\d+)?")
# A day, possibly with a time; or a run named after one.
_STAMP = regex(r"(?:\D*\d){6,}\D*|.*\d{1,2}[ .-]?(?i:[a-z]{3,9})[ .,-]*\d{2,4}.*")
_FINE = regex(r"-?\d+[.,]\d{3,}")
_SHORT_WORD = 4
_LETTERS = 2
_HEAVIEST = 400
# Amounts of money, and how many distinct ones there must be.
_WITH_CENTS, _MANY_SUMS = regex(r"-?\d+[.,]\d{2}"), 50
# Texts of a list: maximum number, and minimum proportion of rows with a frequent one.
_MOST_LISTED, _MANY_ROWS, _COMMON = 100, 20, 0.95


class RoleEvidence(Value):
    """A column's profile, its content, and the concepts that its name suggests and its values support."""

    profile: Profile
    content: Content
    concepts: tuple[tuple[Concept, str], ...]

    def likeliest(self, *roles: Role) -> tuple[Concept, str] | None:
        """Return the likeliest concept of the name, if it has one of these roles."""
        return next((pair for pair in self.concepts[:1] if pair[0].role in roles), None)


def evidence_of(profile: Profile) -> RoleEvidence:
    """Return the evidence about a column."""
    concepts = concepts_of(profile.name)
    content = content_of(profile, [concept.key for concept, _ in concepts])
    believed = (
        (concept, word)
        for concept, word in concepts
        if MEETS[concept.demand](profile, content)
        and supports(profile, concept, word)
        and not (concept.key == "free_text" and is_listed(profile, word))
    )
    sums = _sums_for_charges(believed, content)
    sensitive = any(concept.role == "sensitive" for concept, _ in sums)
    postcodes = ((BY_KEY["place"], word) for word in sorted(short_postcodes(profile, lettered=sensitive))[:1])
    weights = [_body_weight(profile, *pair) for pair in sums]
    told = _without_weak(profile, (*postcodes, *_survey_weight(profile, weights), *weights))
    return RoleEvidence(profile, content, told)


def is_listed(profile: Profile, word: str) -> bool:
    """Return whether texts called descriptions are chosen from a list: few, nearly all of them in many rows.

    A field for remarks stays one, however few texts it has so far.
    """
    listed = len(profile.counts) <= _MOST_LISTED and profile.share_in_groups(_MANY_ROWS) >= _COMMON
    return listed and word not in WORDS["remarks"]


def _without_weak(profile: Profile, concepts: tuple[tuple[Concept, str], ...]) -> tuple[tuple[Concept, str], ...]:
    """Return concepts without those of short words and abbreviations if the values indicate something else.

    Questions of frequency are answered by "often", whatever their topic.
    """
    if not concepts or not all(_is_weak(profile, *pair) for pair in concepts):
        return concepts
    if all(concept.role == "quasi-identifier" for concept, _ in concepts) and _are_sums(profile):
        return ()
    # A few letters are ambiguous codes: a short name counts for more.
    if max(map(len, profile.values), default=0) <= _LETTERS:
        return concepts
    by_values = concept_of_values(profile)
    other = by_values is not None and by_values[0].key not in {concept.key for concept, _ in concepts}
    return () if other else concepts


def _are_sums(profile: Profile) -> bool:
    """Return whether numbers are amounts of money: two decimals each, many, of several lengths; no heights."""
    written = profile.share_of(_WITH_CENTS) >= UNIQUE_SHARE and len(profile.counts) >= _MANY_SUMS
    return written and len({len(value.strip()) for value in profile.sample}) > 1


def _is_weak(profile: Profile, concept: Concept, word: str) -> bool:
    short = len(word) <= _SHORT_WORD or word not in re.sub(r"[\W_]+", "", fold(profile.name))
    return concept.key == "belongings" or (short and concept.role in ("quasi-identifier", "sensitive"))


def _body_weight(profile: Profile, concept: Concept, word: str) -> tuple[Concept, str]:
    """Return body weight for a short word for weights, if the numbers are concentrated around a middle."""
    if concept.key != "weight" or len(word) > _SHORT_WORD:
        return concept, word
    spread, whole = distribution_of(profile)
    spread = without_no_answers(spread) if spread is not None and whole else None
    heavy = spread is not None and are_bell_shaped(spread) and spread.quantile(0.99) <= _HEAVIEST
    return (BY_KEY["body"], word) if heavy else (concept, word)


def _survey_weight(profile: Profile, concepts: Sequence[tuple[Concept, str]]) -> Iterator[tuple[Concept, str]]:
    """Yield the sampling weight instead of a weight that no person can have."""
    word = next((word for concept, word in concepts if concept.key == "body" and word in WORDS["weighing"]), None)
    # Newborns weigh some thousand grams.
    keys = any(concept.key in ("key", "health", "age") for concept, _ in concepts)
    if {*words_of(profile.name)} & WORDS["units_of_weight"]:
        return
    if word is not None and not keys and spread_as_weights(profile):
        yield BY_KEY["weight"], word


def _sums_for_charges(concepts: Iterable[tuple[Concept, str]], content: Content) -> list[tuple[Concept, str]]:
    """Return concepts without crime if the values are numbers: "charges" are then amounts of money."""
    pairs = list(concepts)
    sums = {word for concept, word in pairs if concept.key == "money"} if content.kind in NUMERIC else set()
    return [pair for pair in pairs if not (pair[0].key == "crime" and pair[1] in sums)]


def supports(profile: Profile, concept: Concept, word: str) -> bool:
    """Return whether the values of a column are consistent with a word of its name.

    >>> from sfumato.hierarchies.role_detection.lexicon.concepts import BY_KEY
    >>> supports(Profile("SRC_SYS", {"EPIC": 5, "CERNER": 5}, rows=10), BY_KEY["health"], "systolic")
    False
    """
    if concept.key in _NUMBERS_OF_OFFICES and profile.share_of(_SHORT) >= _MOST:
        return False
    if concept.key == "sex" and len(profile.counts) > _MOST_SEXES and not _has_words(profile):
        return False
    if concept.key == "place" and word in _DUTCH_POSTCODES:
        return profile.share_of(_DUTCH_POSTCODE) >= _MOST
    if concept.key == "schooling" and word in _SUBJECTS:
        return profile.share_of(_MARK) < _MOST
    if concept.key == "money" and word in _PLACES:
        return profile.share_of(_FINE) < _MOST
    if concept.key == "money" and word in _SUMS:
        return not profile.few
    # A title that is not a form of address is a job title; others are titles of books and courses.
    if concept.key == "work" and word in BY_KEY["title"].words:
        return words_of(profile.name) == [word] and profile.share_in_groups(_SEVERAL) >= _MOST
    if concept.key == "processing":
        return profile.share_of(_STAMP) >= _MOST
    if concept.key == "date" and _is_duration(profile):
        return False
    if word in _STRICT:
        return _within(profile, *_STRICT[word])
    limits = _LIMITS.get(word)
    return limits is None or word in fold(profile.name) or _within(profile, *limits)


def _is_duration(profile: Profile) -> bool:
    """Return whether a name has a unit of time, and values are numbers that are no years.

    >>> _is_duration(Profile("prob_yrs", {"1": 3, "2": 4}, rows=7)), _is_duration(Profile("years", {"1998": 3}, rows=3))
    (True, False)
    """
    words = {*words_of(profile.name)}
    spoken = words & WORDS["durations"] and not words & (BY_KEY["date"].words - WORDS["durations"])
    return bool(spoken) and _within(profile, -1000, 1000)


def _has_words(profile: Profile) -> bool:
    return profile.share(lambda value: any(map(str.isalpha, value))) >= _MOST


def _within(profile: Profile, low: float, high: float) -> bool:
    """Return whether most rows have a number between two limits."""
    texts = canonical([value.replace(",", ".").split("/")[0] for value in profile.sample], "amount")[0]
    numbers = numerals([text or "" for text in texts])
    rows = [profile.counts[value] for value in profile.sample]
    inside = sum(count for count, number in zip(rows, numbers, strict=True) if low <= number <= high)
    return inside >= _MOST * sum(rows)


# Short words with another meaning if numbers do not fit.
_STRICT: Mapping[str, tuple[float, float]] = {"hr": (30, 230), "rr": (5, 260)}
# The meaning of an abbreviation, and the numbers it requires.
_LIMITS: Mapping[str, tuple[float, float]] = {
    "systolic": (60, 260),
    "diastolic": (30, 160),
    "pressure": (30, 260),
    "blutdruck": (30, 260),
    "temperature": (30, 115),
    "gewicht": (0, 1e6),
    "weight": (0, 1e6),
    "height": (0, 1e4),
    "grosse": (0, 1e4),
    "blutzucker": (1, 1000),
}
