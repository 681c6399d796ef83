"""Improve the classes of a local recoding: move rows to classes where they add less loss, and dissolve poor classes.

Only for privacy models on class sizes; the same table and classes give the same result, unless the time is over.
"""

from enum import Flag, auto

import numpy as np

from sfumato.microdata.methods.local_recoding import exchange_kernels
from sfumato.microdata.methods.local_recoding.exchange_kernels import Groups
from sfumato.microdata.methods.local_recoding.sweep import UNPLACED, Ints, Sweep
from sfumato.microdata.methods.time_limit import Flag as StopFlag
from sfumato.microdata.models.equivalence_classes import Floats

# Limit of the classes visited for all rows: about a second.
MOST_LOOKS = 100_000_000


# Classes times combinations above which only one kind of exchange is affordable.
MANY_PAIRS = 20_000_000


class Kinds(Flag):
    """The kinds of improvement applied once all rows are assigned."""

    DISSOLVE = auto()
    MOVE = auto()
    BOTH = DISSOLVE | MOVE


def affordable(owners: Ints, kind: Kinds) -> Kinds:
    """Return both kinds of exchange if there are few classes and combinations, else one."""
    return Kinds.BOTH if (int(owners.max(initial=-1)) + 1) * len(owners) <= MANY_PAIRS else kind


def bettered(sweep: Sweep, owners: Ints, least: Floats, stop: StopFlag, kinds: Kinds = Kinds.BOTH) -> Ints:
    """Return the classes after assigning rows, dissolving poor classes and moving rows.

    Args:
        owners: The class of each combination, or UNPLACED.
        least: Lower bound of the loss of a row of each combination.
    """
    table, problem, columns = sweep.table, sweep.problem, _telling_first(sweep)
    lowest, highest = (np.array(levels, np.int64)[columns] for levels in (problem.lowest, problem.highest))
    codes, prices = np.ascontiguousarray(table.codes[:, columns]), sweep.prices_by(columns)
    groups = _groups(owners, len(columns))
    exchange_kernels.gather(codes, table.counts, groups, prices, lowest)
    # Numbered by cost, classes are stored in the order of access.
    numbers = np.argsort(groups.costs, kind="stable")
    groups = _groups(_renumbered(owners, np.argsort(numbers)), len(columns))
    parts = (codes, table.counts, groups, prices)
    exchange_kernels.gather(*parts, lowest)
    left = np.flatnonzero(owners < 0)
    left = left[np.argsort(-least[left], kind="stable")]
    exchange_kernels.place_rows(*parts, _order(groups), left, lowest, highest, stop)
    if Kinds.DISSOLVE in kinds:
        exchange_kernels.dissolve(*parts, _order(groups), least, lowest, highest, stop)
    if Kinds.MOVE in kinds:
        exchange_kernels.move_rows(*parts, _order(groups), least, problem.k, lowest, highest, stop)
    return _without_gaps(_renumbered(groups.owners, numbers))


def _telling_first(sweep: Sweep) -> Ints:
    """Return the columns, those with the highest expected cost of adding a row first, so that comparisons end early."""
    table = sweep.table
    told = []
    for column, ladder in enumerate(table.ladders):
        shares = np.bincount(table.codes[:, column], table.counts, ladder.size) / table.counts.sum()
        step = min(sweep.problem.lowest[column] + 1, ladder.height - 1)
        told.append((1 - (shares**2).sum()) * (shares @ sweep.prices.costs[column, step, : ladder.size]))
    return np.argsort(-np.array(told), kind="stable")


def _renumbered(owners: Ints, numbers: Ints) -> Ints:
    """Renumber the classes; unassigned rows stay unassigned."""
    return np.append(numbers, UNPLACED)[owners]


def _order(groups: Groups) -> Ints:
    """Return the nonempty classes, the cheapest first."""
    order = np.argsort(groups.costs, kind="stable")
    return order[groups.head[order] >= 0]


def _without_gaps(owners: Ints) -> Ints:
    """Number classes without gaps."""
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
