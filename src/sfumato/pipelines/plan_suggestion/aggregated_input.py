"""Detect aggregate tables that were given as microdata: each combination of categories once, and a number."""

from math import prod

from sfumato.engines.engine import MissingRules
from sfumato.hierarchies.role_detection.role_reasons import CELLS
from sfumato.hierarchies.types import canonical
from sfumato.pipelines.plan_suggestion.counted_rows import CountedRows

# Tables with fewer rows, or fewer columns in addition to the number, may match by chance.
_LEAST_CELLS, _LEAST_DIMENSIONS = 8, 2
# Minimum proportion of all category combinations that a table contains; empty cells are often left out.
_SHARE_OF_CELLS = 0.8


def aggregated_input_note(rows: CountedRows) -> str | None:
    """Return a note if the rows are likely cells of a table, else None."""
    value = next((name for name in reversed(rows.texts) if _are_cells(rows, name)), None)
    return None if value is None else CELLS.format(value=value)


def _are_cells(rows: CountedRows, value: str) -> bool:
    """Return whether a numeric column has one number for nearly every combination of the other columns."""
    others = {name: len(counts) for name, counts in rows.texts.items() if name != value and len(counts) > 1}
    count, crossed = sum(rows.texts[value].values()), prod(others.values())
    if len(others) < _LEAST_DIMENSIONS or not max(_LEAST_CELLS, _SHARE_OF_CELLS * crossed) <= count <= crossed:
        return False
    numbers = canonical([*filter(None, rows.texts[value])], "amount")[0]
    return None not in numbers and len(rows.count(tuple(others), MissingRules()).counts) == count
