"""Detect aggregate tables that were given as microdata: each combination of categories once, and a number."""

from math import prod

from sfumato.engines.engine import Reading
from sfumato.hierarchies.role_detection.role_reasons import CELLS
from sfumato.hierarchies.types import canonical
from sfumato.pipelines.plan_suggestion.counted_rows import CountedRows

# Fewer rows, or columns besides the number, may be a table by chance.
_LEAST_CELLS, _LEAST_DIMENSIONS = 8, 2
# So many of all combinations of categories stand in a table: empty cells are often left out.
_SHARE_OF_CELLS = 0.8


def told_of_cells(rows: CountedRows) -> str | None:
    """What is said where rows are likely the cells of a table; nothing where they are not."""
    value = next((name for name in reversed(rows.texts) if _are_cells(rows, name)), None)
    return None if value is None else CELLS.format(value=value)


def _are_cells(rows: CountedRows, value: str) -> bool:
    """Whether a column of numbers has one for nearly each combination of the others."""
    others = {name: len(counts) for name, counts in rows.texts.items() if name != value and len(counts) > 1}
    count, crossed = sum(rows.texts[value].values()), prod(others.values())
    if len(others) < _LEAST_DIMENSIONS or not max(_LEAST_CELLS, _SHARE_OF_CELLS * crossed) <= count <= crossed:
        return False
    numbers = canonical([*filter(None, rows.texts[value])], "amount")[0]
    return None not in numbers and len(rows.count(tuple(others), Reading()).counts) == count
