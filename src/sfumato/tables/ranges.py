"""Partial suppression: for each masked cell the narrowest range that still keeps every promise.

The room left to each masked cell is itself a variable of a linear program; the attackers answer with cuts as in full
suppression (Fischetti and Salazar-González 2003, doi:10.1007/s10107-002-0324-9). A range that is computed from the
hidden value would give the value away: ranges are therefore widened to a grid that depends on the promises alone.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.tables.attackers import Attackers, solver
from sfumato.tables.cells import Mask, Numbers, Table
from sfumato.tables.flows import FlowFinder, Proofs
from sfumato.tables.problem import Problem, Threat, make_problem

Bounds = tuple[Numbers, Numbers]
# Room allowed to a cell, in units of the widest promise.
GENEROUS = 1e3


def narrow(table: Table, masked: Mask, insiders: bool = False) -> Bounds:
    """Lower and upper ends of the ranges of the masked cells; not a number elsewhere.

    Cells whose bounds are public already (by their rule) keep them.
    """
    cells = np.flatnonzero(masked)
    whole = make_problem(table, masked, insiders)
    problem = whole.part(np.searchsorted(whole.places, cells), whole.threats)
    up, down = _rooms(problem, table.costs[cells])
    step = grid_step(problem)
    values = table.values[cells]
    low, high = np.full(len(table), np.nan), np.full(len(table), np.nan)
    low[cells] = np.maximum(_floor(values - down, step), table.lower[cells])
    high[cells] = np.minimum(_ceiling(values + up, step), table.upper[cells])
    return low, high


def grid_step(problem: Problem) -> float:
    """The grid of the ranges: 1, 2 or 5 times a power of ten, no finer than the widest promise."""
    width = max((threat.need for threat in problem.threats), default=1.0)
    power = 10.0 ** math.floor(math.log10(width))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= width * (1 - 1e-9))


def _floor(values: Numbers, step: float) -> Numbers:
    return np.asarray(np.floor(values / step + 1e-9) * step)


def _ceiling(values: Numbers, step: float) -> Numbers:
    """At least one step above the floor, so that no range shrinks to a point."""
    return np.asarray(np.ceil(values / step - 1e-9) * step)


def _rooms(problem: Problem, costs: Numbers) -> Bounds:
    """The least room above and below each cell with which every threat is withstood."""
    master = _Rooms(problem, costs / max(float(costs.max(initial=0.0)), 1e-9) + 1e-3)
    threats = list(problem.threats)
    while True:
        up, down = master.solve()
        limited = replace(problem, up=up, down=down)
        proofs = Proofs(FlowFinder(limited, np.ones(problem.size), np.inf))
        failed = [threat for threat in threats if not proofs.hold(threat)]
        if not failed and problem.alone.any():
            new = [threat for threat in proofs.insiders(problem) if threat not in set(threats)]
            threats += new
            failed = [threat for threat in new if not proofs.hold(threat)]
        if not master.learn(limited, failed):
            return up, down


class _Rooms:
    """The linear program over the rooms: above every cell, then below every cell."""

    def __init__(self, problem: Problem, costs: Numbers) -> None:
        self._size = problem.size
        limit = problem.largest_need * GENEROUS
        most = np.concatenate([np.minimum(problem.up, limit), np.minimum(problem.down, limit)])
        least = np.zeros(2 * problem.size)
        for threat in problem.threats:
            least[threat.cell + (0 if threat.sign > 0 else problem.size)] = threat.need
        self._highs = solver()
        self._highs.addVars(len(most), least, np.maximum(most, least))
        self._highs.changeColsCost(len(most), np.arange(len(most), dtype=np.int32), np.tile(costs, 2))

    def solve(self) -> Bounds:
        self._highs.run()
        rooms = np.maximum(np.array(self._highs.getSolution().col_value), 0.0)
        return rooms[: self._size], rooms[self._size :]

    def learn(self, limited: Problem, failed: Sequence[Threat]) -> int:
        """Add what failed threats teach: the room that their multipliers ask for."""
        attackers = Attackers(limited, np.inf)
        attackers.open(np.ones(self._size))
        found = ((threat, attackers.directions(threat)) for threat in failed)
        return sum(self._add(threat, directions) for threat, directions in found if directions is not None)

    def _add(self, threat: Threat, directions: Numbers) -> bool:
        directions[[threat.cell, *threat.known]] = 0.0
        weights = np.concatenate([np.maximum(directions, 0.0), np.maximum(-directions, 0.0)])
        used = np.flatnonzero(weights > 1e-9)
        self._highs.addRow(threat.need, np.inf, len(used), used.astype(np.int32), weights[used])
        return True
