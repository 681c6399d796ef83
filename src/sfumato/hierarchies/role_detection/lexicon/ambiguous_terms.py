"""Values that must support a short or ambiguous term in a column name, which alone is weak evidence."""

from collections.abc import Mapping

from sfumato.hierarchies.role_detection.lexicon.concepts import BY_KEY, WORDS, Concept, fold
from sfumato.hierarchies.role_detection.lexicon.name_terms import words_of
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.types import canonical, numerals
from sfumato.patterns import regex

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
