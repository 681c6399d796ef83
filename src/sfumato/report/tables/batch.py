"""The page that accompanies every table of a batch file: what was done, and the loss by cell status."""

import numpy as np

from sfumato.report.page.html_page import page, paragraph, section, table
from sfumato.tables.argus.statuses import ArgusStatus
from sfumato.tables.formats.argus_outputs import Protected

WORDS = {status: status.name.replace("_", " ").lower() for status in ArgusStatus}


def table_page(done: Protected) -> str:
    """Return the internal page: it states how many cells are sensitive, and their total."""
    office = done.table
    names = " × ".join(tree.name for tree in office.trees)
    rows = [
        (int(status), WORDS[status], int(own.sum()), float(office.values[own].sum()), _costs(done, own))
        for status in ArgusStatus
        if (own := office.statuses == status).any()
    ]
    said = [f"{office.value} by {names or 'relations'}: {len(office):,} cells.", *done.notes]
    if done.published is not None:
        change = np.abs(done.published - office.values)
        said.append(
            f"Numbers were changed by {done.method}: by {change.mean():,.4g} on average, {change.max():,.6g} at most."
        )
    head = ["status", "meaning", "cells", "value", "cost"]
    return page(
        "Table",
        [
            "<h1>Table</h1>",
            *(paragraph(text) for text in said),
            section("Cells by status", table(head, rows)),
            paragraph("For the house: do not hand this page out.", soft=True),
        ],
    )


def _costs(done: Protected, own: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> float:
    costs = np.abs(done.table.values) if done.table.costs is None else done.table.costs
    return float(costs[own].sum())
