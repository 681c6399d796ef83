"""Compiled depth-first search of K-Optimize: the nodes from the start of the branch to the current one are on a stack.

A child is made above its parent on the stack by splitting the parent's classes. When it is done, the parent continues
with one feature less and its atoms merged in place. No node is ever grouped from the table again.
"""

from typing import NamedTuple

import numpy as np

from sfumato.microdata.methods.k_optimize import problem_arrays as at
from sfumato.microdata.methods.k_optimize.bounds_kernels import (
    APART,
    HIDES,
    SPLITS,
    WITH,
    WITHOUT,
    Verdicts,
    atom_floors,
    evaluate,
    whole_cost,
)
from sfumato.microdata.methods.k_optimize.kernels import (
    code_of,
    has,
    merge,
    move,
    penalties,
    relabel,
    renames,
    suppressed_cost,
)
from sfumato.native.array_types import Float64, Float64_2, Int8, Int8_2, Int64, Int64_2
from sfumato.native.dispatch import compiled

# A set must be better than the incumbent by more than rounding errors: by this share of its cost.
TIE = 1e-12
ROW0, ROW1, CLASS0, CLASS1, HIDDEN, TAKEN = 0, 1, 2, 3, 4, 5
SETTLED, BOUND = 0, 1


class Stack(NamedTuple):
    """Buffers of a depth-first search: p atoms in w words, d nodes, f features.

    keys (p, w), counts (p,), label_rows (p, c), floors (p,): atoms, node by node; ends (p + 1,): where classes end.
    states (d, f): of each node; spans (6, d): its atoms and classes from ROW0, CLASS0 up to ROW1, CLASS1, its
        suppressed rows (HIDDEN), and the feature TAKEN for its child.
    costs (2, d): the cost of the SETTLED classes of a node, and its BOUND.
    table (2, 2^b), clock (1,): a hash table for merging, and the last stamp used in it.
    """

    keys: Int64_2
    counts: Int64
    label_rows: Int64_2
    floors: Float64
    ends: Int64
    states: Int8_2
    spans: Int64_2
    costs: Float64_2
    table: Int64_2
    clock: Int64


@compiled
def compact(inst, stack, depth, touched):
    """Merge the atoms of a node that its features no longer distinguish.

    Args:
        touched: (m + 1,) the columns that lost features, and in the last place whether any did.
    """
    spans = stack.spans
    block = np.empty(inst.columns[-1, at.BASE], np.int64)
    renames(inst, stack.states[depth], touched, block)
    start = write = spans[ROW0, depth]
    kept = spans[CLASS0, depth]
    for place in range(spans[CLASS0, depth], spans[CLASS1, depth]):
        stop, begin = stack.ends[place], write
        if relabel(inst, stack.keys, start, stop, touched, block):
            stack.clock[0] += 1
            write = merge(stack.keys, stack.counts, stack.label_rows, start, stop, write, stack.table, stack.clock[0])
        else:
            for row in range(start, stop):
                move(stack.keys, stack.counts, stack.label_rows, row, row - start + begin)
            write += stop - start
        start = stop
        if write - begin == 1 and inst.params[at.KIND] != at.LOSS_METRIC:
            stack.costs[SETTLED, depth] += whole_cost(inst, stack.counts[begin], stack.label_rows, begin, write, 0.0)
            write = begin
        else:
            stack.ends[kept] = write
            kept += 1
    spans[ROW1, depth], spans[CLASS1, depth] = write, kept


@compiled
def inherit(stack, one, other):
    """Copy the state, the costs and the suppressed rows of one node to another."""
    for feature in range(stack.states.shape[1]):
        stack.states[other, feature] = stack.states[one, feature]
    stack.spans[HIDDEN, other] = stack.spans[HIDDEN, one]
    stack.costs[SETTLED, other] = stack.costs[SETTLED, one]
    stack.costs[BOUND, other] = stack.costs[BOUND, one]


@compiled
def spread(inst, stack, depth, feature):
    """Create the child with a feature in its head, above its parent on the stack."""
    spans, above = stack.spans, depth + 1
    inherit(stack, depth, above)
    stack.states[above, feature] = at.HEAD
    spans[ROW0, above], spans[CLASS0, above] = spans[ROW1, depth], spans[CLASS1, depth]
    write, kept, start = spans[ROW0, above], spans[CLASS0, above], spans[ROW0, depth]
    for place in range(spans[CLASS0, depth], spans[CLASS1, depth]):
        stop = stack.ends[place]
        for side in range(2):
            begin, size = write, 0
            for row in range(start, stop):
                if has(inst, stack.keys, row, feature) == (side == 1):
                    move(stack.keys, stack.counts, stack.label_rows, row, write)
                    size += stack.counts[row]
                    write += 1
            if size == 0:
                continue
            if size < inst.params[at.K]:
                stack.costs[SETTLED, above] += suppressed_cost(inst, size)
                spans[HIDDEN, above] += size
                write = begin
            elif write - begin == 1 and inst.params[at.KIND] != at.LOSS_METRIC:
                stack.costs[SETTLED, above] += whole_cost(inst, size, stack.label_rows, begin, write, 0.0)
                write = begin
            else:
                stack.ends[kept] = write
                kept += 1
        start = stop
    spans[ROW1, above], spans[CLASS1, above] = write, kept


@compiled
def lower(stack, depth):
    """Move the child to its parent's position."""
    spans, above = stack.spans, depth + 1
    shift = spans[ROW0, above] - spans[ROW0, depth]
    for row in range(spans[ROW0, above], spans[ROW1, above]):
        move(stack.keys, stack.counts, stack.label_rows, row, row - shift)
    classes = spans[CLASS1, above] - spans[CLASS0, above]
    for place in range(classes):
        stack.ends[spans[CLASS0, depth] + place] = stack.ends[spans[CLASS0, above] + place] - shift
    spans[CLASS1, depth] = spans[CLASS0, depth] + classes
    spans[ROW1, depth] = spans[ROW1, above] - shift
    inherit(stack, above, depth)


@compiled
def has_room(stack, depth):
    """Return whether a child fits above a node."""
    return 2 * stack.spans[ROW1, depth] - stack.spans[ROW0, depth] <= len(stack.counts)


@compiled
def head_cost(inst: at.Instance, stack: Stack, depth: int, penalty: Float64):
    """Return the cost of a node's head."""
    cost, start = stack.costs[SETTLED, depth], stack.spans[ROW0, depth]
    if inst.params[at.KIND] == at.LOSS_METRIC:
        penalties(inst, stack.states[depth], at.HEAD, penalty)
        for row in range(start, stack.spans[ROW1, depth]):
            loss = 0.0
            for column in range(len(inst.weights)):
                loss += penalty[inst.columns[column, at.BASE] + code_of(inst, stack.keys, row, column)]
            cost += loss * stack.counts[row]
        return cost
    for place in range(stack.spans[CLASS0, depth], stack.spans[CLASS1, depth]):
        stop = stack.ends[place]
        size = 0
        for row in range(start, stop):
            size += stack.counts[row]
        cost += whole_cost(inst, size, stack.label_rows, start, stop, 0.0)
        start = stop
    return cost


@compiled
def load(inst: at.Instance, stack: Stack, state: Int8):
    """Make the node of a state the first one on the stack."""
    # Not the literal 0, because every function that receives it would be compiled again for it.
    rows, bottom = len(inst.counts), np.int64(0)
    stack.keys[:rows], stack.counts[:rows], stack.label_rows[:rows] = inst.keys, inst.counts, inst.label_rows
    stack.states[0] = state
    stack.spans[ROW0, 0], stack.spans[ROW1, 0], stack.ends[0] = 0, rows, rows
    stack.spans[CLASS0, 0], stack.spans[CLASS1, 0], stack.spans[HIDDEN, 0] = 0, 1, 0
    stack.costs[SETTLED, 0] = stack.costs[BOUND, 0] = 0.0
    compact(inst, stack, bottom, np.ones(len(inst.weights) + 1, np.bool_))
    for feature in range(len(state)):
        if state[feature] == at.HEAD:
            spread(inst, stack, bottom, feature)
            lower(stack, bottom)


@compiled
def sort_out(inst, state, out, most, touched):
    """Remove from the tail what the bounds exclude (rules 5 to 7).

    Returns:
        Whether the tail or the head changed, how many features are left, and one that is needed (or -1).
    """
    changed, left, needed = False, 0, -1
    for feature in range(len(state)):
        if state[feature] != at.TAIL:
            continue
        if out.counts[SPLITS, feature] == 0:
            if inst.params[at.KIND] == at.LOSS_METRIC:
                state[feature] = at.HEAD
                changed = True
            else:
                state[feature] = at.OUT
        elif out.bounds[WITH, feature] >= most or out.counts[HIDES, feature] > inst.params[at.LIMIT]:
            state[feature] = at.OUT
            touched[inst.features[feature, at.COLUMN]] = touched[-1] = True
            changed = True
        else:
            left += 1
            if out.bounds[WITHOUT, feature] >= most:
                needed = feature
    return changed, left, needed


@compiled
def settle(inst, stack, depth, out, best, best_state, touched, stop):
    """Prune a node until nothing changes or the flag is set; return whether anything below it is left to search."""
    fresh = True
    while True:
        state, spans = stack.states[depth], stack.spans
        if touched[-1]:
            compact(inst, stack, depth, touched)
            for column in range(len(touched)):
                touched[column] = False
        start, end, hidden = spans[ROW0, depth], spans[ROW1, depth], spans[HIDDEN, depth]
        keys, counts, label_rows, floors = stack.keys, stack.counts, stack.label_rows, stack.floors
        atom_floors(inst, state, keys, counts, label_rows, start, end, out.penalty, floors)
        first, last, settled = spans[CLASS0, depth], spans[CLASS1, depth], stack.costs[SETTLED, depth]
        bound = evaluate(
            inst, state, keys, counts, label_rows, floors, start, stack.ends, first, last, settled, hidden, out
        )
        stack.costs[BOUND, depth] = max(stack.costs[BOUND, depth], bound)
        if fresh:
            cost = head_cost(inst, stack, depth, out.penalty)
            if cost < best[0] * (1.0 - TIE):
                best[0] = cost
                best_state[:] = state
        most = best[0] * (1.0 - TIE)
        if bound >= most:
            return False
        changed, left, needed = sort_out(inst, state, out, most, touched)
        fresh = changed and inst.params[at.KIND] == at.LOSS_METRIC
        if left == 0 and not changed:
            return False
        if stop[0] != 0:
            return True
        if changed:
            continue
        if needed < 0 or not has_room(stack, depth):
            return True
        spread(inst, stack, depth, needed)
        lower(stack, depth)
        fresh = True


@compiled
def branch(inst, state, out):
    """Return the feature to branch on: the one that alone separates most; of equal ones the first in order.

    Such a feature affects the cost either way: with it classes are smaller, without it large blocks are merged, which
    no other feature can split. A cut in the middle of a column with cuts left on both sides matters less: they replace
    it. So do splits with a suppressed part, because the best sets have few of them.
    """
    apart, chosen = out.bounds[APART], -1
    for place in range(len(state)):
        feature = inst.features[place, at.TURN]
        if state[feature] == at.TAIL and (chosen < 0 or apart[feature] > apart[chosen]):
            chosen = feature
    return chosen


@compiled
def dive(
    inst: at.Instance,
    stack: Stack,
    out: Verdicts,
    state: Int8,
    best: Float64,
    best_state: Int8,
    limit: int,
    stop: Int64,
    open_states: Int8_2,
    open_bounds: Float64,
):
    """Search below a node in depth until it is done, the limit of nodes is reached or the flag `stop` is set.

    Args:
        best, best_state: (1,), (f,) the lowest known cost, and its head; updated when a better one is found.
        open_states, open_bounds: (d, f), (d,) receive the nodes that are left to be searched.

    Returns:
        How many nodes are left, and how many were looked at.
    """
    load(inst, stack, state)
    touched = np.zeros(len(inst.weights) + 1, np.bool_)
    depth, nodes = np.int64(0), 0
    while depth >= 0:
        nodes += 1
        if not settle(inst, stack, depth, out, best, best_state, touched, stop):
            depth -= 1
            if depth >= 0:
                touched[inst.features[stack.spans[TAKEN, depth], at.COLUMN]] = touched[-1] = True
            continue
        if nodes >= limit or stop[0] != 0 or not has_room(stack, depth):
            break
        feature = branch(inst, stack.states[depth], out)
        spread(inst, stack, depth, feature)
        stack.states[depth, feature] = at.OUT
        stack.spans[TAKEN, depth] = feature
        depth += 1
    for place in range(depth + 1):
        open_states[place] = stack.states[place]
        open_bounds[place] = stack.costs[BOUND, place]
    return depth + 1, nodes
