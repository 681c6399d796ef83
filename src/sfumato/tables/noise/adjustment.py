"""Controlled tabular adjustment: sensitive cells leave their protection interval, others change as little as possible.

One binary variable for each sensitive cell says whether it goes down or up (Dandekar and Cox 2002; Castro 2006,
doi:10.1016/j.ejor.2004.08.034); all relations hold afterwards. The published table looks like any other. It protects a
sensitive cell only as long as attackers know neither which cells were moved nor how far; the report says what an
attacker who knows the largest move can compute.
"""

from typing import Any

import numpy as np

from sfumato.errors import InternalError, UnattainableError
from sfumato.tables.cells.constraints import ValueUnit
from sfumato.tables.cells.system import Bounds, Numbers, order_of
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.deadline import Deadline
from sfumato.tables.linear_programs import SolverResult, solve
from sfumato.tables.noise.feasibility_intervals import feasibility_intervals
from sfumato.tables.noise.perturbed import PerturbedCells
from sfumato.values import replace

# Minimum seconds for computing the intervals of an attacker who knows the largest adjustment, even if the search used
# up the time limit.
INFORMED_ATTACK_SECONDS = 2.0


def adjust_part(part: TablePart, deadline: Deadline) -> PerturbedCells:
    """Move the sensitive cells of a table and adjust other cells so that all totals hold.

    Raises:
        UnattainableError: No such table exists, or the time limit was reached before one was found.
    """
    table, order = part.table, order_of(part.table)
    answer = _solved_in_integers(replace(part, table=order.table(table)), deadline)
    if not len(answer.point):
        proved = answer.outcome == "infeasible"
        raise UnattainableError("adjustment-infeasible" if proved else "time-limit.table")
    size, step = len(table), part.knowledge.precision
    steps = order.back(_moves(answer, size))
    moved = np.array(ValueUnit(step).clean((steps * step).tolist()))
    published = np.array(ValueUnit(step).clean((table.values + moved).tolist()))
    if np.abs(table.constraints.residuals(steps)).max(initial=0.0) > 0:
        raise InternalError("adjustment")
    change = float(table.costs @ np.abs(moved))
    informed = _informed_attack(part, published, float(np.abs(moved).max(initial=0.0)), deadline)
    figures = {
        "moved_unsafe": int(table.sensitive.sum()),
        "cost": round(change, 6),
        "bound": round(min(answer.bound * step, change), 6),
        "proved_optimal": change - answer.bound * step <= 1e-6 * max(1.0, change),
        "informed_reader": informed,
    }
    return PerturbedCells(part, published, np.ones(size, bool), _outsider_intervals(part), np.ones(size, bool), figures)


def _outsider_intervals(part: TablePart) -> Bounds:
    """Return the feasibility intervals of an attacker who does not know the moves: the a priori bounds alone."""
    return Bounds(part.table.bounds.low, part.table.bounds.high)


def _informed_attack(part: TablePart, published: Numbers, largest_move: float, deadline: Deadline) -> dict[str, float]:
    """Measure what an attacker can compute who knows the largest move, which quality reports often publish."""
    table, step = part.table, part.knowledge.precision
    near = Bounds(
        np.maximum(published - largest_move, table.bounds.low), np.minimum(published + largest_move, table.bounds.high)
    )
    ends = deadline.later(INFORMED_ATTACK_SECONDS) if deadline.left < INFORMED_ATTACK_SECONDS else deadline
    attack = feasibility_intervals(near, table.constraints, table.sensitive, step, ends, table.values)
    narrow = attack.ranges.high - attack.ranges.low
    exact = narrow < step * (1 - 1e-6)
    protection, slack = table.protection_interval, 1e-6 * step
    too_narrow = (attack.ranges.low > protection.low + slack) | (attack.ranges.high < protection.high - slack)
    return {
        "largest_move": largest_move,
        "exact": int(exact.sum()),
        "median_width": float(np.median(narrow)),
        "computed": int(attack.attained.sum()),
        "unsafe_exact": int((exact & table.sensitive).sum()),
        "unsafe_too_narrow": int((table.sensitive & (too_narrow | exact)).sum()),
    }


def _moves(answer: SolverResult, size: int) -> Numbers:
    """Return the moves of a solution, in units of the table's precision."""
    return np.round(answer.point[:size]) - np.round(answer.point[size : 2 * size])


def _solved_in_integers(part: TablePart, deadline: Deadline) -> SolverResult:
    """Solve the relaxation with continuous moves; require integer moves only if its solution is not integral."""
    relaxed = _solved(part, deadline.share(0.5).left, whole_moves=False)
    size = len(part.table)
    off = (
        np.abs(relaxed.point[: 2 * size] - np.round(relaxed.point[: 2 * size])).max(initial=0.0)
        if len(relaxed.point)
        else 1.0
    )
    if relaxed.outcome == "infeasible" or (off < 1e-6 and len(relaxed.point)):
        return relaxed
    whole = _solved(part, deadline.left, whole_moves=True)
    return replace(whole, bound=max(whole.bound, relaxed.bound)) if len(whole.point) else whole


def _solved(part: TablePart, seconds: float, whole_moves: bool) -> SolverResult:
    """Solve for moves up, moves down (in units of precision) and, per sensitive cell, whether it goes up."""
    from scipy.sparse import csr_matrix, hstack, vstack

    table = part.table
    size, cells = len(table), np.flatnonzero(table.sensitive)
    many = len(cells)
    up, down = _max_moves(part)
    relations = table.constraints.matrix(size)
    adding_up = hstack([relations, -relations, csr_matrix((len(table.constraints), many))])
    rows: list[Any] = [adding_up]
    low, high = [np.zeros(len(table.constraints))], [np.zeros(len(table.constraints))]
    step = part.knowledge.precision
    reaches = (np.ceil(reach / step - 1e-6) for reach in (table.protection_levels.upper, table.protection_levels.lower))
    for sign, max_moves, reach in zip((1.0, 0.0), (up, down), reaches, strict=True):
        # Up: reach · b ≤ up ≤ max_moves · b; down: reach · (1 - b) ≤ down ≤ max_moves · (1 - b).
        start = 0 if sign else size
        least, greatest = reach[cells], max_moves[cells]
        factor = -1.0 if sign else 1.0
        for amount, below in ((least, np.zeros(many)), (greatest, np.full(many, -np.inf))):
            place = (np.arange(many), start + cells)
            moves = csr_matrix((np.ones(many), place), shape=(many, 2 * size))
            choice = csr_matrix((factor * amount, (np.arange(many), np.arange(many))), shape=(many, many))
            rows.append(hstack([moves, choice]))
            offset = np.zeros(many) if sign else amount
            low.append(below + offset if np.isfinite(below).all() else below)
            high.append(np.full(many, np.inf) if np.isfinite(below).all() else offset)
    matrix = csr_matrix(vstack(rows))
    costs = np.concatenate([table.costs, table.costs, np.zeros(many)])
    bounds = Bounds(np.zeros(2 * size + many), np.concatenate([up, down, np.ones(many)]))
    whole = (np.arange(2 * size + many) >= 2 * size) | whole_moves
    sides = Bounds(np.concatenate(low), np.concatenate(high))
    return solve(matrix, costs, bounds, sides, whole, seconds)


def _max_moves(part: TablePart) -> tuple[Numbers, Numbers]:
    """Return how far each cell may move up and down, in units: within its bounds and the size of the table."""
    table, step = part.table, part.knowledge.precision
    far = float(
        np.abs(table.values).max(initial=0.0)
        + (table.protection_levels.upper + table.protection_levels.lower).sum()
        + step
    )
    fixed = table.values == 0
    up = np.where(fixed & ~table.sensitive, 0.0, np.minimum(table.bounds.high - table.values, far))
    down = np.minimum(table.values - table.bounds.low, far)
    max_moves = (np.maximum(up, 0.0), np.maximum(np.where(fixed & ~table.sensitive, 0.0, down), 0.0))
    return np.floor(max_moves[0] / step + 1e-6), np.floor(max_moves[1] / step + 1e-6)
