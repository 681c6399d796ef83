"""Compute the totals of an office table from its inner cells."""

from collections.abc import Sequence

import numpy as np

from sfumato.tables.argus.argus_table import ArgusTable
from sfumato.tables.argus.statuses import ArgusStatus
from sfumato.tables.cells.constraints import ValueUnit, precision_of
from sfumato.tables.cells.system import Numbers


def with_totals(table: ArgusTable, keep_statuses: bool) -> ArgusTable:
    """Return the table with its totals recomputed from its inner cells.

    Args:
        table: The table; only inner cells are required.
        keep_statuses: Whether existing totals keep their statuses.
    """
    above = {tree.name: set(tree.parents.values()) for tree in table.trees}
    inner = [
        place
        for place, key in enumerate(table.keys)
        if not any(code in above[tree.name] for code, tree in zip(key, table.trees, strict=True))
    ]
    sums: dict[tuple[tuple[str, ...], ...], list[int]] = {}
    for place in inner:
        for key in _above(table, place):
            sums.setdefault(key, []).append(place)
    old = {key: place for place, key in enumerate(table.keys)}
    keys = tuple(sums)
    own = set(inner)

    def added(column: Numbers | None) -> Numbers | None:
        if column is None:
            return None
        return np.array(ValueUnit(precision_of(column)).clean([column[sums[key]].sum() for key in keys]))

    def kept(column: Numbers | None) -> Numbers | None:
        if column is None:
            return None
        return np.array([column[old[key]] if key in old else 0.0 for key in keys])

    statuses = [
        int(table.statuses[old[key]]) if key in old and (keep_statuses or old[key] in own) else int(ArgusStatus.SAFE)
        for key in keys
    ]
    return table.with_columns(
        keys=keys,
        lines=(),
        values=added(table.values),
        statuses=np.array(statuses, np.int64),
        frequency=added(table.frequency),
        largest=_largest(table, tuple(sums.values())),
        costs=added(table.costs),
        lower=kept(table.lower),
        upper=kept(table.upper),
    )


def _largest(table: ArgusTable, sums: Sequence[Sequence[int]]) -> tuple[Numbers, ...]:
    """Return the largest contributions of each total, from those of its cells."""
    if not table.largest:
        return ()
    tops = np.stack(table.largest)
    return tuple(np.array([np.sort(tops[:, places].ravel())[::-1][: len(tops)] for places in sums]).T)


def _above(table: ArgusTable, place: int) -> list[tuple[tuple[str, ...], ...]]:
    """Return a cell and all totals that contain it."""
    keys: list[tuple[tuple[str, ...], ...]] = [()]
    for tree, code in zip(table.trees, table.keys[place], strict=True):
        chain = [code]
        while chain[-1] != tree.root:
            chain.append(tree.parents[chain[-1]])
        keys = [(*key, one) for key in keys for one in chain]
    return keys
