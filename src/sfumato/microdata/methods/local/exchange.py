"""Classes of a local recoding bettered: rows go where they add less to the loss, and poor classes are dissolved.

For promises about class sizes alone; the same table and classes give the same answer, unless the time is over.
"""

from enum import Flag, auto

import numpy as np

from sfumato.microdata.methods.local import exchange_kernels
from sfumato.microdata.methods.local.exchange_kernels import Groups
from sfumato.microdata.methods.local.sweep import UNPLACED, Ints, Sweep
from sfumato.microdata.methods.time_limit import Flag as StopFlag
from sfumato.microdata.models.classes import Floats

# Classes that are looked at for all rows: about a second.
MOST_LOOKS = 100_000_000


# Classes times combinations from which on one kind of exchange takes long enough.
MANY_PAIRS = 20_000_000


class Kinds(Flag):
    """What is done with the classes, once all rows are placed."""

    DISSOLVE = auto()
    MOVE = auto()
    BOTH = DISSOLVE | MOVE


def affordable(owners: Ints, kind: Kinds) -> Kinds:
    """Both kinds of exchange where there are few classes and combinations, else the one."""
    return Kinds.BOTH if (int(owners.max(initial=-1)) + 1) * len(owners) <= MANY_PAIRS else kind


def bettered(sweep: Sweep, owners: Ints, least: Floats, stop: StopFlag, kinds: Kinds = Kinds.BOTH) -> Ints:
    """The classes after rows were placed, poor classes dissolved, and rows moved.

    Args:
        owners: The class of each combination, or UNPLACED.
        least: What a row of each combination loses at least in any class.
    """
    table, problem, prices = sweep.table, sweep.problem, sweep.prices
    groups = _groups(owners, table.codes.shape[1])
    lowest, highest = np.array(problem.lowest, np.int64), np.array(problem.highest, np.int64)
    parts = (table.codes, table.counts, groups, prices)
    exchange_kernels.gather(*parts, lowest)
    left = np.flatnonzero(owners < 0)
    left = left[np.argsort(-least[left], kind="stable")]
    exchange_kernels.place_rows(*parts, _order(groups), left, lowest, highest, stop)
    if Kinds.DISSOLVE in kinds:
        exchange_kernels.dissolve(*parts, _order(groups), least, lowest, highest, stop)
    if Kinds.MOVE in kinds:
        exchange_kernels.move_rows(*parts, _order(groups), least, problem.k, lowest, highest, stop)
    return _numbered(groups.owners)


def _order(groups: Groups) -> Ints:
    """The classes that have rows, the cheapest first."""
    order = np.argsort(groups.costs, kind="stable")
    return order[groups.head[order] >= 0]


def _numbered(owners: Ints) -> Ints:
    """Classes numbered without gaps."""
    used = np.unique(owners[owners >= 0])
    return np.where(owners < 0, UNPLACED, np.searchsorted(used, owners))


def _groups(owners: Ints, columns: int) -> Groups:
    rows, number = len(owners), int(owners.max(initial=-1)) + 1
    return Groups(
        owners.copy(),
        np.full(rows, UNPLACED, np.int64),
        np.full(rows, UNPLACED, np.int64),
        np.full(number, UNPLACED, np.int64),
        np.zeros(number, np.int64),
        np.zeros((number, columns), np.int64),
        np.zeros(number),
        np.array([MOST_LOOKS], np.int64),
    )
