"""The `data` part of a plan: source, separator, missing and invalid values."""

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from sfumato.dataclass import dataclass
from sfumato.delimited.dialect import DecimalMark, Dialect
from sfumato.localization.messages import Message
from sfumato.schema.dataclass_schema import NO_KEY, KeyInfo, TextOrNumber, record_of
from sfumato.schema.frozen_dict import FrozenDict
from sfumato.schema.paths import PlanPath
from sfumato.schema.typed_parts import plan_part

OnInvalid = Literal["error", "missing", "drop"]
OnMissing = Literal["category", "any", "drop"]
MEMORY = re.compile(r"(\d+(?:\.\d+)?) ?(MB|GB)")


@plan_part
@dataclass(frozen=True, slots=True)
class DataPlan:
    """Where the rows are and how they are read.

    Attributes:
        source: A path, relative to the plan; None if the caller passes the rows.
        separator: Of a CSV file; detected from the header if None.
        header: Whether a CSV file or workbook has a header; without one the plan's columns name its columns in their
            order. If not stated, a first line that looks like data is refused.
        strip: Whether white space around values of a CSV file is removed.
        missing: Texts that mean "missing", in addition to an empty field.
        on_invalid: What to do with a value that its type or hierarchy does not accept.
        spellings: Whether spelling variants of one sensitive value (HIV, hiv, H.I.V.) are treated as one value.
        on_missing: What a missing value is: a category of its own, a match for anything, or a reason to drop the row.
        table: Table of a database file, or sheet of a workbook.
        memory_limit: The most memory that the engine may use, for example 2GB; what exceeds it goes to
        temp_folder: The folder for rows that do not fit in memory, relative to the plan; by default the system's.
        codes: Texts that mean "missing" in one column, as the plan's columns say; no key of `data`.
    """

    source: Annotated[PlanPath | None, KeyInfo("path of the data, relative to the plan")] = None
    format: Annotated[
        Literal["csv", "parquet", "json", "excel", "sqlite", "duckdb", "survey"] | None,
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

    def __post_init__(self) -> None:
        if self.memory_limit is not None and not self.memory_bytes:
            raise ValueError(Message("error.value.the_memory_limit_must"))
        if self.separator is not None and len(self.separator) != 1:
            raise ValueError(Message("error.value.the_separator_must_be"))
        if self.separator == self.decimal:
            raise ValueError(Message("error.value.the_separator_and_the"))
        if len(self.quote) != 1:
            raise ValueError(Message("error.value.the_quote_must_be"))

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
