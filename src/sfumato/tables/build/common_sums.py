"""Sums of codes of two tables that are the same records, though no code of one is made of codes of the other.

Where the Kreise 1 and 2 have the same Gemeinden as the Regionen p and q, 1 + 2 is p + q, whatever is in both.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

from sfumato.tables.batch.variable_cycles import connected
from sfumato.tables.build.sections import Section
from sfumato.tables.cells.dimensions import Code

Row = tuple[list[int], list[float]]
# Codes of one table and of another that are the same records.
Unit = tuple[list[Code], list[Code]]


def common_sums(sections: Sequence[Section]) -> list[Row]:
    """What holds between tables of linked columns whose codes overlap.

    Args:
        sections: The tables.
    """
    rows: list[Row] = []
    for one, two in combinations(sections, 2):
        shared = frozenset(one.variables) & frozenset(two.variables)
        for place, other in _linked(one, two):
            units = list(_units(one, place, two, other))
            if units:
                rows += _rows((one, place), (two, other), units, shared - {one.variables[place]})
    return rows


def _linked(one: Section, two: Section) -> Iterator[tuple[int, int]]:
    for place, axis in enumerate(one.axes):
        for other, more in enumerate(two.axes):
            if axis.finest and more.finest and axis.variable == more.variable:
                yield place, other


def _units(one: Section, place: int, two: Section, other: int) -> Iterator[Unit]:
    """Codes that hang together by what they stand for, where there are several in both tables."""
    first, second = one.axes[place].covers, two.axes[other].covers
    groups = connected([*(first[code] for code in one.finest(place)), *(second[code] for code in two.finest(other))])
    # Of all together the total tells.
    for group in groups if len(groups) > 1 else ():
        unit = (
            [code for code in one.finest(place) if first[code] & group],
            [code for code in two.finest(other) if second[code] & group],
        )
        if min(map(len, unit)) > 1:
            yield unit


def _rows(
    one: tuple[Section, int], two: tuple[Section, int], units: Sequence[Unit], shared: frozenset[str]
) -> Iterator[Row]:
    sides = [(section, section.rows_by(place, shared)) for section, place in (one, two)]
    positions = sorted({own for _, own in sides[0][1]} & {own for _, own in sides[1][1]}, key=repr)
    for unit in units:
        for position in positions:
            cells, coefs = list[int](), list[float]()
            for (section, rows), codes, sign in zip(sides, unit, (1.0, -1.0), strict=True):
                own = [rows[code, position] for code in codes if (code, position) in rows]
                cells += section.cells[own].tolist()
                coefs += [sign] * len(own)
            yield cells, coefs
