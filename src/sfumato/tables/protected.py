"""A protected table: what came in, the masks, and what of it is published, kept in the house or handed out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.tables.attack.findings import Audit, Finding, joined
from sfumato.tables.build.ordering import by_codes
from sfumato.tables.cells.columns import Columns
from sfumato.tables.masking import Masked
from sfumato.tables.plan.plan import TablePlan
from sfumato.tables.words import MASK, NAMES, PRIMARY_DASH, Case, lower_end, span, upper_end


@dataclass(frozen=True)
class MaskedTable:
    """A table with its masks and the evidence.

    Attributes:
        plan: The plan it was made by.
        source: The columns that came in.
        parts: The answer for each group.
        seconds: How long each stage took.
        like: The frame that came in, where one did.
    """

    plan: TablePlan
    source: Columns
    parts: tuple[Masked, ...]
    seconds: Mapping[str, float] = field(default_factory=dict)
    like: Any = None

    @property
    def holds(self) -> bool:
        """Whether the audit of every group passed."""
        return self.audit.passed

    @cached_property
    def audit(self) -> Audit:
        """What the attacker found in all groups."""
        return joined(part.audit for part in self.parts)

    @property
    def leaks(self) -> tuple[Finding, ...]:
        """The masked cells that the attacker narrows below the promise."""
        return self.audit.leaks

    @cached_property
    def columns(self) -> Columns:
        """The input columns, and what is published, its range, case and reason."""
        return Columns({**self.source.texts, **self.new_columns()})

    @cached_property
    def public(self) -> Columns:
        """What is published with its cases and reasons, without true values and what they were computed from.

        The cases tell which masked cells are unsafe by themselves: this is for the house, `external` to hand out.
        """
        return Columns({**self._codes(), **self.new_columns()})

    @cached_property
    def external(self) -> Columns:
        """The table to hand out: codes, what is published and its range, nothing that tells one mask from another.

        Its rows stand in the order of their codes: the order that the cells came in may follow their values.
        """
        names = [self._prefix + ending for ending in NAMES[self.plan.output.columns][:3]]
        new = self.new_columns()
        shown = {name: new[name] for name in names}
        shown[names[0]] = tuple(text.replace(PRIMARY_DASH, "-") for text in shown[names[0]])
        rows = by_codes([part.part for part in self.parts], self.source)
        return Columns({**self._codes(), **shown}).rows(np.array(rows, np.int64))

    @property
    def _prefix(self) -> str:
        return self.plan.output.prefix or self.plan.table.value

    def _codes(self) -> dict[str, tuple[str, ...]]:
        kept = [*self.plan.table.group_by]
        for dimension in self.plan.dimensions.values():
            kept += [*dimension.levels] or [dimension.column or ""]
        kept = kept or ["id"]
        return {name: self.source.texts[name] for name in kept}

    def new_columns(self) -> dict[str, tuple[str, ...]]:
        """What is published of each row, its range, case and reason."""
        rows: list[tuple[str, ...]] = [()] * len(self.source)
        values = self.source.text(self.plan.table.value)
        for part in self.parts:
            for cell, entry in enumerate(_entries(part)):
                row = int(part.part.rows[cell])
                rows[row] = entry or (values[row], "", "", "", "")
        names = [self._prefix + ending for ending in NAMES[self.plan.output.columns]]
        return dict(zip(names, zip(*rows, strict=True), strict=True))


def _entries(part: Masked) -> list[tuple[str, ...] | None]:
    """For each cell what is published of it; None where its value is."""
    entries: list[tuple[str, ...] | None] = [None] * len(part.mask)
    for cell in np.flatnonzero(part.mask):
        low, high = float(part.ends.low[cell]), float(part.ends.high[cell])
        dash = PRIMARY_DASH if part.case[cell] == Case.PRIMARY else "-"
        ranged = not (np.isnan(low) or np.isnan(high))
        text = span(low, high, dash) if part.texts and ranged else MASK
        ends = (lower_end(low), upper_end(high)) if ranged else ("", "")
        entries[cell] = (text, *ends, part.case[cell], part.reason[cell])
    return entries
