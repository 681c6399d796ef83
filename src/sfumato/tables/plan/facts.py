"""The properties of cells that sensitivity rules use."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Literal

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import PlanError
from sfumato.tables.cells.cells import Mask, Numbers, Places
from sfumato.tables.cells.columns import Columns

Level = Literal["holding", "respondent"]


@dataclass(frozen=True, slots=True)
class Facts:
    """What the rules may look at.

    Attributes:
        values: The cells' values.
        frequency: The number of respondents; the values themselves for a table of counts.
        holdings: The number of holdings behind the respondents.
        contributions: The contributions that are largest by their absolute size, one array each.
        finest: Cells that are no total of others.
        counts: Whether the values are counts of respondents.
        columns: The other columns of the source.
        singles: The same of single respondents, where the contributions are those of holdings.
        lines: For each dimension, the place of the total that each cell is a part of; -1 where there is none.
        records: Whether the values count records, of which a respondent or holding may have several.
        own: The part that one who attacks has himself in each cell; the contributions are those of the others then.
            None for an outsider.
    """

    values: Numbers
    frequency: Numbers | None
    holdings: Numbers | None
    contributions: tuple[Numbers, ...]
    finest: Mask
    counts: bool
    columns: Columns
    singles: tuple[Numbers, ...] = ()
    lines: Mapping[str, Places] = field(default_factory=dict)
    own: Numbers | None = None
    records: bool = False

    def top(self, largest: int, rule: str, level: Level = "holding") -> Numbers:
        """The sum of the largest contributions, by their absolute size: a loss is as telling as a profit."""
        columns, key = (self.singles, "respondents") if level == "respondent" else (self.contributions, "contributions")
        if len(columns) < largest:
            raise PlanError(
                f"rule {rule} needs the {largest} largest contributions of each cell.",
                f"Name their columns in table.{key}.",
                "no-contributions",
            )
        sizes = np.sort(np.abs(np.nan_to_num(np.stack(columns))), axis=0)
        return np.asarray(sizes[-largest:].sum(axis=0))

    @property
    def sizes(self) -> Numbers:
        """The absolute values of what is not the attacker's own: where contributions of both signs meet, less than what
        was contributed, so that the rules err on the safe side."""
        return np.abs(self.values if self.own is None else self.values - self.own)

    def without(self, cells: Places, own: Numbers) -> "Facts":
        """Some cells as one sees them who has a part in each: his contribution is not among the others'."""
        part = self._rows(cells)
        if not self.contributions:
            return replace(part, own=own)
        stack = np.nan_to_num(np.stack(part.contributions))
        his = np.abs(stack - own).argmin(axis=0)
        listed = np.abs(np.take_along_axis(stack, his[None], 0)[0] - own) <= 1e-6 * np.maximum(1.0, np.abs(own))
        columns = np.arange(len(cells))
        # Whoever comes next is no larger than the last of those that are listed, nor than what is left.
        left = np.maximum(np.abs(part.values) - np.abs(stack).sum(axis=0), 0.0)
        stack[his[listed], columns[listed]] = np.minimum(np.abs(stack[-1]), left)[listed]
        return replace(part, contributions=tuple(stack), own=own)

    def _rows(self, cells: Places) -> "Facts":
        return Facts(
            self.values[cells],
            None if self.frequency is None else self.frequency[cells],
            None if self.holdings is None else self.holdings[cells],
            tuple(column[cells] for column in self.contributions),
            self.finest[cells],
            self.counts,
            self.columns.rows(cells),
            tuple(column[cells] for column in self.singles),
            self.lines,
            records=self.records,
        )

    @property
    def empty(self) -> Mask:
        """Cells in which nobody is: value 0, and nothing that was contributed."""
        empty = self.values == 0
        for column in self.contributions:
            empty &= np.nan_to_num(column) == 0
        return np.asarray(empty if self.frequency is None else empty & (self.frequency == 0))

    def respondents(self, rule: str) -> Numbers:
        """The number of respondents in each cell."""
        if self.frequency is None:
            raise PlanError(
                f"rule {rule} needs the number of respondents, which these values are not.",
                "Name the column with it in table.frequency.",
                "no-frequency",
            )
        return self.frequency
