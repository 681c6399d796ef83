"""The suppression problem that the methods solve: maskable cells, capacities and the attacks to withstand."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.tables.cells.cells import Mask, Numbers, Places, Status, Table


@dataclass(frozen=True, slots=True)
class Threat:
    """One attack to withstand: the range of a cell must reach `need` beyond its value on one side.

    Attributes:
        cell: The cell attacked.
        sign: 1 for the upper side, -1 for the lower.
        need: How far the range must reach; positive.
        known: Cells that this attacker knows besides what is published.
    """

    cell: int
    sign: int
    need: float = field(compare=False)
    known: tuple[int, ...] = ()

    @property
    def opposite(self) -> "Threat":
        """The same attacker on the other side of the cell."""
        return Threat(self.cell, -self.sign, self.need, self.known)


@dataclass(frozen=True)
class Problem:
    """A table without the cells that must be published: masking a cell opens capacity in both directions.

    Attributes:
        matrix: Relations by cells.
        costs: What masking a cell costs; nothing for the forced ones.
        up: How far above its value a masked cell may lie.
        down: How far below.
        forced: Cells that are masked in any case.
        threats: The attacks to withstand.
        alone: Cells whose single respondent attacks others.
        places: The cell's place in the table.
    """

    matrix: Any
    costs: Numbers
    up: Numbers
    down: Numbers
    forced: Mask
    threats: tuple[Threat, ...]
    alone: Mask
    places: Places

    @property
    def size(self) -> int:
        return len(self.costs)

    @cached_property
    def largest_need(self) -> float:
        return max((threat.need for threat in self.threats), default=1.0)

    @cached_property
    def columns(self) -> Any:
        """The matrix by cells."""
        return self.matrix.tocsc()

    def cost_of(self, masked: Mask) -> float:
        return float(self.costs[masked & ~self.forced].sum())

    def components(self) -> Iterator["Problem"]:
        """The parts that share no relation; parts without a threat are left out, for nothing needs masking there."""
        from scipy.sparse.csgraph import connected_components

        _, labels = connected_components(abs(self.matrix.T) @ abs(self.matrix), directed=False)
        for label in dict.fromkeys(labels[threat.cell] for threat in self.threats):
            yield self.part(np.flatnonzero(labels == label), self.threats)

    def with_threats(self, threats: Iterable[Threat]) -> "Problem":
        """The same cells under other threats."""
        return replace(self, threats=tuple(threats))

    def part(self, cells: Places, threats: Iterable[Threat]) -> "Problem":
        """Some of the cells, with the threats to them."""
        if len(cells) == self.size:
            return self.with_threats(threats)
        new = {int(cell): place for place, cell in enumerate(cells)}
        kept = tuple(
            Threat(new[threat.cell], threat.sign, threat.need, tuple(new[cell] for cell in threat.known if cell in new))
            for threat in threats
            if threat.cell in new
        )
        matrix = _without_empty_rows(self.matrix[:, cells])
        return Problem(
            matrix=matrix,
            costs=self.costs[cells],
            up=self.up[cells],
            down=self.down[cells],
            forced=self.forced[cells],
            threats=kept,
            alone=self.alone[cells],
            places=self.places[cells],
        )


def make_problem(table: Table, forced: Mask | None = None, alone: Mask | None = None) -> Problem:
    """The problem of a table.

    Args:
        table: The table with its promises.
        forced: Cells that are masked in any case, besides the unsafe ones.
        alone: Cells whose single respondent attacks the others.
    """
    fixed = table.unsafe if forced is None else table.unsafe | forced
    places = np.flatnonzero((table.status != Status.PUBLISH) | fixed)
    matrix = _without_empty_rows(table.relations.matrix(len(table))[:, places])
    return Problem(
        matrix=matrix,
        costs=np.where(fixed, 0.0, table.costs)[places],
        up=(table.bounds.high - table.values)[places],
        down=(table.values - table.bounds.low)[places],
        forced=fixed[places],
        threats=_threats(table, places),
        alone=(np.zeros(len(table), bool) if alone is None else alone)[places],
        places=places,
    )


def _without_empty_rows(matrix: Any) -> Any:
    kept = matrix.tocsr()
    return kept[np.flatnonzero(np.diff(kept.indptr))]


def _threats(table: Table, places: Places) -> tuple[Threat, ...]:
    """The attacks on unsafe cells; a side on which nothing is promised is not attacked."""
    threats = []
    for new, place in enumerate(places):
        if table.status[place] != Status.UNSAFE:
            continue
        for sign, need in ((1, table.reach.up[place]), (-1, table.reach.down[place])):
            if need > 0:
                threats.append(Threat(new, sign, float(need)))
    return tuple(threats)
