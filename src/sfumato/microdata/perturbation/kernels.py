"""Compiled loops of microaggregation (groups of at least k records around the most distant ones) and rank swapping."""

import numpy as np

from sfumato.native.array_types import Float64, Float64_2, Int64
from sfumato.native.dispatch import compiled

FREE = -1


@compiled
def distances(points, left, count, center, out):
    """Squared distances of the first `count` records of `left` from a point."""
    width = points.shape[1]
    for place in range(count):
        one, total = left[place], 0.0
        for column in range(width):
            gap = points[one, column] - center[column]
            total += gap * gap
        out[place] = total


@compiled
def farthest(out, count):
    """Return the first position of the largest distance."""
    best = 0
    for place in range(1, count):
        if out[place] > out[best]:
            best = place
    return best


@compiled
def take_nearest(points, left, count, seed, k, number, groups, out):
    """Make a group of a record and the k - 1 nearest, lowest first among ties; return how many records are left.

    `left` keeps its order.
    """
    distances(points, left, count, points[seed], out)
    limit = np.partition(out[:count], k - 1)[k - 1]
    inside = 0
    for place in range(count):
        inside += out[place] < limit
    equals, kept = k - inside, 0
    # The record itself comes first, even if others are equal.
    if out[np.searchsorted(left[:count], seed)] == limit:
        equals -= 1
    for place in range(count):
        one = left[place]
        chosen = one == seed or out[place] < limit
        if not chosen and out[place] == limit and equals > 0:
            equals -= 1
            chosen = True
        if chosen:
            groups[one] = number
        else:
            left[kept] = one
            kept += 1
    return kept


@compiled
def centroid(points, left, count, center):
    """Compute the mean of the first `count` records of `left`."""
    center[:] = 0.0
    for place in range(count):
        for column in range(points.shape[1]):
            center[column] += points[left[place], column]
    for column in range(len(center)):
        center[column] /= count


@compiled
def mdav(points: Float64_2, records: Int64, k: int, first: int, groups: Int64):
    """Maximum distance to average: number the groups of `records` from `first` on; return the next number.

    Args:
        records: (n,) the records to be grouped, ascending.
    """
    left, count, number = records.copy(), len(records), first
    out, center = np.empty(count), np.empty(points.shape[1])
    while count >= 2 * k:
        centroid(points, left, count, center)
        distances(points, left, count, center, out)
        far = left[farthest(out, count)]
        if count < 3 * k:
            count = take_nearest(points, left, count, far, k, number, groups, out)
            number += 1
            break
        distances(points, left, count, points[far], out)
        opposite = left[farthest(out, count)]
        count = take_nearest(points, left, count, far, k, number, groups, out)
        number += 1
        if groups[opposite] == number - 1:
            distances(points, left, count, points[far], out)
            opposite = left[farthest(out, count)]
        count = take_nearest(points, left, count, opposite, k, number, groups, out)
        number += 1
    for place in range(count):
        groups[left[place]] = number
    return number + (count > 0)


@compiled
def enlist(points, records, groups, sums, sizes, members, slots):
    """Compute sums, sizes and members of all groups; slots: (all records,) index of a record in its group."""
    sums[:], sizes[:] = 0.0, 0
    for one in records:
        group = groups[one]
        members[group, sizes[group]], slots[one] = one, sizes[group]
        sizes[group] += 1
        for column in range(points.shape[1]):
            sums[group, column] += points[one, column]


@compiled
def relocate(points, one, group, sums, sizes, members, slots, groups):
    """Put a record into another group."""
    old = groups[one]
    for column in range(points.shape[1]):
        sums[old, column] -= points[one, column]
        sums[group, column] += points[one, column]
    sizes[old] -= 1
    last = members[old, sizes[old]]
    members[old, slots[one]], slots[last] = last, slots[one]
    members[group, sizes[group]], slots[one] = one, sizes[group]
    sizes[group] += 1
    groups[one] = group


@compiled
def gap(points, one, sums, sizes, group):
    """Return the squared distance of a record from the mean of a group."""
    total = 0.0
    share = 1.0 / sizes[group]
    for column in range(points.shape[1]):
        difference = points[one, column] - sums[group, column] * share
        total += difference * difference
    return total


@compiled
def exchange_gain(points, one, other, sums, sizes, groups):
    """Return the decrease of the squared distances when two records are exchanged.

    A group of n records that gives away x for y has n |mean|^2 changed by 2 sum.(y - x) / n + |y - x|^2 / n.
    """
    here, there = groups[one], groups[other]
    across, apart_here, apart_there = 0.0, 0.0, 0.0
    for column in range(points.shape[1]):
        step = points[other, column] - points[one, column]
        across += step * step
        apart_here += sums[here, column] * step
        apart_there += sums[there, column] * step
    return (2 * apart_here + across) / sizes[here] + (across - 2 * apart_there) / sizes[there]


@compiled
def refresh(sums, sizes, group, means):
    """Store the mean of a group that changed; means: (columns, groups), for fast scans over groups."""
    share = 1.0 / sizes[group]
    for column in range(len(means)):
        means[column, group] = sums[group, column] * share


@compiled
def nearest_groups(points, one, means, rivals, out):
    """Store the groups whose means are nearest to a record in `rivals`, lowest number first; out: (groups,)."""
    width, count = means.shape
    out[:] = 0.0
    for column in range(width):
        value = points[one, column]
        for group in range(count):
            step = means[column, group] - value
            out[group] += step * step
    most, size = len(rivals), 0
    for group in range(count):
        if size == most and out[group] >= out[rivals[size - 1]]:
            continue
        place = min(size, most - 1)
        size = place + 1
        while place > 0 and out[rivals[place - 1]] > out[group]:
            rivals[place] = rivals[place - 1]
            place -= 1
        rivals[place] = group
    rivals.sort()


@compiled
def improve(points, one, k, rivals, sums, sizes, members, slots, groups):
    """Make the best move or exchange of a record with some groups, if it gains.

    Returns:
        The gain, the group it went to, and the record that came in its place (or -1).
    """
    own, best, chosen, partner = groups[one], 1e-10, FREE, FREE
    leaving = 0.0
    if sizes[own] > k:
        leaving = sizes[own] / (sizes[own] - 1.0) * gap(points, one, sums, sizes, own)
    for group in rivals:
        if group == own:
            continue
        if sizes[own] > k and sizes[group] < members.shape[1]:
            gain = leaving - sizes[group] / (sizes[group] + 1.0) * gap(points, one, sums, sizes, group)
            if gain > best:
                best, chosen, partner = gain, group, FREE
        for slot in range(sizes[group]):
            gain = exchange_gain(points, one, members[group, slot], sums, sizes, groups)
            if gain > best:
                best, chosen, partner = gain, group, members[group, slot]
    if chosen == FREE:
        return 0.0, FREE, FREE
    if partner != FREE:
        # Removed from its group first, so that no group ever exceeds its buffer.
        swap_places(points, one, partner, sums, members, slots, groups)
    else:
        relocate(points, one, chosen, sums, sizes, members, slots, groups)
    return best, chosen, partner


@compiled
def swap_places(points, one, other, sums, members, slots, groups):
    """Exchange two records of different groups."""
    here, there = groups[one], groups[other]
    for column in range(points.shape[1]):
        step = points[other, column] - points[one, column]
        sums[here, column] += step
        sums[there, column] -= step
    members[here, slots[one]], members[there, slots[other]] = other, one
    slots[one], slots[other] = slots[other], slots[one]
    groups[one], groups[other] = there, here


@compiled
def settle(points, waiting, count, k, rivals, sums, sizes, members, slots, groups, log):
    """Improve some records, and those of the groups that change, until nothing gains or the log is full.

    Args:
        waiting: (room,) the first `count` are queued; log: (room, 2) records and the groups they came from.
        rivals: (all records, near) the groups to be examined.

    Returns:
        What was gained, and how many entries the log has.
    """
    gained, entries = 0.0, 0
    while count > 0 and entries + 2 < len(log):
        count -= 1
        one = waiting[count]
        before = groups[one]
        gain, group, partner = improve(points, one, k, rivals[one], sums, sizes, members, slots, groups)
        if gain == 0.0:
            continue
        gained += gain
        log[entries, 0], log[entries, 1] = one, before
        entries += 1
        if partner != FREE:
            log[entries, 0], log[entries, 1] = partner, group
            entries += 1
        for changed in (before, group):
            for slot in range(sizes[changed]):
                if count < len(waiting):
                    waiting[count] = members[changed, slot]
                    count += 1
    return gained, entries


@compiled
def undo(points, log, entries, sums, sizes, members, slots, groups):
    """Move records back to the groups in the log, the last first; exchanges as such."""
    place = entries - 1
    while place >= 0:
        one, back = log[place, 0], log[place, 1]
        if place > 0 and log[place - 1, 1] == groups[one] and groups[log[place - 1, 0]] == back:
            swap_places(points, log[place - 1, 0], one, sums, members, slots, groups)
            place -= 2
        else:
            relocate(points, one, back, sums, sizes, members, slots, groups)
            place -= 1


@compiled
def refine(points: Float64_2, records: Int64, k: int, count: int, near: int, passes: int, kicks: int, groups: Int64):
    """Move and exchange records between groups while that gains; then exchange pairs at a loss and improve again.

    Args:
        records: (n,) those of the groups 0 … count - 1; near: how many of the nearest groups are examined.
        passes: Maximum number of passes over all records.
        kicks: How often two records are exchanged at a loss, to see whether more can be gained after it.
    """
    room = 2 * k - 1
    sums, sizes = np.zeros((count, points.shape[1])), np.zeros(count, np.int64)
    members, slots = np.zeros((count, room), np.int64), np.zeros(len(points), np.int64)
    rivals, out = np.zeros((len(points), min(near, count)), np.int64), np.empty(count)
    means = np.zeros((points.shape[1], count))
    enlist(points, records, groups, sums, sizes, members, slots)
    for group in range(count):
        refresh(sums, sizes, group, means)
    for _ in range(passes if count > 1 else 0):
        gained = 0.0
        for one in records:
            before = groups[one]
            nearest_groups(points, one, means, rivals[one], out)
            gain = improve(points, one, k, rivals[one], sums, sizes, members, slots, groups)[0]
            if gain > 0.0:
                gained += gain
                refresh(sums, sizes, before, means)
                refresh(sums, sizes, groups[one], means)
        if gained < 1e-9:
            break
    if count > 1:
        kick(points, records, k, kicks, rivals, sums, sizes, members, slots, groups)


@compiled
def kick(points, records, k, kicks, rivals, sums, sizes, members, slots, groups):
    """Exchange pairs at a loss, improve their surroundings, and undo all of it if nothing was gained.

    Which pairs is drawn by a xorshift generator from a fixed start: nothing of it is secret.
    """
    waiting, log = np.empty(16 * members.shape[1], np.int64), np.empty((64, 2), np.int64)
    state = np.uint64(88172645463325252)
    for _ in range(kicks):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        one = records[np.int64((state >> np.uint64(3)) % np.uint64(len(records)))]
        group, own = rivals[one][np.int64((state >> np.uint64(20)) % np.uint64(rivals.shape[1]))], groups[one]
        if group == own:
            continue
        other = members[group, np.int64((state >> np.uint64(40)) % np.uint64(sizes[group]))]
        lost = exchange_gain(points, one, other, sums, sizes, groups)
        swap_places(points, one, other, sums, members, slots, groups)
        count = 0
        for changed in (own, group):
            for slot in range(sizes[changed]):
                waiting[count] = members[changed, slot]
                count += 1
        won, entries = settle(points, waiting, count, k, rivals, sums, sizes, members, slots, groups, log)
        if lost + won <= 1e-10:
            undo(points, log, entries, sums, sizes, members, slots, groups)
            swap_places(points, one, other, sums, members, slots, groups)


@compiled
def univariate(values: Float64, k: int, ends: Int64):
    """Partition sorted values into groups of at least k with the least squared distances from their means.

    Hansen and Mukherjee: a shortest path over the positions where groups end. ends: (n + 1,) where the last group of
        the
    best partition of the first i values begins.
    """
    count = len(values)
    total, squares = np.zeros(count + 1), np.zeros(count + 1)
    for place in range(count):
        total[place + 1] = total[place] + values[place]
        squares[place + 1] = squares[place] + values[place] * values[place]
    best = np.full(count + 1, np.inf)
    best[0] = 0.0
    for end in range(k, count + 1):
        for begin in range(max(0, end - 2 * k + 1), end - k + 1):
            if best[begin] == np.inf:
                continue
            part = total[end] - total[begin]
            cost = best[begin] + squares[end] - squares[begin] - part * part / (end - begin)
            if cost < best[end]:
                best[end] = cost
                ends[end] = begin
    return best[count]


@compiled
def swap_ranks(reach: int, draws: Float64, partners: Int64):
    """Give each rank a partner at most `reach` ranks away: from the lowest on, a free one drawn above it.

    Args:
        draws: (n,) from 0 to 1; partners: (n,) -1 before, the partner of each rank after, or itself.
    """
    count = len(partners)
    for rank in range(count):
        if partners[rank] != -1:
            continue
        most = min(reach, count - 1 - rank)
        partners[rank] = rank
        start = int(draws[rank] * most)
        for step in range(most):
            other = rank + 1 + (start + step) % most
            if partners[other] == -1:
                partners[rank], partners[other] = other, rank
                break
