"""Protection levels that are not guaranteed although the rules ask for them, because they are known anyway."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.system import Numbers, Places, ProtectionLevels, Table
from sfumato.tables.cells.table_part import TablePart

EVERYONE = "everyone"
# At most this many are named in a line.
MOST_NAMED = 10
KNOWN = (
    "less stays open than the rules ask, for the least that a cell can be, empty cells, or to one who is in cells his "
    "own part of them, tell an end of the range whatever is masked"
)


@dataclass(frozen=True, slots=True)
class ReducedLevel:
    """An end of a protection interval that can be inferred whatever is suppressed, and is therefore not guaranteed.

    Attributes:
        cell: The sensitive cell.
        end: Which end, lower or upper.
        requested: The requested protection level on this side.
        promised: The lowered protection level, the highest that is possible.
        attacker: The insider who knows the end; empty if everyone does.
    """

    cell: int
    name: str
    end: Literal["lower", "upper"]
    requested: float
    promised: float
    attacker: str = ""


def reduced_levels(asked: TablePart, promised: TablePart) -> tuple[ReducedLevel, ...]:
    """Return the requested protection levels that were lowered, in the order of cells."""
    wish = asked.table.protection_levels if asked.requested is None else asked.requested
    cells = np.flatnonzero(asked.table.sensitive[: len(wish.lower)])
    ends = list(_fewer(asked.table, cells, wish.rows(cells), promised.table.protection_levels.rows(cells)))
    for before, now in zip(asked.knowledge.attackers, promised.knowledge.attackers, strict=True):
        if now is not before:
            wished = ProtectionLevels(
                asked.table.protection_levels.lower.copy(), asked.table.protection_levels.upper.copy()
            )
            wished.lower[before.cells], wished.upper[before.cells] = before.reach.lower, before.reach.upper
            own = ProtectionLevels(wished.lower[now.cells], wished.upper[now.cells])
            ends += _fewer(asked.table, now.cells, own, now.reach, now.name)
    return tuple(sorted(ends, key=lambda end: end.cell))


def _fewer(
    table: Table, cells: Places, asked: ProtectionLevels, promised: ProtectionLevels, attacker: str = ""
) -> Iterator[ReducedLevel]:
    """Yield the ends whose protection level was lowered."""
    sides: tuple[tuple[Literal["lower", "upper"], Numbers, Numbers], ...] = (
        ("lower", asked.lower, promised.lower),
        ("upper", asked.upper, promised.upper),
    )
    for end, wished, kept in sides:
        for place in np.flatnonzero(kept < wished):
            cell = int(cells[place])
            yield ReducedLevel(cell, table.names[cell], end, float(wished[place]), float(kept[place]), attacker)


def cells_of(ends: Iterable[ReducedLevel]) -> int:
    """Return the number of cells concerned."""
    return len({end.name for end in ends})


def known_line(ends: Sequence[ReducedLevel]) -> str:
    """Return one sentence that names the first cells with lowered levels; for internal reports.

    >>> end = ReducedLevel(3, "area a", "lower", 2.0, 0.0, "the one person of area b")
    >>> known_line([end]).partition("masked: ")[2]
    'area a (lower end, to the one person of area b).'
    """
    count = cells_of(ends)
    named = [f"{end.name} ({end.end} end, to {end.attacker or EVERYONE})" for end in ends[:MOST_NAMED]]
    more = f"; and {len(ends) - MOST_NAMED} more" if len(ends) > MOST_NAMED else ""
    return f"Of {count:,} unsafe {'cell' if count == 1 else 'cells'} {KNOWN}: {'; '.join(named)}{more}."
