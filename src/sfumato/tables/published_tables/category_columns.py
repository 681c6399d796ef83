"""Columns that depend on categories alone, such as a year or the population of an area, so that they reveal no cell."""

from collections.abc import Iterator, Sequence

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.cells import Mask, Numbers, Places
from sfumato.tables.published_tables.column_relations import is_linear


@dataclass(frozen=True, slots=True)
class Grouping:
    """Rows grouped by some key columns.

    Attributes:
        groups: The group of each row.
        slices: The combination of its other key columns.
        total: Whether all other key columns of a row have the code of the total.
    """

    groups: Places
    slices: Places
    total: Mask


def is_of_categories(
    texts: Sequence[str], numbers: Numbers, beside: Mask, values: Numbers, groupings: Sequence[Grouping]
) -> bool:
    """Return whether some of the categories determine a column, and no cell follows from it.

    Args:
        texts: The column.
        numbers: Its numbers.
        beside: The suppressed cells next to which it has a number.
        values: The published values; NaN if suppressed.
        groupings: The groupings of the rows by some of the categories.
    """
    codes = np.unique(np.array(texts, object).astype(str), return_inverse=True)[1]
    return any(_is_constant(codes, beside, one) and not _reveals(numbers, beside, values, one) for one in groupings)


def _is_constant(codes: Places, beside: Mask, one: Grouping) -> bool:
    """Return whether each group has one text, and at least two rows if it is next to a suppressed cell."""
    pairs = np.unique(np.stack([one.groups, codes]), axis=1)
    sizes = np.bincount(one.groups)
    return bool(pairs.shape[1] == np.count_nonzero(sizes) and (sizes[one.groups[beside]] > 1).all())


def _reveals(numbers: Numbers, beside: Mask, values: Numbers, one: Grouping) -> bool:
    """Return whether the column may contain the totals of its groups, or is linear in the values of one part
    of them.
    """
    total = one.total
    if (beside & total).any() and not _is_disordered(values[total], numbers[total]):
        return True
    return any(beside[rows].any() and is_linear(values[rows], numbers[rows]) for rows in _rows_of(one.slices))


def _is_disordered(values: Numbers, numbers: Numbers) -> bool:
    """Return whether numbers are not monotone in the values, so that they are no monotone function of these."""
    both = ~np.isnan(values) & ~np.isnan(numbers)
    rises = np.diff(numbers[both][np.argsort(values[both], kind="stable")])
    return bool((rises > 0).any() and (rises < 0).any())


def _rows_of(groups: Places) -> Iterator[Places]:
    order = np.argsort(groups, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
