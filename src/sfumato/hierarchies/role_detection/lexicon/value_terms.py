"""Terms, codes and names of persons in values that indicate the concept of a column if its name does not."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from string import ascii_uppercase

from sfumato.delimited.dialect import CURRENCY_SIGN
from sfumato.hierarchies.role_detection.lexicon.concepts import BY_KEY, WORDS, Concept, fold, read_sections
from sfumato.hierarchies.role_detection.lexicon.name_terms import words_of
from sfumato.hierarchies.role_detection.profile import FEET, PRESSURE, Profile
from sfumato.hierarchies.spellings import negatives_of
from sfumato.hierarchies.types import are_plain_numbers
from sfumato.patterns import regex
from sfumato.values import Value

# Minimum proportion of rows with a code of the set, and maximum length of a code.
_SHARE, _LONGEST = 0.97, 5
_MOST_CODES = 260
_ICD = regex(r"[A-TV-Z]\d{2}(?:\.[0-9A-Z]{1,3})?[+*!]?|[A-TV-Z]\d{2}\.-")
# Codes of diagnoses, tumors, procedures and drugs: ICD-10, with and without its point, ICD-O, ICD-10-PCS, OPS, ATC;
# some codes must have different beginnings, so that a room number is no disease.
_CODES = (
    _ICD,
    regex(r"[89]\d{3}/[01236]"),
    regex(r"(?=.*\d)(?=.*[A-Z])[0-9B-DF-HX][0-9A-HJ-NP-Z]{6}"),
    regex(r"[1-9]-\d{2}[0-9a-z](?:\.[0-9a-z]{1,2})?"),
    regex(r"[ABCDGHJLMNPRSV]\d{2}[A-Z]{2}\d{2}"),
    regex(r"[A-TV-Z]\d{2}[0-9A-Z]{1,4}"),
)
# Disease codes without their point have several lengths, or are short; those of practices and rooms have one length.
_POINTLESS, _LONG_CODE = _CODES[-1], 6
# Sections and divisions of industries (NACE), which look like groups of diseases, but occur only in these pairs.
_TRADE = regex(
    r"(?:A0[1-3]|B0[5-9]|C(?:1\d|2\d|3[0-3])|D35|E3[6-9]|F4[1-3]|G4[5-7]|H(?:49|5[0-3])|I5[56]|J(?:5[89]|6[0-3])|K6[4-6]|L68"
    r"|M(?:69|7[0-5])|N(?:7[7-9]|8[0-2])|O84|P85|Q8[6-8]|R9[0-3]|S9[4-6]|T9[78]|U99)(?:\.\d{1,2}(?:\.\d)?)?"
)
_SHARE_OF_ICD = 0.9
# Wells of a plate of 96 or 384.
_WELL = regex(r"[A-P](?:0?[1-9]|1\d|2[0-4])")
# Groups of ages: 35-39, 40 bis 49, <30, 80+.
_AGE_GROUP = regex(r"(?:[1-9]?\d)\s?(?:-|–|to|bis|à|a)\s?(?:[1-9]\d|10\d)|[<>≥]=?\s?[1-9]\d|[1-9]\d\s?\+")
# Amounts of money, with a currency.
_CURRENCY = (
    rf"(?:{CURRENCY_SIGN}|EUR|Euro|USD|CHF|GBP|SEK|NOK|DKK|PLN|CZK|HUF|TRY|RON|BRL|RUB|zł|Kč|kr|TL|lei|Ft|лв|руб)\.?"
)
_SUM = regex(rf"{_CURRENCY}\s?[+-]?\d[\d.,'\s]*|[+-]?\d[\d.,'\s]*?(?:,-)?\s?{_CURRENCY}")
_LEAST_GROUPS, _MOST_GROUPS = 3, 25
# Minimum length of parts of texts; minimum proportion of rows for a conclusion.
_LONG, _LEAST_TOLD = 5, 0.02
# Word lists that also occur in other texts need more rows; these are compared with full texts only.
_PARTS = 0.7
_RACES = {"w", "b"}


def _are_long_alike(profile: Profile) -> bool:
    lengths = {len(value.strip()) for value in profile.sample}
    return len(lengths) == 1 and min(lengths) >= _LONG_CODE


def _are_wells(profile: Profile) -> bool:
    """Return whether codes are wells of a laboratory plate, which look like diagnosis codes: A01 to H12, or P24.

    >>> [_are_wells(Profile(name, {"A08": 2, "H12": 1}, rows=3)) for name in ("Well", "sample well", "diagnosis")]
    [True, True, False]
    """
    return bool({*words_of(profile.name)} & WORDS["wells"]) and profile.share_of(_WELL) >= _SHARE_OF_ICD


def concept_of_values(profile: Profile) -> tuple[Concept, float] | None:
    """Return the concept of a column's values, and the proportion of rows that indicate it.

    >>> concept, share = concept_of_values(Profile("x", {"ledig": 3, "Verheiratet": 5}, rows=8))
    >>> concept.key, share
    ('family', 1.0)
    >>> concept_of_values(Profile("x", {"none": 85, "flu": 10, "hiv": 5}, rows=100))[0].key
    'health'
    """
    if len(profile.counts) < 2 or are_plain_numbers(profile.sample):
        return None
    if _are_wells(profile):
        return None
    if (trades := profile.share_of(_TRADE)) >= _SHARE_OF_ICD and len({value[:1] for value in profile.sample}) > 2:
        return BY_KEY["work"], trades
    codes = max(profile.share_of(code) for code in _CODES if code is not _POINTLESS or not _are_long_alike(profile))
    if codes >= _SHARE_OF_ICD and len({value.strip()[:1] for value in profile.sample}) > 1:
        return BY_KEY["health"], codes
    if _LEAST_GROUPS <= len(profile.counts) <= _MOST_GROUPS and profile.share_of(_AGE_GROUP) >= _SHARE_OF_ICD:
        return BY_KEY["age"], profile.share_of(_AGE_GROUP)
    if (sums := profile.share_of(_SUM)) >= _SHARE_OF_ICD:
        return BY_KEY["money"], sums
    if (pressures := profile.share_of(PRESSURE)) >= _SHARE_OF_ICD:
        return BY_KEY["health"], pressures
    if len(profile.counts) >= _LEAST_GROUPS and (feet := profile.share_of(FEET)) >= _SHARE_OF_ICD:
        return BY_KEY["body"], feet
    if known := concept_of_codes(profile):
        return BY_KEY[known[0]], known[1]
    plain = {value: _plain(value) for value in profile.sample}
    negatives = negatives_of(profile.sample)
    for key, needed, words in _lists():
        private = BY_KEY[key].role == "sensitive"
        parts = private and needed <= _PARTS
        members = {value for value, text in plain.items() if text in words or (parts and _has_part(text, words))}
        if not members or (key == "origin" and _are_other_letters({plain[value] for value in members})):
            continue
        # Healthy persons have an uninformative value: "none" among a few diseases.
        silent = negatives - members if private else frozenset()
        share = profile.share(members.__contains__) / max(1 - profile.share(silent.__contains__), _LEAST_TOLD)
        if share >= needed:
            return BY_KEY[key], min(share, 1.0)
    return None


def holds_words_of(profile: Profile, key: str) -> bool:
    """Return whether any value of a column is a word of a concept.

    >>> holds_words_of(Profile("race", {"Labrador": 9, "Caucasian": 1}, rows=10), "origin")
    True
    """
    words = frozenset().union(*(some for name, _, some in _lists() if name == key))
    return any(_plain(value) in words for value in profile.sample)


def _are_other_letters(members: set[str]) -> bool:
    """Return whether letters are groups of something, not codes of races as in courts and hospitals."""
    return max(map(len, members)) == 1 and not members > _RACES


def _has_part(text: str, words: frozenset[str]) -> bool:
    """Return whether a long word of a text is in a list: type 2 diabetes is."""
    return any(len(part) >= _LONG and part in words for part in text.split("-"))


@cache
def _lists() -> list[tuple[str, float, frozenset[str]]]:
    """Return for each concept the minimum proportion of rows with one of its words, and these words."""
    lists: dict[tuple[str, float], frozenset[str]] = {}
    for (key, share), words in read_sections("value_words.txt"):
        entry = key, float(share)
        lists[entry] = lists.get(entry, frozenset()) | words
    return [(key, share, words) for (key, share), words in lists.items()]


def _plain(value: str) -> str:
    return fold(value.strip()).replace(" ", "-").replace("_", "-").rstrip(".")


# `M` may be anything; `S`, `M`, `D` and `W` together are single, married, divorced and widowed. The sets are in
# `code_sets.txt`: the concept, how many different codes of the set a column needs, and those that are required.
class _CodeSet(Value):
    concept: str
    least: int
    needed: frozenset[str]
    codes: frozenset[str]


def concept_of_codes(profile: Profile) -> tuple[str, float] | None:
    """Return the concept of a column's codes, and the proportion of rows with one of the set.

    >>> concept_of_codes(Profile("x", {"S": 30, "M": 40, "D": 20, "W": 10}, rows=100))
    ('family', 1.0)
    >>> concept_of_codes(Profile("x", {"S": 30, "M": 40, "L": 20}, rows=100))
    """
    if not 2 <= len(profile.counts) <= _MOST_CODES:
        return None
    plain = {value: value.strip().rstrip(".") for value in profile.counts}
    # Codes are in capitals, or all of them in small letters; a word begins with one capital.
    shouted = all(len(code) <= _LONGEST and code == code.upper() for code in plain.values())
    if not shouted and not all(code == code.lower() and len(code) <= _LONGEST for code in plain.values()):
        return None
    codes = {value: code.lower() for value, code in plain.items()}
    return next((found for one in _sets() if (found := _share(one, codes, profile))), None)


def _share(one: _CodeSet, codes: dict[str, str], profile: Profile) -> tuple[str, float] | None:
    members = {value for value, code in codes.items() if code in one.codes}
    if len(members) < one.least or not one.needed <= {codes[value] for value in members}:
        return None
    share = sum(profile.counts[value] for value in members) / max(profile.present, 1)
    return (one.concept, share) if share >= _SHARE else None


@cache
def _sets() -> tuple[_CodeSet, ...]:
    return tuple(
        _CodeSet(concept, int(least), frozenset(needed), words)
        for (concept, least, *needed), words in read_sections("code_sets.txt")
    )


# No list has all names: this proportion of rows suffices if a column has many values. Of a few values nearly all must
# be names, because towns, trades and months are names, too.
_SHARE_OF_MANY, _SHARE_OF_FEW = 0.25, 0.5
_MANY_VALUES = 40
# Titles of persons, whatever the name after them.
_CALLED = frozenset(("dr", "prof", "herr", "frau", "mr", "mrs", "ms", "miss", "mme", "sr", "sra", "dott", "dra"))
_CALLED |= {
    "herrn",
    "hr",
    "hrn",
    "fr",
    "mlle",
    "monsieur",
    "madame",
    "senor",
    "senora",
    "sig",
    "dhr",
    "mevr",
    "pan",
    "pani",
}
_TITLES = _CALLED | {"master", "ra", "von", "van", "de", "der"}
_MAX_WORDS, _DIVIDING = 6, str.maketrans(",-.", "   ")
# Initials before or after a surname: J. de Vries, Berg, K.
_PARTICLES = r"(?:(?:van|von|de|der|den|da|di|la|le|du) )*"
_SURNAME = rf"{_PARTICLES}[A-ZÀ-ÖØ-ÞĀ-Ž][^\W\d_]{{2,}}(?:[- '][A-ZÀ-ÖØ-ÞĀ-Ž][^\W\d_]+)*"
_INITIAL = r"(?:[A-ZÀ-ÖØ-ÞĀ-Ž]\. ?)"
_WITH_INITIALS = regex(rf"{_INITIAL}+{_SURNAME}|{_SURNAME},? {_INITIAL}+")
# Entries of a list: A. Beginners, B. Advanced, C. Masters.
_ENTRY, _SOME_ENTRIES = regex(r"([A-Z])\. ?\w.*"), 3


def share_of_names(profile: Profile) -> float:
    """Return the proportion of rows with a common name, if it is large enough for a column of names; else 0.

    >>> share_of_names(Profile("x", {"Anna Becker": 1, "Jürgen Meyer": 1, "Petra Ilmenau": 1}, rows=3))
    1.0
    >>> share_of_names(Profile("x", {"J. de Vries": 1, "K. Østby": 1, "dr. Ilmenau": 1, "Dr.ssa Ilmenau": 1}, rows=4))
    1.0
    >>> share_of_names(Profile("x", {"A. Anfänger": 9, "B. Geübte": 9, "C. Profi": 9, "D. Meister": 9}, rows=36))
    0.0
    """
    initialed = _with_initials(profile.sample)
    share = profile.share(lambda value: value in initialed or _is_name(value))
    return share if share >= (_SHARE_OF_MANY if len(profile.counts) >= _MANY_VALUES else _SHARE_OF_FEW) else 0.0


def _with_initials(values: Sequence[str]) -> set[str]:
    """Return the texts that are surnames with initials; empty if the letters number entries of a list.

    >>> len(_with_initials([f"{initial}. {name}" for initial in "ABDEFGHKMS" for name in ("Jones", "Ilmen", "Wrzos")]))
    30
    >>> len(_with_initials([f"{letter}. {name}" for letter in "ABCD" for name in ("Class", "Group", "Hall")]))
    0
    """
    initialed = {value for value in values if _WITH_INITIALS.fullmatch(value)}
    letters: dict[str, set[str]] = {}
    for value in initialed:
        letters.setdefault(re.sub(_INITIAL, "", value).strip(" ,"), set()).add(re.findall(_INITIAL, value)[0][0])
    known = sum(fold(name.split()[-1]) in _listed()[1] for name in letters)
    if 2 * known >= max(len(letters), 1):
        return initialed
    # A. Class, B. Class and C. Class are no names: names have any initials, not those of a list.
    numbered = sum(len(some) > 1 and some == {*ascii_uppercase[: len(some)]} for some in letters.values())
    alone = len(letters) == 1 and len(initialed) > 1
    return set() if alone or 2 * numbered >= len(letters) or _are_entries(values) else initialed


def _are_entries(values: Iterable[str]) -> bool:
    """Return whether values begin with the consecutive letters of a list, from A on without a gap."""
    letters = sorted(entry[1] for entry in map(_ENTRY.fullmatch, values) if entry)
    return len(letters) >= _SOME_ENTRIES and letters == [*ascii_uppercase[: len(letters)]]


def share_of_full_names(profile: Profile) -> float:
    """Return the proportion of rows with a given name among other words, if it is more than half; else 0.

    Only columns of persons have these, whatever their name.
    """
    share = profile.share(lambda value: len(value.replace(",", " ").split()) > 1 and _is_name(value))
    return share if share > 0.5 else 0.0


def _is_name(value: str) -> bool:
    """Return whether a text consists of words, one of which is a common name: in a longer text, a given name."""
    parts = value.translate(_DIVIDING).split()
    words = [fold(word).strip("()\"'") for word in parts]
    if not 1 <= len(words) <= _MAX_WORDS or not all(word.isalpha() for word in words if word):
        return False
    given, surnames = _listed()
    names = [word for word in words if word not in _TITLES]
    if names and words[0] in _CALLED and parts[-1][0].isupper():
        return True
    if not value[0].isupper():
        return False
    if len(names) == 1:
        return names[0] in given or names[0] in surnames
    return any(name in given for name in names)


def is_given_name(word: str) -> bool:
    """Return whether a word is a common given name.

    >>> is_given_name("Anna"), is_given_name("Asthma")
    (True, False)
    """
    return fold(word) in _listed()[0]


@cache
def _listed() -> tuple[frozenset[str], frozenset[str]]:
    """Return the given names and the surnames of the list."""
    (_, given), (_, surnames) = read_sections("names.txt")
    return given, surnames


_ENDINGS = (
    "ville|ton|town|burg|burgh|bury|boro|borough|field|wood|woods|view|grove|ford|port|haven|mouth|brook|dale|shire|chester|"
    "ham|hurst|minster|worth|stead|city|springs?|falls|creek|lakes?|heights|hills?|beach|park|valley|island|county|township|"
    "village|junction|crossing|ridge|bluffs?|rapids|harbor|bay|point|center|oaks|gardens|polis|"
    "berg|dorf|hausen|heim|ingen|stadt|stedt|städt|bach|feld|furt|kirchen|kirch|hofen|wald|brück|brücken|beuren|weiler|rode|"
    "leben|münde|hafen|tal|see|stein|fels|horst|büttel|lingen|ungen|wangen|zell|münster"
)
_BEGINNINGS = (
    r"bad|sankt|st\.?|san|santa|saint|los|las|el|new|north|south|east|west|fort|mount|mt\.?|port|lake|upper|lower|"
    r"ober|unter|neu|groß|klein"
)
_PLACE = regex(
    rf"(?i:[a-zäöüßé.' -]*[a-zäöüßé]{{2,}}(?:{_ENDINGS})(?: (?:am|an der|im|in der|ob der|bei|a\.d\.) ?[a-zäöü. ]+)?"
    rf"|(?:{_BEGINNINGS}) [a-zäöüßé.' -]{{3,}}|[a-zäöüß-]{{3,}} (?:am|an der|im|bei) [a-zäöü. ]+"
    rf"|[a-z]+ (?:{_ENDINGS}))"
)
_CAPITAL = regex(r"[A-ZÄÖÜ].{2,40}")
_LEAST_PLACES, _DISTINCT = 3, 0.5


def share_of_places(profile: Profile) -> float:
    """Return the proportion of rows with the name of a place, if half of the names are places; else 0.

    >>> share_of_places(Profile("x", {"Pine Grove": 3, "Hartsville": 4, "Gallatin": 1}, rows=8))
    0.875
    >>> share_of_places(Profile("x", {"Lager": 3, "Versand": 4, "Einkauf": 1}, rows=8))
    0.0
    """
    if len(profile.counts) < _LEAST_PLACES or profile.share_of(_CAPITAL) < 1:
        return 0.0
    places = sum(_PLACE.fullmatch(value.strip()) is not None for value in profile.sample)
    return profile.share_of(_PLACE) if places >= _DISTINCT * len(profile.sample) else 0.0


# Attributes of which a column may be named after one value, with yes and no: married, black, catholic.
_FLAGGED = frozenset(
    ("sex", "family", "origin", "nationality", "religion", "politics", "sexual_life", "work", "schooling")
)


def meaning_of_flag(name: str) -> tuple[str, str] | None:
    """Return the concept of which a name is a value, and the word.

    >>> meaning_of_flag("married"), meaning_of_flag("is_female"), meaning_of_flag("size")
    (('family', 'married'), ('sex', 'female'), None)
    """
    words = words_of(name)
    tried = ["-".join(words), *reversed(words), *(word.removeprefix("non") for word in words)]
    for word in tried:
        if len(word) >= _FLAG_LETTERS:
            for key, _, members in _lists():
                if key in _FLAGGED and word in members:
                    return key, word
    return None


_FLAG_LETTERS = 3
