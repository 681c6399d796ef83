"""The plan of a microdata release, as frozen values."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from sfumato.hierarchies.ladder import Hierarchy
from sfumato.microdata.models.model import Model
from sfumato.plan.methods import Method, Optimal

Role = Literal["identifier", "quasi-identifier", "sensitive", "insensitive"]
ColumnType = Literal["text", "integer", "decimal", "date", "boolean"]
OnInvalid = Literal["error", "missing", "drop"]
OnMissing = Literal["category", "any", "drop"]
MEMORY = re.compile(r"(\d+(?:\.\d+)?) ?(MB|GB)")


@dataclass(frozen=True, slots=True)
class DataPlan:
    """Where the rows lie and how they are read.

    Attributes:
        source: A path, relative to the plan; None when the caller hands the rows over.
        separator: Of a CSV file; found out from the header when None.
        header: Whether a CSV file has a header; otherwise the plan's columns name its columns in their order.
        strip: Whether white space around values of a CSV file is taken off.
        missing: Texts that mean "missing", besides an empty field.
        on_invalid: What to do with a value that its type or hierarchy does not accept.
        on_missing: What a missing value is: a category of its own, a match for anything, or a reason to drop the row.
        table: Table of a database file, or sheet of a workbook.
        memory_limit: The most memory that the engine may use, for example 2GB; what exceeds it goes to
        temp_folder: The folder for rows that do not fit in memory, relative to the plan; by default the system's.
    """

    source: str | None = None
    format: Literal["csv", "parquet", "json", "excel", "sqlite", "duckdb"] | None = None
    separator: str | None = None
    encoding: str = "utf-8"
    quote: str = '"'
    header: bool = True
    strip: bool = False
    missing: tuple[str, ...] = ()
    on_invalid: OnInvalid = "error"
    on_missing: OnMissing = "category"
    table: str | None = None
    memory_limit: str | None = None
    temp_folder: str | None = None

    def __post_init__(self) -> None:
        if self.memory_limit is not None and not self.memory_bytes:
            raise ValueError("the memory limit must be a number and MB or GB, for example 2GB.")
        if self.separator is not None and len(self.separator) != 1:
            raise ValueError("the separator must be one character.")
        if len(self.quote) != 1:
            raise ValueError("the quote must be one character.")

    @property
    def memory_bytes(self) -> int:
        """The memory limit in bytes; 0 for none.

        >>> DataPlan(memory_limit="1.5 GB").memory_bytes
        1500000000
        """
        found = MEMORY.fullmatch(self.memory_limit or "")
        return int(float(found[1]) * {"MB": 10**6, "GB": 10**9}[found[2]]) if found else 0


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """What a column is, and how it may be generalized."""

    role: Role
    type: ColumnType = "text"
    hierarchy: Hierarchy | None = None
    weight: float = 1.0
    min_level: int = 0
    max_level: int | None = None

    def __post_init__(self) -> None:
        if self.role != "quasi-identifier" and self.hierarchy is not None:
            raise ValueError(f"a hierarchy belongs to a quasi-identifier, this column is {self.role}.")
        if self.role != "quasi-identifier" and (self.weight, self.min_level, self.max_level) != (1.0, 0, None):
            raise ValueError(
                f"weight, min_level and max_level belong to a quasi-identifier, this column is {self.role}."
            )
        if self.max_level is not None and self.max_level < self.min_level:
            raise ValueError("max_level is below min_level.")


@dataclass(frozen=True, slots=True)
class OutputPlan:
    """How the release is written.

    Attributes:
        suppressed: Whether suppressed rows are dropped or published as `*`.
        class_column: Name of a further column with the number of each row's class, when wanted.
        partition: Columns by whose published values Parquet files are laid in folders; data.parquet is a folder then.
    """

    format: Literal["csv", "parquet"] = "csv"
    order: Literal["keep", "shuffle"] = "keep"
    suppressed: Literal["drop", "star"] = "drop"
    class_column: str | None = None
    partition: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.partition and (self.format != "parquet" or self.order != "keep"):
            raise ValueError("partition goes with format: parquet and order: keep.")


@dataclass(frozen=True, slots=True)
class UtilityPlan:
    """What is measured besides what every release is.

    Attributes:
        target: The column that a model is to predict from the quasi-identifiers.
    """

    target: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole plan.

    Attributes:
        folder: Where relative paths start.
        text: The plan as it was given, for the record.
    """

    columns: Mapping[str, ColumnPlan]
    privacy: tuple[Model, ...]
    version: int = 1
    data: DataPlan = field(default_factory=DataPlan)
    method: Method = field(default_factory=Optimal)
    seed: int = 1
    output: OutputPlan = field(default_factory=OutputPlan)
    utility: UtilityPlan = field(default_factory=UtilityPlan)
    folder: Path = field(default_factory=Path)
    text: Mapping[str, Any] = field(default_factory=dict)

    def named(self, role: Role) -> tuple[str, ...]:
        """The columns of a role, in the plan's order."""
        return tuple(name for name, column in self.columns.items() if column.role == role)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        return self.named("quasi-identifier")

    @property
    def judged(self) -> tuple[str, ...]:
        """The columns that some model judges and that the loss looks at, in the plan's order."""
        wanted = {model.column for model in self.privacy} | {getattr(self.method, "class_column", None)}
        return tuple(name for name in self.columns if name in wanted)

    @property
    def counted(self) -> tuple[str, ...]:
        """The columns that are judged, and the one that utility is measured by, in the plan's order."""
        wanted = {*self.judged, self.utility.target}
        return tuple(name for name in self.columns if name in wanted)

    def at(self, folder: Path) -> "Plan":
        """The same plan with its relative paths starting in a folder."""
        return replace(self, folder=folder)

    def _repr_html_(self) -> str:
        from sfumato.plan.notebook import fragment

        return fragment(self)
