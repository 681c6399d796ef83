"""What a reader of several perturbed tables can compute through the cross of their variables, which no table shows."""

from dataclasses import replace

import numpy as np

from sfumato.tables.cells.system import Bounds
from sfumato.tables.deadline import Deadline
from sfumato.tables.linked.from_plan import LinkedTable, with_cross
from sfumato.tables.perturbation.feasibility_intervals import feasibility_intervals
from sfumato.tables.perturbation.perturbed import PerturbedCells


def with_cross_ranges(changed: PerturbedCells, joint: LinkedTable, deadline: Deadline) -> PerturbedCells:
    """Narrow the intervals of perturbed tables by implicit cells; unchanged if the variables form no cycle.

    Raises:
        UnattainableError: There are too many implicit cells.
    """
    own, size = changed.part, len(changed.published)
    part = with_cross(own, joint, changed.ranges.high <= 0, deadline=deadline.share(0.5))
    changed = replace(changed, part=replace(own, not_audited=part.not_audited))
    if part.hidden is None:
        return changed
    more = len(part.table) - size
    start = Bounds(
        np.append(changed.ranges.low, part.table.bounds.low[size:]), np.append(changed.ranges.high, [np.inf] * more)
    )
    step, table = own.knowledge.precision, part.table
    reader = feasibility_intervals(
        start, table.constraints, table.sensitive, step, deadline, table.values, ~part.hidden
    )
    return replace(changed, ranges=reader.ranges.rows(np.arange(size)), attained=reader.attained[:size])
