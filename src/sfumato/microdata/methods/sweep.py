"""The sweep: every node of a lattice judged for k-anonymity, one height after the other, in compiled loops.

Each node is rolled up from the finer neighbor with the fewest classes, by one step of one column; only two heights are
in memory at a time. Other promises than k-anonymity are judged node by node (exhaustive.py).
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.microdata.classes import Counts, Floats
from sfumato.microdata.grouping import Grouper, Node
from sfumato.microdata.losses.loss import Charges, Swept
from sfumato.microdata.methods import sweep_kernels
from sfumato.microdata.packing import Words


@dataclass(frozen=True, slots=True)
class Height:
    """The classes of all nodes of a height, one node after the other.

    Attributes:
        levels: Of each node, (nodes, columns); places: for every node of the lattice its place here.
    """

    levels: Counts
    places: Counts
    keys: Words
    counts: Counts
    starts: Counts


def by_height(nodes: Iterator[Node]) -> list[list[Node]]:
    """Nodes by the sum of their levels, lowest first."""
    heights: dict[int, list[Node]] = defaultdict(list)
    for node in nodes:
        heights[sum(node)].append(node)
    return [heights[height] for height in sorted(heights)]


def sweep(grouper: Grouper, heights: Sequence[Sequence[Node]], k: int, charges: Charges | None) -> Iterator[Swept]:
    """Every node, a height at a time."""
    shape = tuple(ladder.height for ladder in grouper.table.ladders)
    below: Height | None = None
    for nodes in heights:
        levels = np.array(nodes, np.int64)
        below = _lowest(grouper, levels, shape) if below is None else _rolled_up(grouper, levels, below, shape)
        figures, added = _tallied(grouper, below, k, charges)
        suppressed, kept, smallest, largest, squares, lost = figures
        yield Swept(levels, np.diff(below.starts), suppressed, kept, smallest, largest, squares, lost, added)


def _lowest(grouper: Grouper, levels: Counts, shape: tuple[int, ...]) -> Height:
    grouped = grouper.rolled(grouper.base, tuple(levels[0].tolist()))
    starts = np.array([0, len(grouped.sizes)], np.int64)
    return Height(levels, _placed(levels, shape), grouped.keys, grouped.sizes, starts)


def _placed(levels: Counts, shape: tuple[int, ...]) -> Counts:
    """For every node of the lattice its place in a height, -1 for nodes of other heights."""
    places = np.full(int(np.prod(shape)), -1, np.int64)
    places[np.ravel_multi_index(tuple(levels.T), shape)] = np.arange(len(levels))
    return places


def _rolled_up(grouper: Grouper, levels: Counts, below: Height, shape: tuple[int, ...]) -> Height:
    sources, columns = _steps(levels, below, shape)
    begins, ends = below.starts[sources], below.starts[sources + 1]
    tables, offsets = _tables(grouper, levels, columns)
    room, longest = int((ends - begins).sum()), int((ends - begins).max())
    words = len(below.keys)
    keys, counts = np.empty((words, room), np.uint64), np.empty(room, np.int64)
    packing = grouper.packing
    table, stamp = grouper.hash_table(len(levels))
    starts = sweep_kernels.roll_up_height(
        below.keys,
        below.counts,
        begins,
        ends,
        columns,
        tables,
        offsets,
        packing.word,
        packing.shift,
        packing.mask,
        table,
        stamp,
        np.empty((words, longest), np.uint64),
        np.empty(longest, np.int32),
        keys,
        counts,
    )
    return Height(levels, _placed(levels, shape), keys, counts, starts)


def _steps(levels: Counts, below: Height, shape: tuple[int, ...]) -> tuple[Counts, Counts]:
    """For each node its finer neighbor with the fewest classes, and the column in which that is finer."""
    strides = np.cumprod((1, *shape[:0:-1]))[::-1]
    nodes = np.ravel_multi_index(tuple(levels.T), shape)
    sizes = np.append(np.diff(below.starts), np.iinfo(np.int64).max)
    neighbors = np.where(levels > 0, below.places[nodes[:, None] - strides * (levels > 0)], -1)
    columns = sizes[neighbors].argmin(axis=1)
    return neighbors[np.arange(len(levels)), columns], columns.astype(np.int64)


def _tables(grouper: Grouper, levels: Counts, columns: Counts) -> tuple[Words, Counts]:
    """For each node its column's labels one level up, all steps in one array, and where each begins."""
    reached = levels[np.arange(len(levels)), columns]
    steps, which = np.unique(np.column_stack([columns, reached]), axis=0, return_inverse=True)
    parts = [grouper.step(column, level - 1, level) for column, level in steps.tolist()]
    begins = np.cumsum([0, *(len(part) for part in parts)])[:-1]
    return np.concatenate(parts), begins[which.reshape(-1)]


def _tallied(grouper: Grouper, height: Height, k: int, charges: Charges | None) -> tuple[Counts, Floats]:
    packing = grouper.packing
    none = np.zeros((0, 0))
    used = charges or Charges(np.zeros(0), none.astype(np.int64), none)
    figures, added = sweep_kernels.tally_height(
        height.keys,
        height.counts,
        height.starts,
        k,
        height.levels,
        packing.word,
        packing.shift,
        packing.mask,
        used.values,
        used.offsets,
        used.constant,
        charges is not None,
    )
    return figures, added
