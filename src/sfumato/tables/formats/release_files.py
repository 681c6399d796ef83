"""Write a protected table in office formats, and say which files are for publication and which are internal."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from sfumato.errors import PlanError
from sfumato.tables.argus.argus_table import ArgusTable
from sfumato.tables.argus.statuses import ArgusStatus, masked_of, status_in
from sfumato.tables.build.build import lines_of
from sfumato.tables.cells.cells import BoolArray, Numbers, Places
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.precision import precision_of, tidied
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.formats.apriori_file import apriori_text
from sfumato.tables.formats.argus_outputs import Protected, output_text, shown, written_without_hidden
from sfumato.tables.formats.cells_file import written_cells
from sfumato.tables.formats.px import px_text
from sfumato.tables.formats.sdmx import sdmx_text
from sfumato.tables.formats.solver_file import jj_text
from sfumato.tables.formats.workbook import workbook
from sfumato.tables.perturbation.perturbed import PerturbedCells
from sfumato.tables.plan.plan import TablePlan
from sfumato.tables.plan.rule_inputs import RuleInputs
from sfumato.tables.plan.rules import SensitivityRule, StatusColumn
from sfumato.tables.protection_levels.resolve_plan import facts_of
from sfumato.tables.suppress_table import SuppressedCells

# Internal kinds: they contain true values, or show which suppressed cells are sensitive.
HOUSE = ("code-value", "sbs", "jj", "hst", "tab")
# The status of a sensitive cell by the rule that classifies it; by any other rule it is manual.
OF_RULE = {
    **{"p-percent": ArgusStatus.UNSAFE, "dominance": ArgusStatus.UNSAFE},
    **{"frequency": ArgusStatus.UNSAFE_FREQUENCY, "holdings": ArgusStatus.UNSAFE_FREQUENCY},
    **{"request": ArgusStatus.UNSAFE_REQUEST, "zero-unsafe": ArgusStatus.UNSAFE_ZERO},
}


def masked_files(masked: SuppressedCells, plan: TablePlan, columns: TextColumns) -> dict[str, bytes]:
    """Return the files of a suppressed table by their names; internal ones are in a folder `house`.

    Args:
        masked: The result for the table.
        plan: Its plan, which names the files.
        columns: The columns of the table, row by row.

    Raises:
        PlanError: The table has no dimensions of one column each.
    """
    done = Protected(argus_table(masked.part, plan, columns, masked.suppressed), "masks")
    return _files(done, replace(done, table=_alike(done.table)), plan)


def changed_files(changed: PerturbedCells, plan: TablePlan, columns: TextColumns) -> dict[str, bytes]:
    """Return the files of a perturbed table; cells that are not published are suppressed in them."""
    method = "" if plan.perturbation is None else plan.perturbation.name
    table = argus_table(changed.part, plan, columns, np.zeros(len(columns), bool))
    hidden = np.where(changed.shown, int(ArgusStatus.SAFE), int(ArgusStatus.UNSAFE_MANUAL)).astype(np.int64)
    # The file shows the decimals of published values, not those of the true ones.
    handed_out = replace(
        table.with_columns(values=changed.published, statuses=hidden),
        decimals=_decimals(changed.published[changed.shown]),
    )
    published = np.where(changed.shown, changed.published, np.nan)
    return _files(Protected(table, method, published), Protected(handed_out), plan)


def _files(house: Protected, handed_out: Protected, plan: TablePlan) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    house, handed_out = house.in_order(), handed_out.in_order()
    for kind in plan.output.files:
        if kind in HOUSE:
            files |= {f"house/{name}": data for name, data in _written(house, kind).items()}
        else:
            files |= written_without_hidden(handed_out, partial(_written, kind=kind))
    if "sdmx" in plan.output.files and house.published is None:
        # Flags of single reasons, respondents and suppressed values, as offices exchange them.
        files["house/table-sdmx.csv"] = sdmx_text(house.table, house=True).encode()
    return files


def argus_table(part: TablePart, plan: TablePlan, columns: TextColumns, mask: BoolArray) -> ArgusTable:
    """Return the result for a table as an ArgusTable: reasons for suppression, respondents, protection levels."""
    table, trees = part.table, part.trees
    if not trees or any(tree.levels for tree in trees):
        raise PlanError(
            "files of offices need dimensions of one column each.", "Give column and hierarchy, or no files.", "files"
        )
    lines = dict(zip(plan.dimensions, lines_of(trees, part.keys), strict=True))
    facts = facts_of(plan.table, columns, table.values, table.constraints, lines)
    statuses = np.where(table.sensitive, _reasons(plan, facts), int(ArgusStatus.SAFE))
    return ArgusTable(
        plan.table.value,
        trees,
        part.keys,
        table.values,
        np.where(mask & ~table.sensitive, int(ArgusStatus.SECONDARY), statuses).astype(np.int64),
        frequency=facts.frequency,
        largest=tuple(np.nan_to_num(column) for column in facts.contributions),
        holdings=facts.holdings,
        lower=tidied(table.protection_levels.lower),
        upper=tidied(table.protection_levels.upper),
        costs=tidied(table.costs),
        decimals=_decimals(table.values),
    )


def _reasons(plan: TablePlan, facts: RuleInputs) -> Places:
    """Return the status of each cell that a rule classifies as sensitive; the first of several rules applies."""
    reasons = np.full(len(facts.values), int(ArgusStatus.UNSAFE_MANUAL), np.int64)
    for rule in reversed(plan.primary):
        reasons = np.where(rule.apply(facts).unsafe, _statuses(rule, facts), reasons)
    return reasons


def _statuses(rule: SensitivityRule, facts: RuleInputs) -> Places:
    """Return the statuses by a rule; if a column gives them, those of the column."""
    if not isinstance(rule, StatusColumn):
        return np.full(len(facts.values), int(OF_RULE.get(rule.name, ArgusStatus.UNSAFE_MANUAL)), np.int64)
    marks = (status_in(text, {}) for text in facts.columns.text(rule.column))
    return np.array([int(mark or ArgusStatus.UNSAFE_MANUAL) for mark in marks], np.int64)


def _written(done: Protected, kind: str) -> dict[str, bytes]:
    table = done.table
    if kind == "xlsx":
        head = [*(tree.name for tree in table.trees), table.value]
        rows = [[*table.codes(cell), shown(done, cell)] for cell in range(len(table))]
        return {"table.xlsx": workbook(head, rows, masked_of(table.statuses).tolist())}
    if kind == "tab":
        return {name: text.encode() for name, text in written_cells(table, "table").items()}
    texts: dict[str, Callable[[], tuple[str, str]]] = {
        "px": lambda: ("table.px", px_text(table)),
        "sdmx": lambda: ("table-sdmx.csv", sdmx_text(table)),
        "pivot": lambda: ("table-pivot.csv", output_text(done, 2, {})),
        "code-value": lambda: ("table-code-value.txt", output_text(done, 3, {"AS": True, "FL": True})),
        "sbs": lambda: ("table-sbs.txt", output_text(done, 4, {})),
        "jj": lambda: ("table.jj", jj_text(table)),
        "hst": lambda: ("table.hst", apriori_text(table)),
    }
    name, text = texts[kind]()
    return {name: text.encode()}


def _alike(table: ArgusTable) -> ArgusTable:
    """Give all suppressed cells one flag, and the table the decimals of the other cells, so that neither the primary
    cells nor their decimals are disclosed.
    """
    hidden = masked_of(table.statuses)
    alike = table.with_columns(statuses=np.where(hidden, int(ArgusStatus.UNSAFE_MANUAL), table.statuses))
    return replace(alike, decimals=_decimals(table.values[~hidden]))


def _decimals(values: Numbers) -> int:
    return max(0, round(-float(np.log10(precision_of(values)))))
