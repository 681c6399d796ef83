"""Protection levels that are not guaranteed although the rules ask for them, because they are known anyway."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.cells import Numbers, Places, Reach, Table
from sfumato.tables.cells.parts import Part

EVERYONE = "everyone"
# So many of them are named in a line.
MOST_NAMED = 10
KNOWN = (
    "less stays open than the rules ask, for the least that a cell can be, empty cells, or to one who is in cells his "
    "own part of them, tell an end of the range whatever is masked"
)


@dataclass(frozen=True, slots=True)
class KnownEnd:
    """An end of a range that the rules ask to stay open, and that is known whatever is masked: it is not promised.

    Attributes:
        cell: The unsafe cell.
        name: What it is called.
        end: Which end, lower or upper.
        asked: How far from the value the rules ask it to be.
        promised: How far it is promised to be: as far as it can be.
        attacker: Who knows it; everyone where nobody is named.
    """

    cell: int
    name: str
    end: Literal["lower", "upper"]
    asked: float
    promised: float
    attacker: str = ""


def known_ends(asked: Part, promised: Part) -> tuple[KnownEnd, ...]:
    """What a table asks to stay open, and does not promise any more, in the order of its cells."""
    wish = asked.table.reach if asked.asked is None else asked.asked
    cells = np.flatnonzero(asked.table.unsafe[: len(wish.down)])
    ends = list(_fewer(asked.table, cells, wish.rows(cells), promised.table.reach.rows(cells)))
    for before, now in zip(asked.knowledge.attackers, promised.knowledge.attackers, strict=True):
        if now is not before:
            wished = Reach(asked.table.reach.down.copy(), asked.table.reach.up.copy())
            wished.down[before.cells], wished.up[before.cells] = before.reach.down, before.reach.up
            own = Reach(wished.down[now.cells], wished.up[now.cells])
            ends += _fewer(asked.table, now.cells, own, now.reach, now.name)
    return tuple(sorted(ends, key=lambda end: end.cell))


def _fewer(table: Table, cells: Places, asked: Reach, promised: Reach, attacker: str = "") -> Iterator[KnownEnd]:
    """The ends that are promised to be less far than is asked."""
    sides: tuple[tuple[Literal["lower", "upper"], Numbers, Numbers], ...] = (
        ("lower", asked.down, promised.down),
        ("upper", asked.up, promised.up),
    )
    for end, wished, kept in sides:
        for place in np.flatnonzero(kept < wished):
            cell = int(cells[place])
            yield KnownEnd(cell, table.names[cell], end, float(wished[place]), float(kept[place]), attacker)


def cells_of(ends: Iterable[KnownEnd]) -> int:
    """How many cells they are of."""
    return len({end.name for end in ends})


def known_line(ends: Sequence[KnownEnd]) -> str:
    """What is not promised, in one sentence that names the first of the cells; for the house.

    >>> end = KnownEnd(3, "area a", "lower", 2.0, 0.0, "the one person of area b")
    >>> known_line([end]).partition("masked: ")[2]
    'area a (lower end, to the one person of area b).'
    """
    count = cells_of(ends)
    named = [f"{end.name} ({end.end} end, to {end.attacker or EVERYONE})" for end in ends[:MOST_NAMED]]
    more = f"; and {len(ends) - MOST_NAMED} more" if len(ends) > MOST_NAMED else ""
    return f"Of {count:,} unsafe {'cell' if count == 1 else 'cells'} {KNOWN}: {'; '.join(named)}{more}."
