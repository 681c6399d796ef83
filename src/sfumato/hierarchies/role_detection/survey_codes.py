"""Survey codes: detect codes for "no answer", and infer roles from the value labels of statistical packages.

Statistical packages store a label for each column and each code ("Employment status", 1 = employed, -9 = no answer).
Role detection uses these instead of names and numbers: 1 to 6 are regions then, and no numbers to be put into
intervals. Files without labels use the same codes: negative numbers in a column that is otherwise non-negative, and
nines far above all other numbers (999 among ages).
"""

from collections.abc import Iterator, Mapping

from sfumato.hierarchies.role_detection.lexicon.coded_names import CodebookLabel
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.patterns import regex
from sfumato.values import Value, field, replace

Counts = Mapping[str | None, int]
# Labels of codes for "no answer".
_NO_ANSWER = regex(
    r"(?i)\W*(no (answer|response|reply)|not (answered|stated|applicable|asked|available|reported|ascertained)|"
    r"n/?a|d/?k|missing( value)?|refus(ed|al)|declined|don.?t know|do(es)? not know|unknown|inapplicable|inap|"
    r"non.?response|keine? (angaben?|antwort)|k\. ?a|wei(ss|ß) nicht|trifft nicht zu|verweigert|fehlend|fehlt|"
    r"nicht (gefragt|erhoben)|unbekannt|sans r.ponse|ne sait pas|non concern.|no (sabe|contesta)|ns/?nc)\b.*"
)
# Numbers used for "no answer" in files without labels.
_USUAL_CODES = frozenset(f"-{digit * length}" for digit in "789" for length in (1, 2, 3, 4))
_NINES = frozenset(
    (
        *("9" * length for length in range(3, 10)),
        *(f"{'9' * length}.{decimals}" for length in range(2, 8) for decimals in ("9", "99", "0", "00")),
    )
)
# Adjacent numbers for other reasons: 997 and 998 next to 999.
_BESIDE_NINES = frozenset(f"{'9' * (length - 1)}{digit}" for length in range(3, 10) for digit in "678")
# Two digits are a code only above the levels of a scale: 99 above 1 to 5, and 98, 97, 88, 77 next to it.
_TWO_NINES, _BESIDE_TWO, _MOST_STEP = "99", frozenset(("66", "77", "88", "96", "97", "98")), 11
# Nines are a code if they occur in this proportion of rows, and are this many times as large as all other numbers.
_LEAST_ROWS, _FAR_ABOVE = 3, 2
_LEAST_VALUES = 4
# Row numbers: minimum number, and maximum ratio of the last number to their count.
_LEAST_NUMBERED, _LEFT_OUT = 20, 1.5
# Minimum proportion of the present values that have a label in categorical columns.
_LABELED = 0.9


class CodeBook(Value):
    """Further information about columns: labels of a statistical package, and those of a public codebook.

    Attributes:
        columns: The label of each column.
        values: The labels of each column's values.
        public: The meaning of a column by the codebook of a well-known file.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    public: Mapping[str, CodebookLabel] = field(default_factory=dict)


def missing_codes(texts: Mapping[str, Counts], book: CodeBook) -> list[str]:
    """Return the codes that mean "missing" in all columns.

    A code that is a valid value of another column is excluded, because the plan entry applies to all columns. A
    column of row numbers is ignored: it is not published, and contains nearly every code.

    >>> missing_codes({"job": {"1": 9, "2": 7, "-9": 2}}, CodeBook(values={"job": {"-9": "no answer", "1": "yes"}}))
    ['-9']
    >>> missing_codes({"job": {"1": 9, "9": 2}, "age": {"8": 1, "9": 1}}, CodeBook(values={"job": {"9": "refused"}}))
    []
    >>> missing_codes({"hours": {"20": 9, "38": 7, "40": 9, "41": 3, "-9": 2}, "union": {"1": 9, "-9": 2}}, CodeBook())
    ['-9']
    """
    judged = _judged(texts, book)
    return sorted(code for code, columns in judged.items() if all(columns.values()))


def codes_by_column(texts: Mapping[str, Counts], book: CodeBook) -> dict[str, list[str]]:
    """Return the codes that mean "missing" in some columns, and are valid values of others.

    >>> texts = {"job": {"1": 9, "9": 2}, "age": {"8": 1, "9": 1}}
    >>> codes_by_column(texts, CodeBook(values={"job": {"9": "refused"}}))
    {'job': ['9']}
    """
    divided = {code: columns for code, columns in _judged(texts, book).items() if not all(columns.values())}
    found = {name: sorted(code for code, columns in divided.items() if columns.get(name)) for name in texts}
    return {name: codes for name, codes in found.items() if codes}


def _judged(texts: Mapping[str, Counts], book: CodeBook) -> dict[str, dict[str, bool]]:
    """Return candidate codes, and for each column with one whether it means "missing" there."""
    doubtful = {code for name, counts in texts.items() for code in _codes(counts, book.values.get(name, {}))}
    judging = {name: counts for name, counts in texts.items() if not (doubtful and _numbers_rows(counts))}
    agreeing = {
        name: {*_codes(counts, book.values.get(name, {}), 1)}
        for name, counts in judging.items()
        if doubtful & counts.keys()
    }
    return {
        code: {name: code in codes for name, codes in agreeing.items() if code in judging[name]} for code in doubtful
    }


def _numbers_rows(counts: Counts) -> bool:
    """Return whether a column numbers its rows: from 0 or 1 on, each number once, and few are left out.

    >>> _numbers_rows({str(number): 1 for number in range(1, 31)}), _numbers_rows({"1": 1, "2": 1, "9": 1})
    (True, False)
    """
    if len(counts) < _LEAST_NUMBERED or any(rows != 1 for rows in counts.values()):
        return False
    try:
        numbers = [int(text) for text in counts if text is not None]
    except ValueError:
        return False
    return min(numbers) in (0, 1) and max(numbers) <= _LEFT_OUT * len(numbers)


def _codes(counts: Counts, labels: Mapping[str, str], least: int = _LEAST_VALUES) -> Iterator[str]:
    """Yield the codes of a column that may mean "missing": labeled so, or the only negative numbers.

    Args:
        least: Minimum number of other values; a yes/no column only confirms codes of other columns.
    """
    yield from (code for code, label in labels.items() if code in counts and _NO_ANSWER.fullmatch(label))
    usual = [code for code in _USUAL_CODES if code in counts and code not in labels]
    if usual and len(counts) - len(below := _below(counts)) >= least and below <= _USUAL_CODES:
        yield from usual if _are_numbers(counts) else ()
    yield from _nines(counts, labels, least)
    yield from _above_steps(counts, labels, least)


def _above_steps(counts: Counts, labels: Mapping[str, str], least: int) -> Iterator[str]:
    """Yield the two-digit codes above a scale of a few levels from 0 or 1 on.

    >>> sorted(_above_steps({"1": 9, "2": 7, "3": 2, "4": 4, "5": 3, "98": 1, "99": 3}, {}, 4))
    ['98', '99']
    >>> sorted(_above_steps({"1": 9, "2": 7, "3": 2, "4": 4, "5": 3, "14": 1, "99": 3}, {}, 4))
    []
    """
    codes = ({_TWO_NINES, *_BESIDE_TWO} & counts.keys()) - labels.keys()
    steps = {text for text in counts if text} - codes
    if not codes or len(steps) < least or not all(text.isdecimal() and int(text) <= _MOST_STEP for text in steps):
        return
    if least < _LEAST_VALUES or counts.get(_TWO_NINES, 0) >= _LEAST_ROWS:
        yield from codes


def _nines(counts: Counts, labels: Mapping[str, str], least: int) -> Iterator[str]:
    """Yield the codes of nines, and those next to them, in a column of far smaller numbers.

    >>> sorted(_nines({"31": 9, "47": 7, "58": 2, "62": 4, "998": 1, "999": 3}, {}, 4))
    ['998', '999']
    """
    codes = [code for code in (*_NINES, *_BESIDE_NINES) if code in counts and code not in labels]
    if not codes or len(counts) - len(codes) < least or not _are_numbers(counts):
        return
    largest = max((float(text) for text in counts if text and text not in codes), default=float("inf"))
    above = [code for code in codes if float(code) >= _FAR_ABOVE * largest]
    if least < _LEAST_VALUES:
        yield from above
        return
    nines = {code for code in above if code in _NINES and counts[code] >= _LEAST_ROWS}
    yield from (code for code in above if code in nines or f"{code[:-1]}9" in nines)


def _below(counts: Counts) -> set[str]:
    return {text for text in counts if text is not None and text.startswith("-")}


def _are_numbers(counts: Counts) -> bool:
    try:
        return all(text is None or not text or float(text) > float("-inf") for text in counts)
    except ValueError:
        return False


class LabeledColumn(Value):
    """A column with its labels.

    Attributes:
        profile: Its profile, with labels instead of codes if nearly all values have one.
        label: What its label says; empty without one.
        coded: Whether its values are codes without an order.
    """

    profile: Profile
    label: str = ""
    book: str = ""
    coded: bool = False


def labeled(profile: Profile, book: CodeBook) -> LabeledColumn:
    """Return a column with the labels of a statistical package, or of the codebook of a well-known file.

    >>> jobs = Profile("q17", {"1": 40, "2": 25, "3": 35}, rows=100)
    >>> labels = {"1": "employed", "2": "unemployed", "3": "retired"}
    >>> [*labeled(jobs, CodeBook({"q17": "Employment status"}, {"q17": labels})).profile.counts]
    ['employed', 'unemployed', 'retired']
    """
    name = profile.name
    if name not in book.columns and name not in book.values:
        public = book.public.get(name)
        return LabeledColumn(profile, public.text, public.book, public.coded) if public else LabeledColumn(profile)
    labels = book.values.get(name, {})
    present = sum(rows for value, rows in profile.counts.items() if value in labels)
    coded = bool(labels) and present >= _LABELED * profile.present
    counts = {labels.get(value, value): rows for value, rows in profile.counts.items()} if coded else profile.counts
    if len(counts) < len(profile.counts):  # two codes with one label
        counts = profile.counts
    return LabeledColumn(replace(profile, counts=counts), book.columns.get(name) or "", coded=coded)
