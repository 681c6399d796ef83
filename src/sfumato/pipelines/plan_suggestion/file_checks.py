"""A first look at some rows: the texts of each column, and problems in reading the file."""

import gzip
import re
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path

from sfumato.delimited.dialect import COMMA_NUMBER, CURRENCY_SIGN
from sfumato.delimited.opening import WESTERN, likely_page, wide_encoding
from sfumato.errors import DataError, PlanError
from sfumato.formats import is_packed
from sfumato.hierarchies.role_detection.detection_limits import is_limit
from sfumato.hierarchies.role_detection.identifier_formats import format_of
from sfumato.hierarchies.role_detection.lexicon.person_names import share_of_full_names
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.patterns import regex

_LOOKED_AT_BYTES = 1 << 20
# Possible separators of a file that was read as one column.
_TAB = "\t"
_SEPARATORS = f",;{_TAB}|"
# A column shows its decimal mark if nearly all of its texts are numbers and some have a fraction.
_SHARE_OF_NUMBERS, _SHARE_OF_FRACTIONS = 0.9, 0.1
_COMMA_NUMBER = regex(COMMA_NUMBER)
_COMMA_FRACTION = regex(r".*\d,\d.*")
_POINT_NUMBER = regex(rf"(?:{CURRENCY_SIGN})? ?[+-]?\d+[.]\d+( ?[^0-9.,\s]{{1,8}})?")
_NUMBER = regex(r"[+-]?\d+([.,]\d+)?")
_WHOLE_NUMBER = regex(r"[+-]?\d+")
# Points between thousands are not decimal marks.
_THOUSANDS = regex(r"\D*\d{1,3}([.]\d{3})+\D*")
_COMMA_THOUSANDS = regex(r"\D*\d{1,3}(,\d{3})+([.]\d+)?\D*")
# Amounts in pounds, dollars and yen have commas between thousands, and no number has two decimal marks.
_SURELY_THOUSANDS = regex(r".*[$£¥].*|\D*\d{1,3}(,\d{3}){2,}\D*")
# Integer amounts of money with points between thousands; certain if there are two points, at least ten thousand, or
# full hundreds.
_SIGN = rf"(?:{CURRENCY_SIGN}|EUR|kr|(?i:lei|tl))"
_DIGITS = r"[+-]?[1-9]\d{0,2}(?:[.]\d{3})*"
_POINT_SUM = regex(rf"{_SIGN}[ \u00a0]?{_DIGITS}(?:,-)?|{_DIGITS}(?:,-)?[ \u00a0]?{_SIGN}")
_SURELY_POINT_SUM = regex(r"\D*(?:\d{1,3}(?:[.]\d{3}){2,}|\d{2,3}[.]\d{3}|\d[.]\d00)\D*")
_LOOKED_AT, _SOME_SUMS = 1000, 10
# A comma between thousands before a point: the decimal mark of this file is the point.
_BOTH_MARKS = regex(rf"(?:{CURRENCY_SIGN})? ?[+-]?\d{{1,3}}(,\d{{3}})+[.]\d+( ?[^0-9.,\s]{{1,8}})?")
# This many words above numeric columns prove a header, whatever the other columns are named.
_CERTAIN, _WORD = 2, regex(r"[^\W\d_]{3}")
# A word or two, perhaps with a number: typical column names.
_TITLE = regex(r"(?i:(?:\w+ )?(?:street|strasse|straße|str|road|address|adresse|anschrift)\.?\s*\d{0,2})")


def writes_commas(columns: Mapping[str, Mapping[str | None, int]], thousands: bool = False) -> bool:
    """Return whether the decimal mark of some rows is a comma: some column shows it, and none shows a point.

    Args:
        columns: The texts of each column with their numbers of rows.
        thousands: Whether commas may separate thousands, for example because they also separate fields.
    """
    sums = any(_writes_sums_with_points(texts) for texts in columns.values())
    if not sums and not any("," in "\n".join(filter(None, texts)) for texts in columns.values()):
        return False
    profiles = [Profile(name, _without_limits(texts), sum(texts.values())) for name, texts in columns.items()]
    if any(map(_has_both_marks, profiles)):
        return False
    marks = {_mark(profile) for profile in profiles if not _has_thousands(profile, certain=not thousands)}
    return (sums or "," in marks) and "." not in marks


def _writes_sums_with_points(texts: Mapping[str | None, int]) -> bool:
    """Return whether a column contains amounts of money with points between thousands; fuel prices do not match.

    >>> [_writes_sums_with_points({f"€ {sum_}.{end}": 1 for sum_ in range(1, 40)}) for end in ("000", "859")]
    [True, True]
    >>> _writes_sums_with_points({f"€ 1.{price}9": 1 for price in range(55, 99)})
    False
    """
    looked = [text.strip() for text in islice(texts, _LOOKED_AT) if text]
    sums = [text for text in looked if _POINT_SUM.fullmatch(text)]
    if len(sums) < _SOME_SUMS or len(sums) < _SHARE_OF_NUMBERS * len(looked):
        return False
    pointed = [text for text in sums if "." in text]
    surely = sum(_SURELY_POINT_SUM.fullmatch(text) is not None for text in pointed)
    return all(map(_THOUSANDS.fullmatch, pointed)) and 2 * surely >= len(sums)


def _has_both_marks(profile: Profile) -> bool:
    """Return whether some numbers of a numeric column have a comma before a point."""
    numbers = sum(map(profile.share_of, (_BOTH_MARKS, _POINT_NUMBER, _WHOLE_NUMBER)))
    return profile.share_of(_BOTH_MARKS) > 0 and numbers >= _SHARE_OF_NUMBERS


def _has_thousands(profile: Profile, certain: bool) -> bool:
    """Return whether every comma in a column's numbers may separate thousands: 1,234 and 12,345,678.

    Args:
        certain: Whether some commas must separate thousands for sure.
    """
    grouped = profile.share_of(_COMMA_THOUSANDS)
    if not grouped or grouped < profile.share_of(_COMMA_FRACTION):
        return False
    return not certain or profile.share_of(_SURELY_THOUSANDS) > 0


def _without_limits(texts: Mapping[str | None, int]) -> dict[str, int]:
    """Return the texts that are present, without detection limits, which may be half of a numeric column."""
    return {text: rows for text, rows in texts.items() if text and not is_limit(text)}


def _mark(profile: Profile) -> str | None:
    """Return the decimal mark that a numeric column shows, or None."""
    for mark, number, fraction in ((",", _COMMA_NUMBER, _COMMA_FRACTION), (".", _POINT_NUMBER, _POINT_NUMBER)):
        fractions, numbers = profile.share_of(fraction), profile.share_of(number) + profile.share_of(_WHOLE_NUMBER)
        if fractions >= _SHARE_OF_FRACTIONS and numbers >= _SHARE_OF_NUMBERS:
            # Few numbers of one form, such as 89.00 and 47.01, are codes of procedures or books.
            coded = profile.few or profile.share_of(_THOUSANDS) >= fractions
            return None if mark == "." and coded else mark
    return None


def check_names(profiles: Iterable[Profile]) -> None:
    """Refuse a header that looks like data: the name, address or number of a person."""
    profiles = tuple(profiles)
    if sum(map(_is_number_with_a_name, profiles)) >= _CERTAIN:
        return
    if any(map(_is_named_by_a_value, profiles)):
        raise PlanError("header_2")


def _is_number_with_a_name(profile: Profile) -> bool:
    """Return whether the header of a numeric column is a word; without a header it would be a number."""
    return _WORD.search(profile.name) is not None and profile.share_of(_WHOLE_NUMBER) >= _SHARE_OF_NUMBERS


def _is_named_by_a_value(profile: Profile) -> bool:
    title = Profile(profile.name, {profile.name: 1}, rows=1)
    if share_of_full_names(title) and share_of_full_names(profile):
        return True
    form = format_of(title)
    # "Street 2" is a title, although an address may be written like this.
    return form is not None and not _TITLE.fullmatch(profile.name) and (format_of(profile) or ("",))[0] == form[0]


def check_one_column(columns: Mapping[str, Mapping[str | None, int]], blanks: bool) -> None:
    """Refuse a file that was read as one column although nearly every row contains a separator.

    Args:
        columns: The texts of each column with their numbers of rows.
        blanks: Whether blanks may separate its columns.
    """
    if len(columns) != 1:
        return
    ((name, texts),) = columns.items()
    only = Profile(name, {text: rows for text, rows in texts.items() if text}, sum(texts.values()))
    for separator in _SEPARATORS:
        if separator in name and _stands_in_rows(separator, only):
            shown = "a tab" if separator == _TAB else f'"{separator}"'
            raise DataError("separator.one_column", example=shown, sign="tab" if separator == _TAB else repr(separator))
    if blanks and _is_divided_by_blanks(only):
        raise DataError("separator.divided_by_blanks")


def _stands_in_rows(separator: str, only: Profile) -> bool:
    """Return whether most rows contain a separator; a comma in an amount ("net, in euros") may be a decimal mark."""
    if separator == "," and ", " in only.name and only.share_of(_COMMA_NUMBER) >= _SHARE_OF_NUMBERS:
        return False
    return only.share_of(re.compile(f".*{re.escape(separator)}.*", re.DOTALL)) > 0.5


def _is_divided_by_blanks(only: Profile) -> bool:
    """Return whether all rows have as many words as the header; of two words one must be a number, as in no name."""
    parts = len(only.name.split())
    rows = [text.split() for text in only.counts]
    if parts < 2 or not rows or any(len(row) != parts for row in rows):
        return False
    return parts > 2 or any(all(_NUMBER.fullmatch(row[place]) for row in rows) for place in range(parts))


def likely_encoding(path: Path) -> str | None:
    """Return the likely encoding of a text that is not UTF-8; None if it is damaged UTF-8 or no text.

    If the letters are inconclusive, the result is the Western European code page of Windows, by far the most common
    one.
    """
    if (wide := wide_encoding(path)) is not None:
        return wide
    unpacking = gzip.open if is_packed(path) else open
    with unpacking(path, "rb") as stream:
        content = bytes(stream.read(_LOOKED_AT_BYTES))
    decoded = content.decode("utf-8", "replace")
    wrong, right = decoded.count("\ufffd"), sum(sign > "\x7f" for sign in decoded)
    if b"\0" in content or right - wrong > wrong:
        return None
    page = likely_page(content)
    try:
        content.decode(page)
    except UnicodeError:
        return "latin-1" if page == WESTERN else page
    return page
