"""The result for a table, group by group: the input, and what is published, internal or external."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cell_labels import NAMES
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.row_order import by_codes


class GroupAnswer(Protocol):
    """The answer for one group: at least which cells it is about."""

    @property
    def part(self) -> TablePart: ...


Group_co = TypeVar("Group_co", bound=GroupAnswer, covariant=True)


@dataclass(frozen=True)
class TableAnswer(ABC, Generic[Group_co]):
    """A table with what is published of it, and the evidence.

    Attributes:
        plan: The plan it was made by.
        source: The columns that came in.
        seconds: How long each stage took.
        like: The frame that came in, where one did.
    """

    plan: TablePlan
    source: TextColumns
    parts: tuple[Group_co, ...]
    seconds: Mapping[str, float] = field(default_factory=dict)
    like: Any = None

    @property
    @abstractmethod
    def passed(self) -> bool:
        """Whether every promise about unsafe cells holds."""

    @property
    def attacked(self) -> bool:
        """Whether everything was attacked that the tables tell together: else nobody knows what they give away."""
        return not any(answer.part.not_audited for answer in self.parts)

    @property
    @abstractmethod
    def external(self) -> TextColumns:
        """The table to hand out."""

    @abstractmethod
    def new_columns(self) -> dict[str, tuple[str, ...]]:
        """What is published of each row, by the names of the new columns."""

    @cached_property
    def columns(self) -> TextColumns:
        """The input columns, true values included, and the new ones; for the house."""
        return TextColumns({**self.source.texts, **self.new_columns()})

    def codes(self) -> dict[str, tuple[str, ...]]:
        """The columns that say which cell a row is."""
        names = [*self.plan.table.group_by]
        for dimension in self.plan.dimensions.values():
            names += [*dimension.levels] or [dimension.column or ""]
        return {name: self.source.texts[name] for name in names or ["id"]}

    def names(self, count: int | None = None) -> list[str]:
        """The names of the new columns, or of the first of them."""
        prefix = self.plan.output.prefix or self.plan.table.value
        return [prefix + ending for ending in NAMES[self.plan.output.columns][:count]]

    def in_order(self, columns: TextColumns) -> TextColumns:
        """Columns with their rows in the order of their codes: the order they came in may follow their values."""
        rows = by_codes([answer.part for answer in self.parts], self.source)
        return columns.rows(np.array(rows, np.int64))
