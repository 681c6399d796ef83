"""Compiled loops of the local search of K-Optimize: the cost of a set of features and of adding each further one."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.microdata.methods.k_optimize import problem_arrays as at
from sfumato.microdata.methods.k_optimize.kernels import blocks, penalties, suppressed_cost
from sfumato.native.array_types import Float64, Int8, Int64, Int64_2, UInt64
from sfumato.native.dispatch import compiled

Flag = npt.NDArray[np.int64]
NEVER = 1e300
_MIX = np.uint64(0x9E3779B97F4A7C15)
GAIN = 1.0 - 1e-12
OWNER, ORDER, SIZES, START, LEADER = 0, 1, 2, 3, 4


class Buffers(NamedTuple):
    """Working arrays: n rows, m columns, f features, v codes of all columns.

    codes (n, m): the rows unpacked; marks (v,): a random word for each code; block, penalty (v,): of each code.
    rows (5, n + 2): OWNER: the class of each row; ORDER: the rows by class, the first of a class at its START; SIZES of
        classes; LEADER: one row of it.
    tallies (v, c + 1): rows of each code of one class with each label, and in all.
    costs, hidden (f,): with each feature added. table (2, 2^b), clock (1,): a hash table of classes, its last stamp.
    """

    codes: Int64_2
    marks: UInt64
    block: Int64
    penalty: Float64
    rows: Int64_2
    tallies: Int64_2
    costs: Float64
    hidden: Int64
    table: Int64_2
    clock: Int64


@compiled
def group(inst, scratch, state):
    """Find the classes of a head: owners, sizes, and the number of classes."""
    columns = len(inst.weights)
    for column in range(columns):
        base = inst.columns[column, at.BASE]
        blocks(inst, state, at.HEAD, column, scratch.block, base)
    scratch.clock[0] += 1
    last = np.uint64(scratch.table.shape[1] - 1)
    count = 0
    for row in range(len(inst.counts)):
        mixed = np.uint64(0)
        for column in range(columns):
            base = inst.columns[column, at.BASE]
            mixed += scratch.marks[base + scratch.block[base + scratch.codes[row, column]]]
        place = ((mixed * _MIX) >> np.uint64(20)) & last
        match = -1
        while scratch.table[1, place] == scratch.clock[0]:
            other = scratch.table[0, place]
            leader = scratch.rows[LEADER, other]
            same = True
            for column in range(columns):
                base = inst.columns[column, at.BASE]
                if (
                    scratch.block[base + scratch.codes[row, column]]
                    != scratch.block[base + scratch.codes[leader, column]]
                ):
                    same = False
                    break
            if same:
                match = other
                break
            place = (place + np.uint64(1)) & last
        if match < 0:
            scratch.table[0, place], scratch.table[1, place] = count, scratch.clock[0]
            scratch.rows[LEADER, count], scratch.rows[SIZES, count] = row, 0
            match = count
            count += 1
        scratch.rows[OWNER, row] = match
        scratch.rows[SIZES, match] += inst.counts[row]
    return count


@compiled
def arrange(inst, scratch, count):
    """Order the rows by class."""
    for place in range(count + 1):
        scratch.rows[START, place] = 0
    for row in range(len(inst.counts)):
        scratch.rows[START, scratch.rows[OWNER, row] + 1] += 1
    for place in range(count):
        scratch.rows[START, place + 1] += scratch.rows[START, place]
    for row in range(len(inst.counts) - 1, -1, -1):
        owner = scratch.rows[OWNER, row]
        scratch.rows[START, owner + 1] -= 1
        scratch.rows[ORDER, scratch.rows[START, owner + 1]] = row
    for place in range(count):
        scratch.rows[START, place] = scratch.rows[START, place + 1]
    scratch.rows[START, count] = len(inst.counts)


@compiled
def labels_of(inst, scratch, place, total):
    """Count the rows of a class with each label."""
    for label in range(len(total)):
        total[label] = 0
    for index in range(scratch.rows[START, place], scratch.rows[START, place + 1]):
        for label in range(inst.label_rows.shape[1]):
            total[label] += inst.label_rows[scratch.rows[ORDER, index], label]


@compiled
def price(inst, size, total, one):
    """Return the cost of a part of a class: `one` are its labels, or its complement in `total` if that is given."""
    if size < inst.params[at.K]:
        return suppressed_cost(inst, size)
    if inst.params[at.KIND] == at.DISCERNIBILITY:
        return np.float64(size) * size
    most = 0
    for label in range(len(one)):
        most = max(most, total[label] - one[label])
    return np.float64(size - most)


@compiled
def cost_of(inst, scratch, state):
    """Return the cost of a head, and its number of classes; more than `NEVER` if it suppresses too many rows."""
    count = group(inst, scratch, state)
    arrange(inst, scratch, count)
    hidden, cost = 0, 0.0
    total, none = np.zeros(inst.label_rows.shape[1], np.int64), np.zeros(inst.label_rows.shape[1], np.int64)
    for place in range(count):
        size = scratch.rows[SIZES, place]
        if size < inst.params[at.K]:
            hidden += size
        elif inst.params[at.KIND] == at.DISCERNIBILITY:
            cost += np.float64(size) * size
        elif inst.params[at.KIND] == at.CLASSIFICATION:
            labels_of(inst, scratch, place, total)
            cost += price(inst, size, total, none)
    if inst.params[at.KIND] == at.LOSS_METRIC:
        cost += label_losses(inst, scratch, state)
    return cost + suppressed_cost(inst, hidden) if hidden <= inst.params[at.LIMIT] else NEVER, count, hidden


@compiled
def label_losses(inst, scratch, state):
    """Return the loss metric of the rows that are kept."""
    penalties(inst, state, at.HEAD, scratch.penalty)
    cost = 0.0
    for row in range(len(inst.counts)):
        if scratch.rows[SIZES, scratch.rows[OWNER, row]] >= inst.params[at.K]:
            for column in range(len(inst.weights)):
                cost += inst.counts[row] * scratch.penalty[inst.columns[column, at.BASE] + scratch.codes[row, column]]
    return cost


@compiled
def additions(inst, scratch, state, cost, count, hidden):
    """Compute the cost of the head with each further feature, from its classes as `cost_of` left them."""
    for feature in range(len(state)):
        scratch.costs[feature], scratch.hidden[feature] = cost, hidden
    total = np.zeros(inst.label_rows.shape[1], np.int64)
    one, none = np.zeros_like(total), np.zeros_like(total)
    for place in range(count):
        size, start, stop = scratch.rows[SIZES, place], scratch.rows[START, place], scratch.rows[START, place + 1]
        if size < inst.params[at.K] or stop - start == 1:
            continue
        labels_of(inst, scratch, place, total)
        for column in range(len(inst.weights)):
            low, high = tally_codes(inst, scratch, start, stop, column)
            if low < high:
                add_splits(inst, scratch, state, column, low, high, size, total, one, none)
    for feature in range(len(state)):
        if scratch.hidden[feature] > inst.params[at.LIMIT]:
            scratch.costs[feature] = NEVER


@compiled
def tally_codes(inst, scratch, start, stop, column):
    """Return the lowest and highest code of a class in a column; if they differ, count the rows of each code."""
    tallies, labels = scratch.tallies, inst.label_rows.shape[1]
    low, high = inst.columns[column, at.SIZE], np.int64(0)
    for index in range(start, stop):
        code = scratch.codes[scratch.rows[ORDER, index], column]
        low, high = min(low, code), max(high, code)
    if low == high:
        return low, high
    for code in range(low, high + 1):
        for label in range(labels + 1):
            tallies[code, label] = 0
    for index in range(start, stop):
        row = scratch.rows[ORDER, index]
        code = scratch.codes[row, column]
        tallies[code, labels] += inst.counts[row]
        for label in range(labels):
            tallies[code, label] += inst.label_rows[row, label]
    return low, high


@compiled
def add_splits(inst, scratch, state, column, low, high, size, total, one, none):
    """Add the effect of each further feature of a column on a class, from its counts.

    Args:
        size, total: The rows of the class, and those of each label; one, none: (labels,) a buffer, and zeros.
    """
    tallies, labels, ordered = scratch.tallies, len(total), inst.params[at.ORDERED]
    whole = price(inst, size, total, none)
    seen = 0
    for label in range(labels):
        one[label] = 0
    for code in range(low, high + (0 if ordered else 1)):
        seen = tallies[code, labels] + (seen if ordered else 0)
        for label in range(labels):
            one[label] = tallies[code, label] + (one[label] if ordered else 0)
        feature = inst.columns[column, at.FIRST] + code
        if state[feature] == at.HEAD or seen == 0 or seen == size:
            continue
        scratch.costs[feature] += price(inst, seen, one, none) + price(inst, size - seen, total, one) - whole
        if seen < inst.params[at.K]:
            scratch.hidden[feature] += seen
        if size - seen < inst.params[at.K]:
            scratch.hidden[feature] += size - seen


@compiled
def additions_one_by_one(inst, scratch, state, choices, stop):
    """Like `additions`, for costs that are not sums over classes."""
    costs = np.full(len(state), NEVER)
    for feature in choices:
        if state[feature] != at.HEAD and stop[0] == 0:
            state[feature] = at.HEAD
            costs[feature] = cost_of(inst, scratch, state)[0]
            state[feature] = at.OUT
    for feature in range(len(state)):
        scratch.costs[feature] = costs[feature]


@compiled
def best_addition(inst, scratch, state, choices, stop):
    """Return the cost of a set, the best feature to add, and the cost with it."""
    cost, count, hidden = cost_of(inst, scratch, state)
    if hidden > inst.params[at.LIMIT]:
        return cost, -1, NEVER
    if inst.params[at.KIND] == at.LOSS_METRIC:
        additions_one_by_one(inst, scratch, state, choices, stop)
    else:
        additions(inst, scratch, state, cost, count, hidden)
    best, least = -1, NEVER
    for feature in choices:
        if state[feature] != at.HEAD and scratch.costs[feature] < least:
            best, least = feature, scratch.costs[feature]
    return cost, best, least


@compiled
def shuffle(items, count, random):
    """Shuffle the first items in place."""
    for place in range(count - 1, 0, -1):
        other = draw(random, place + 1)
        items[place], items[other] = items[other], items[place]


@compiled
def draw(random, below):
    """Return a random number from 0 to below `below`, from an own generator: the same on every machine."""
    random[0] ^= random[0] << np.uint64(13)
    random[0] ^= random[0] >> np.uint64(7)
    random[0] ^= random[0] << np.uint64(17)
    return np.int64((random[0] >> np.uint64(11)) % np.uint64(below))


@compiled
def climb(inst: at.Instance, scratch: Buffers, state: Int8, choices: Int64, random: UInt64, stop: Int64):
    """Improve a set by additions, removals and exchanges until none helps; return its cost.

    Args:
        choices: The features that may be used: those of columns that have more than one value here.
    """
    features = choices.copy()
    cost, added, least = best_addition(inst, scratch, state, choices, stop)
    while stop[0] == 0:
        if added >= 0 and least < cost * GAIN:
            state[added] = at.HEAD
            cost, added, least = best_addition(inst, scratch, state, choices, stop)
            continue
        improved = False
        shuffle(features, len(features), random)
        for place in range(len(features)):
            feature = features[place]
            if state[feature] != at.HEAD or stop[0] != 0:
                continue
            state[feature] = at.OUT
            fewer, other, swapped = best_addition(inst, scratch, state, choices, stop)
            if min(fewer, swapped) < cost * GAIN:
                if swapped < fewer:
                    state[other] = at.HEAD
                improved = True
                break
            state[feature] = at.HEAD
        if not improved:
            return cost
        cost, added, least = best_addition(inst, scratch, state, choices, stop)
    return cost


@compiled
def relieve(inst: at.Instance, scratch: Buffers, state: Int8, random: UInt64):
    """Drop features of a head that suppresses too many rows, until it may be released."""
    while cost_of(inst, scratch, state)[0] >= NEVER:
        state[draw(random, len(state))] = at.OUT


@compiled
def shake(inst: at.Instance, state: Int8, choices: Int64, random: UInt64, strength: int):
    """Change a set at random: drop all features of one column, or toggle a few features."""
    if draw(random, 3) == 0:
        column = inst.features[choices[draw(random, len(choices))], at.COLUMN]
        for feature in range(inst.columns[column, at.FIRST], inst.columns[column + 1, at.FIRST]):
            state[feature] = at.OUT
        return
    for _ in range(1 + draw(random, strength)):
        feature = choices[draw(random, len(choices))]
        state[feature] = at.OUT if state[feature] == at.HEAD else at.HEAD
