"""The pipeline: read, check, find unsafe cells, mask, attack the answer, and only then publish."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.errors import DataError, PlanError, PromiseError
from sfumato.tables import words
from sfumato.tables.attack.audit import Finding
from sfumato.tables.build.build import build, read_source
from sfumato.tables.build.ordering import by_codes
from sfumato.tables.cells.columns import Columns
from sfumato.tables.cells.parts import Part
from sfumato.tables.masking import Masked, mask_part
from sfumato.tables.plan.plan import TablePlan, read_table_plan
from sfumato.tables.suppression.installed import check_installed
from sfumato.tables.suppression.optimal import Progress
from sfumato.tables.words import NAMES, PRIMARY_DASH


@dataclass(frozen=True)
class ProtectedTable:
    """A protected table with the evidence.

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
        return all(part.audit.passed for part in self.parts)

    @property
    def leaks(self) -> tuple[Finding, ...]:
        """The masked cells that the attacker narrows below the promise."""
        return tuple(finding for part in self.parts for finding in part.audit.leaks)

    @cached_property
    def report(self) -> dict[str, Any]:
        """The figures of report.json."""
        from sfumato.report.tables import figures

        return figures(self)

    @cached_property
    def columns(self) -> Columns:
        """The input columns, and what is published, its range, case and reason."""
        return Columns({**self.source.texts, **self._new()})

    @cached_property
    def public(self) -> Columns:
        """What is published with its cases and reasons, without true values and what they were computed from.

        The cases tell which masked cells are unsafe by themselves: this is for the house, `external` to hand out.
        """
        return Columns({**self._codes(), **self._new()})

    @cached_property
    def external(self) -> Columns:
        """The table to hand out: codes, what is published and its range, nothing that tells one mask from another.

        Its rows stand in the order of their codes: the order that the cells came in may follow their values.
        """
        names = [self._prefix + ending for ending in NAMES[self.plan.output.columns][:3]]
        new = self._new()
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

    @property
    def data(self) -> Any:
        """The table with its new columns, as the kind of frame that came in, or as one of those installed."""
        from sfumato.engines.tabulation import frame_of, with_columns

        if self.like is None or isinstance(self.like, str | Path):
            return frame_of("", {name: list(texts) for name, texts in self.columns.texts.items()})
        return with_columns(self.like, self._new())

    def save(self, folder: str | Path) -> None:
        """Write the release folder, whole or not at all.

        Raises:
            PlanError: The folder is there already.
        """
        from sfumato.pipelines.protect_folder import write_release

        write_release(self, Path(folder))

    def _repr_html_(self) -> str:
        from sfumato.report.tables import html

        return html(self)

    def _new(self) -> dict[str, tuple[str, ...]]:
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
        low, high = float(part.low[cell]), float(part.high[cell])
        dash = PRIMARY_DASH if part.case[cell] == "primär" else "-"
        text = words.span(low, high, dash) if part.texts else words.MASK
        entries[cell] = (text, words.lower_end(low), words.upper_end(high), part.case[cell], part.reason[cell])
    return entries


def protect(
    table: Any = None, plan: str | Path | Mapping[str, Any] | TablePlan | None = None, **parts: Any
) -> ProtectedTable:
    """Mask the cells of a table so that nobody can compute them back.

    Args:
        table: A frame (pandas, Polars, Arrow) or the path of a CSV file; None when the plan names its source.
        plan: A plan, a mapping, or the path of a plan file.
        **parts: Parts of a plan by name (`value`, `group_by`, `dimensions`, `primary`, `method`, …) instead of one.

    Raises:
        PlanError: The plan is not one, or does not fit the table.
        DataError: The table is not what the plan says.
        UnattainableError: An unsafe cell cannot be protected.
        PromiseError: The attacker still narrows a cell; nothing may be published.

    >>> cells = {"area": ["Total", "a", "b", "c"], "n": [24, 2, 9, 13]}
    >>> import pandas
    >>> done = protect(pandas.DataFrame(cells), value="n", dimensions={"area": {"column": "area"}},
    ...     primary=[{"rule": "range", "min": 1, "max": 3}])
    >>> done.data["n_published"].tolist()
    ['24', '*', '*', '13']
    """
    made = _plan(plan, parts, table)
    return run(made, _columns(table, made), like=table)


def run(plan: TablePlan, columns: Columns, like: Any = None, progress: Progress | None = None) -> ProtectedTable:
    """Protect columns that were read already.

    Raises:
        EngineError: A part of the installation is missing.
        PromiseError: The attacker still narrows a cell; with `repair: false` the answer is returned all the same.
    """
    check_installed()
    start = time.perf_counter()
    _refuse_taken_names(plan, columns)
    parts = build(plan, columns)
    built = time.perf_counter()
    done = _masked(parts, plan, progress)
    seconds = {"check": built - start, "mask": time.perf_counter() - built}
    protected = ProtectedTable(plan, columns, tuple(done), seconds, like)
    if not protected.holds and not _bare(plan):
        raise PromiseError(
            f"the attacker still narrows {len(protected.leaks)} masked cells below what is promised.",
            "Widen the protection, or let more cells be masked.",
            "audit",
        )
    return protected


def _refuse_taken_names(plan: TablePlan, columns: Columns) -> None:
    prefix = plan.output.prefix or plan.table.value
    taken = [prefix + ending for ending in NAMES[plan.output.columns] if prefix + ending in columns]
    if taken:
        raise DataError(
            f'the table has a column "{taken[0]}" already, which would be written over.',
            "Rename it, or name another prefix in output.prefix.",
            "column-taken",
            column=taken[0],
        )


def _masked(parts: Sequence[Part], plan: TablePlan, progress: Progress | None) -> list[Masked]:
    """Every group gets its share of the time limit, by its cells."""
    end = time.monotonic() + plan.method.time_limit
    left = sum(len(part.table) for part in parts)
    done = []
    for part in parts:
        share = max(end - time.monotonic(), 0.1) * len(part.table) / left
        left -= len(part.table)
        done.append(mask_part(part, plan, share, progress))
    return done


def _bare(plan: TablePlan) -> bool:
    return plan.method.name == "intervals" and not plan.method.repair


def _plan(plan: Any, parts: dict[str, Any], table: Any) -> TablePlan:
    if (
        plan is None
        and not parts
        and isinstance(table, str | Path)
        and Path(table).suffix in (".yaml", ".yml", ".json")
    ):
        return read_table_plan(table)
    if plan is None:
        inner = {key: parts.pop(key) for key in _TABLE_KEYS if key in parts}
        plan = {"version": 1, "table": inner, **parts}
    elif parts:
        raise PlanError("give either a plan or its parts.", code="plan-and-parts")
    return read_table_plan(plan)


_TABLE_KEYS = ("value", "group_by", "separator", "frequency", "contributions", "holdings", "tolerance")


def _columns(table: Any, plan: TablePlan) -> Columns:
    if table is None or (isinstance(table, str | Path) and Path(table).suffix in (".yaml", ".yml", ".json")):
        return read_source(plan)
    if isinstance(table, str | Path):
        from sfumato.tables.cells.columns import read_columns

        return read_columns(Path(table), plan.table.separator)
    from sfumato.engines.tabulation import columns_of

    return Columns(columns_of(table))
