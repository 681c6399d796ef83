"""Safe Harbor identifiers recognized by their format: addresses, numbers of authorities, accounts and vehicles."""

import re
from collections.abc import Callable, Iterator

from sfumato.hierarchies.role_detection.identifier_formats import EMAIL, is_card

Check = Callable[[str], bool]
# Uninformative texts: masks, blanks, and the words for them.
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
    """Return whether a value is uninformative: missing, masked, or a word such as "removed".

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
