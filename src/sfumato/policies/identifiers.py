"""HIPAA Safe Harbor identifiers that a column contains, by its name and the format of its values."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from unicodedata import normalize

from sfumato.hierarchies.role_detection.identifier_formats import EMAIL, is_card
from sfumato.hierarchies.role_detection.lexicon.value_terms import share_of_full_names, share_of_names
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.policies.places_and_dates import WORDS, age_fault, date_fault, kinds_of_name, place_faults, words_speak_of
from sfumato.values import Value, field

Check = Callable[[str], bool]
# Uninformative texts: only asterisks, blanks or similar signs, and words such as "removed".
_NOTHING = re.compile(
    r"[\s*#xX.?_-]*|\[?(?:redacted|removed|withheld|suppressed|masked|deleted|n/?a|none|null)\]?", re.I
)
_SSN = re.compile(r"(?<![\d-])(?!000|666|9)\d{3}[- ](?!00)\d{2}[- ](?!0000)\d{4}(?![\d-])")
_PHONE = re.compile(
    r"(?<![\w.])(?:\+?1[ .-]?)?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?![\w-])|"
    r"(?<![\w.])(?:\+(?!1\b)|00(?=[1-9]\d[ ./()-]))\d{1,3}[ ./()-]*\d[\d ./()-]{5,15}\d(?!\w)"
)
# Domestic: a zero, the area or network code, and the number.
_LOCAL_PHONE = re.compile(r"(?<![\w.,/-])\(?0[1-9]\d{1,4}\)?(?: ?[/-] ?| )\d{2,4}(?:[ -]?\d{2,4}){1,3}(?![\w-])")
LOCAL_DIGITS = 10
# Ten digits, or a number that begins with zero: telephone numbers if words around them say so.
_PLAIN_PHONE = re.compile(r"(?<![\w.,-])(?:1?[2-9]\d{2}[2-9]\d{6}|0[1-9]\d{8,11})(?![\w,-])")
_CALL = re.compile(
    r"(?i)\b(?:call|phone|tel|telefon|fon|mobile?|handy|fax|cell|reach|anruf\w*|rückruf|contact|kontakt)\b"
)
_URL = re.compile(r"(?:https?|ftp)://\S+|\bwww\.[\w-]+\.\S+", re.I)
_IPV4 = re.compile(r"(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\d.])")
_IPV6 = re.compile(
    r"(?<![\w:])(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(?![\w:])|(?<![\w:])(?:[0-9a-f]{1,4}:){1,6}:[0-9a-f:]*", re.I
)
_MAC = re.compile(r"(?<![\w:-])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?![\w:-])", re.I)
# The serial number of a device or implant, stated as such.
_SERIAL = re.compile(r"(?<!\w)(?:S/N|SN|serial(?: (?:no|number))?)\.?[ #:.-]*(?=[\w-]*\d{3})[\w-]{4,}", re.I)
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.I)
# UUIDs made at random, by time or by a counter show that in their digits; others are hashes, or made from names.
_UUID_BY_CHANCE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[124678][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.I)
# Password hashes: bcrypt, crypt, Argon2, scrypt, PBKDF2 with their names, costs and salts.
_PASSWORD_HASH = re.compile(
    r"\$(?:2[abxy]?|1|5|6|7|y|gy|apr1|argon2(?:id?|d)|scrypt|s[01]|pbkdf2(?:-\w+)?|P|H)\$\S{20,}|"
    r"\{(?:bcrypt|crypt|pbkdf2|scrypt|argon2|ssha\d*|sha\d*|smd5)\}\S{16,}|"
    r"(?:pbkdf2|bcrypt|argon2|scrypt)(?:_\w+)?[:$]\S{20,}",
    re.I,
)
_HASH_NAME = re.compile(r"[{(]?(?:md5|sha-?\d+(?:[-_/]\d+)?)[)}]?[:$= -]", re.I)
# Hashes of 16, 20, 32, 48 and 64 bytes in base64: upper and lower case and digits, unlike any human text.
_HASH_BASE64 = re.compile(
    r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)"
    r"(?:[\w+/-]{22}==|[\w+/-]{27}=|[\w+/-]{43}=?|[\w+/-]{64}|[\w+/-]{86}(?:==)?)",
    re.ASCII,
)
_HASH = re.compile(r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128}", re.I)
_VIN = re.compile(r"(?=.*\d)(?=.*[A-HJ-NPR-Z])[A-HJ-NPR-Z0-9]{17}")
_MRN = re.compile(r"\bMRN?[ #:.-]*\d{4,}", re.I)
_MBI = re.compile(
    r"[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\d-?[AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\d-?[AC-HJKMNP-RT-Y]{2}\d{2}"
)
_IMAGE = re.compile(r"data:image/\S+|\S+\.(?:jpe?g|png|gif|bmp|tiff?|heic|dcm)", re.I)
_LETTERS = (*range(1, 9), *range(1, 6), 7, 9, *range(2, 10))
_VALUES = dict(zip("0123456789ABCDEFGHJKLMNPRSTUVWXYZ", (*range(10), *_LETTERS), strict=True))
_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


def tells_nothing(text: str | None) -> bool:
    """Return whether a value is uninformative: missing, only asterisks or similar signs, or a word such as "removed".

    >>> tells_nothing("***"), tells_nothing("REDACTED"), tells_nothing("Ulm")
    (True, True, False)
    """
    return text is None or bool(_NOTHING.fullmatch(text.strip()))


def is_bare_hash(text: str) -> bool:
    """Return whether a value has the format of a hash: MD5, SHA-1, SHA-2, with its name before it or in base64.

    Hashes written as UUIDs, and those of passwords, are hashes, too.

    >>> [*map(is_bare_hash, ("md5:5f4dcc3b5aa765d61d8327deb882cf99", "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="))]
    [True, True]
    >>> [*map(is_bare_hash, ("5f4dcc3b-5aa7-65d6-1d83-27deb882cf99", "f47ac10b-58cc-4372-a567-0e02b2c3d479"))]
    [True, False]
    """
    plain = text.strip()
    if _UUID.fullmatch(plain):
        return not _UUID_BY_CHANCE.fullmatch(plain)
    if _PASSWORD_HASH.fullmatch(plain):
        return True
    named = _HASH_NAME.match(plain)
    rest = plain[named.end() :].strip() if named else plain
    return bool(_HASH.fullmatch(rest) or _HASH_BASE64.fullmatch(rest))


def _is_vehicle(text: str) -> bool:
    """Return whether a text is a vehicle identification number with its check digit.

    >>> _is_vehicle("1HGCM82633A004352"), _is_vehicle("1HGCM82633A004353")
    (True, False)
    """
    plain = text.strip().upper()
    if not _VIN.fullmatch(plain):
        return False
    total = sum(_VALUES[sign] * weight for sign, weight in zip(plain, _WEIGHTS, strict=True))
    return plain[8] == "0123456789X"[total % 11]


def _is_local(text: str) -> bool:
    """Return whether a text contains a telephone number with area code: ten digits or more, unlike ZIP codes.

    >>> [_is_local(text) for text in ("am 3. Tel 0171-2340000", "030/1234567", "02139-4307", "078-05-1120")]
    [True, True, False, False]
    """
    return any(sum(map(str.isdecimal, match[0])) >= LOCAL_DIGITS for match in _LOCAL_PHONE.finditer(text))


def _is_called(text: str) -> bool:
    """Return whether a text contains an unseparated telephone number, according to its words.

    >>> [_is_called(text) for text in ("call 6175551234", "6175551234", "Tel: 03012345678", "lot 6175551234")]
    [True, False, True, False]
    """
    return bool(_CALL.search(text) and _PLAIN_PHONE.search(text))


def is_plain_phone(text: str) -> bool:
    """Return whether a value may be an unseparated telephone number."""
    return bool(_PLAIN_PHONE.fullmatch(text.strip()))


def _is_account(text: str) -> bool:
    from stdnum import iban

    plain = text.strip()
    return is_card(plain) or (plain[:2].isalpha() and len(plain) > 14 and iban.is_valid(plain))


_CHECKS: tuple[tuple[str, Check], ...] = (
    ("email-addresses", lambda text: bool(EMAIL.search(text))),
    ("urls", lambda text: bool(_URL.search(text))),
    ("social-security-numbers", lambda text: bool(_SSN.search(text))),
    ("telephone-numbers", lambda text: bool(_PHONE.search(text)) or _is_local(text) or _is_called(text)),
    ("ip-addresses", lambda text: bool(_IPV4.search(text) or _IPV6.search(text))),
    ("device-identifiers", lambda text: bool(_MAC.search(text) or _SERIAL.search(text))),
    ("medical-record-numbers", lambda text: bool(_MRN.search(text))),
    ("health-plan-numbers", lambda text: bool(_MBI.fullmatch(text.strip()))),
    ("vehicle-identifiers", _is_vehicle),
    ("account-numbers", _is_account),
    ("photographs", lambda text: bool(_IMAGE.fullmatch(text.strip()))),
    ("other-identifiers", lambda text: bool(_UUID.fullmatch(text.strip())) or is_bare_hash(text)),
)


def kinds_of_value(text: str) -> Iterator[str]:
    """Yield the kinds of identifiers in a value.

    >>> list(kinds_of_value("call 555-123-4567")), list(kinds_of_value("078-05-1120")), list(kinds_of_value("2019"))
    (['telephone-numbers'], ['social-security-numbers'], [])
    """
    return (kind for kind, check in _CHECKS if check(text))


# Kinds that a name alone does not prove: their values must distinguish rows, or have the format of codes.
_BY_NAME_AND_VALUES = frozenset(
    ("other-identifiers", "device-identifiers", "vehicle-identifiers", "account-numbers", "license-numbers", "urls")
)
_TELLING_SHARE = 0.5
_CODE = re.compile(r"(?=.*\d)[\w./ -]{4,}")
_FLAG = frozenset(("yes", "no", "y", "n", "true", "false", "0", "1", "ja", "nein", "unknown"))
_LONG_TEXT = 40
_SEQUENCE = re.compile(r"\d{1,9}")


class SafeHarborContext(Value):
    """The parameters of the evaluation: the day for ages, the populations of ZIP areas, the code column."""

    today: date
    people: Mapping[str, int] | None = None
    code_column: str | None = None


class Identifiers(Value):
    """The findings: by kind of identifier, the columns that contain it with the reason; and columns of free text."""

    kinds: dict[str, dict[str, str]] = field(default_factory=dict)
    free_text: tuple[str, ...] = ()


def identifiers_of(profiles: Sequence[Profile], setting: SafeHarborContext) -> Identifiers:
    """Return the identifiers in the columns of a file."""
    kinds: dict[str, dict[str, str]] = {}
    for profile in profiles:
        for kind, why in column_identifiers(profile, setting):
            kinds.setdefault(kind, {}).setdefault(profile.name, why)
    return Identifiers(kinds, tuple(profile.name for profile in profiles if _is_free_text(profile)))


def column_identifiers(profile: Profile, setting: SafeHarborContext) -> Iterator[tuple[str, str]]:
    """Yield the kinds of identifiers in a column, each with the reason.

    >>> day = SafeHarborContext(date(2026, 1, 1))
    >>> list(column_identifiers(Profile("contact", {"ada@example.org": 1}, rows=1), day))
    [('email-addresses', 'values written so')]
    >>> list(column_identifiers(Profile("x", {"ada\uff20example.org": 1}, rows=1), day))
    [('email-addresses', 'values written so')]
    >>> list(column_identifiers(Profile("ssn", {"***": 5}, rows=5), day))
    []
    """
    values = [value for value in profile.values if not tells_nothing(value)]
    if not values or profile.name == setting.code_column:
        return
    # Full-width letters are equivalent to ordinary ones.
    plain = [normalize("NFKC", value) for value in values]
    written = dict.fromkeys(kind for value in plain for kind in kinds_of_value(value))
    if words_speak_of(profile.name, WORDS["contacts"]) and any(map(is_plain_phone, values)):
        written["telephone-numbers"] = None
    yield from ((kind, "values written so") for kind in written)
    shown = Profile(profile.name, {value: profile.counts[value] for value in values}, profile.rows)
    yield from ((kind, "the name says so") for kind in kinds_of_name(profile.name) if _confirm(kind, shown, written))
    if share_of_full_names(shown) or (share_of_names(shown) and "names" in kinds_of_name(profile.name)):
        yield "names", "values are names of persons"
    for kind, fault in (
        ("geography", place_faults(profile.name, values, setting.people)),
        ("dates", date_fault(profile.name, plain)),
        ("ages", age_fault(profile.name, plain, setting.today)),
    ):
        if fault:
            yield kind, fault


def _confirm(kind: str, shown: Profile, written: Mapping[str, None]) -> bool:
    """Return whether the values of a column are consistent with its name."""
    lowered = {value.strip().lower() for value in shown.values}
    # A number that is always 1 is the first one, not a yes.
    flags = lowered <= _FLAG and lowered != {"1"}
    if flags or kind in written or (kind == "other-identifiers" and written):
        return False
    if kind == "names":
        return any(map(str.isalpha, "".join(shown.values)))
    if kind not in _BY_NAME_AND_VALUES:
        return True
    telling = shown.distinct_share >= _TELLING_SHARE
    coded = shown.share(_CODE.fullmatch) > _TELLING_SHARE or shown.share(_SEQUENCE.fullmatch) > _TELLING_SHARE
    return telling and (coded or kind in ("other-identifiers", "urls"))


def _is_free_text(profile: Profile) -> bool:
    """Return whether a column holds sentences, which may contain undetected names of persons."""
    texts = [value for value in profile.sample if not tells_nothing(value)]
    return bool(texts) and sum(len(text) > _LONG_TEXT and text.count(" ") > 3 for text in texts) > len(texts) / 2
