"""Differencing attacks: compute a small part from the published total and the other published parts."""

from typing import Any

import numpy as np

from sfumato.tables.cells.cells import Numbers
from sfumato.tables.cells.table_part import TablePart

# Largest true count that is attacked.
SMALL = 3


def difference_figures(part: TablePart, published: Numbers) -> dict[str, Any]:
    """Count how often subtracting published numbers reveals a small count, and how often the published count itself
    does.

    If subtraction is right no more often than the published number alone, differencing discloses nothing more.
    """
    values, relations = part.table.values, part.table.constraints
    attacks = right = direct = 0
    errors = []
    for relation in range(len(relations)):
        cells, coefs = relations.row(relation)
        small = (values[cells] > 0) & (values[cells] <= SMALL) & (coefs > 0)
        residual = float(coefs @ published[cells])
        for cell in cells[small]:
            attacks += 1
            error = published[cell] - residual - values[cell]
            errors.append(float(error))
            right += abs(error) < 0.5
            direct += abs(published[cell] - values[cell]) < 0.5
    variance = float(np.var(errors)) if errors else 0.0
    return {"attacks": attacks, "right": int(right), "right_without": int(direct), "variance": round(variance, 6)}
