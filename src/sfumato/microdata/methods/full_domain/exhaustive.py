"""Method `exhaustive`: evaluate every node of the lattice; the result includes a table of all of them.

For k-anonymity alone the lattice is swept in compiled loops; other models are evaluated node by node. Either way nodes
are taken by height, and each is grouped from the smallest of its finer neighbors.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from time import monotonic

import numpy as np

from sfumato.localization.messages import Message
from sfumato.microdata.counts.combinations import Words
from sfumato.microdata.counts.grouping import Grouped, Grouper, Node, hash_capacity
from sfumato.microdata.losses.loss import Charges, LossTerms, Sweepable, SweepResult
from sfumato.microdata.methods.full_domain import rare_combination_kernels as sweep_kernels
from sfumato.microdata.methods.full_domain.best_first import Walk
from sfumato.microdata.methods.full_domain.problem import LatticeProblem, NodeSolution
from sfumato.microdata.methods.full_domain.unattainable import unattainable
from sfumato.microdata.methods.search_result import ClassSizeSummary, Deadline, NodeEvaluation
from sfumato.microdata.models.equivalence_classes import Counts, Floats
from sfumato.values import Value

# Number of threads that share a height: the compiled loops release the interpreter lock.
WORKERS = 2
# Maximum number of classes of a height, so that two heights fit into memory.
MOST_CLASSES = 200_000_000
# Larger lattices are not enumerated: their nodes are evaluated in order as long as there is time.
MAX_LISTED = 1_000_000
# Beyond this number of nodes a greedy search comes first, so that there is a result whatever the time.
MAX_UNAIDED = 100_000


def judge_all(problem: LatticeProblem) -> tuple[NodeEvaluation, ...]:
    """Evaluate every node, as far as there is time, in the order of their levels."""
    loss = problem.loss
    if problem.size > MAX_LISTED:
        return tuple(_in_order(problem))
    if problem.sizes_alone and isinstance(loss, Sweepable):
        judgments = _swept(problem, loss)
    else:
        judgments = _one_by_one(problem)
    return tuple(judgments[node] for node in problem.nodes() if node in judgments)


def _in_order(problem: LatticeProblem) -> Iterator[NodeEvaluation]:
    for done, node in enumerate(problem.nodes()):
        if problem.deadline.over:
            return
        yield problem.evaluate(node)
        problem.progress(done + 1, problem.size)


def _swept(problem: LatticeProblem, loss: Sweepable) -> dict[Node, NodeEvaluation]:
    judgments: dict[Node, NodeEvaluation] = {}
    for swept in sweep(problem.grouper, by_height(problem.nodes()), problem.k, loss.charges(), problem.deadline):
        judgments.update((node.node, node) for node in _judgments(problem, loss, swept))
        problem.progress(len(judgments), problem.size)
    return judgments


def _judgments(problem: LatticeProblem, loss: Sweepable, swept: SweepResult) -> Iterator[NodeEvaluation]:
    """Yield the evaluations of the nodes of a height."""
    generalization, suppression = loss.swept_terms(swept)
    figures = (swept.suppressed_rows, swept.classes, swept.smallest, swept.largest)
    before = (swept.all_classes, swept.all_smallest, swept.all_largest)
    rows = zip(
        swept.levels.tolist(),
        generalization.tolist(),
        suppression.tolist(),
        *(figure.tolist() for figure in (*figures, *before)),
        strict=True,
    )
    for levels, plain, added, suppressed, kept, smallest, largest, *sizes in rows:
        terms = LossTerms(plain, added)
        value = loss.value(terms.total)
        holds = suppressed <= problem.limit and kept > 0
        classes = (suppressed, suppressed, kept, smallest, largest, holds)
        yield NodeEvaluation(tuple(levels), terms, value, *classes, before=ClassSizeSummary(*sizes))


def _one_by_one(problem: LatticeProblem) -> dict[Node, NodeEvaluation]:
    judgments: dict[Node, NodeEvaluation] = {}
    below: dict[Node, Grouped] = {}
    for nodes in by_height(problem.nodes()):
        here: dict[Node, Grouped] = {}
        for node in nodes:
            if problem.deadline.over:
                return judgments
            here[node] = problem.grouper.rolled(_smallest(problem, below, node), node)
            judgments[node] = problem.judge_classes(here[node])
        below = here
        problem.progress(len(judgments), problem.size)
    return judgments


def search(problem: LatticeProblem) -> NodeSolution:
    """Return the best of all nodes.

    Raises:
        UnattainableError: No node satisfies the models within the suppression limit.
    """
    walk = Walk(problem).down() if problem.size > MAX_UNAIDED else None
    nodes = judge_all(problem)
    complete = len(nodes) == problem.size
    if not complete and walk is None:
        walk = problem.evaluate(problem.highest)
    best = problem.best([*nodes, walk] if walk else nodes)
    if best is None:
        raise unattainable(problem)
    remark = Message("note.exhaustive", checked=len(nodes), nodes=problem.size, seconds=problem.time_limit)
    remarks = () if complete else (remark,)
    return NodeSolution(best, complete, len(nodes), problem.size, nodes, notes=remarks, cut_short=not complete)


def _smallest(problem: LatticeProblem, below: dict[Node, Grouped], node: Node) -> Grouped:
    """Return the finer neighbor with the fewest classes, or the original table for the lowest node."""
    best = problem.grouper.base
    for column, level in enumerate(node):
        neighbor = below.get((*node[:column], level - 1, *node[column + 1 :]))
        if neighbor is not None and len(neighbor.sizes) < len(best.sizes):
            best = neighbor
    return best


# Each node is grouped from the finer neighbor with the fewest classes, by one level of one column. Only two heights are
# in memory at a time, and two threads share the nodes of a height. Other models are evaluated node by node
# (exhaustive.py).
class Height(Value):
    """The classes of all nodes of a height, stored one node after the other.

    Attributes:
        levels: The levels of each node, an array (nodes, columns).
        places: For every node of the lattice, its index in these arrays.
        begins: The start of each node's classes; there may be gaps between nodes.
        ends: The end of each node's classes.
    """

    levels: Counts
    places: Counts
    keys: Words
    counts: Counts
    begins: Counts
    ends: Counts

    @property
    def sizes(self) -> Counts:
        """The number of classes of each node."""
        return self.ends - self.begins


def by_height(nodes: Iterator[Node]) -> list[list[Node]]:
    """Return nodes grouped by the sum of their levels, lowest first."""
    heights: dict[int, list[Node]] = defaultdict(list)
    for node in nodes:
        heights[sum(node)].append(node)
    return [heights[height] for height in sorted(heights)]


def sweep(
    grouper: Grouper, heights: Sequence[Sequence[Node]], k: int, charges: Charges | None, deadline: Deadline
) -> Iterator[SweepResult]:
    """Evaluate all nodes, one height at a time; stop when a height would take too much time or memory."""
    from concurrent.futures import ThreadPoolExecutor

    pace = 0.0
    shape = tuple(ladder.height for ladder in grouper.table.ladders)
    workers = [_Worker(grouper, k, charges) for _ in range(WORKERS)]
    below: Height | None = None
    with ThreadPoolExecutor(WORKERS) as pool:
        for nodes in heights:
            levels = np.array(nodes, np.int64)
            if below is None:
                below = _lowest(grouper, levels, shape)
                tallied = [workers[0].tallied(below, slice(None))]
            else:
                rise, began = _rise(grouper, levels, below, shape), monotonic()
                if len(rise.height.counts) > MOST_CLASSES or deadline.left < pace * len(rise.height.counts):
                    return
                parts = list(pool.map(lambda worker, part: worker.raised(rise, part), workers, rise.parts))  # noqa: B023
                below, tallied = rise.height, parts
                pace = (monotonic() - began) / max(len(below.counts), 1)
            figures = np.concatenate([figures for figures, _ in tallied], axis=1)
            suppressed, kept, smallest, largest, squares, lost, least, most = figures
            added = np.concatenate([added for _, added in tallied])
            yield SweepResult(
                levels, below.sizes, suppressed, kept, smallest, largest, squares, lost, added, least, most
            )


def _lowest(grouper: Grouper, levels: Counts, shape: tuple[int, ...]) -> Height:
    grouped = grouper.rolled(grouper.base, tuple(levels[0].tolist()))
    begins, ends = np.zeros(1, np.int64), np.array([len(grouped.sizes)], np.int64)
    return Height(levels, _placed(levels, shape), grouped.keys, grouped.sizes, begins, ends)


def _placed(levels: Counts, shape: tuple[int, ...]) -> Counts:
    """Return for every node of the lattice its index in a height, -1 for nodes of other heights."""
    places = np.full(int(np.prod(shape)), -1, np.int64)
    places[np.ravel_multi_index(tuple(levels.T), shape)] = np.arange(len(levels))
    return places


class _Rise(Value):
    """The data needed to group a height from the one below, in parts of about the same work.

    Attributes:
        begins: The start of each node's source classes.
        ends: The end of each node's source classes.
        columns: The column that is generalized.
        tables: The labels of the columns one level up.
        offsets: The start of each node's labels in `tables`.
        rooms: The position in the buffer where each node writes its classes, at most as many as its source has.
        height: Receives the classes.
    """

    below: Height
    begins: Counts
    ends: Counts
    columns: Counts
    tables: Words
    offsets: Counts
    rooms: Counts
    parts: Sequence[slice]
    height: Height


def _rise(grouper: Grouper, levels: Counts, below: Height, shape: tuple[int, ...]) -> _Rise:
    sources, columns = _steps(levels, below, shape)
    begins, ends = below.begins[sources], below.ends[sources]
    tables, offsets = _tables(grouper, levels, columns)
    rooms = np.concatenate([[0], np.cumsum(ends - begins)])
    keys, counts = np.empty((len(below.keys), rooms[-1]), np.uint64), np.empty(rooms[-1], np.int64)
    cuts = [0, *np.searchsorted(rooms, rooms[-1] * np.arange(1, WORKERS) / WORKERS).tolist(), len(levels)]
    parts = [slice(begin, end) for begin, end in pairwise(cuts)]
    raised = Height(levels, _placed(levels, shape), keys, counts, np.empty_like(begins), np.empty_like(ends))
    return _Rise(below, begins, ends, columns, tables, offsets, rooms, parts, raised)


class _Worker:
    """The buffers of one thread that groups nodes and computes their metrics."""

    def __init__(self, grouper: Grouper, k: int, charges: Charges | None) -> None:
        rows, packing, none = len(grouper.table.counts), grouper.packing, np.zeros((0, 0))
        self._packing = (packing.word, packing.shift, packing.mask)
        self._k = k
        self._priced = charges is not None
        priced = charges or Charges(np.zeros(0), none.astype(np.int64), none)
        self._charges = (priced.values, priced.offsets, priced.constant)
        hashed, owner = np.zeros(hash_capacity(rows), np.int64), np.empty(rows, np.int32)
        self._scratch = (hashed, np.empty_like(grouper.base.keys), owner)
        self._stamp = 0

    def raised(self, rise: _Rise, part: slice) -> tuple[Counts, Floats]:
        """Group a part of a height; return the metrics of its nodes."""
        height, room = rise.height, rise.rooms[part.start]
        source = (rise.below.keys, rise.below.counts, rise.begins[part], rise.ends[part])
        step = (rise.columns[part], rise.tables, rise.offsets[part])
        out = (height.keys[:, room:], height.counts[room:])
        starts = sweep_kernels.roll_up_nodes(source, step, self._packing, self._scratch, self._stamp, out)
        self._stamp += part.stop - part.start
        height.begins[part], height.ends[part] = room + starts[:-1], room + starts[1:]
        return self.tallied(height, part)

    def tallied(self, height: Height, part: slice) -> tuple[Counts, Floats]:
        """Return the metrics of the nodes of a part."""
        source = (height.keys, height.counts, height.begins[part], height.ends[part])
        nodes = height.levels[part]
        figures, added = sweep_kernels.tally_nodes(source, self._k, nodes, self._packing, self._charges, self._priced)
        return figures, added


def _steps(levels: Counts, below: Height, shape: tuple[int, ...]) -> tuple[Counts, Counts]:
    """Return for each node its finer neighbor with the fewest classes, and the column in which that is finer."""
    strides = np.cumprod((1, *shape[:0:-1]))[::-1]
    nodes = np.ravel_multi_index(tuple(levels.T), shape)
    sizes = np.append(below.sizes, np.iinfo(np.int64).max)
    neighbors = np.where(levels > 0, below.places[nodes[:, None] - strides * (levels > 0)], -1)
    columns = sizes[neighbors].argmin(axis=1)
    return neighbors[np.arange(len(levels)), columns], columns.astype(np.int64)


def _tables(grouper: Grouper, levels: Counts, columns: Counts) -> tuple[Words, Counts]:
    """Return for each node its column's labels one level up, all maps in one array, and where each begins."""
    reached = levels[np.arange(len(levels)), columns]
    steps, which = np.unique(np.column_stack([columns, reached]), axis=0, return_inverse=True)
    parts = [grouper.steps.step(column, level - 1, level) for column, level in steps.tolist()]
    begins = np.cumsum([0, *(len(part) for part in parts)])[:-1]
    return np.concatenate(parts), begins[which.reshape(-1)]
