"""Reading a plan: YAML, JSON or a mapping becomes a Plan, or all its faults are reported at once."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.errors import Fault, PlanError, did_you_mean
from sfumato.hierarchies.registry import HIERARCHY
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.microdata.models.model import Model
from sfumato.microdata.models.named_values import faults_of, in_one_text
from sfumato.microdata.models.registry import MODEL, located
from sfumato.microdata.plan.methods import METHOD, FullDomain, KOptimize, Mondrian
from sfumato.microdata.plan.model import ColumnPlan, OutputPlan, Plan, ReleasePlan, UtilityPlan
from sfumato.microdata.plan.salvage import salvaged
from sfumato.shapes import files
from sfumato.shapes.shapes import (
    Choice,
    Faults,
    Flag,
    Integer,
    Key,
    ListOf,
    MapOf,
    Number,
    Record,
    Refused,
    Scalar,
    Schema,
    Text,
)

# Names of columns that are written as they are in the names of folders.
FOLDER = re.compile(r"[A-Za-z0-9_.-]+", re.ASCII)
ROLES = ("identifier", "quasi-identifier", "sensitive", "insensitive")
LANGUAGES = ("en", "de")
TYPES = ("text", "integer", "decimal", "date", "boolean")

DATA = Record(
    {
        "source": Key(Text(about="path of the data, relative to the plan")),
        "format": Key(Choice(("csv", "parquet", "json", "excel", "sqlite", "duckdb"))),
        "separator": Key(Text(about="of a CSV file; found out when not given")),
        "encoding": Key(Text(about="of a CSV file")),
        "quote": Key(Text(about="of a CSV file")),
        "header": Key(Flag(about="whether a CSV file has a header")),
        "strip": Key(Flag(about="take white space off the values of a CSV file")),
        "missing": Key(ListOf(Scalar(), about="texts that mean missing")),
        "on_invalid": Key(Choice(("error", "missing", "drop"))),
        "on_missing": Key(Choice(("category", "any", "drop"))),
        "table": Key(Text(about="table of a database file, or sheet of a workbook")),
        "memory_limit": Key(Text(about="the most memory that the engine may use, for example 2GB")),
        "temp_folder": Key(Text(about="folder for rows that do not fit in memory, relative to the plan")),
    },
    DataPlan,
    about="where the rows lie and how they are read",
)
COLUMN = Record(
    {
        "role": Key(Choice(ROLES), required=True),
        "type": Key(Choice(TYPES)),
        "hierarchy": Key(HIERARCHY),
        "weight": Key(Number(minimum=0, about="of this column in the loss")),
        "min_level": Key(Integer(minimum=0)),
        "max_level": Key(Integer(minimum=0)),
    },
    ColumnPlan,
    about="what a column is",
)
OUTPUT = Record(
    {
        "format": Key(Choice(("csv", "parquet"))),
        "order": Key(Choice(("keep", "shuffle"))),
        "suppressed": Key(Choice(("drop", "star"))),
        "class_column": Key(Text(about="name of a further column with the number of each row's class")),
        "partition": Key(ListOf(Text(), about="columns by whose published values Parquet files are laid in folders")),
    },
    OutputPlan,
    about="how the release is written",
)
UTILITY = Record(
    {"target": Key(Text(about="column to predict from the quasi-identifiers (needs scikit-learn)"))},
    UtilityPlan,
    about="what is measured besides what every release is",
)
RELEASE = Record(
    {
        "by": Key(Text(about="who releases")),
        "purpose": Key(Text(about="what for")),
        "recipient": Key(Text(about="to whom")),
        "basis": Key(Text(about="the legal basis")),
    },
    ReleasePlan,
    about="what a report to be signed says of the release",
)
PLAN = Record(
    {
        "version": Key(Integer(minimum=1, maximum=1), required=True),
        "data": Key(DATA),
        "columns": Key(MapOf(COLUMN, at_least=1), required=True),
        "privacy": Key(ListOf(MODEL, at_least=1), required=True),
        "method": Key(METHOD),
        "seed": Key(Integer(minimum=0, maximum=2**63 - 1)),
        "output": Key(OUTPUT),
        "utility": Key(UTILITY),
        "release": Key(RELEASE),
        "language": Key(Choice(LANGUAGES, about="of the reports")),
    },
    Plan,
    about="plan of a microdata release",
)


def read_plan(given: "Plan | Mapping[str, Any] | str | Path", folder: Path | None = None) -> Plan:
    """A plan from a file, a mapping, or as it is.

    Args:
        folder: Where the relative paths of a mapping start; the working folder by default.

    >>> plan = read_plan({"version": 1, "columns": {"sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}},
    ...                   "privacy": [{"model": "k-anonymity", "k": 2}]})
    >>> plan.quasi_identifiers
    ('sex',)
    """
    if isinstance(given, Plan):
        return given
    if isinstance(given, Mapping):
        return _read(given, folder or Path())
    path = Path(given)
    return _read(files.load(path), path.parent)


def _read(value: object, folder: Path) -> Plan:
    faults = Faults()
    plan: Plan | None = None
    with suppress(Refused):
        plan = PLAN.read(value, "", faults)
    whole = plan if plan is not None else salvaged(value, PLAN)
    if whole is not None:
        faults.found.extend(fault for fault in _between(whole) if plan is not None or fault.at != "columns")
    if faults.found or plan is None:
        raise PlanError(faults.found, code="faults")
    text = dict(value) if isinstance(value, Mapping) else {}
    privacy = tuple(_resolved(model, plan, folder) for model in plan.privacy)
    return replace(plan, folder=folder, text=text, privacy=privacy)


def _resolved(model: Model, plan: Plan, folder: Path) -> Model:
    """A model with its files found from a folder, and its values in the one text that they have."""
    column = plan.columns.get(model.column or "")
    return located(model if column is None else in_one_text(model, column.type), folder)


def _between(plan: Plan) -> list[Fault]:
    """Faults that lie between parts of a plan."""
    found = []
    if not plan.quasi_identifiers:
        found.append(Fault("columns", "no column is a quasi-identifier.", "Give at least one that role."))
    for name in plan.quasi_identifiers:
        if plan.columns[name].hierarchy is None and isinstance(plan.method, FullDomain):
            found.append(Fault(f"columns.{name}", "a quasi-identifier needs a hierarchy.", "At least {type: any}."))
    if isinstance(plan.method, Mondrian):
        found.extend(_leveled(plan))
    found.extend(_classified(plan))
    if isinstance(plan.method, KOptimize):
        found.extend(_k_optimized(plan))
    for place, model in enumerate(plan.privacy):
        found.extend(_judged(plan, model.column, f"privacy[{place}].column"))
        column = plan.columns.get(model.column or "")
        if column is not None:
            found.extend(faults_of(model, f"privacy[{place}]", column.type, plan.data.missing))
    found.extend(_predicted(plan))
    found.extend(_partitioned(plan))
    if plan.output.class_column in plan.columns:
        found.append(Fault("output.class_column", "is the name of a column of the data.", "Choose another name."))
    if plan.data.on_missing == "any" and any(model.name != "k-anonymity" for model in plan.privacy):
        found.append(Fault("data.on_missing", "any goes with k-anonymity alone.", "Use category or drop."))
    return found


def _partitioned(plan: Plan) -> list[Fault]:
    """Faults of the columns by which files are laid in folders."""
    found = []
    for name in plan.output.partition:
        if name not in plan.columns:
            found.append(Fault("output.partition", f'there is no column "{name}".', did_you_mean(name, plan.columns)))
        elif not FOLDER.fullmatch(name):
            what = f'folders cannot be named after "{name}".'
            found.append(Fault("output.partition", what, "Rename the column: letters from a to z, digits, _ and -."))
    if plan.output.partition and len(set(plan.output.partition)) == len(plan.columns):
        found.append(Fault("output.partition", "no column is left for the files.", "Leave one out."))
    return found


def _leveled(plan: Plan) -> list[Fault]:
    """Faults of columns that ask for levels where the method has none."""
    return [
        Fault(f"columns.{name}", "min_level and max_level belong to methods with levels.", "Leave them out.")
        for name in plan.quasi_identifiers
        if plan.columns[name].min_level or plan.columns[name].max_level is not None
    ]


def _judged(plan: Plan, column: str | None, at: str) -> list[Fault]:
    if column is None:
        return []
    if column not in plan.columns:
        return [Fault(at, f'there is no column "{column}" in the plan.', did_you_mean(column, plan.columns))]
    if plan.columns[column].role != "sensitive":
        return [Fault(at, f'the column "{column}" is {plan.columns[column].role}.', "Give it the role sensitive.")]
    return []


def _classified(plan: Plan) -> list[Fault]:
    """Faults of the column that the loss looks at."""
    name = getattr(plan.method, "class_column", None)
    if getattr(plan.method, "loss", None) != "classification":
        return [] if name is None else [Fault("method.class", "goes with the loss classification alone.", "Drop it.")]
    if name is None:
        return [Fault("method.class", "is missing.", "Name the column in which classes should agree.")]
    if name not in plan.columns:
        return [Fault("method.class", "there is no such column in the plan.", did_you_mean(name, plan.columns))]
    if plan.columns[name].role not in ("sensitive", "insensitive"):
        return [Fault("method.class", f"the column is {plan.columns[name].role}.", "It must be published as it is.")]
    return []


def _k_optimized(plan: Plan) -> list[Fault]:
    """Faults of a plan for K-Optimize."""
    found = []
    for place, model in enumerate(plan.privacy):
        if not isinstance(model, KAnonymity):
            what = f"{model.name} does not go with k-optimize."
            found.append(Fault(f"privacy[{place}].model", what, "Its proof is for k-anonymity alone."))
    for name in plan.quasi_identifiers:
        if plan.columns[name].max_level is not None:
            found.append(Fault(f"columns.{name}.max_level", "does not go with k-optimize.", "It merges freely."))
    if plan.data.on_missing == "any":
        found.append(Fault("data.on_missing", "any does not go with k-optimize.", "Use category or drop."))
    return found


def _predicted(plan: Plan) -> list[Fault]:
    """Faults of the column that utility is measured by."""
    target = plan.utility.target
    if target is None:
        return []
    if target not in plan.columns:
        return [
            Fault("utility.target", f'there is no column "{target}" in the plan.', did_you_mean(target, plan.columns))
        ]
    if plan.columns[target].role not in ("sensitive", "insensitive"):
        return [
            Fault("utility.target", f"the column is {plan.columns[target].role}.", "It must be published as it is.")
        ]
    return []


def plan_schema() -> Schema:
    """The JSON Schema of a plan."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Sfumato plan"} | PLAN.schema()
