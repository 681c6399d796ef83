"""Compare all methods on one table: suppressed cells, lost value, noise, disclosure, time; and coarser tables."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.atomic_folders import staged, write_text
from sfumato.errors import PlanError, SfumatoError
from sfumato.localization.messages import Message, to_json
from sfumato.pipelines.tables.perturb import change
from sfumato.pipelines.tables.protect import run
from sfumato.pipelines.tables.protect_linked import plan_of, sheets_of
from sfumato.pipelines.tables.table_source import columns_from, source_columns, with_metadata
from sfumato.report.html_page import fragment
from sfumato.report.tables.comparison import html, text
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.deadline import within
from sfumato.tables.linear_programs import check_installed
from sfumato.tables.noise.cell_key import keys_by_codes
from sfumato.tables.noise.perturbed import perturbed_parts
from sfumato.tables.plan.sections import Adjustment, CellKey, MethodChoice, Rounding
from sfumato.tables.plan.table_plan import TablePlan, read_table_plan
from sfumato.tables.redesign import redesign, sentence
from sfumato.tables.table_result import SuppressedTable, TableRun, TableRuns
from sfumato.values import replace

# Maximum number of proposals shown.
MOST = 5
MASKING = ("optimal", "fast", "ranges")
METHODS = (
    *MASKING,
    "controlled",
    "small-count",
    "random",
    "deterministic",
    "cell-key",
    "adjustment",
)


class TableComparison(TableRuns):
    """A comparison that can be saved as a folder."""

    def __repr__(self) -> str:
        return f"TableComparison({len(self.runs)} ways; {self.cells:,} cells, {self.unsafe:,} unsafe)"

    def _repr_html_(self) -> str:
        return fragment(html(self))

    def save(self, folder: str | Path) -> None:
        """Write compare.html, compare.json and compare.txt atomically."""
        with staged(Path(folder)) as stage:
            write_text(stage / "compare.html", html(self))
            write_text(stage / "compare.json", to_json(self.to_dict()) + "\n")
            write_text(stage / "compare.txt", text(self))


def compare_tables(
    plan: str | Path | Mapping[str, Any] | TablePlan,
    table: Any = None,
    *,
    methods: Sequence[str] = METHODS,
    time_limit: float = 20.0,
    redesign_seconds: float = 20.0,
    progress: Callable[[str], None] | None = None,
) -> TableComparison:
    """Protect one table by several methods and compare them.

    Args:
        plan: The plan of the table; its method is ignored, except for its rounding base.
        table: A frame or a file, instead of the plan's source.
        methods: The methods to compare: suppression methods, kinds of rounding, `cell-key`, `adjustment`.
        time_limit: Seconds for each.
        redesign_seconds: Seconds for proposals of coarser tables; none with 0.
        progress: Called with the name of each method.

    Raises:
        PlanError: The plan is of several tables, or a method is unknown.
    """
    check_installed()
    named, columns = _one_table(read_table_plan(plan), table)
    # Suppression files do not fit every method, and none is written.
    made = replace(named, output=replace(named.output, files=()))
    unknown = [name for name in methods if name not in METHODS]
    if unknown:
        raise PlanError(
            "compare-tables.is_not_compared", hint=Message("hint.valid", names=", ".join(METHODS)), name=unknown[0]
        )
    parts = perturbed_parts(made, columns)
    base, keyed = _base(made, parts), _with_keys(columns, made, parts)
    runs = []
    for name in methods:
        if progress is not None:
            progress(name)
        runs.append(_run(made, keyed, name, base, time_limit))
    unsafe = sum(int(part.table.sensitive.sum()) for part in parts)
    proposals = _proposals(made, columns, redesign_seconds)
    return TableComparison(len(columns), unsafe, tuple(runs), proposals, made.output.language)


def _one_table(plan: TablePlan, table: Any) -> tuple[TablePlan, TextColumns]:
    """Return the plan and columns of a single table, tabulated from microdata if necessary.

    Raises:
        PlanError: There are several tables, or earlier releases.
    """
    if plan.previous or len(plan.tables) > 1:
        raise PlanError("compare-tables.a_comparison_is_of_one")
    plan = with_metadata(plan, table)
    if plan.alone:
        return plan, source_columns(plan) if table is None else columns_from(table, plan)
    crossed, sheets = sheets_of(plan, table)
    return plan_of(crossed, 0), sheets[0].columns


def _base(plan: TablePlan, parts: Sequence[Any]) -> float:
    """Return the plan's rounding base, or the smallest of 3, 5, 10, 20, 50, … that satisfies all protection levels."""
    if isinstance(plan.perturbation, Rounding):
        return plan.perturbation.base
    needs = [part.table.protection_levels for part in parts]
    most = max((float(np.maximum(need.lower, need.upper).max(initial=0.0)) for need in needs), default=0.0)
    step = min((part.knowledge.precision for part in parts), default=1.0)
    nice = [3 * step, *(factor * 10.0**power * step for power in range(13) for factor in (5, 10, 20))]
    return next((one for one in nice if one >= most + step), math.ceil(most))


def _with_keys(columns: TextColumns, plan: TablePlan, parts: Sequence[Any]) -> TextColumns:
    """Return the columns with cell keys: existing ones, or some derived from codes for the comparison."""
    method = plan.perturbation
    if "key" in columns or (isinstance(method, CellKey) and method.key in columns):
        return columns
    keys = [""] * len(columns)
    for part in parts:
        for row, key in zip(part.rows, keys_by_codes("comparison", part), strict=True):
            keys[int(row)] = str(key)
    return TextColumns({**columns.texts, "key": tuple(keys)})


def _run(plan: TablePlan, columns: TextColumns, name: str, base: float, seconds: float) -> TableRun:
    start = time.perf_counter()
    label = name
    try:
        _check_rules(plan, name)
        if name in MASKING:
            own = replace(plan, perturbation=None, method=MethodChoice(name=name, time_limit=seconds))  # type: ignore[arg-type]
            answer = _of_masks(run(own, columns), name)
        else:
            method = _method(plan, name, base, seconds)
            label = f"{name} rounding to {base:g}" if isinstance(method, Rounding) else name
            answer = _of_changes(change(replace(plan, perturbation=method), columns), label)
    except SfumatoError as error:
        answer = TableRun(label, error=error.message)
    return replace(answer, seconds=round(time.perf_counter() - start, 3))


def _check_rules(plan: TablePlan, name: str) -> None:
    """Refuse a method that protects sensitive cells if no rule identifies them."""
    if name in (*MASKING, "adjustment") and not plan.primary and plan.table.cells is None:
        raise PlanError("no-rules.no_rule_says_which_cells")


def _method(plan: TablePlan, name: str, base: float, seconds: float) -> Rounding | CellKey | Adjustment:
    if name == "adjustment":
        return Adjustment(time_limit=seconds)
    if name == "cell-key":
        return plan.perturbation if isinstance(plan.perturbation, CellKey) else CellKey(key="key")
    own = plan.perturbation if isinstance(plan.perturbation, Rounding) else Rounding(base=base)
    return replace(own, kind=name, time_limit=seconds)


def _of_masks(protected: SuppressedTable, name: str) -> TableRun:
    masked = sum(int(part.suppressed.sum()) for part in protected.parts)
    values = sum(float(np.abs(part.part.table.values).sum()) for part in protected.parts)
    lost = sum(float(np.abs(part.part.table.values[part.suppressed]).sum()) for part in protected.parts)
    widths = [
        (part.ends.high - part.ends.low)[part.part.table.sensitive]
        / np.maximum(np.abs(part.part.table.values), 1)[part.part.table.sensitive]
        for part in protected.parts
    ]
    kinds = {str(one.kind) for part in protected.parts for one in part.part.knowledge.attackers}
    return TableRun(
        name,
        masked=masked,
        value_lost=round(lost / max(values, 1e-300), 6),
        unsafe_exact=protected.audit.exact,
        unsafe_too_narrow=len(protected.leaks),
        median_width=_median(widths),
        attackers=("outsider", *sorted(kinds)),
    )


def _of_changes(changed: Any, label: str) -> TableRun:
    report = changed.report
    widths = [
        (part.ranges.high - part.ranges.low)[part.part.table.sensitive]
        / np.maximum(np.abs(part.part.table.values), 1)[part.part.table.sensitive]
        for part in changed.parts
    ]
    return TableRun(
        label,
        changed=report["noise"]["changed"],
        mean_change=report["noise"]["mean_absolute"],
        largest_change=report["noise"]["largest"],
        broken=report["additivity"]["broken"],
        unsafe_exact=report["reader"]["unsafe_exact"],
        unsafe_too_narrow=report["reader"]["unsafe_too_narrow"],
        median_width=_median(widths),
        attackers=("outsider",),
    )


def _median(widths: Sequence[Any]) -> float | None:
    finite = [width for own in widths for width in own.tolist() if math.isfinite(width)]
    return round(float(np.median(finite)), 6) if finite else None


def _proposals(plan: TablePlan, columns: TextColumns, seconds: float) -> tuple[Message, ...]:
    if seconds <= 0 or plan.table.cells is not None or not plan.primary:
        return ()
    found = redesign(replace(plan, perturbation=None), columns, within(seconds))
    said = [sentence(found, one) for one in found.proposals[:MOST]]
    if found.tried < found.possible:
        said.append(Message("reason.redesign_tried", tried=found.tried, possible=found.possible, seconds=seconds))
    return tuple(said)
