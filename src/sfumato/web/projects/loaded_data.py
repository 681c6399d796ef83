"""Data as worker processes load it for the pages: first rows, columns, suggested plan, class sizes, policy models."""

import codecs
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.engines.duckdb.engine import DuckDBEngine, Row
from sfumato.engines.engine import MissingRules
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.registry import HIERARCHY
from sfumato.hierarchies.types import canonical
from sfumato.localization.messages import Messages
from sfumato.microdata.data_plan import DATA, DataPlan, code_texts
from sfumato.microdata.models.equivalence_classes import Counts
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.plan_suggestion.counted_rows import (
    CountedRows,
    ProgressCallback,
    ProgressReporter,
    aggregated_input_note,
)
from sfumato.pipelines.plan_suggestion.file_checks import writes_commas
from sfumato.pipelines.suggest import suggest_plan
from sfumato.schema.composite import read as read_shape
from sfumato.schema.frozen_dict import FrozenDict
from sfumato.values import Value, field, replace

PREVIEW_ROWS = 8
# Byte order marks that identify the encoding of a text; UTF-8 has one, too, but needs none.
MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
LOOKED_AT_BYTES = 1 << 16
# Settings for reading a text.
READING = ("separator", "decimal", "encoding", "header", "table")


class LoadedColumn(Value):
    """A column: its distinct values with their number of rows, and the number of missing values."""

    name: str
    counts: dict[str, int]
    missing: int

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(self.counts)

    def read_by(self, plan: Mapping[str, Any]) -> "LoadedColumn":
        """Return the same column as a plan reads it, with missing value codes as missing.

        >>> LoadedColumn("age", {"40": 5, "99": 2}, 1).read_by({"role": "sensitive", "missing": [99]})
        LoadedColumn(name='age', counts={'40': 5}, missing=3)
        """
        absent = {*code_texts(map(str, plan.get("missing", ())))} & self.counts.keys()
        if not absent:
            return self
        counts = {text: rows for text, rows in self.counts.items() if text not in absent}
        return LoadedColumn(self.name, counts, self.missing + sum(self.counts[text] for text in absent))


class Loaded(Value):
    """Loaded data.

    Attributes:
        reasons: The reason for the role of each column.
        notes: Notes about the file, for instance that one of its sheets was read.
        sheets: The names of all sheets of a workbook.
    """

    path: Path
    rows: int
    columns: tuple[LoadedColumn, ...]
    preview: list[Row]
    suggested: dict[str, Any]
    reasons: dict[str, str]
    read: DataPlan
    notes: tuple[str, ...] = ()
    sheets: tuple[str, ...] = ()
    sizes: dict[tuple[str, ...], Counts] = field(default_factory=dict)

    def column(self, name: str) -> LoadedColumn:
        """Return a column by its name."""
        return next(column for column in self.columns if column.name == name)

    def shown(self, name: str, text: str, words: Messages) -> str:
        """Return a value or label for display: numbers, except codes, with the decimal mark of the language."""
        column = self.suggested["columns"].get(name, {})
        numeric = column.get("type") == "decimal" or isinstance(column.get("publish"), dict)
        return words.value(text) if numeric or self.read.decimal == "," else text

    def at_risk(self, names: tuple[str, ...], k: int) -> int:
        """Return the number of rows in classes smaller than k by some columns, from the counted class sizes."""
        sizes = self.sizes[names] if names else np.array([self.rows])
        return int(sizes[sizes < k].sum())


def class_sizes(path: Path, read: DataPlan, names: Sequence[str]) -> Counts:
    """Return the sizes of the classes of rows that agree on some columns."""
    with closing(DuckDBEngine(path, read)) as engine:
        return engine.count(tuple(names), MissingRules()).counts


def load(path: Path, said: Mapping[str, Any] | None = None, tell: ProgressCallback | None = None) -> Loaded:
    """Read a file as far as the pages need it.

    Args:
        said: How a text is read, by the keys of a plan's `data`; other settings are detected.
        tell: Progress callback.

    Raises:
        DataError, PlanError: The file is not a table.
    """
    reading = reading_of(said or {})
    if "encoding" not in reading and (encoding := marked(path)) is not None:
        reading["encoding"] = encoding
    read, looking = read_shape(DATA, dict(reading), "data"), ProgressReporter(tell)
    looking.at("count")
    with closing(DuckDBEngine(path, read)) as engine:
        rows = CountedRows(engine)
        if "decimal" not in reading and _has_commas(engine.source.separator, rows.texts, reading):
            return load(path, {**reading, "decimal": ","}, tell)
        sheets = engine.source.sheets
        if len(sheets) > 1:  # so that a saved plan reads the same sheet
            reading["table"] = engine.source.sheet
        suggested = suggest_plan(rows, path.name, looking=looking, **reading)
        preview = engine.first_rows(PREVIEW_ROWS)
        notes = (*suggested.notes, *engine.notes, *filter(None, (aggregated_input_note(rows),)))
    profiles, read = suggested.profiles, read_shape(DATA, dict(reading), "data")
    columns = tuple(LoadedColumn(profile.name, dict(profile.counts), profile.missing) for profile in profiles)
    return Loaded(path, profiles[0].rows, columns, preview, suggested.plan, suggested.reasons, read, notes, sheets)


def _has_commas(separator: str, texts: Mapping[str, Mapping[str | None, int]], reading: Mapping[str, Any]) -> bool:
    """Return whether the numbers of a file have decimal commas, with the same detection as the command line."""
    asks = bool(separator) and reading.get("separator") != ","
    return asks and writes_commas(texts, thousands=separator == ",")


def reading_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings for reading a text in a plan's `data`.

    >>> reading_of({"source": "rows.csv", "decimal": ",", "header": None})
    {'decimal': ','}
    """
    return {key: data[key] for key in READING if data.get(key) is not None}


def planned_codes(plan: Mapping[str, Any]) -> FrozenDict[tuple[str, ...]]:
    """Return the missing value codes of single columns in a plan.

    >>> planned_codes({"columns": {"age": {"role": "sensitive", "missing": [99]}, "sex": {"role": "sensitive"}}})
    {'age': ('99',)}
    """
    columns = plan.get("columns", {}).items()
    return FrozenDict({name: tuple(map(str, part["missing"])) for name, part in columns if part.get("missing")})


def is_text(path: Path) -> bool:
    """Return whether a file looks like text in a single-byte encoding; images and programs contain zero bytes."""
    with path.open("rb") as stream:
        return b"\0" not in stream.read(LOOKED_AT_BYTES)


def marked(path: Path) -> str | None:
    """Return the encoding given by the byte order mark, or None."""
    with path.open("rb") as stream:
        return "utf-16" if stream.read(2) in MARKS else None


def is_number(value: Any) -> bool:
    """Return whether a value, or the number in its text, is a number."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, bool)


def hierarchy_of(column: LoadedColumn, plan: dict[str, Any], folder: Path) -> tuple[Hierarchy, int]:
    """Return the hierarchy of a column's values, and the number of values that it does not accept.

    Raises:
        PlanError: The settings are not a valid hierarchy.
    """
    hierarchy = read_shape(HIERARCHY, plan["hierarchy"], "hierarchy").resolve_paths(folder)
    forms, wrong = canonical(list(column.values), plan.get("type", "text"))
    binding = hierarchy.fit(list(dict.fromkeys(form for form in forms if form is not None)))
    return binding.hierarchy, len(binding.rejected) + len(wrong)


def policy_models(
    path: Path, read: DataPlan, plan: dict[str, Any], tell: ProgressCallback | None = None
) -> list[dict[str, Any]]:
    """Return the models that the policy of a plan requires; those in the plan are ignored. `tell` receives progress."""
    from sfumato.microdata.plan.write import plan_dict
    from sfumato.pipelines.policy_completion import with_policy

    looking = ProgressReporter(tell)
    looking.at("count")
    open_plan = read_plan({key: value for key, value in plan.items() if key != "privacy"}, path.parent)
    with closing(DuckDBEngine(path, replace(read, codes=open_plan.source_data.codes))) as engine:
        asked: list[dict[str, Any]] = plan_dict(with_policy(open_plan, engine, looking))["privacy"]
        return asked
