"""A first look at the rows: problems in reading, footer rows, lost zeros, columns without text, mixed units."""

import gzip
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.delimited.dialect import COMMA_NUMBER, CURRENCY_SIGN
from sfumato.delimited.opening import WESTERN, likely_page, wide_encoding
from sfumato.engines.engine import MissingRules
from sfumato.errors import DataError, PlanError
from sfumato.formats import is_packed
from sfumato.hierarchies.role_detection.identifier_formats import format_of
from sfumato.hierarchies.role_detection.lexicon.concepts import WORDS
from sfumato.hierarchies.role_detection.lexicon.name_terms import words_of
from sfumato.hierarchies.role_detection.lexicon.value_terms import share_of_full_names
from sfumato.hierarchies.role_detection.missing_value_codes import is_limit
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.hierarchies.types import numerals
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.publish_plan import PublishPlan, read_numbers
from sfumato.patterns import regex
from sfumato.pipelines.plan_suggestion.counted_rows import CountedRows, RowCounter
from sfumato.pipelines.plan_suggestion.plan_draft import SuggestedPlan
from sfumato.values import replace

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
        raise PlanError("header")


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


# A row is nearly empty if it has at most a quarter of the median number of values, and that median is large enough. A
# name and a sum may be up to a third.
_SOME_VALUES, _PART = 4, 4
_NAME_AND_SUM, _PART_OF_FEW = 2, 3
# More rows are not a footer: some values are unknown for many rows.
_MOST_ROWS, _MOST_SHARE = 3, 0.002


def footer_rows_note(rows: CountedRows) -> str | None:
    """Return a note if rows repeat the header or a few are nearly empty; None if none does, or of too many rows."""
    counts = rows.whole
    if counts is None or not len(counts.counts):
        return None
    if repeated := _repeated_headers(counts):
        return Message("note.repeated_header", count=repeated)
    values = np.zeros(len(counts.counts), np.int64)
    for place, texts in enumerate(counts.values):
        values += np.array([bool(text and not text.isspace()) for text in texts], bool)[counts.codes[:, place]]
    order = np.argsort(values)
    middle = int(values[order[np.searchsorted(np.cumsum(counts.counts[order]), counts.rows / 2)]])
    most = max(middle // _PART, min(_NAME_AND_SUM, middle // _PART_OF_FEW))
    few = int(counts.counts[values <= most].sum())
    if middle < _SOME_VALUES or not 0 < few <= max(_MOST_ROWS, _MOST_SHARE * counts.rows):
        return None
    return Message("note.nearly_empty", count=few)


def _repeated_headers(counts: ValueCounts) -> int:
    """Return the number of rows that have the name of each column, as in files joined with their headers."""
    if not all(name in texts for name, texts in zip(counts.columns, counts.values, strict=True)):
        return 0
    own = [texts.index(name) for name, texts in zip(counts.columns, counts.values, strict=True)]
    return int(counts.counts[(counts.codes == own).all(axis=1)].sum())


# The number of digits of the postcodes most often read as numbers: Germany, France, Italy, Spain, the US.
USUAL = 5
NUMBER = re.compile(r"([0-9]+)(?:\.0)?", re.ASCII)
READ_AS_TEXT = 'Read the column as text: pd.read_csv(…, dtype={{"{name}": str}}).'
SEVERAL = " It holds numbers of several lengths: leading zeros (01067) are lost. " + READ_AS_TEXT
SHORT = (
    " It holds numbers of {digits} digits: where codes have {usual}, leading zeros (01067) are lost. "
    + READ_AS_TEXT
    + " Where they have {digits}: plan.quasi({name}=sf.digits({digits}))."
)


def without_lost_zeros(proposal: SuggestedPlan, frame: Any) -> SuggestedPlan:
    """Return the proposal for a frame without publishing first digits of codes that may have lost leading zeros."""
    plan, reasons, notes = dict(proposal.plan), dict(proposal.reasons), [*proposal.notes]
    columns, profiles = dict(plan["columns"]), {profile.name: profile for profile in proposal.profiles}
    for name in _number_columns(frame):
        said = _said(profiles[name]) if name in profiles else ""
        if said and columns[name].get("hierarchy", {}).get("type") == "digits":
            columns[name] = {**columns[name], "hierarchy": {"type": "any"}}
            reasons[name] = reasons[name] + said
            notes.append(Message("note.lost_zeros", name=name))
    return replace(proposal, plan=plan | {"columns": columns}, reasons=reasons, notes=tuple(notes))


def _number_columns(frame: Any) -> Iterator[str]:
    """Yield the numeric columns of a frame."""
    import narwhals as nw

    try:
        schema = nw.from_native(frame).collect_schema()
    except TypeError:  # the object hands over rows and has no columns of its own
        return
    yield from (name for name, kind in schema.items() if kind.is_numeric())


def _said(profile: Profile) -> str:
    """Return a note on postcodes stored as numbers that look as if leading zeros were lost.

    >>> _said(Profile("plz", {"1067": 3, "53113": 3}, rows=6))[:36]
    ' It holds numbers of several lengths'
    >>> _said(Profile("plz", {"53111": 3, "53113": 3}, rows=6)), _said(Profile("pay", {"900": 3, "1200": 3}, rows=6))
    ('', '')
    """
    if not {*words_of(profile.name)} & WORDS["postal"]:
        return ""
    lengths = {len(found[1]) for value in profile.values if (found := NUMBER.fullmatch(value))}
    if len(lengths) > 1:
        return SEVERAL.format(name=profile.name)
    if lengths == {USUAL - 1}:
        return SHORT.format(name=profile.name, digits=USUAL - 1, usual=USUAL)
    return ""


def with_textless(rows: CountedRows, proposal: SuggestedPlan) -> SuggestedPlan:
    """Return the proposal with those columns at their positions, and a note that names them."""
    if not rows.textless:
        return proposal
    own = Suggestion("identifier", Message("reason.no_text"))
    known = {profile.name: profile for profile in proposal.profiles}
    number = proposal.profiles[0].rows
    plans = proposal.plan["columns"]
    return replace(
        proposal,
        plan=proposal.plan | {"columns": {name: plans.get(name, own.plan()) for name in rows.all_columns}},
        reasons={name: proposal.reasons.get(name, own.reason) for name in rows.all_columns},
        profiles=tuple(known.get(name, Profile(name, {}, number, number)) for name in rows.all_columns),
        notes=(*proposal.notes, Message("note.textless", columns=", ".join(f'"{name}"' for name in rows.textless))),
    )


# Maximum number of values of a column of units or test names.
_MOST_KINDS = 100
# Kinds have names; columns of numbers alone name none.
_WORDED = regex(r".*[^\W\d_].*")
# A kind with this many distinct numbers loses them if at least this proportion of its rows are published identically.
_SOME_NUMBERS, _ALIKE = 5, 0.9
# Minimum factor between the numbers of two kinds with different units or meanings.
_FACTOR = 10


def mixed_units_note(rows: RowCounter, plan: Mapping[str, Any], profiles: Mapping[str, Profile]) -> str | None:
    """Return a note on the first column whose rounding destroys the numbers of some kinds, or None."""
    columns = plan["columns"]
    rounded = {
        name: PublishPlan(**column["publish"]) for name, column in columns.items() if "round" in _publish(column)
    }
    kinds = [
        name
        for name, profile in profiles.items()
        if name not in rounded and 2 <= len(profile.counts) <= _MOST_KINDS and profile.share_of(_WORDED) > 0
    ]
    found = (
        Message("note.mixed_measures", name=name, kinds=kind, number=number)
        for name, publish in rounded.items()
        for number, kind in sorted(_lost_by_kind(rows, name, publish, kinds), reverse=True)[:1]
    )
    return next(found, None)


def _publish(column: Mapping[str, Any]) -> Mapping[str, Any]:
    publish = column.get("publish")
    return publish if isinstance(publish, Mapping) else {}


def _lost_by_kind(rows: RowCounter, name: str, publish: PublishPlan, kinds: list[str]) -> Iterator[tuple[int, str]]:
    """Yield how many kinds lose all of their numbers, for each column that may name kinds."""
    for kind in kinds:
        numbers = _numbers_by_kind(rows, name, kind)
        middles = [numerals(sorted(counts, key=float))[len(counts) // 2] for counts in numbers if counts]
        lost = sum(_is_lost(counts, publish) for counts in numbers)
        if 0 < lost < len(numbers) and max(middles) > _FACTOR * min(middles):
            yield lost, kind


def _numbers_by_kind(rows: RowCounter, name: str, kind: str) -> list[Counter[str]]:
    """Return the number of rows of each number, for each kind."""
    text_counts = rows.count((kind, name), MissingRules())
    forms = read_numbers([text or "" for text in text_counts.values[1]])
    numbers: list[Counter[str]] = [Counter() for _ in text_counts.values[0]]
    for (own, number), count in zip(text_counts.codes.tolist(), text_counts.counts.tolist(), strict=True):
        if (form := forms[number]) is not None:
            numbers[own][form] += count
    return numbers


def _is_lost(counts: Counter[str], publish: PublishPlan) -> bool:
    """Return whether nearly all rows of a kind are published identically although they have several numbers."""
    if len(counts) < _SOME_NUMBERS:
        return False
    published: Counter[str | None] = Counter()
    for text, count in zip(publish.publish([*counts]), counts.values(), strict=True):
        published[text] += count
    return published.most_common(1)[0][1] >= _ALIKE * counts.total()
