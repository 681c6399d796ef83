"""The `data` part of a plan: source, separator, missing and invalid values."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Literal, Protocol

from sfumato.delimited.dialect import DecimalMark, Dialect
from sfumato.localization.messages import Message
from sfumato.patterns import regex
from sfumato.schema.dataclass_schema import NO_KEY, KeyInfo, TextOrNumber, record_of
from sfumato.schema.frozen_dict import FrozenDict
from sfumato.schema.paths import PlanPath
from sfumato.schema.typed_parts import PlanPart
from sfumato.values import field

OnInvalid = Literal["error", "missing", "drop"]
OnMissing = Literal["category", "any", "drop"]
MEMORY = re.compile(r"(\d+(?:\.\d+)?) ?(MB|GB)")


class DataPlan(PlanPart):
    """Where the rows are and how they are read.

    Attributes:
        source: A path, relative to the plan; None if the caller passes the rows.
        separator: The separator of a CSV file; detected from the header if None.
        header: Whether a CSV file or workbook has a header; without one the plan's columns name its columns in their
            order. If not stated, a first line that looks like data is refused.
        strip: Whether white space around values of a CSV file is removed.
        missing: Texts that mean "missing", in addition to an empty field.
        on_invalid: What to do with a value that its type or hierarchy does not accept.
        spellings: Whether spelling variants of one sensitive value (HIV, hiv, H.I.V.) are treated as one value.
        on_missing: How missing values count: as a separate category, as a match for any value, or by dropping the row.
        table: Table of a database file, or sheet of a workbook.
        memory_limit: The most memory that the engine may use, for example 2GB; what exceeds it goes to
        temp_folder: The folder for rows that do not fit in memory, relative to the plan; by default the system's.
        codes: Missing value codes of single columns, from the column plans; not a key of `data`.
    """

    source: Annotated[PlanPath | None, KeyInfo("path of the data, relative to the plan")] = None
    format: Annotated[
        Literal["csv", "parquet", "arrow", "json", "excel", "sqlite", "duckdb", "survey"] | None,
        KeyInfo("of the source; by the end of its name unless given"),
    ] = None
    separator: Annotated[str | None, KeyInfo("of a CSV file; found out when not given")] = None
    encoding: Annotated[str, KeyInfo("of a CSV file")] = "utf-8"
    quote: Annotated[str, KeyInfo("of a CSV file")] = '"'
    decimal: Annotated[DecimalMark, KeyInfo("the decimal mark of a CSV file; what is read has a point")] = "."
    header: Annotated[bool | None, KeyInfo("whether a CSV file has a header; looked into unless said")] = None
    strip: Annotated[bool, KeyInfo("take white space off the values of a CSV file")] = False
    missing: Annotated[tuple[TextOrNumber, ...], KeyInfo("texts that mean missing")] = ()
    on_invalid: OnInvalid = "error"
    on_missing: OnMissing = "category"
    spellings: Annotated[
        Literal["one", "keep"],
        KeyInfo("whether spellings of one sensitive value, as HIV and hiv, count and are published as one; or stay"),
    ] = "one"
    table: Annotated[str | None, KeyInfo("table of a database file, or sheet of a workbook")] = None
    memory_limit: Annotated[str | None, KeyInfo("the most memory that the engine may use, for example 2GB")] = None
    temp_folder: Annotated[
        PlanPath | None, KeyInfo("folder for rows that do not fit in memory, relative to the plan")
    ] = None
    codes: Annotated[Mapping[str, tuple[str, ...]], NO_KEY] = field(default_factory=FrozenDict)

    def check_part(self) -> None:
        if self.memory_limit is not None and not self.memory_bytes:
            raise ValueError(Message("error.value.memory_limit_unit"))
        if self.separator is not None and len(self.separator) != 1:
            raise ValueError(Message("error.value.separator_one_character"))
        if self.separator == self.decimal:
            raise ValueError(Message("error.value.separator_is_decimal_mark"))
        if len(self.quote) != 1:
            raise ValueError(Message("error.value.quote_one_character"))

    @property
    def dialect(self) -> Dialect:
        """How a CSV file is written."""
        return Dialect(self.separator, self.quote, self.encoding, self.header, self.strip, self.decimal)

    @property
    def memory_bytes(self) -> int:
        """The memory limit in bytes; 0 for none.

        >>> DataPlan(memory_limit="1.5 GB").memory_bytes
        1500000000
        """
        size = MEMORY.fullmatch(self.memory_limit or "")
        return int(float(size[1]) * {"MB": 10**6, "GB": 10**9}[size[2]]) if size else 0


DATA = record_of(DataPlan, "where the rows lie and how they are read")


_NUMBER = regex(r"([+-]?\d+)(?:\.(\d+))?")
_NUMERAL = regex(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
# Maximum number of decimals. Three digits after a mark may be thousands, except in a column of decimals.
_MOST_DECIMALS, _THOUSANDS = 38, 3
_DAY, _MIDNIGHT = regex(r"\d{4}-\d\d-\d\d"), regex(r"(\d{4}-\d\d-\d\d)[ T]00:00(?::00(?:\.0+)?)?")


class HasCodes(Protocol):
    """The part of a plan's column with codes for missing values."""

    @property
    def missing(self) -> tuple[str, ...]: ...


def codes_of(columns: Mapping[str, HasCodes]) -> FrozenDict[tuple[str, ...]]:
    """Return the codes of the columns that name some."""
    return FrozenDict({name: column.missing for name, column in columns.items() if column.missing})


def code_texts(codes: Iterable[str], decimals: bool = False) -> tuple[str, ...]:
    """Return the texts that codes may appear as: a number with zeros after the decimal mark, a day with midnight.

    Columns of numbers with gaps become such of decimals in some programs: 99 is 99.0 there. Others know no days without
    a time.

    >>> [text in code_texts(["99"]) for text in ("99", "99.0", "99,00", "99.000", "99.0000", "990")]
    [True, True, True, False, True, False]
    >>> code_texts(["refused", "1900-01-01"])
    ('refused', '1900-01-01', '1900-01-01 00:00:00', '1900-01-01T00:00:00')

    Args:
        decimals: Whether the column holds decimals, so that a point is never a thousands separator.
    """
    return tuple(dict.fromkeys(text for code in codes for text in (code, *_spellings(code, decimals))))


def code_numbers(codes: Iterable[str]) -> tuple[float, ...]:
    """Return the codes that are numbers.

    >>> code_numbers(["99", "refused", "-1.125", "1e16"])
    (99.0, -1.125, 1e+16)
    """
    return tuple(float(code) for code in codes if _NUMERAL.fullmatch(code))


def _spellings(code: str, decimals: bool) -> Iterator[str]:
    """Yield further ways in which a code may be written."""
    if _NUMERAL.fullmatch(code):
        yield repr(float(code))  # 10000000000000000 is 1e+16
    if number := _NUMBER.fullmatch(code):
        yield from _decimals(number[1], (number[2] or "").rstrip("0"), decimals)
    if day := _MIDNIGHT.fullmatch(code):
        yield day[1]
    if day or _DAY.fullmatch(code):
        yield from (f"{day[1] if day else code}{midnight}" for midnight in (" 00:00:00", "T00:00:00"))


def _decimals(whole: str, fraction: str, decimals: bool) -> Iterator[str]:
    """Yield a number without decimal mark, if possible, and with each number of zeros after one."""
    if not fraction:
        yield whole
    for mark in ".,":
        for size in range(max(len(fraction), 1), _MOST_DECIMALS + 1):
            if size != _THOUSANDS or len(fraction) == size or (decimals and mark == "."):
                yield f"{whole}{mark}{fraction.ljust(size, '0')}"
