"""The pipeline: read, check, find sensitive cells, suppress, audit, and only then publish."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Required, TypedDict, Unpack, overload

from sfumato.errors import DataError, PlanError, ViolationError, did_you_mean, issue
from sfumato.pipelines.tables.perturb import perturb, perturb_several
from sfumato.pipelines.tables.protect_linked import protect_several
from sfumato.pipelines.tables.table_release import PerturbedTable, PerturbedTables, ProtectedTable, ProtectedTables
from sfumato.pipelines.tables.table_source import columns_from, errors_in, source_columns, with_metadata
from sfumato.tables.build import build
from sfumato.tables.cell_labels import NAMES, cells_named
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.crosstabs.crosstabs import Derived, Subtotals
from sfumato.tables.crosstabs.policies import apply, rule_named
from sfumato.tables.deadline import Deadline, never, within
from sfumato.tables.linear_programs import check_installed
from sfumato.tables.plan.sections import Method, RoundingKind
from sfumato.tables.plan.table_plan import FILE_KEYS, PLAN, TABLE, TablePlan, read_table_plan
from sfumato.tables.suppress_table import SuppressedCells, mask_part
from sfumato.tables.suppression.patterns import ProgressCallback
from sfumato.tables.table_result import check_kind

Answer = ProtectedTable | ProtectedTables | PerturbedTable | PerturbedTables


# The return type of `protect` depends on the method: so there are parts for methods that suppress cells, and for those
# that perturb numbers.
class MaskingMethod(TypedDict, total=False):
    """A suppression method."""

    name: Method
    cost: str
    level_factor: float
    time_limit: float
    tie_break: Literal["min", "max"]
    repair: bool
    insiders: bool
    zeros: bool


class RoundingMethod(TypedDict, total=False):
    """Rounding to multiples of a base."""

    name: Required[Literal["rounding"]]
    base: Required[float]
    kind: RoundingKind
    steps: int
    inner: bool
    key: str
    secret: str
    time_limit: float


class CellKeyMethod(TypedDict, total=False):
    """Noise by the cell key method."""

    name: Required[Literal["cell-key"]]
    D: int
    V: float
    js: int
    pstay: float
    monotone: bool
    ptable: str
    key: str
    digits: int
    record: str
    secret: str
    zeros: float
    structural: str
    share: float
    largest: int


class AdjustmentMethod(TypedDict, total=False):
    """Controlled tabular adjustment."""

    name: Required[Literal["adjustment"]]
    cost: str
    time_limit: float


class CommonParts(TypedDict, total=False):
    """The keys of a table plan except its method; see docs/tables.md for each."""

    value: str
    group_by: Sequence[str]
    separator: str
    decimal: Literal[".", ","]
    encoding: str
    frequency: str
    contributions: Sequence[str]
    contributors: Sequence[str]
    respondents: Sequence[str]
    shadow: str
    holdings: str
    tolerance: float
    precision: float
    dimensions: Mapping[str, Mapping[str, Any]]
    primary: Sequence[Mapping[str, Any]]
    protection: Mapping[str, Any]
    attacker: Mapping[str, Any]
    attackers: Mapping[str, Any]
    output: Mapping[str, Any]


class SuppressionArguments(CommonParts, total=False):
    """Keys of the plan of one table with suppression, which `sf.protect` takes instead of a plan."""

    method: Method | MaskingMethod


class ChangingParts(CommonParts, total=False):
    """Keys of the plan of one table with perturbation."""

    method: Required[RoundingMethod | CellKeyMethod | AdjustmentMethod]


class SeveralMaskingParts(SuppressionArguments, total=False):
    """Keys of the plan of several tables with suppression."""

    tables: Required[Sequence[Mapping[str, Any]]]
    previous: Sequence[str]


class SeveralChangingParts(ChangingParts, total=False):
    """Keys of the plan of several tables with perturbation."""

    tables: Required[Sequence[Mapping[str, Any]]]


class TableParts(CommonParts, total=False):
    """Keys of any plan: with a method known only at run time, or with earlier releases."""

    method: str | Mapping[str, Any]
    tables: Sequence[Mapping[str, Any]]
    previous: Sequence[str]


@overload
def protect(table: Any, **parts: Unpack[ChangingParts]) -> PerturbedTable: ...


@overload
def protect(table: Any, **parts: Unpack[SuppressionArguments]) -> ProtectedTable: ...


@overload
def protect(table: Any = None, **parts: Unpack[SeveralChangingParts]) -> PerturbedTables: ...


@overload
def protect(table: Any = None, **parts: Unpack[SeveralMaskingParts]) -> ProtectedTables: ...


@overload
def protect(table: Any = None, **parts: Unpack[TableParts]) -> Answer: ...


@overload
def protect(table: Any = None, plan: str | Path | Mapping[str, Any] | TablePlan | None = None) -> Answer: ...


def protect(table: Any = None, plan: str | Path | Mapping[str, Any] | TablePlan | None = None, **parts: Any) -> Answer:
    """Suppress or perturb cells of one or several tables so that attackers cannot compute sensitive ones.

    Args:
        table: A frame (pandas, Polars, Arrow) or the path of a CSV file; None if the plan names its source. Microdata
            if the plan has several tables.
        plan: A plan, a mapping, or the path of a plan file.
        **parts: Keys of a plan (`value`, `group_by`, `dimensions`, `primary`, `method`, …) instead of a plan.

    Returns:
        The protected table, or the protected tables if the plan has `tables`, `previous` or microdata. The result is
            perturbed if the method is rounding, cell-key or adjustment.

    Raises:
        PlanError: The plan is invalid, or does not fit the table.
        DataError: The table does not match the plan.
        UnattainableError: A sensitive cell cannot be protected.
        ViolationError: The attacker still narrows a cell; nothing may be published.

    >>> cells = {"area": ["Total", "a", "b", "c"], "n": [24, 2, 9, 13]}
    >>> import pandas
    >>> done = protect(pandas.DataFrame(cells), value="n", dimensions={"area": {"column": "area"}},
    ...     primary=[{"rule": "range", "min": 1, "max": 3}])
    >>> done.data["n_published"].tolist()
    ['24', '*', '*', '13']
    """
    chosen = _plan(plan, parts, table)
    source = None if _is_plan_file(table) else table
    chosen = with_metadata(chosen, source)
    if not chosen.alone:
        one = not chosen.tables and chosen.table.microdata is None and source is not None
        together = protect_several if chosen.perturbation is None else perturb_several
        return together(chosen, columns_from(source, chosen) if one else source)
    with errors_in(_file(chosen, source), chosen.table, chosen.dimensions):
        columns = source_columns(chosen) if source is None else columns_from(source, chosen)
        return run(chosen, columns, like=table) if chosen.perturbation is None else perturb(chosen, columns, table)


def run_plan(
    plan: TablePlan, progress: ProgressCallback | None = None, asked: Callable[[], bool] | None = None
) -> Answer:
    """Protect the sources of a plan: one table, or several together.

    Args:
        progress: Called with the progress of the search.
        asked: Returns whether the search should stop now and return its best result so far.
    """
    plan = with_metadata(plan)
    if plan.alone:
        with errors_in(_file(plan), plan.table, plan.dimensions):
            columns = source_columns(plan)
            if plan.perturbation is not None:
                return perturb(plan, columns, asked=asked)
            return run(plan, columns, progress=progress, asked=asked)
    if plan.perturbation is not None:
        return perturb_several(plan, None, asked)
    return protect_several(plan, None, progress, asked)


def _file(plan: TablePlan, table: Any = None) -> Path | None:
    """Return the file of a table if it comes from one, else None."""
    if table is None:
        return None if plan.table.source is None else plan.table.source.within(plan.folder)
    return Path(table) if isinstance(table, str | Path) else None


def run(
    plan: TablePlan,
    columns: TextColumns,
    like: Any = None,
    progress: ProgressCallback | None = None,
    asked: Callable[[], bool] | None = None,
) -> ProtectedTable:
    """Protect columns that were read already, within the time limit of the plan.

    Raises:
        EngineError: A part of the installation is missing.
        ViolationError: The attacker still narrows a cell; with `repair: false` the result is returned nevertheless.
    """
    check_installed()
    start = time.perf_counter()
    deadline = within(plan.method.time_limit, asked or never)
    _refuse_taken_names(plan, columns)
    parts = build(plan, columns)
    built = time.perf_counter()
    done = _masked(parts, plan, deadline, progress)
    seconds = {"check": built - start, "mask": time.perf_counter() - built}
    protected = ProtectedTable(plan, columns, tuple(done), seconds, like)
    if not protected.passed and not plan.method.faithful:
        raise ViolationError(
            "audit.the_attacker_still_narrows",
            count=len(protected.audit.failing),
            named=cells_named(protected.audit.failing),
        )
    protected.check(protected.external)
    return protected


def _refuse_taken_names(plan: TablePlan, columns: TextColumns) -> None:
    prefix = plan.output.prefix or plan.table.value
    taken = [prefix + ending for ending in NAMES[plan.output.columns] if prefix + ending in columns]
    if taken:
        raise DataError("column-taken", column=taken[0]).about(column=taken[0])


def _masked(
    parts: Sequence[TablePart], plan: TablePlan, deadline: Deadline, progress: ProgressCallback | None
) -> list[SuppressedCells]:
    """Suppress cells of every group, with a part of the time limit in proportion to its cells."""
    left = sum(len(part.table) for part in parts)
    done = []
    for part in parts:
        share = deadline.share(len(part.table) / left)
        left -= len(part.table)
        done.append(mask_part(part, plan.method, plan.output.language, share, progress))
        check_kind(plan, done[-1])
    return done


def _plan(plan: Any, parts: dict[str, Any], table: Any) -> TablePlan:
    if plan is None and not parts and _is_plan_file(table):
        return read_table_plan(table)
    if plan is None:
        _check_parts(parts)
        inner = {key: parts.pop(key) for key in _TABLE_KEYS if key in parts}
        plan = {"version": 1, "table": inner, **parts}
    elif parts:
        raise PlanError("plan-and-parts")
    return read_table_plan(plan)


def _check_parts(parts: Mapping[str, Any]) -> None:
    """Refuse unknown keys, with the most similar key of a plan and of its table."""
    known = {*_TABLE_KEYS, *PLAN.keys, "plan"}
    faults = [issue(name, "unknown_key", hint=did_you_mean(name, known)) for name in parts if name not in known]
    if faults:
        raise PlanError.listing(faults)


# The keys of a table that name neither a file nor its columns.
_TABLE_KEYS = [key for key in TABLE.keys if key not in FILE_KEYS]


def _is_plan_file(table: Any) -> bool:
    return isinstance(table, str | Path) and Path(table).suffix in (".yaml", ".yml", ".json")


def suppress(
    crosstab: Any,
    policy: str = "nhs",
    *,
    margins: str | None = None,
    derived: Derived | None = None,
    subtotals: Subtotals | None = None,
) -> Any:
    """Suppress small cells of a crosstab as a policy requires.

    Args:
        crosstab: A pandas crosstab (labels in the index) or a Polars one (labels in the first column), with margins.
        policy: The id of a policy for tables: cms-11, nhs-hes, eurostat-ifs-2023, tre-10, omop-5 and others.
        margins: The label of the margins, if it is unusual; sums are found by their numbers in any case.
        derived: Percentage columns: their name, and the columns divided, or None for counts that only look like
            percentages or are named so; also rows. Others are detected.
        subtotals: Rows or columns that are sums, each with its parts, if the numbers alone are ambiguous. With it, no
            sums of scattered lines are searched; `{}` says that there are none. Subtotals directly before or after
            their parts are found in any case.

    Returns:
        The same kind of frame; small cells are suppressed, percentages are computed from what is published.

    Raises:
        PlanError: There is no such policy, margin or column.
        DataError: A cell is no count, a column is ambiguous, margins do not add up, or sums are ambiguous.
        UnattainableError: A small cell cannot be protected.

    >>> import pandas
    >>> table = pandas.DataFrame({"a": [3, 12], "b": [20, 30]}, index=["x", "y"])
    >>> suppress(table, "nhs").loc["x"].tolist()
    ['*', 20]
    """
    from sfumato.engines.tabulation import crosstab_like, crosstab_of

    return crosstab_like(crosstab, apply(crosstab_of(crosstab), rule_named(policy), margins, derived, subtotals))
