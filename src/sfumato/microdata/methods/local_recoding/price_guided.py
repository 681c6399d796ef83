"""Local recoding guided by prices: candidate classes that lose least for the prices of their rows come first.

Afterwards rows are exchanged. The plain sweep serves cheap rows first and takes their neighbors away from rows that
have few; by its price, a row with few neighbors comes first. Only for privacy models on class sizes, if all candidates
can be enumerated in seconds.
"""

from sfumato.microdata.methods.local_recoding.annealing import annealed
from sfumato.microdata.methods.local_recoding.candidate_classes import CellWalk
from sfumato.microdata.methods.local_recoding.sweep import Ints, Sweep


def guided(sweep: Sweep) -> Ints | None:
    """Return the class of each combination, or UNPLACED; None if there are no such classes, or not in time."""
    problem, table = sweep.problem, sweep.table
    if not problem.sizes_alone or table.persons or table.sample is not None or sweep.spare:
        return None
    walk = CellWalk(sweep)
    if not walk.feasible:
        return None
    with problem.deadline.flag() as stop:
        least = walk.cheapest(stop)
        return None if least is None else annealed(walk, least, stop)
