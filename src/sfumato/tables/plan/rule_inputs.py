"""The properties of cells that sensitivity rules use."""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from sfumato.errors import PlanError
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.system import BoolArray, Numbers, Places
from sfumato.values import Value, field, replace

Level = Literal["holding", "respondent"]


class RuleInputs(Value):
    """The inputs of sensitivity rules.

    Attributes:
        frequency: The number of respondents; in a table of counts the values themselves.
        contributions: The largest contributions by absolute size, one array per rank.
        finest: Cells that are not totals of others.
        counts: Whether the values are counts of respondents.
        columns: The further columns of the source.
        singles: The largest contributions of single respondents, if `contributions` are those of holdings.
        lines: For each dimension, the position of the total that each cell is a part of; -1 if there is none.
        records: Whether the values count records, of which a respondent or holding may have several.
        own: The insider's contribution to each cell; `contributions` are then those of the others. None for an
            outsider.
    """

    values: Numbers
    frequency: Numbers | None
    holdings: Numbers | None
    contributions: tuple[Numbers, ...]
    finest: BoolArray
    counts: bool
    columns: TextColumns
    singles: tuple[Numbers, ...] = ()
    lines: Mapping[str, Places] = field(default_factory=dict)
    own: Numbers | None = None
    records: bool = False

    def top(self, largest: int, rule: str, level: Level = "holding") -> Numbers:
        """Return the sum of the largest contributions by absolute size; losses count like profits."""
        columns, key = (self.singles, "respondents") if level == "respondent" else (self.contributions, "contributions")
        if len(columns) < largest:
            raise PlanError("no-contributions", name=rule, count=largest, name_hint=key)
        sizes = np.sort(np.abs(np.nan_to_num(np.stack(columns))), axis=0)
        return np.asarray(sizes[-largest:].sum(axis=0))

    @property
    def sizes(self) -> Numbers:
        """The absolute values without the insider's contribution. If contributions have both signs this is less than
        their absolute sum, so that the rules err on the safe side.
        """
        return np.abs(self.values if self.own is None else self.values - self.own)

    def without(self, cells: Places, own: Numbers) -> "RuleInputs":
        """Return the inputs for some cells from an insider's view, without the insider's contribution."""
        part = self._rows(cells)
        if not self.contributions:
            return replace(part, own=own)
        stack = np.nan_to_num(np.stack(part.contributions))
        his = np.abs(stack - own).argmin(axis=0)
        listed = np.abs(np.take_along_axis(stack, his[None], 0)[0] - own) <= 1e-6 * np.maximum(1.0, np.abs(own))
        columns = np.arange(len(cells))
        # The next contribution is at most the smallest listed one, and at most the rest.
        left = np.maximum(np.abs(part.values) - np.abs(stack).sum(axis=0), 0.0)
        stack[his[listed], columns[listed]] = np.minimum(np.abs(stack[-1]), left)[listed]
        return replace(part, contributions=tuple(stack), own=own)

    def _rows(self, cells: Places) -> "RuleInputs":
        return RuleInputs(
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
    def empty(self) -> BoolArray:
        """Cells without contributors: value 0 and no contribution."""
        empty = self.values == 0
        for column in self.contributions:
            empty &= np.nan_to_num(column) == 0
        return np.asarray(empty if self.frequency is None else empty & (self.frequency == 0))

    def respondents(self, rule: str) -> Numbers:
        """Return the number of respondents in each cell."""
        if self.frequency is None:
            raise PlanError("no-frequency", rule=rule)
        return self.frequency
