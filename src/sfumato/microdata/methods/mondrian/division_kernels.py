"""Compiled loops of Mondrian that divide classes, in place or level by level.

Shapes as in kernels.py. Dividing a class moves its items so that the left part precedes the right one and each part
keeps its order. Classes may be divided in any order and by several threads: the result is the same.
"""

import numpy as np

from sfumato.microdata.methods.mondrian.cut_kernels import choose
from sfumato.microdata.methods.mondrian.kernels import STRICT, Axes, Buffers, mixed
from sfumato.native.array_types import Bool, Int32, Int32_2, Int32_3, Int64, Int64_2, UInt8, UInt64
from sfumato.native.dispatch import compiled

_DEPTH = 128


@compiled
def part(places, counts, ids, begin, end, column, place, scratch):
    """Move the items of a class with a higher position behind the others; return where they begin."""
    at, moved = begin, 0
    columns = places.shape[1]
    for item in range(begin, end):
        if places[item, column] <= place:
            if at != item:
                for other in range(columns):
                    places[at, other] = places[item, other]
                counts[at] = counts[item]
                ids[at] = ids[item]
            at += 1
        else:
            for other in range(columns):
                scratch.places[moved, other] = places[item, other]
            scratch.counts[moved] = counts[item]
            scratch.ids[moved] = ids[item]
            moved += 1
    for item in range(moved):
        for other in range(columns):
            places[at + item, other] = scratch.places[item, other]
        counts[at + item] = scratch.counts[item]
        ids[at + item] = scratch.ids[item]
    return at


@compiled
def _wait(begin_at, end_at, path_at, open_classes, begin, middle, end, path):
    """Push both parts of a class on the stack, the larger one first, so that its depth is at most log2(n)."""
    first = 0 if middle - begin > end - middle else 1
    for turn in range(2):
        side = first if turn == 0 else 1 - first
        begin_at[open_classes + turn] = begin if side == 0 else middle
        end_at[open_classes + turn] = middle if side == 0 else end
        path_at[open_classes + turn] = mixed(path, side)


@compiled
def divide(
    places: Int32_2,
    counts: Int64,
    ids: Int32,
    begins: Int64,
    ends: Int64,
    paths: UInt64,
    k: int,
    axes: Axes,
    choice: int,
    spare: np.uint64,
    scratch: Buffers,
    least: int,
    marks: UInt8,
    names: UInt64,
    boxes: Int32_3,
    stop: Int64,
):
    """Divide classes strictly, in place, until no cut leaves k rows on both sides.

    Args:
        begins, ends, paths: (c,) the classes; least: classes with fewer items are left for later.
        marks: (n,) receives 1 at the first item of a finished class, and 2 at the first item of a class that is left
            for later, whose path is written to `names` there.
        boxes: (2, n, m) or (2, 0, m): receives, at the first item of each class, the lowest and the highest position
            in each column that the cuts leave to the class.
        stop: (1,) a flag: once it is set, no class is divided any more.
    """
    begin_at, end_at = np.empty(_DEPTH, np.int64), np.empty(_DEPTH, np.int64)
    path_at = np.empty(_DEPTH, np.uint64)
    for start in range(len(begins)):
        begin_at[0], end_at[0], path_at[0] = begins[start], ends[start], paths[start]
        open_classes = 1
        while open_classes:
            open_classes -= 1
            begin, end, path = begin_at[open_classes], end_at[open_classes], path_at[open_classes]
            if end - begin < least:
                marks[begin] = 2
                names[begin] = path
                continue
            if stop[0]:
                marks[begin] = 1
                continue
            column, place, _, _ = choose(places, counts, begin, end, path, 0, k, axes, choice, STRICT, spare, scratch)
            if column < 0:
                marks[begin] = 1
                continue
            middle = part(places, counts, ids, begin, end, column, place, scratch)
            if boxes.shape[1]:
                boxes[:, middle] = boxes[:, begin]
                boxes[1, begin, column] = place
                boxes[0, middle, column] = place + 1
            _wait(begin_at, end_at, path_at, open_classes, begin, middle, end, path)
            open_classes += 2


@compiled
def propose(
    places: Int32_2,
    counts: Int64,
    begins: Int64,
    ends: Int64,
    paths: UInt64,
    tried: Int64,
    k: int,
    axes: Axes,
    choice: int,
    mode: int,
    spare: np.uint64,
    scratch: Buffers,
    cuts: Int64_2,
    stop: Int64,
):
    """Propose the next cut of each class: cuts (c, 3) receives column (-1 if none), position and rows left.

    `tried` is advanced. Once the flag `stop` is set, there is no cut.
    """
    for at in range(len(begins)):
        if stop[0]:
            cuts[at, 0] = -1
            continue
        column, place, left, done = choose(
            places, counts, begins[at], ends[at], paths[at], tried[at], k, axes, choice, mode, spare, scratch
        )
        cuts[at, 0], cuts[at, 1], cuts[at, 2] = column, place, left
        tried[at] = done


@compiled
def sides(places: Int32_2, counts: Int64, begins: Int64, ends: Int64, cuts: Int64_2, lefts: Int64):
    """Compute for each item the rows that go left when its class is cut: lefts (n,), all of them without a cut."""
    for at in range(len(begins)):
        column, place, left = cuts[at, 0], cuts[at, 1], cuts[at, 2]
        if column < 0:
            lefts[begins[at] : ends[at]] = counts[begins[at] : ends[at]]
            continue
        for item in range(begins[at], ends[at]):
            if places[item, column] < place:
                left -= counts[item]
        for item in range(begins[at], ends[at]):
            here = places[item, column]
            lefts[item] = counts[item] if here < place else 0
            if here == place:
                lefts[item] = min(left, counts[item])
                left -= lefts[item]


@compiled
def divide_level(
    places: Int32_2,
    counts: Int64,
    ids: Int32,
    begins: Int64,
    ends: Int64,
    lefts: Int64,
    out_places: Int32_2,
    out_counts: Int64,
    out_ids: Int32,
    out_middles: Int64,
    out_ends: Int64,
):
    """Write each class as its two parts, left before right; a divided item is in both.

    Args:
        out_places, out_counts, out_ids: receive the items; out_middles, out_ends: (c,) where each class's right part
            begins (its end, where there is no cut) and where the class ends.
    """
    written = 0
    for at in range(len(begins)):
        for side in range(2):
            for item in range(begins[at], ends[at]):
                rows = lefts[item] if side == 0 else counts[item] - lefts[item]
                if rows:
                    out_places[written] = places[item]
                    out_counts[written] = rows
                    out_ids[written] = ids[item]
                    written += 1
            if side == 0:
                out_middles[at] = written
        out_ends[at] = written
    return written


@compiled
def renamed(paths: UInt64, right: Bool, cut: Bool):
    """Return the path of each part: extended by its side if the class was cut, else unchanged."""
    names = paths.copy()
    for at in range(len(paths)):
        if cut[at]:
            names[at] = mixed(paths[at], 1 if right[at] else 0)
    return names
