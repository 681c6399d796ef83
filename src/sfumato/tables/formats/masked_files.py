"""A masked table in the files of offices: which of them may be handed out, and which are for the house."""

from collections.abc import Callable

import numpy as np

from sfumato.errors import PlanError
from sfumato.tables.cells.precision import step_of
from sfumato.tables.formats.apriori_file import apriori_text
from sfumato.tables.formats.cells_file import written_cells
from sfumato.tables.formats.outputs import Protected, output_text, shown
from sfumato.tables.formats.px import px_text
from sfumato.tables.formats.sdmx import sdmx_text
from sfumato.tables.formats.solver_file import jj_text
from sfumato.tables.formats.workbook import workbook
from sfumato.tables.masking import Masked
from sfumato.tables.office.office_table import OfficeTable
from sfumato.tables.office.statuses import CellStatus, masked_of

# These tell true values, or which masked cells are unsafe by themselves.
HOUSE = ("code-value", "sbs", "jj", "hst", "tab")


def office_files(part: Masked, value: str, kinds: tuple[str, ...]) -> dict[str, bytes]:
    """Files by their names; those for the house lie in a folder `house`.

    Raises:
        PlanError: The table has no dimensions of one column each.
    """
    table = office_table(part, value)
    files: dict[str, bytes] = {}
    for kind in kinds:
        own = _written(Protected(table, "masks"), kind)
        folder = "house/" if kind in HOUSE else ""
        files |= {folder + name: data for name, data in own.items()}
    return files


def office_table(part: Masked, value: str) -> OfficeTable:
    """The answer for a table as an office's table, with statuses 1, 3, 10, 11 and 14."""
    table, trees = part.part.table, part.part.trees
    if not trees or any(tree.levels for tree in trees):
        raise PlanError(
            "files of offices need dimensions of one column each.", "Give column and hierarchy, or no files.", "files"
        )
    statuses = np.where(table.unsafe, int(CellStatus.UNSAFE), int(CellStatus.SAFE))
    statuses = np.where(part.mask & ~table.unsafe, int(CellStatus.SECONDARY), statuses)
    return OfficeTable(
        value,
        trees,
        part.part.keys,
        table.values,
        statuses.astype(np.int64),
        lower=table.reach.down,
        upper=table.reach.up,
        costs=table.costs,
        decimals=max(0, round(-float(np.log10(step_of(table.values))))),
    )


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
        "sdmx": lambda: ("table-sdmx.csv", sdmx_text(_alike(table))),
        "pivot": lambda: ("table-pivot.csv", output_text(done, 2, {})),
        "code-value": lambda: ("table-code-value.txt", output_text(done, 3, {"AS": True, "FL": True})),
        "sbs": lambda: ("table-sbs.txt", output_text(done, 4, {})),
        "jj": lambda: ("table.jj", jj_text(table)),
        "hst": lambda: ("table.hst", apriori_text(table)),
    }
    name, text = texts[kind]()
    return {name: text.encode()}


def _alike(table: OfficeTable) -> OfficeTable:
    """The table with one flag for all masked cells: which are unsafe by themselves is not handed out."""
    hidden = masked_of(table.statuses)
    return table.with_columns(statuses=np.where(hidden, int(CellStatus.UNSAFE_MANUAL), table.statuses))
