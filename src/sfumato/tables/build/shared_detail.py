"""The cells that the groups of a table have in common, whatever their detail."""

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.tables.cells.constraints import Key
from sfumato.tables.cells.system import Places
from sfumato.tables.cells.table_part import TablePart

Lines = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Detail:
    """The cells of one group, including those that it omits because they are empty."""

    part: TablePart

    @cached_property
    def values(self) -> dict[Key, float]:
        return dict(zip(self.part.keys, self.part.table.values.tolist(), strict=True))

    @cached_property
    def _split(self) -> set[tuple[int, Key]]:
        """The cells that the group has together with parts of them, by dimension."""
        return {(place, above) for key in self.part.keys for place, above in _above(self.part, key)}

    def value(self, key: Key) -> float:
        """Return the value of a cell; NaN if the group does not show it."""
        found = self.values.get(key)
        return (0.0 if self._empty(key) else np.nan) if found is None else found

    def _empty(self, key: Key) -> bool:
        """Return whether a missing cell is empty: its siblings are present, or its total is empty."""
        return any(
            (place, above) in self._split or (above not in self.values and self._empty(above))
            for place, above in _above(self.part, key)
        )


def _above(part: TablePart, key: Key) -> Iterator[tuple[int, Key]]:
    """Yield the totals that a cell is a part of, by dimension."""
    for place, (tree, code) in enumerate(zip(part.trees, key, strict=True)):
        if code != tree.root:
            yield place, (*key[:place], tree.parents[code], *key[place + 1 :])


def shared_lines(parts: Sequence[TablePart]) -> Iterator[tuple[Places, Lines]]:
    """Yield sets of groups, with the cells that all of them show: for each group's detail, and for all groups."""
    details = [_Detail(part) for part in parts]
    keys = list(dict.fromkeys(key for part in parts for key in part.keys))
    values = np.array([[detail.value(key) for key in keys] for detail in details])
    told = ~np.isnan(values)
    for detail in np.unique(np.vstack([told, told.all(axis=0)]), axis=0):
        groups = np.flatnonzero((told | ~detail).all(axis=1))
        cells = _finest(parts[0], keys, np.flatnonzero(detail))
        yield groups, values[np.ix_(groups, cells)]


def _finest(part: TablePart, keys: Sequence[Key], cells: Places) -> Places:
    """Return the given cells that are not totals of others; totals add no information."""
    chosen = {keys[cell] for cell in cells}
    parts: dict[tuple[int, Key], list[Key]] = {}
    for key in keys:
        for place, above in _above(part, key):
            parts.setdefault((place, above), []).append(key)
    follow = {above for (_, above), below in parts.items() if chosen.issuperset(below)}
    return np.array([cell for cell in cells if keys[cell] not in follow], np.int64)
