"""The suppression problem: cells that may be suppressed, threats to protect against, and flows that do."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from sfumato.tables.cells.constraints import Coordinates
from sfumato.tables.cells.system import BoolArray, Bounds, CellStatus, Insider, Numbers, Places, Table
from sfumato.tables.deadline import FOREVER, Deadline
from sfumato.tables.linear_programs import component_labels
from sfumato.values import Value, replace

OUTSIDER = -1


class Threat(Value):
    """One attack to protect against: the interval of a cell must extend by `need` beyond its value on one side.

    Attributes:
        cell: The cell attacked.
        sign: 1 for the upper side, -1 for the lower.
        need: How far the feasibility interval must extend; positive.
        attacker: The position of the attacker in `attackers` of the problem; -1 for the outsider.
    """

    cell: int
    sign: int
    need: float
    attacker: int = OUTSIDER

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Threat) and self._attacked == other._attacked

    def __hash__(self) -> int:
        return hash(self._attacked)

    @property
    def _attacked(self) -> tuple[int, int, int]:
        return self.cell, self.sign, self.attacker

    @property
    def opposite(self) -> "Threat":
        """The threat of the same attacker on the other side of the cell."""
        return replace(self, sign=-self.sign)


class InsiderKnowledge(Value):
    """What an insider knows about the cells of a problem to which they contribute.

    Attributes:
        up: How far each cell may lie above its value, as far as the insider knows.
        down: How far each cell may lie below its value.
        need: How far the insider's interval of each cell must extend, above and below.
    """

    cells: Places
    up: Numbers
    down: Numbers
    need: Mapping[int, tuple[float, float]]


class SuppressionProblem(Value, dict=True):
    """A table without the cells that must be published; suppressing a cell opens capacity in both directions.

    Attributes:
        matrix: Linear constraints by cells.
        costs: The cost of suppressing each cell; 0 for forced cells.
        up: How far a suppressed cell may lie above its value.
        down: How far a suppressed cell may lie below its value.
        forced: Cells that are suppressed in any case.
        threats: The attacks to protect against.
        attackers: The insiders, with cells by their places in the table.
        places: The place of each cell in the table.
        values: The true values.
        coordinates: The codes of each cell, if the table has dimensions.
    """

    matrix: Any
    costs: Numbers
    up: Numbers
    down: Numbers
    forced: BoolArray
    threats: tuple[Threat, ...]
    attackers: tuple[Insider, ...]
    places: Places
    values: Numbers
    coordinates: Coordinates | None = None

    @property
    def size(self) -> int:
        return len(self.costs)

    @cached_property
    def largest_need(self) -> float:
        return max((threat.need for threat in self.threats), default=1.0)

    @cached_property
    def columns(self) -> Any:
        """The matrix in column format, by cells."""
        return self.matrix.tocsc()

    @cached_property
    def _parts(self) -> dict[int, InsiderKnowledge]:
        """The knowledge of the attackers whose programs were solved so far, about the cells of the problem."""
        return {}

    @cached_property
    def _here(self) -> Places:
        """The position in the problem of each cell of the table; -1 for cells outside the problem."""
        last = max((int(attacker.cells.max(initial=-1)) for attacker in self.attackers), default=-1)
        here = np.full(max(last, int(self.places.max(initial=-1))) + 1, -1, np.int64)
        here[self.places] = np.arange(self.size)
        return here

    def part_of(self, attacker: int) -> InsiderKnowledge:
        """Return what an attacker knows about the cells of the problem; computed on demand and cached."""
        if attacker not in self._parts:
            self._parts[attacker] = self._part(self.attackers[attacker])
        return self._parts[attacker]

    def _part(self, attacker: Insider) -> InsiderKnowledge:
        own = self._here[attacker.cells]
        here = own >= 0
        up, down = self._rooms(own[here], attacker.bounds.rows(here))
        needs = zip(attacker.reach.upper[here].tolist(), attacker.reach.lower[here].tolist(), strict=True)
        return InsiderKnowledge(own[here], up, down, dict(zip(own[here].tolist(), needs, strict=True)))

    def _rooms(self, cells: Places, bounds: Bounds) -> tuple[Numbers, Numbers]:
        """Return how far above and below their values cells may be, for an attacker who knows bounds of them."""
        values = self.values[cells]
        up, down = np.minimum(bounds.high - values, self.up[cells]), np.minimum(values - bounds.low, self.down[cells])
        return np.maximum(up, 0.0), np.maximum(down, 0.0)

    @cached_property
    def insiders(self) -> Mapping[int, list[tuple[int, float, float]]]:
        """Return for each cell the attackers with a contribution, and how far above and below it may be for them."""
        knowing: dict[int, list[tuple[int, float, float]]] = {}
        for place, cell, up, down in zip(*(column.tolist() for column in self._tighter), strict=True):
            knowing.setdefault(cell, []).append((place, up, down))
        return knowing

    @cached_property
    def _tighter(self) -> tuple[Places, Places, Numbers, Numbers]:
        """Attackers, cells about which they know more than the outsider, and how far these may lie above and below."""
        if not self.attackers:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
        who = np.repeat(np.arange(len(self.attackers)), [len(attacker.cells) for attacker in self.attackers])
        own = self._here[np.concatenate([attacker.cells for attacker in self.attackers])]
        low, high = (np.concatenate([getattr(one.bounds, side) for one in self.attackers]) for side in ("low", "high"))
        here = own >= 0
        who, own = who[here], own[here]
        up, down = self._rooms(own, Bounds(low[here], high[here]))
        tighter = (up < self.up[own]) | (down < self.down[own])
        return who[tighter], own[tighter], up[tighter], down[tighter]

    @cached_property
    def known(self) -> BoolArray:
        """The cells about which some insider knows more than the outsider."""
        known = np.zeros(self.size, bool)
        known[self._tighter[1]] = True
        return known

    def room(self, threat: Threat) -> tuple[Numbers, Numbers]:
        """Return how far each cell may lie above and below its value, as the attacker of a threat sees it."""
        if threat.attacker == OUTSIDER:
            return self.up, self.down
        part, up, down = self.part_of(threat.attacker), self.up.copy(), self.down.copy()
        up[part.cells], down[part.cells] = part.up, part.down
        return up, down

    def need_of(self, threat: Threat, attacker: int) -> float:
        """Return how far the interval must extend for an attacker with contributions."""
        above, below = self.part_of(attacker).need.get(threat.cell, (threat.need, threat.need))
        return min(above if threat.sign > 0 else below, threat.need)

    def attacks(self, attacker: int, cell: int) -> bool:
        """Return whether a cell must be protected against an attacker."""
        return max(self.part_of(attacker).need.get(cell, (1.0, 1.0))) > 0

    def with_insiders(self, threat: Threat, attacker: int) -> Threat | None:
        """Return the same threat by an attacker with contributions; None if none is required."""
        need = self.need_of(threat, attacker)
        return Threat(threat.cell, threat.sign, need, attacker) if need > 0 else None

    def cost_of(self, masked: BoolArray) -> float:
        return float(self.costs[masked & ~self.forced].sum())

    def components(self) -> Iterator["SuppressionProblem"]:
        """Yield the parts that share no linear constraint; parts without a threat need no suppression."""
        labels = component_labels(self.matrix)
        for label in dict.fromkeys(labels[threat.cell] for threat in self.threats):
            yield self.part(np.flatnonzero(labels == label), self.threats)

    def with_threats(self, threats: Iterable[Threat]) -> "SuppressionProblem":
        """Return the same cells under other threats."""
        return replace(self, threats=tuple(threats))

    def part(self, cells: Places, threats: Iterable[Threat]) -> "SuppressionProblem":
        """Return the problem of some of the cells, with the threats to them."""
        if len(cells) == self.size:
            return self.with_threats(threats)
        new = {int(cell): place for place, cell in enumerate(cells)}
        kept = tuple(replace(threat, cell=new[threat.cell]) for threat in threats if threat.cell in new)
        matrix = _without_empty_rows(self.matrix[:, cells])
        return SuppressionProblem(
            matrix=matrix,
            costs=self.costs[cells],
            up=self.up[cells],
            down=self.down[cells],
            forced=self.forced[cells],
            threats=kept,
            attackers=self.attackers,
            places=self.places[cells],
            values=self.values[cells],
            coordinates=None if self.coordinates is None else self.coordinates.rows(cells),
        )


def make_problem(
    table: Table,
    forced: BoolArray | None = None,
    attackers: Sequence[Insider] = (),
    coordinates: Coordinates | None = None,
) -> SuppressionProblem:
    """Return the suppression problem of a table.

    Args:
        table: The table with its protection levels.
        forced: Cells that are suppressed in any case, in addition to the sensitive ones.
        attackers: The attackers in addition to the outsider.
        coordinates: The codes of each cell, if the table has dimensions.
    """
    fixed = table.sensitive if forced is None else table.sensitive | forced
    places = np.flatnonzero((table.status != CellStatus.PUBLISH) | fixed)
    matrix = _without_empty_rows(table.constraints.matrix(len(table))[:, places])
    return SuppressionProblem(
        matrix=matrix,
        costs=np.where(fixed, 0.0, table.costs)[places],
        up=(table.bounds.high - table.values)[places],
        down=(table.values - table.bounds.low)[places],
        forced=fixed[places],
        threats=_threats(table, places),
        attackers=tuple(attackers),
        places=places,
        values=table.values[places],
        coordinates=None if coordinates is None else coordinates.rows(places),
    )


def _without_empty_rows(matrix: Any) -> Any:
    kept = matrix.tocsr()
    return kept[np.flatnonzero(np.diff(kept.indptr))]


def _threats(table: Table, places: Places) -> tuple[Threat, ...]:
    """Return the attacks on sensitive cells; a side without a protection level is not attacked."""
    threats = []
    for new, place in enumerate(places):
        if table.status[place] != CellStatus.SENSITIVE:
            continue
        for sign, need in ((1, table.protection_levels.upper[place]), (-1, table.protection_levels.lower[place])):
            if need > 0:
                threats.append(Threat(new, sign, float(need)))
    return tuple(threats)


# A flow may exceed a capacity by this share: the tolerance of the linear programs.
SLACK = 1e-7
# Capacity of a cell, in needs, in tables that are not networks, in which one need may be too small.
GENEROUS = 1e3


class Flow(Value):
    """Deviations y from the true values, with M·y = 0, that protect against one threat."""

    cells: Places
    amounts: Numbers

    def reach(self, own: int) -> float:
        """Return how far the threatened cell moves."""
        return abs(float(self.amounts[self.cells == own][0]))

    def turned(self, need: float, own: int) -> "Flow":
        """Return the reversed flow, scaled to another need."""
        return Flow(self.cells, self.amounts * (-need / self.reach(own)))

    def fits(self, up: Numbers, down: Numbers) -> bool:
        """Return whether the flow fits into the capacity of each cell."""
        above = self.amounts <= up[self.cells] * (1 + SLACK) + 1e-9
        below = -self.amounts <= down[self.cells] * (1 + SLACK) + 1e-9
        return bool(above.all() and below.all())


class Finder(Protocol):
    """Finds the cheapest flows within the open capacities."""

    def open(self, shares: Numbers) -> None:
        """Open each cell by a share of its capacity (1 for a suppressed cell, 0 for a published one)."""

    def reopen(self, cell: int, share: float) -> None:
        """Open one cell by another share."""

    def reprice(self, cells: Places, prices: Numbers) -> None:
        """Change what deviations of some cells cost."""

    def find(self, threat: Threat, end: Deadline = FOREVER) -> Flow | None:
        """Return the cheapest flow that protects against a threat; None if there is none, or none is found in time."""


def flow_of(net: Numbers, need: float) -> Flow:
    """Return the flow given by the deviations of all cells."""
    cells = np.flatnonzero(np.abs(net) > 1e-9 * need)
    return Flow(cells, net[cells])
