"""Compiled loops of local suppression: assign rows to groups of k, move them to cheaper ones, and dissolve groups.

groups: (patterns, combinations) the group of a combination under each pattern, -1 if it does not fit; starts: the first
number of each pattern's groups in a common numbering; costs: (patterns, combinations) the cost of a row. chosen:
(combinations,) the pattern of each combination, -1 for none; filled: (all groups,) rows in each group.
"""

import numpy as np

from sfumato.native.array_types import Float64_2, Int32, Int32_2, Int64
from sfumato.native.dispatch import compiled

NONE = -1


@compiled
def fill(groups: Int32_2, starts: Int64, counts: Int64, k: int, chosen: Int64, filled: Int64):
    """Form groups from the cheapest pattern on: unassigned combinations with k rows together become one."""
    rows = np.zeros(len(filled), np.int64)
    for pattern in range(len(groups)):
        for one in range(len(counts)):
            if chosen[one] == NONE and groups[pattern, one] != NONE:
                rows[starts[pattern] + groups[pattern, one]] += counts[one]
        for one in range(len(counts)):
            if chosen[one] == NONE and groups[pattern, one] != NONE:
                group = starts[pattern] + groups[pattern, one]
                if rows[group] >= k:
                    chosen[one] = pattern
                    filled[group] += counts[one]


@compiled
def cheapest(one, groups, starts, costs, filled, avoided):
    """Return the cheapest pattern with which a combination joins a nonempty group other than `avoided`; or -1."""
    best, least = NONE, np.inf
    for pattern in range(len(groups)):
        if groups[pattern, one] == NONE or costs[pattern, one] >= least:
            continue
        group = starts[pattern] + groups[pattern, one]
        if filled[group] > 0 and group != avoided:
            best, least = pattern, costs[pattern, one]
    return best


@compiled
def place(groups: Int32_2, starts: Int64, costs: Float64_2, counts: Int64, chosen: Int64, filled: Int64):
    """Put unassigned combinations into the cheapest nonempty group; return how many fit none."""
    left = 0
    for one in range(len(counts)):
        if chosen[one] == NONE:
            pattern = cheapest(one, groups, starts, costs, filled, NONE)
            if pattern == NONE:
                left += 1
            else:
                chosen[one] = pattern
                filled[starts[pattern] + groups[pattern, one]] += counts[one]
    return left


@compiled
def move(groups: Int32_2, starts: Int64, costs: Float64_2, counts: Int64, k: int, chosen: Int64, filled: Int64):
    """Move combinations to cheaper groups if those they leave keep k rows or none; return the savings."""
    saved = 0.0
    for one in range(len(counts)):
        now = chosen[one]
        group = starts[now] + groups[now, one]
        if 0 < filled[group] - counts[one] < k:
            continue
        pattern = cheapest(one, groups, starts, costs, filled, group)
        if pattern != NONE and costs[pattern, one] < costs[now, one] - 1e-9:
            saved += counts[one] * (costs[now, one] - costs[pattern, one])
            filled[group] -= counts[one]
            filled[starts[pattern] + groups[pattern, one]] += counts[one]
            chosen[one] = pattern
    return saved


@compiled
def gather(
    pattern: int,
    order: Int32,
    groups: Int32_2,
    starts: Int64,
    costs: Float64_2,
    counts: Int64,
    k: int,
    chosen: Int64,
    filled: Int64,
):
    """Open groups of a pattern for combinations that cost less there and may leave theirs; return the savings.

    Args:
        order: The combinations, those of a group of the pattern contiguous.
    """
    saved, begin = 0.0, 0
    while begin < len(order):
        end = begin
        number = groups[pattern, order[begin]]
        while end < len(order) and groups[pattern, order[end]] == number:
            end += 1
        if number != NONE:
            saved += open_group(pattern, order[begin:end], groups, starts, costs, counts, k, chosen, filled)
        begin = end
    return saved


@compiled
def open_group(pattern, members, groups, starts, costs, counts, k, chosen, filled):
    """Open one group if k rows gain by it; all that gain join."""
    target = starts[pattern] + groups[pattern, members[0]]
    rows, leaves = filled[target], np.zeros(len(members), np.bool_)
    for place in range(len(members)):
        one = members[place]
        own = starts[chosen[one]] + groups[chosen[one], one]
        left = filled[own] - counts[one]
        if own != target and costs[pattern, one] < costs[chosen[one], one] - 1e-9 and (left >= k or left == 0):
            leaves[place] = True
            filled[own] = left
            rows += counts[one]
    saved = 0.0
    for place in range(len(members)):
        one = members[place]
        if leaves[place] and rows >= k:
            saved += counts[one] * (costs[chosen[one], one] - costs[pattern, one])
            chosen[one] = pattern
        elif leaves[place]:
            filled[starts[chosen[one]] + groups[chosen[one], one]] += counts[one]
    if rows >= k:
        filled[target] = rows
    return saved


@compiled
def dissolve(
    order: Int32, groups: Int32_2, starts: Int64, costs: Float64_2, counts: Int64, chosen: Int64, filled: Int64
):
    """Dissolve groups whose combinations together cost less in other groups; return the savings.

    Args:
        order: The combinations, those of a group contiguous.
    """
    saved, begin = 0.0, 0
    while begin < len(order):
        group = starts[chosen[order[begin]]] + groups[chosen[order[begin]], order[begin]]
        end, gain, possible, rows = begin, 0.0, True, 0
        while end < len(order) and starts[chosen[order[end]]] + groups[chosen[order[end]], order[end]] == group:
            one = order[end]
            pattern = cheapest(one, groups, starts, costs, filled, group)
            if pattern == NONE:
                possible = False
            else:
                gain += counts[one] * (costs[chosen[one], one] - costs[pattern, one])
            rows += counts[one]
            end += 1
        # A group that others have joined in the meantime is left to the next call.
        if possible and gain > 1e-9 and rows == filled[group]:
            for place in range(begin, end):
                one = order[place]
                pattern = cheapest(one, groups, starts, costs, filled, group)
                filled[group] -= counts[one]
                filled[starts[pattern] + groups[pattern, one]] += counts[one]
                chosen[one] = pattern
            saved += gain
        begin = end
    return saved
