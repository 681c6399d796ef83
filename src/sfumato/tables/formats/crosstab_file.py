"""Crosstabs in files, with codes of one dimension down and of the other across, as one row per cell."""

from sfumato.errors import DataError
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.plan.table_plan import TablePlan


def as_cells(columns: TextColumns, plan: TablePlan) -> TextColumns:
    """Convert a crosstab to cells; return any other table unchanged.

    A table is a crosstab if the plan has two dimensions of one column each, and the file has neither a column for the
    second dimension nor one for the values. Its first column holds the codes of the first dimension, its header those
    of the second. An empty text is not a cell.

    Raises:
        DataError: The crosstab has no cells.
    """
    names = [dimension.column for dimension in plan.dimensions.values()]
    if len(names) != 2 or None in names or plan.table.value in columns or names[1] in columns or not len(columns):
        return columns
    first, *across = columns.texts
    down, over = (name or "" for name in names)
    rows = [
        (code, head, text)
        for place, code in enumerate(columns.text(first))
        for head in across
        if (text := columns.text(head)[place])
    ]
    if not rows:
        raise DataError("no-cells", value=plan.table.value)
    return TextColumns(dict(zip((down, over, plan.table.value), zip(*rows, strict=True), strict=True)))
