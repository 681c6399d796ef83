"""What the pages know of loaded data: first rows, columns, the suggested plan, and how many rows are at risk."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.engines.duckdb import DuckDBEngine
from sfumato.engines.engine import Reading
from sfumato.engines.preview import Row, first_rows
from sfumato.hierarchies.ladder import Ladder
from sfumato.hierarchies.registry import HIERARCHY
from sfumato.hierarchies.types import canonical
from sfumato.microdata.classes import Counts
from sfumato.microdata.profiling import suggest_plan
from sfumato.plan.shapes import read

PREVIEW_ROWS = 8


@dataclass(frozen=True, slots=True)
class Column:
    """What is known of a column: its distinct texts, and how many rows have none."""

    name: str
    values: tuple[str, ...]
    missing: int


@dataclass(frozen=True)
class Loaded:
    """Data that were loaded.

    Attributes:
        suggested: The plan that is suggested; reasons: why each column got its role.
    """

    path: Path
    rows: int
    columns: tuple[Column, ...]
    preview: list[Row]
    suggested: dict[str, Any]
    reasons: dict[str, str]
    sizes: dict[tuple[str, ...], Counts] = field(default_factory=dict)

    def column(self, name: str) -> Column:
        """A column by its name."""
        return next(column for column in self.columns if column.name == name)

    def at_risk(self, names: Sequence[str], k: int) -> int:
        """Rows in groups smaller than k by some columns; each set of columns is counted once."""
        key = tuple(names)
        if key not in self.sizes:
            engine = DuckDBEngine(self.path)
            try:
                self.sizes[key] = engine.count(key, Reading()).counts if key else np.array([self.rows])
            finally:
                engine.close()
        sizes = self.sizes[key]
        return int(sizes[sizes < k].sum())


def load(path: Path, planned: dict[str, Any] | None = None) -> Loaded:
    """Read a file as far as the pages need it.

    Args:
        planned: A plan that comes with the data, instead of a suggested one.

    Raises:
        DataError, PlanError: It is no table.
    """
    engine = DuckDBEngine(path)
    try:
        suggested = suggest_plan(engine, path.name)
        missing = tuple(suggested.plan["data"].get("missing", ()))
        columns = tuple(_column(engine, name, missing) for name in engine.columns)
        rows = engine.count(engine.columns[:1], Reading()).rows
        preview = first_rows(engine, PREVIEW_ROWS)
    finally:
        engine.close()
    return Loaded(path, rows, columns, preview, planned or suggested.plan, suggested.reasons)


def _column(engine: DuckDBEngine, name: str, missing: Sequence[str]) -> Column:
    counted = engine.count([name], Reading())
    texts = counted.values[0]
    absent = [place for place, text in enumerate(texts) if text is None or text in missing]
    rows = int(counted.counts[np.isin(counted.codes[:, 0], absent)].sum())
    return Column(name, tuple(text for text in texts if text is not None and text not in missing), rows)


def ladder_of(column: Column, plan: dict[str, Any], folder: Path) -> tuple[Ladder, int]:
    """The ladder that a hierarchy gives for a column's values, and how many of them it does not accept.

    Raises:
        PlanError: It is no hierarchy.
    """
    hierarchy = read(HIERARCHY, plan["hierarchy"], "hierarchy").located(folder)
    forms, wrong = canonical(list(column.values), plan.get("type", "text"))
    binding = hierarchy.bind(list(dict.fromkeys(form for form in forms if form is not None)))
    return binding.ladder, len(binding.rejected) + len(wrong)
