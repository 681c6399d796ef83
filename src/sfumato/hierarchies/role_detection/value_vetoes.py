"""Vetoes: values that contradict a concept, whatever speaks for it."""

from collections.abc import Callable

from sfumato.hierarchies.role_detection import thresholds as at
from sfumato.hierarchies.role_detection.content_detection import distribution_of
from sfumato.hierarchies.role_detection.evidence import NUMERIC, Column, Evidence
from sfumato.hierarchies.role_detection.identifier_formats import has_sentences, length
from sfumato.hierarchies.role_detection.key_columns import KEY_SHARE, UNIQUE_SHARE
from sfumato.hierarchies.role_detection.lexicon.concepts import BY_KEY, Demand
from sfumato.hierarchies.role_detection.lexicon.name_terms import words_of
from sfumato.hierarchies.role_detection.lexicon.value_terms import share_of_names
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.types import canonical, numerals
from sfumato.patterns import regex
from sfumato.values import Value

# Grades are short, whatever their notation.
_LONGEST_MARK = 3
_PROPER_NOUN = regex(r"[A-ZÀ-ÖØ-ÞĀ-Ž][^\W\d_]*(?:['’. -]+[^\W\d_]+)*[. ]*")
_SOME_NAMES = 3
_LONG_CODE = regex(r"(?=(?:.*\d){3}).{5,}")
_TITLE = regex(
    r"(?i:(?:(?:dr|prof|mr|mrs|ms|miss|mx|sir|dame|lord|lady|rev|hon|jr|sr|ii|iii|iv|herrn?|frau|dipl|mag|ing|med|jur|"
    r"phil|rer|nat|hc|habil|msc|bsc|ma|ba|mba|phd|llm|m|mme|mlle|dott|sig|ra|don|dona|d|rn|md|esq|capt|col|major|jonkheer|drs|ir|master)"
    r"[ .,-]*)+)"
)
# Times that are no dates: of day, of week, of year.
_TIME = regex(
    r"(?i:.*\d.*|(?:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz]|mon?|tue?|wed?|thu?|fri?|sat?|sun?|di|mi|do|fr|sa|so)"
    r"(?:[a-zä]*day|[a-zä]*tag|woch|uary|ruar|ch|il|ust|t?ember|ober|[a-z]{0,3})?\.?)"
)
# A day, possibly with a time; or a run named after one.
_STAMP = regex(r"(?:\D*\d){6,}\D*|.*\d{1,2}[ .-]?(?i:[a-z]{3,9})[ .,-]*\d{2,4}.*")
_SHORT, _MOST = regex(r"\d{1,3}"), 0.8
_WITH_CENTS, _MANY_SUMS = regex(r"-?\d+[.,]\d{2}"), 50
# With more numbers than these, they are scores of one sex, not codes of several.
_MOST_SEXES, _FEWEST_TIMES, _DAYS = 12, 3, 31
_TIMES = ("dates", "times", "years")


class Veto(Value):
    """Concepts that a column with certain values cannot have."""

    concepts: frozenset[str]
    contradicts: Callable[[Column], bool]
    by_name_only: bool = True


def is_contradicted(column: Column, evidence: Evidence) -> bool:
    """Return whether values of a column forbid a concept."""
    if evidence.of not in BY_KEY:
        return False
    if evidence.by == "name" and not _MEETS[BY_KEY[evidence.of].demand](column):
        return evidence.code != "question_text"
    if evidence.by == "name" and evidence.weight < at.HEAD and _is_known(evidence.of) and _are_sums(column):
        return True
    return any(
        evidence.of in veto.concepts and (evidence.by == "name" or not veto.by_name_only) and veto.contradicts(column)
        for veto in VETOES
    )


def _are_many(column: Column) -> bool:
    """Return whether values are many, or few long ones with digits: persons with many rows have few numbers."""
    return not column.profile.few or column.profile.share_of(_LONG_CODE) >= UNIQUE_SHARE


def _is_key(column: Column) -> bool:
    if column.shape.kind in ("decimal", *_TIMES):
        return False
    if column.has("persons"):
        return len(column.profile.counts) > 2
    return column.profile.distinct_share >= KEY_SHARE and _are_many(column)


def _are_marks(column: Column) -> bool:
    """Return whether values are numbers, grades or short symbols; else "note" means a remark."""
    return column.shape.kind in (*NUMERIC, "scale") or length(column.profile) <= _LONGEST_MARK


def _is_text(column: Column) -> bool:
    profile = column.profile
    words = words_of(profile.name)
    whole = words[-1:] in (["name"], ["names"]) and column.has("whole_names")
    nouns = len(profile.counts) >= _SOME_NAMES and profile.share_of(_PROPER_NOUN) >= UNIQUE_SHARE
    named = whole or (nouns and not (column.terms and column.terms[0].concept.key != "name"))
    texts = column.shape.kind in ("categories", "codes")
    return texts and (named or not profile.few or share_of_names(profile) > 0 or has_sentences(profile))


def _is_time(column: Column) -> bool:
    """Return whether values may be times: dates, years, days and months, or words for these; no yes and no."""
    profile = column.profile
    if column.shape.kind in _TIMES:
        return True
    if profile.share_of(_TIME) < UNIQUE_SHARE:
        return False
    if len(profile.counts) < _FEWEST_TIMES:
        return _are_years(profile)
    spread, whole = distribution_of(profile)
    if spread is None:
        return column.shape.kind != "decimal"
    return whole and ((spread.numbers[-1] <= _DAYS and spread.numbers[0] >= 0) or _are_years(profile))


def _are_years(profile: Profile) -> bool:
    return _within(profile, 1000, 2200) or _within(profile, 190000, 99999999)


_MEETS: dict[Demand, Callable[[Column], bool]] = {
    "anything": lambda _: True,
    "many": _are_many,
    "key": _is_key,
    "number": lambda column: column.shape.kind in NUMERIC,
    "marks": _are_marks,
    "text": _is_text,
    "few": lambda column: column.shape.kind in ("categories", "codes", "scale") and column.profile.few,
    "time": _is_time,
    "titles": lambda column: column.profile.share_of(_TITLE) >= UNIQUE_SHARE,
}


def _within(profile: Profile, low: float, high: float) -> bool:
    """Return whether most rows have a number between two limits."""
    texts = canonical([value.replace(",", ".").split("/")[0] for value in profile.sample], "amount")[0]
    numbers = numerals([text or "" for text in texts])
    rows = [profile.counts[value] for value in profile.sample]
    inside = sum(count for count, number in zip(rows, numbers, strict=True) if low <= number <= high)
    return inside >= _MOST * sum(rows)


def _has_words(profile: Profile) -> bool:
    return profile.share(lambda value: any(map(str.isalpha, value))) >= _MOST


def _are_sums(column: Column) -> bool:
    """Return whether numbers are amounts of money: two decimals each, many, of several lengths; no heights."""
    profile = column.profile
    written = profile.share_of(_WITH_CENTS) >= UNIQUE_SHARE and len(profile.counts) >= _MANY_SUMS
    return written and len({len(value.strip()) for value in profile.sample}) > 1


def _is_known(key: str) -> bool:
    return BY_KEY[key].role == "quasi-identifier"


def _keys(*roles: str) -> frozenset[str]:
    return frozenset(key for key, concept in BY_KEY.items() if concept.role in roles)


VETOES = (
    # A date is known to those who were there, and identifies nobody by itself.
    Veto(_keys("sensitive"), lambda column: column.shape.kind == "dates", by_name_only=False),
    Veto(_keys("identifier") - {"name", "processing"}, lambda column: column.shape.kind in _TIMES),
    Veto(_keys("quasi-identifier") - {"age", "date"}, lambda column: column.shape.kind == "dates"),
    # Numbers of offices, accounts and telephones have more than three digits.
    Veto(frozenset(("office_number", "account", "phone")), lambda column: column.profile.share_of(_SHORT) >= _MOST),
    Veto(
        frozenset(("sex",)),
        lambda column: len(column.profile.counts) > _MOST_SEXES and not _has_words(column.profile),
    ),
    Veto(frozenset(("processing",)), lambda column: column.profile.share_of(_STAMP) < _MOST),
    # Places have names and codes; coordinates are addresses.
    Veto(frozenset(("place",)), lambda column: column.shape.kind == "decimal"),
)
