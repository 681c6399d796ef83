"""Local recoding by simulated annealing: candidate classes are opened and closed at random, with falling temperature.

The recoding is a facility location problem with a minimum number of customers: candidate classes ("cells") are opened,
and every row goes to the cheapest open one that contains it and is not left too small. Prices of rows are improved
first, so that few candidates with few rows remain (see candidate_kernels.py). Then the candidates are opened that lose
least for the prices of their rows. Finally random candidates are opened or closed, and classes that become too small
are closed too, if that adds no more loss than the temperature allows (Kirkpatrick, S., Gelatt, C. D., Vecchi, M. P.
(1983). Optimization by simulated annealing, https://doi.org/10.1126/science.220.4598.671). The amount of work is
limited: the same table gives the same classes, unless the time is over.
"""

import enum

import numpy as np
import numpy.typing as npt

from sfumato.microdata.methods.local_recoding import annealing_kernels, candidate_kernels, exchange_kernels
from sfumato.microdata.methods.local_recoding.annealing_kernels import NOWHERE, Core, Opened
from sfumato.microdata.methods.local_recoding.candidate_kernels import CandidateBuffers
from sfumato.microdata.methods.local_recoding.candidates import CellWalk
from sfumato.microdata.methods.local_recoding.exchange_kernels import Groups
from sfumato.microdata.methods.local_recoding.sweep import UNPLACED, Ints, Sweep, costs_of, firsts_of, levels_of
from sfumato.microdata.methods.search_result import Flag
from sfumato.microdata.models.equivalence_classes import Floats

# Limit of the classes visited for all rows: about a second.
MAX_EXCHANGE_LOOKS = 100_000_000


# Classes times combinations above which only one kind of exchange is affordable.
MANY_PAIRS = 20_000_000


class Kinds(enum.Flag):
    """The kinds of improvement applied once all rows are assigned.

    Only for privacy models on class sizes; the same table and classes give the same result, unless the time is over.
    """

    DISSOLVE = enum.auto()
    MOVE = enum.auto()
    BOTH = DISSOLVE | MOVE


def affordable(owners: Ints, kind: Kinds) -> Kinds:
    """Return both kinds of exchange if there are few classes and combinations, else one."""
    return Kinds.BOTH if (int(owners.max(initial=-1)) + 1) * len(owners) <= MANY_PAIRS else kind


def bettered(sweep: Sweep, owners: Ints, least: Floats, stop: Flag, kinds: Kinds = Kinds.BOTH) -> Ints:
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
        np.array([MAX_EXCHANGE_LOOKS], np.int64),
    )


Halves = npt.NDArray[np.int32]
# Thresholds: cells with a ratio below the first are opened first, then those below the next.
LIMITS = (1.0001, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5, 1.75, 2.0, 3.0, 10.0)
# Prices are improved by the cells with a ratio below the first threshold; then those below the second may be opened.
FAR, NEAR = 2.3, 1.06
# Step lengths of the price improvement, and a rough loss of the best classes, relative to the minimum loss of rows.
FIRST_LENGTH, SHORTER, PRICE_STEPS = 2.0, 0.95, 30
TARGET = 1.6
# The first and the last temperature, as shares of the loss of a class; then zero.
HOT, COLD = 0.15, 0.05
STEPS, STILL = 60, 4
# Number of passes over the members of all cells, times the root of k: a larger class takes rows from more others, and
# fewer attempts succeed. Minimum and maximum number of members: a tenth of a second, and more than one.
PASSES = 6.5
FEWEST_LOOKS, MOST_LOOKS = 10_000_000, 80_000_000
SEED = 88_172_645_463_325_252
# Initial buffer size for the members of the cells of classes.
ROOM = 2_000_000
# Loss of a row in no class, relative to the most expensive cell.
LOST = 4.0
CHANCES = 1024


def annealed(walk: CellWalk, least: Floats, stop: Flag) -> Ints | None:
    """Return the class of each combination, or UNPLACED; None if there are no candidates.

    Args:
        least: Lower bound of the loss of a row of each combination.
    """
    sweep = walk.sweep
    k, counts = sweep.problem.k, sweep.table.counts.astype(np.int32)
    worth = _worth(walk, least, counts, stop)
    found = walk.found(worth, stop, NEAR)
    owners = walk.further(worth, _greedy(found, counts, worth, k), stop)
    owners = bettered(sweep, owners, least, stop, affordable(owners, Kinds.DISSOLVE))
    number = int(owners.max(initial=-1)) + 1
    if not number or stop[0]:
        return None
    core, order = _core(_with_classes(sweep, found, owners, number, worth), len(counts))
    opened = _opened(core, counts, k)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    candidate_kernels.open_classes(core, opened, counts, places[len(found.costs) :], owners)
    work = int(PASSES * k**0.5 * (len(core.members) + len(counts)))
    work = min(max(work, FEWEST_LOOKS), MOST_LOOKS)
    random = np.array([SEED], np.uint64)
    chances = -np.log((np.arange(CHANCES) + 0.5) / CHANCES)
    annealing_kernels.anneal(core, opened, counts, k, _heats(opened), chances, work, random, stop)
    _, numbers = np.unique(np.append(opened.owners, NOWHERE), return_inverse=True)
    owners = numbers[:-1].astype(np.int64) - 1
    return bettered(sweep, owners, least, stop, affordable(owners, Kinds.MOVE))


def _worth(walk: CellWalk, least: Floats, counts: Halves, stop: Flag) -> Floats:
    """Return the price of a row of each combination: its minimum loss, improved by the cells with little more loss."""
    worth, lengths = least.copy(), np.array([FIRST_LENGTH * SHORTER**step for step in range(PRICE_STEPS)])
    target = TARGET * float((counts * worth).sum())
    candidate_kernels.better_prices(
        walk.found(worth, stop, FAR), counts, worth, walk.sweep.problem.k, target, lengths, stop
    )
    return worth


def _greedy(found: CandidateBuffers, counts: Halves, worth: Floats, k: int) -> Ints:
    """Return the classes of the cells that lose least for the prices of their rows."""
    core, order = _core(found, len(counts))
    opened = _opened(core, counts, k)
    ratios = found.ratios[order]
    by_ratio = np.argsort(ratios, kind="stable")
    candidate_kernels.open_dearest(core, opened, counts, worth, ratios, by_ratio, np.array(LIMITS), k)
    return opened.owners.astype(np.int64) - 1


def _with_classes(sweep: Sweep, found: CandidateBuffers, owners: Ints, number: int, worth: Floats) -> CandidateBuffers:
    """Return the cells, extended by those of existing classes."""
    levels, firsts, labels = levels_of(sweep, owners, number), firsts_of(owners, number), _labels(sweep, worth)
    starts, room = np.zeros(number + 1, np.int64), ROOM
    while True:
        members = np.empty(room, np.int32)
        total = candidate_kernels.cells_of_classes(
            sweep.table.codes, sweep.prices, levels, firsts, *labels, members, starts
        )
        if total <= room:
            break
        room = total
    members = members[:total]
    return CandidateBuffers(
        np.concatenate([found.members, members]),
        np.concatenate([found.starts, starts[1:] + found.starts[-1]]),
        np.append(found.costs, costs_of(sweep, levels, firsts)),
        np.append(found.ratios, np.full(number, np.inf)),
    )


def _labels(sweep: Sweep, worth: Floats) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Return the combinations by their labels, highest price first, and where those of each label begin."""
    columns, levels, values = sweep.prices.labels.shape
    order = np.argsort(-worth, kind="stable").astype(np.int32)
    listed = np.empty((columns, levels, len(worth)), np.int32)
    begins = np.zeros((columns, levels, values + 2), np.int64)
    candidate_kernels.list_labels(sweep.table.codes, sweep.prices, order, listed, begins)
    return listed, begins


def _core(found: CandidateBuffers, rows: int) -> tuple[Core, Ints]:
    """Return the cells sorted by their cost, and their numbers."""
    order = np.argsort(found.costs, kind="stable")
    places, holders = np.zeros(rows + 1, np.int64), np.empty(len(found.members), np.int32)
    candidate_kernels.cells_of_rows(found.members, found.starts, order, places, holders)
    starts, ends = found.starts[:-1][order], found.starts[1:][order]
    return Core(found.members, starts, ends, found.costs[order], holders, places), order


def _opened(core: Core, counts: Halves, k: int) -> Opened:
    """Return the state with no cell open and all rows unassigned."""
    rows, slots = len(counts), int(counts.sum()) // k + 2
    costs = np.zeros(slots)
    costs[NOWHERE] = LOST * max(core.costs.max(initial=0.0), 1e-6)
    sizes, head = np.zeros(slots, np.int64), np.full(slots, UNPLACED, np.int64)
    sizes[NOWHERE], head[NOWHERE] = counts.sum(), 0
    after, before = np.arange(1, rows + 1, dtype=np.int32), np.arange(-1, rows - 1, dtype=np.int32)
    after[-1] = UNPLACED
    return Opened(
        np.zeros(rows, np.int32),
        np.zeros(rows, np.int32),
        after,
        before,
        np.zeros(rows),
        np.full(slots, UNPLACED, np.int64),
        head,
        sizes,
        costs,
        np.zeros(slots),
        np.full(len(core.costs), UNPLACED, np.int32),
        np.append(slots - 1, np.arange(slots - 1, -1, -1)),
        np.zeros(slots + 2, np.int64),
        np.zeros(slots, np.int64),
        np.zeros(slots),
        np.zeros(slots, np.int64),
        np.zeros(rows, np.int64),
        np.zeros(rows, np.int64),
    )


def _heats(opened: Opened) -> Floats:
    """Return the temperatures: shares of the current mean loss of a class."""
    classes = opened.cells >= 0
    scale = float((opened.sizes * opened.costs)[classes].sum()) / max(int(classes.sum()), 1)
    falling = HOT * (COLD / HOT) ** (np.arange(STEPS) / (STEPS - 1))
    return np.append(scale * falling, np.zeros(STILL))
