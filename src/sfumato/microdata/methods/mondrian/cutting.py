"""Divide a table into Mondrian's classes, as contiguous runs of ordered items.

The fast path divides strictly and by rows alone, in place, with both cores on different branches. The path for every
other rule works level by level: a cut is proposed for every open class, all parts are evaluated together by the models,
and a class whose cut was rejected is cut along the next column.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from sfumato.microdata.methods.mondrian import division_kernels as division
from sfumato.microdata.methods.mondrian.axes import Axis, Places
from sfumato.microdata.methods.mondrian.kernels import NUMBERS, SET, STRICT, TREE, Axes, Buffers
from sfumato.microdata.methods.search_result import Flag
from sfumato.microdata.models.equivalence_classes import Counts, Floats
from sfumato.values import Value, field, replace

Ints = npt.NDArray[np.int64]
Accepts = Callable[[npt.NDArray[np.int32], Counts, Ints, int], npt.NDArray[np.bool_]]
THREADS = 2
# Below this many items a second thread costs more than it saves; above it, branches of at most this share are
# distributed.
LEAST_ITEMS = 4_000
BRANCHES = 16
NO_SPARE = np.uint64(0)


class Cutting(Value):
    """Items sorted by their classes.

    Attributes:
        places: The position of each value, an array (items, columns).
        counts: The number of rows of each item.
        ids: The combination of each item.
        starts: Where each class begins.
        boxes: (2, classes, columns) the range of positions that the cuts leave each class; empty if not requested.
    """

    places: Places
    counts: Counts
    ids: npt.NDArray[np.int32]
    starts: Ints
    boxes: npt.NDArray[np.int32]


class CutRule(Value):
    """How to cut: see plan/methods.py; choice and mode as named by the kernels.

    Attributes:
        stop: A flag; once it is set, classes stay as they are.
        spare: Probability, in 2^-64, that a class below 4 k rows is not cut though it could be.
    """

    k: int
    axes: Axes
    choice: int
    mode: int
    seed: int
    boxed: bool
    stop: Flag = field(default_factory=lambda: np.zeros(1, np.int64))
    spare: np.uint64 = NO_SPARE


def whole(places: Places, counts: Counts, rule: CutRule) -> Cutting:
    """Return all items as one class."""
    boxes = np.zeros((2, 1 if rule.boxed else 0, places.shape[1]), np.int32)
    if rule.boxed:
        boxes[1, 0] = rule.axes.sizes - 1
    ids = np.arange(len(counts), dtype=np.int32)
    return Cutting(places.copy(), counts.copy(), ids, np.zeros(1, np.int64), boxes)


def scratch(items: int, axes: Axes) -> Buffers:
    """Return the buffers of one thread for classes of a number of items."""
    columns = len(axes.sizes)
    return Buffers(
        np.zeros(int(axes.sizes.max()), np.int64),
        np.empty(items, np.int64),
        np.empty(items, np.int32),
        np.empty(items, np.int64),
        np.empty((items, columns), np.int32),
        np.empty(items, np.int64),
        np.empty(items, np.int32),
        np.zeros((2, int(axes.sizes.sum())), np.int64),
        np.zeros(1, np.int64),
    )


def cut_in_place(start: Cutting, rule: CutRule) -> Cutting:
    """Make strict cuts by rows alone, in place."""
    items = len(start.counts)
    marks, names = np.zeros(items, np.uint8), np.zeros(items, np.uint64)
    boxes = np.zeros((2, items if rule.boxed else 0, start.places.shape[1]), np.int32)
    boxes[:, :1] = start.boxes

    def divide(begins: Ints, ends: Ints, paths: npt.NDArray[np.uint64], room: int, least: int) -> None:
        how = (rule.k, rule.axes, rule.choice, rule.spare, scratch(room, rule.axes))
        division.divide(
            start.places, start.counts, start.ids, begins, ends, paths, *how, least, marks, names, boxes, rule.stop
        )

    many = items >= LEAST_ITEMS
    one = np.zeros(1, np.int64)
    divide(one, one + items, np.array([rule.seed], np.uint64), items, items // BRANCHES if many else 0)
    if many:
        _branches(marks, names, divide)
    starts = np.flatnonzero(marks)
    return replace(start, starts=starts, boxes=boxes[:, starts] if rule.boxed else start.boxes)


def _branches(marks: npt.NDArray[np.uint8], names: npt.NDArray[np.uint64], divide: Callable[..., None]) -> None:
    """Divide the branches left for later, shared among threads."""
    edges = np.append(np.flatnonzero(marks), len(marks))
    later = np.flatnonzero(marks[edges[:-1]] == 2)
    begins, ends = edges[later], edges[later + 1]
    order = np.argsort(begins - ends, kind="stable")
    shares = [order[thread::THREADS] for thread in range(THREADS)]
    with ThreadPoolExecutor(THREADS) as pool:
        jobs = [
            pool.submit(divide, begins[share], ends[share], names[begins[share]], _longest(begins, ends, share), 0)
            for share in shares
        ]
        for job in jobs:
            job.result()


def _longest(begins: Ints, ends: Ints, share: Ints) -> int:
    return int((ends[share] - begins[share]).max(initial=1))


def cut_by_levels(start: Cutting, rule: CutRule, accepts: Accepts | None) -> Cutting:
    """Make cuts of any mode, level by level, each accepted only if both its parts are.

    Args:
        accepts: Receives the ids, rows and owner of items, and the number of owners; returns which owners may be
            classes. None
            if k rows are the only requirement: cuts that leave fewer are not proposed.
    """
    with ThreadPoolExecutor(THREADS) as pool:
        state = _Levels(start, rule, pool)
        while state.open.any():
            state.cut_once(accepts)
        return state.cutting


class _Levels:
    """The current classes: which are open, the number of columns tried on each, and the path of each."""

    def __init__(self, start: Cutting, rule: CutRule, pool: Executor) -> None:
        self.cutting = start
        self.rule = rule
        self.pool = pool
        self.open = np.ones(1, bool)
        self.tried = np.zeros(1, np.int64)
        self.paths = np.array([rule.seed], np.uint64)

    def cut_once(self, accepts: Accepts | None) -> None:
        """Propose a cut for every open class, and make those whose parts are accepted."""
        items = self.cutting
        begins = items.starts
        ends = np.append(begins[1:], len(items.counts))
        cuts = self._proposed(begins, ends)
        lefts = np.empty(len(items.counts), np.int64)
        division.sides(items.places, items.counts, begins, ends, cuts, lefts)
        self.open &= cuts[:, 0] >= 0
        if accepts is not None:
            good = self._accepted(cuts[:, 0] >= 0, begins, ends, lefts, accepts)
            cuts[~good, 0] = -1
            division.sides(items.places, items.counts, begins, ends, cuts, lefts)
        self._divide(begins, ends, cuts, lefts)

    def _proposed(self, begins: Ints, ends: Ints) -> Ints:
        cuts = np.full((len(begins), 3), -1, np.int64)
        chosen = np.flatnonzero(self.open)
        middle = len(chosen) // 2 if len(self.cutting.counts) >= LEAST_ITEMS else 0
        other = self.pool.submit(self._propose, chosen[:middle], begins, ends, cuts) if middle else None
        self._propose(chosen[middle:], begins, ends, cuts)
        if other is not None:
            other.result()
        return cuts

    def _propose(self, chosen: Ints, begins: Ints, ends: Ints, cuts: Ints) -> None:
        if not len(chosen):
            return
        items, rule = self.cutting, self.rule
        tried, proposals = self.tried[chosen], np.empty((len(chosen), 3), np.int64)
        room = scratch(_longest(begins, ends, chosen), rule.axes)
        arguments = (begins[chosen], ends[chosen], self.paths[chosen], tried, rule.k, rule.axes, rule.choice, rule.mode)
        division.propose(items.places, items.counts, *arguments, rule.spare, room, proposals, rule.stop)
        self.tried[chosen] = tried
        cuts[chosen] = proposals

    def _accepted(self, cut: npt.NDArray[np.bool_], begins: Ints, ends: Ints, lefts: Counts, accepts: Accepts) -> Ints:
        """Return which classes' cuts are accepted, i.e. both parts are."""
        chosen = np.flatnonzero(cut)
        good = np.zeros(len(cut), bool)
        if not len(chosen):
            return good
        items = self.cutting
        number = np.full(len(cut), -1, np.int64)
        number[chosen] = np.arange(len(chosen))
        owners = np.repeat(number, ends - begins)
        inside = owners >= 0
        ids, rows, left = items.ids[inside], items.counts[inside], lefts[inside]
        both = np.concatenate([2 * owners[inside], 2 * owners[inside] + 1])
        parts = np.concatenate([left, rows - left])
        some = parts > 0
        fine = accepts(np.concatenate([ids, ids])[some], parts[some], both[some], 2 * len(chosen))
        good[chosen] = fine[0::2] & fine[1::2]
        return good

    def _divide(self, begins: Ints, ends: Ints, cuts: Ints, lefts: Counts) -> None:
        """Make the accepted cuts."""
        items = self.cutting
        more = int(((lefts > 0) & (lefts < items.counts)).sum())
        room = len(items.counts) + more
        places = np.empty((room, items.places.shape[1]), np.int32)
        counts, ids = np.empty(room, np.int64), np.empty(room, np.int32)
        middles, lasts = np.empty(len(begins), np.int64), np.empty(len(begins), np.int64)
        division.divide_level(
            items.places, items.counts, items.ids, begins, ends, lefts, places, counts, ids, middles, lasts
        )
        firsts = np.concatenate([[0], lasts[:-1]])
        self._renew(Cutting(places, counts, ids, items.starts, items.boxes), firsts, middles, cuts)

    def _renew(self, items: Cutting, firsts: Ints, middles: Ints, cuts: Ints) -> None:
        """Update the classes after their cuts: a class that was cut became two, both open and untried."""
        cut = cuts[:, 0] >= 0
        repeat = np.where(cut, 2, 1)
        old = np.repeat(np.arange(len(cut)), repeat)
        right = np.zeros(len(old), bool)
        right[1:] = old[1:] == old[:-1]
        starts = np.where(right, middles[old], firsts[old])
        self.cutting = replace(items, starts=starts, boxes=self._boxes(items.boxes, old, right, cuts))
        self.paths = division.renamed(self.paths[old], right, cut[old])
        self.tried = np.where(cut[old], 0, self.tried[old])
        self.open = self.open[old] | cut[old]

    def _boxes(
        self, boxes: npt.NDArray[np.int32], old: Ints, right: npt.NDArray[np.bool_], cuts: Ints
    ) -> npt.NDArray[np.int32]:
        if not self.rule.boxed:
            return boxes
        new = boxes[:, old].copy()
        column, place = cuts[old, 0], cuts[old, 1]
        lefts, rights = np.flatnonzero((column >= 0) & ~right), np.flatnonzero((column >= 0) & right)
        new[1, lefts, column[lefts]] = place[lefts]
        # If rows are divided, those with the value of the cut are on both sides.
        new[0, rights, column[rights]] = place[rights] + (self.rule.mode == STRICT)
        return new


def compiled(axes: Sequence[Axis]) -> Axes:
    """Return the axes as arguments of the kernels."""
    labels: list[npt.NDArray[np.int64]] = []
    costs: list[Floats] = []
    steps: list[int] = []
    for axis in axes:
        steps.append(sum(map(len, labels)))
        level_labels, level_costs = axis.levels()
        labels += level_labels
        costs += level_costs
    sizes = np.array([axis.size for axis in axes], np.int64)
    return Axes(
        np.array([_CODES[axis.kind] for axis in axes], np.int64),
        sizes,
        np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64),
        np.concatenate([axis.positions for axis in axes]),
        np.array([axis.scale for axis in axes]),
        np.array([axis.missing for axis in axes], np.int64),
        np.array(steps, np.int64),
        np.concatenate(labels),
        np.concatenate(costs),
        np.array([axis.weight for axis in axes], np.float64),
    )


_CODES = {"numbers": NUMBERS, "tree": TREE, "set": SET}
