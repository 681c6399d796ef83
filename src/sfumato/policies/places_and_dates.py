"""Safe Harbor rules on places, dates and ages: nothing finer than the state or the year, and no age over 89."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import pairwise

from sfumato.hierarchies.label_bounds import NOTHING, bounds_of
from sfumato.hierarchies.role_detection.lexicon.concepts import read_sections
from sfumato.hierarchies.role_detection.lexicon.name_terms import words_of

WORDS = {head[0]: words for head, words in read_sections("identifier_words.txt", __package__)}
# Sections that are no identifiers by themselves.
_OTHERS = ("things", "persons", "zip", "places", "states", "times", "birth", "age", "no_age", "relatives", "contacts")
_KINDS = {kind: words for kind, words in WORDS.items() if kind not in _OTHERS}


def kinds_of_name(name: str) -> Iterator[str]:
    """Yield the kinds of identifiers that a column's name indicates.

    >>> list(kinds_of_name("patient_name")), list(kinds_of_name("drug_name")), list(kinds_of_name("Home Phone"))
    (['names'], [], ['telephone-numbers'])
    """
    words = words_of(name)
    if "".join(words) in WORDS["relatives"]:  # names of employers and relatives are identifiers, too
        yield "names"
        return
    together = {*words, *("".join(words[at : at + size]) for size in (2, 3) for at in range(len(words)))}
    named_thing = bool(WORDS["things"] & {*words}) and not WORDS["persons"] & {*words}
    kinds = [kind for kind, known in _KINDS.items() if known & together]
    specific = [kind for kind in kinds if kind != "other-identifiers"]
    if {"names", "other-identifiers"} & {*kinds} and named_thing:
        specific = [kind for kind in specific if kind != "names"]
        kinds = specific
    yield from specific or kinds


def words_speak_of(name: str, words: frozenset[str]) -> bool:
    """Return whether a word of the name, or two together, is in a list."""
    parts = words_of(name)
    return bool(words & {*parts, *(first + second for first, second in pairwise(parts))})


# The 17 areas of 20,000 people or fewer in the 2000 Census, as guidance of the HHS Office for Civil Rights lists them.
SMALL_AREAS_2000 = frozenset(
    (
        "036",
        "059",
        "063",
        "102",
        "203",
        "556",
        "692",
        "790",
        "821",
        "823",
        "830",
        "831",
        "878",
        "879",
        "884",
        "890",
        "893",
    )
)
LEAST_PEOPLE = 20_000
_ADDRESS = re.compile(
    r"(?i)\b\d{1,6}\s+(?:[\w.'-]+\s+){1,4}(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|way|"
    r"square|place|pl|terrace|parkway|pkwy|highway|hwy)\b\.?|\bp\.?\s?o\.?\s?box\s+\d+|"
    r"\b[A-ZÄÖÜ][\wäöüß-]*(?:straße|strasse|str\.|weg|platz|allee|gasse)\s+\d+\s?[a-z]?\b"
)
_COORDINATES = re.compile(r"-?\d{1,3}\.\d{3,}\s*[,;]\s*-?\d{1,3}\.\d{3,}")
_ZIP5 = re.compile(r"\d{5}(?:-\d{4})?")
_ZIP9 = re.compile(r"(?<!\d)\d{5}-\d{4}(?!\d)")
_ZIP3 = re.compile(r"(\d{3})(?:[*xX#_]{2}(?:-?[*xX#_]{4})?)?")
_COARSER = re.compile(r"\d{0,2}[*xX#_]+")


def is_zip_column(name: str) -> bool:
    """Return whether a column's name indicates ZIP codes."""
    return words_speak_of(name, WORDS["zip"])


def place_faults(name: str, values: Sequence[str], people: Mapping[str, int] | None = None) -> str | None:
    """Return which geographic detail of a column is finer than Safe Harbor allows; None if there is none.

    Args:
        people: The population of each three-digit ZIP area, if the user provides it.

    >>> place_faults("zip", ["02139"]), place_faults("zip", ["021**", "000"]), place_faults("zip", ["036**"])
    ('ZIP codes of five digits', None, 'ZIP areas of 20,000 people or fewer')
    """
    if any(_ADDRESS.search(value) or _COORDINATES.search(value) or _ZIP9.search(value) for value in values):
        return "addresses or coordinates"
    if is_zip_column(name):
        return _zip_fault(values, people)
    if words_speak_of(name, WORDS["places"]) and not words_speak_of(name, WORDS["states"]):
        return "places smaller than a state" if values else None
    return None


def _zip_fault(values: Sequence[str], people: Mapping[str, int] | None) -> str | None:
    for value in (value.strip() for value in values):
        if _COARSER.fullmatch(value):
            continue
        area = _ZIP3.fullmatch(value)
        if area is None:
            return "ZIP codes of five digits" if _ZIP5.fullmatch(value) else "ZIP codes of more than three digits"
        if area[1] != "000" and not _is_crowded(area[1], people):
            return "ZIP areas of 20,000 people or fewer"
    return None


def area_shown(value: str, people: Mapping[str, int] | None) -> str:
    """Return the published form of a ZIP code: its first three digits, 000 for areas of at most 20,000 people.

    >>> area_shown("02139", None), area_shown("03601", None)
    ('021**', '000**')
    """
    area = value.strip()[:3]
    known = area.isdecimal() and len(area) == 3 and _is_crowded(area, people)
    return f"{area if known else '000'}**"


def _is_crowded(area: str, people: Mapping[str, int] | None) -> bool:
    return area not in SMALL_AREAS_2000 if people is None else people.get(area, 0) > LEAST_PEOPLE


OLDEST_SHOWN = 89
# Seconds since 1970 of the years 2000 to 2034.
_EPOCH = (946_684_800, 2_051_222_400)
_MONTHS = (
    "jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|mär|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|"
    "sep(?:t(?:ember)?)?|oct(?:ober)?|okt(?:ober)?|nov(?:ember)?|dec(?:ember)?|dez(?:ember)?"
)
# May is a verb, too, unless it is capitalized like a name.
_WHOLE_MONTHS = (
    "january|januar|jänner|february|februar|march|märz|april|(?-i:May|Mai)|june|juni|july|juli|august|september|"
    "october|oktober|november|december|dezember|(?:jan|feb|apr|aug|sept?|okt|oct|nov|dez|dec)\\."
)
_DATE = re.compile(
    r"(?<![\d.-])\d{4}-(?:0[1-9]|1[0-2])(?:-\d{2})?(?![\d-])|(?<![\d.])\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d{2})(?![\d.])|"
    r"(?<!\d)\d{4}/\d{1,2}(?:/\d{1,2})?(?!\d)|(?<!\d)\d{1,2}-\d{1,2}-\d{4}(?!\d)|(?<!\d)\d{1,2}/\d{4}(?!\d)|"
    rf"(?<!\w)(?:\d{{1,2}}(?:st|nd|rd|th|\.)?[\s-])?(?:{_MONTHS})\.?[\s-]+(?:\d{{1,2}}(?:st|nd|rd|th)?,?\s+)?\d{{2,4}}(?!\w)|"
    rf"(?<!\w)\d{{1,2}}[-\s]?(?:{_MONTHS})[-\s]?\d{{2,4}}(?!\w)|"
    # A day and a month without their year.
    rf"(?<![\w.])(?:[12]?\d|3[01])(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?:{_WHOLE_MONTHS})(?!\w)|"
    rf"(?<!\w)(?:{_WHOLE_MONTHS})\s+(?:the\s+)?(?:[12]?\d|3[01])(?:st|nd|rd|th)?(?![\w%.])|"
    r"(?<!\d)\d{4}[- ]?(?:Q[1-4]|W\d{2})(?!\d)|(?<!\w)Q[1-4][ /-]?\d{4}(?!\d)|(?<!\d)\d{4}H[12](?!\d)|(?<!\d)\d{6}\*\*",
    re.I,
)
_COMPACT = re.compile(r"(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[T ]?\d{4,6}Z?)?")
# Days without century, in either order; and months.
_SHORT = re.compile(
    r"\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])|(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d{2}|(?:19|20)\d{2}(?:0[1-9]|1[0-2])"
)
_PART = re.compile(
    rf"(?:{_MONTHS})|(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d{{1,2}}[./-]\d{{1,2}}\.?|\d{{1,2}}:\d{{2}}.*", re.I
)
_YEAR = re.compile(r"(?:1[89]|20)\d{2}")
# Ranges of years, decades and centuries in words.
_YEARS_SPAN = re.compile(
    r"[\[(]?\s*((?:1[89]|20)\d{2})\s*(?:-|–|—|\.\.|/|to|bis|,)\s*((?:1[89]|20)\d{2}|\d{2})\s*[\])]?", re.I
)
_DECADE = re.compile(r"(?<!\d)((?:1[89]|20)\d)0(?:['’]?s\b|er(?:[ -]?jahren?)?\b)", re.I)
_CENTURY = re.compile(
    r"(?<!\d)(1[89]|2[01])(?:th|st|\.)?[\s-]*(?:century|cent\.?|c\.|jahrhunderts?|jh\.?|siècle)", re.I
)
_SHORT_YEAR = re.compile(r"['’]?(\d{2})")
_MASKED_YEAR = re.compile(r"(?<!\d)((?:1[89]|20)\d?)(?=[*xX#_])")
_PARTS = frozenset(("month", "monat", "day", "tag", "weekday", "quarter", "week"))
_OPEN = re.compile(
    r"(?:>=|≥|at least|from|ab|mindestens|>|over|above|older than|more than|über|ueber|älter als|mehr als)\s*"
    r"(\d{1,3})(?:\s*(?:years?|jahren?|jahre))?|"
    r"(\d{1,3})\s*(?:\+|and (?:over|older|above)|or (?:over|older|more|above)|"
    r"plus|und (?:älter|mehr)|years? (?:and|or) (?:over|older))",
    re.I,
)
_INCLUDING = re.compile(r">=|≥|at least|from|ab|mindestens", re.I)
_OLD_WORDS = re.compile(r"ninety[ -](?:one|two|three|four|five|six|seven|eight|nine)|hundred|undneunzig|hundert", re.I)
_WHOLE = re.compile(r"\d+")
_COMMA = re.compile(r"(\d),(\d)")
# A comma separates ends only in brackets; elsewhere it is a decimal mark.
_SPAN = re.compile(r"[\[(]?\s*(\d{1,3})\s*(?:-|–|\.\.|to|bis|(?<=[\[(]\d{2}),|(?<=[\[(]\d{3}),)\s*(\d{1,3})\s*[\])]?")
_FREE_AGE = re.compile(r"(?<!\d)(\d{2,3})[ -](?:years?|yrs?|y/?o|jahre)(?!\w)", re.I)


def date_fault(name: str, values: Sequence[str]) -> str | None:
    """Return which detail of dates finer than years a column contains.

    >>> date_fault("admitted", ["2019-03-01"]), date_fault("admission", ["2019"]), date_fault("dob", ["19430212"])
    ('days or months', None, 'days or months')
    >>> date_fault("admission_date", ["44259", "44260"]), date_fault("length_of_stay", ["44259"])
    ('days or months', None)
    """
    dated = words_speak_of(name, WORDS["birth"]) or any(map(_is_of_time, words_of(name)))
    timed = dated or words_speak_of(name, WORDS["times"])
    for value in (value.strip() for value in values):
        if _DATE.search(value) or (timed and _is_timed(value)):
            return "days or months"
    if all(_is_epoch(value) or _COMPACT.fullmatch(value.strip()) for value in values) or (
        dated and all(map(_is_day_number, values))
    ):
        return "days or months"
    if words_speak_of(name, _PARTS) and values:
        return None if all(_YEAR.fullmatch(value.strip()) for value in values) else "days or months"
    return None


def _is_of_time(word: str) -> bool:
    """Return whether a word is a compound with a date in German, or in a database: opdatum, visitdate."""
    return word.endswith(("datum", "date", "zeitpunkt", "zeitstempel", "timestamp", "uhrzeit"))


def _is_timed(value: str) -> bool:
    """Return whether a value of a column named for times is finer than a year."""
    patterns = (_COMPACT, _SHORT, _PART)
    return any(pattern.fullmatch(value) for pattern in patterns) or _is_epoch(value)


def _is_epoch(value: str) -> bool:
    """Return whether a number is a Unix time: seconds, milliseconds or microseconds since 1970.

    >>> [_is_epoch(text) for text in ("1551398400", "1551398400000", "1551398400.25", "30170.44", "20190301", "2019")]
    [True, True, True, False, False, False]
    """
    whole = value.strip().partition(".")[0]
    digits = {10: 1, 13: 10**3, 16: 10**6}.get(len(whole))
    return digits is not None and whole.isdecimal() and _EPOCH[0] <= int(whole) // digits < _EPOCH[1]


def _is_day_number(value: str) -> bool:
    """Return whether a number may be a spreadsheet day number."""
    return len(value.strip()) == 5 and value.strip().isdecimal()


def age_fault(name: str, values: Sequence[str], today: date) -> str | None:
    """Return which detail of ages over 89 a column contains.

    >>> day = date(2026, 1, 1)
    >>> age_fault("age", ["89", "90+"], day), age_fault("age", ["93"], day), age_fault("birth_year", ["1931"], day)
    (None, 'ages over 89', 'years that show an age over 89')
    """
    if any(int(age) > OLDEST_SHOWN for value in values for age in _FREE_AGE.findall(value)):
        return "ages over 89"
    if words_speak_of(name, WORDS["birth"]):
        shown = any(
            today.year - year > OLDEST_SHOWN
            for value in values
            for year in (*latest_years(value), *_short_years(value, today))
        )
        return "years that show an age over 89" if shown else None
    if not words_speak_of(name, WORDS["age"]) or words_speak_of(name, WORDS["no_age"]):
        return None
    return "ages over 89" if any(map(_is_too_old, values)) else None


def latest_years(value: str) -> list[int]:
    """Return the years in a date, the last one of a decade or century.

    >>> latest_years("1931-02-01"), latest_years("192*"), latest_years("18**"), latest_years("*")
    ([1931], [1929], [1899], [])
    >>> latest_years("1900-1999"), latest_years("1930s"), latest_years("19th century"), latest_years("1920-29")
    ([1999], [1939], [1900], [1929])
    """
    if (span := _YEARS_SPAN.fullmatch(value.strip())) and (last := _last_year(span[1], span[2])):
        return [last]
    if decades := _DECADE.findall(value):
        # The first decade of a century may mean the full century: "1900s".
        return [int(digits) * 10 + (99 if digits.endswith("0") else 9) for digits in decades]
    if centuries := _CENTURY.findall(value):
        return [int(number) * 100 for number in centuries]
    masked = [int(digits.ljust(4, "9")) for digits in _MASKED_YEAR.findall(value)]
    return [*map(int, _YEAR.findall(value)), *masked]


def _last_year(first: str, last: str) -> int | None:
    """Return the last year of a span; None if two digits are a month.

    >>> _last_year("1920", "29"), _last_year("1931", "02")
    (1929, None)
    """
    if len(last) == 4:
        return int(last)
    year = int(first[:2] + last)
    return year if year > int(first) and int(last) > 12 else None


def _short_years(value: str, today: date) -> list[int]:
    """Return a two-digit year of birth that can only belong to the last century.

    >>> [_short_years(text, date(2026, 1, 1)) for text in ("31", "'95", "12")]
    [[1931], [1995], []]
    """
    short = _SHORT_YEAR.fullmatch(value.strip())
    return [1900 + int(short[1])] if short and 2000 + int(short[1]) > today.year else []


def _is_too_old(text: str) -> bool:
    """Return whether an age label distinguishes an age over 89 from others of 90 and more.

    >>> [_is_too_old(text) for text in ("90+", ">89", "85+", "90-94", "80-89", "91", "≥95")]
    [False, False, False, True, False, True, True]
    >>> [_is_too_old(text) for text in ("92,5", "über 90", "über 89", "ab 90", "ninety-two", "88,5", "older than 95")]
    [True, True, False, False, True, False, True]
    >>> [_is_too_old(text) for text in ("91y", "91 J.", "P91Y", "ca. 91", "~102", "45y", "ca. 60")]
    [True, True, True, True, True, False, False]
    """
    label = text.strip()
    if opened := _OPEN.fullmatch(label):
        least = int(opened[1]) + (not _INCLUDING.match(label)) if opened[1] else int(opened[2])
        return least > OLDEST_SHOWN + 1
    if _OLD_WORDS.search(label):
        return True
    if span := _SPAN.fullmatch(label):
        return int(span[2]) > OLDEST_SHOWN + (label.endswith(")") and int(span[2]) == OLDEST_SHOWN + 1)
    bounds = bounds_of(_COMMA.sub(r"\1.\2", label))
    if bounds == NOTHING:
        # Ambiguous labels are ages by the numbers in them.
        return any(int(number) > OLDEST_SHOWN for number in _WHOLE.findall(label))
    if bounds[0] is None:
        return False
    return (bounds[0] if bounds[1] is None else bounds[1]) > OLDEST_SHOWN
