"""Lower bounds of K-Optimize: the minimum cost of all sets below a node, and what that excludes.

A node has a head H and a tail T; below it are all sets S with H ⊆ S ⊆ H ∪ T. Its rows are the atoms: combinations that
H ∪ T distinguishes. N is the number of all rows. Each rule is followed by the reason why no better set is lost by it.

1. *Suppressed stays suppressed.* A class of H smaller than k pays for suppression in every S: its rows only get into
   smaller classes. Such classes are therefore settled at once; and when more rows than the limit are suppressed, no S
   may be released (the paper's rule).
2. *A row pays at least its atom.* In S the row's class contains its atom. Discernibility: at least max(atom, k) (the
   paper's rule). Classification: the rows without the most frequent label of a merged class are at least those of its
   atoms together. Loss metric: its labels cover at least what they cover in H ∪ T.
3. *Few classes are large classes* (discernibility). Of p rows that share a class of H, with s rows in atoms smaller
   than k and the squares q of the other atoms, S makes classes of k rows or more, each around a large atom or of small
   atoms only, of the latter at most g = ⌊s/k⌋. For c rows in a class, c² ≥ a² + 2k(c - a) with a ≥ k its large atom,
   and c² ≥ 2kc - k²; a suppressed row pays N ≥ 2k. Together at least q + 2ks - gk² = q + ks + k(s mod k). And at most
   ⌊p/k⌋ classes share p rows: at least p²/⌊p/k⌋ by the inequality of the means. Suppressing x of the rows changes that
   by Nx - (2p - x)x/⌊p/k⌋ ≥ 0 when two classes are possible, since then 2p/⌊p/k⌋ ≤ p ≤ N; with one possible class, c
   rows kept of p cost c² + N(p - c), which is smallest at c = N/2 or at the end nearest to it.
4. *The best split.* A class E of H either stays whole in S and pays for that exactly, or some feature of T splits it;
   then each part pays at least its bound by rules 1 to 3. So E pays at least the minimum of all these. A class that no
   feature of T can split into parts of k rows or more is final: its full cost is the minimum. (For the loss metric
   whole classes still gain by finer labels, so rule 2 is used for them.)
5. *Costly features.* With v in the head, E pays at least the parts that v makes of it. A v with which all classes
   together pay as much as the incumbent, or suppress too many rows, leaves T (the paper's rule, with the bounds above).
6. *Needed features.* Without v, a class whose best split is by v pays at least its second best. When that adds up to
   the incumbent's cost, no S without v is better, and v goes into the head.
7. *Uninformative features.* A v that splits no class of H splits none of S either: with and without it the classes are
   the same. It leaves T; for the loss metric, where it makes labels finer at no cost, it goes into the head. So of
   symmetric features (the last value of a column to be isolated, equal or complementary values) one remains.

Each bound of a node also bounds all nodes below it, so a proven bound is never given up.
"""

from typing import NamedTuple

import numpy as np

from sfumato.microdata.methods.k_optimize import problem_arrays as at
from sfumato.microdata.methods.k_optimize.kernels import code_of, minority, penalties, suppressed_cost
from sfumato.native.array_types import Float64, Float64_2, Int8, Int64, Int64_2
from sfumato.native.dispatch import compiled

NEVER = 1e300
WITH, WITHOUT, PARTS, APART = 0, 1, 2, 3
SPLITS, HIDES = 0, 1


class Verdicts(NamedTuple):
    """The bounds of a node for the features of its tail: f features, v codes.

    bounds (4, f): lower bounds of all sets WITH and WITHOUT a feature, the PARTS it makes of one class, and how much
        it alone keeps APART: summed over the classes of which both parts have k rows or more, the share of a class that
        would be in one block with as many others or more if the feature were left out (`isolate`: 1 for each class).
    counts (2, f): the classes it SPLITS, and the rows suppressed with it (HIDES).
    sizes, small, floors (v,): of each code in one class: its rows, those in small atoms, their minimum cost.
    penalty (v,): the loss of each code.
    """

    bounds: Float64_2
    counts: Int64_2
    sizes: Int64
    small: Int64
    floors: Float64
    penalty: Float64


@compiled
def atom_floors(
    inst: at.Instance,
    state: Int8,
    keys: Int64_2,
    counts: Int64,
    label_rows: Int64_2,
    start: int,
    stop: int,
    penalty: Float64,
    out: Float64,
):
    """Compute the minimum cost of each atom by itself (rule 2); small atoms of discernibility are left to rule 3."""
    if inst.params[at.KIND] == at.LOSS_METRIC:
        penalties(inst, state, at.TAIL, penalty)
    for row in range(start, stop):
        if inst.params[at.KIND] == at.DISCERNIBILITY:
            out[row] = np.float64(counts[row]) * counts[row] if counts[row] >= inst.params[at.K] else 0.0
        elif inst.params[at.KIND] == at.CLASSIFICATION:
            out[row] = minority(label_rows, row, row + 1)
        else:
            loss = 0.0
            for column in range(len(inst.weights)):
                loss += penalty[inst.columns[column, at.BASE] + code_of(inst, keys, row, column)]
            out[row] = counts[row] * loss


@compiled
def part_floor(inst, size, small, floor, hidden):
    """Return the minimum cost of rows that share a class (rules 1 to 3).

    Args:
        size: Number of rows; small: of them in small atoms; floor: cost of the others; hidden: suppressed so far.
    """
    k, rows = inst.params[at.K], inst.params[at.ROWS]
    if size < k:
        return suppressed_cost(inst, size) if hidden + size <= inst.params[at.LIMIT] else NEVER
    if inst.params[at.KIND] != at.DISCERNIBILITY:
        return floor
    atoms = floor + np.float64(k) * small
    if small < size and rows >= 2 * k:
        atoms += np.float64(k) * (small % k)
    most = size // k
    if most > 1:
        return max(atoms, np.float64(size) * size / most)
    kept = max(min(rows / 2.0, np.float64(size)), np.float64(k))
    return max(atoms, kept * kept + (size - kept) * rows)


@compiled
def whole_cost(inst, size, label_rows, start, stop, floor):
    """Return the cost of a class that is not split."""
    if inst.params[at.KIND] == at.DISCERNIBILITY:
        return np.float64(size) * size
    if inst.params[at.KIND] == at.CLASSIFICATION:
        return np.float64(minority(label_rows, start, stop))
    return floor


@compiled
def tail_of(inst, state, features, starts):
    """List the features of the tail column by column; return how many there are."""
    count = 0
    for column in range(len(inst.weights)):
        starts[column] = count
        for feature in range(inst.columns[column, at.FIRST], inst.columns[column + 1, at.FIRST]):
            if state[feature] == at.TAIL:
                features[count] = feature
                count += 1
    starts[len(inst.weights)] = count
    return count


@compiled
def reach(inst, keys, start, stop, column):
    """Return the minimum and maximum code of a class in a column."""
    word, shift, mask = inst.columns[column, at.WORD], inst.columns[column, at.SHIFT], inst.columns[column, at.MASK]
    low = high = (keys[start, word] >> shift) & mask
    for row in range(start + 1, stop):
        code = (keys[row, word] >> shift) & mask
        low, high = min(low, code), max(high, code)
    return low, high


@compiled
def tally(inst, keys, counts, floors, start, stop, column, low, high, out):
    """Add up the atoms of a class by their codes in a column, which range from `low` to `high`."""
    for code in range(low, high + 1):
        out.sizes[code] = out.small[code] = 0
        out.floors[code] = 0.0
    word, shift, mask = inst.columns[column, at.WORD], inst.columns[column, at.SHIFT], inst.columns[column, at.MASK]
    k = inst.params[at.K]
    for row in range(start, stop):
        code = (keys[row, word] >> shift) & mask
        out.sizes[code] += counts[row]
        out.floors[code] += floors[row]
        if counts[row] < k:
            out.small[code] += counts[row]


@compiled
def sum_up(inst, counts, floors, start, stop):
    """Return the rows of a class, those in small atoms, and the minimum cost of its atoms."""
    size, small, floor = 0, 0, 0.0
    for row in range(start, stop):
        size += counts[row]
        floor += floors[row]
        if counts[row] < inst.params[at.K]:
            small += counts[row]
    return size, small, floor


@compiled
def split_cost(inst, feature, one, size, small, one_small, floor, one_floor, hidden, out):
    """Return the minimum cost of a class split by a feature (rule 4); 0 if the feature does not split it.

    Args:
        one, one_small, one_floor: The part with the feature, as `size`, `small` and `floor` of the whole class.
    """
    two, k = size - one, inst.params[at.K]
    if one == 0 or two == 0:
        return 0.0
    out.counts[SPLITS, feature] += 1
    out.counts[HIDES, feature] += (one if one < k else 0) + (two if two < k else 0)
    cost = part_floor(inst, one, one_small, one_floor, hidden)
    return cost + part_floor(inst, two, small - one_small, max(floor - one_floor, 0.0), hidden)


@compiled
def best_splits(inst, features, starts, keys, counts, floors, start, stop, size, small, floor, whole, hidden, out):
    """Return the two smallest minimum costs of a class, unsplit or split by a tail feature, and the best feature or -1.

    Args:
        features, starts: The tail, as `tail_of` lists it; whole: the cost of the unsplit class.
        out: Its PARTS receive the cost of the class with each feature, its counts and APART the effect of each.
    """
    least, second, which = whole, whole, -1
    for column in range(len(inst.weights)):
        if starts[column] == starts[column + 1]:
            continue
        low, high = reach(inst, keys, start, stop, column)
        if low < high:
            tally(inst, keys, counts, floors, start, stop, column, low, high, out)
        one, one_small, one_floor, below = 0, 0, 0.0, low
        for index in range(starts[column], starts[column + 1]):
            feature = features[index]
            value = inst.features[feature, at.VALUE]
            if low == high or value < low or value > high:
                out.bounds[PARTS, feature] = 0.0
                continue
            beside = 1.0
            if inst.params[at.ORDERED]:
                before = one
                while below < value:
                    one += out.sizes[below]
                    one_small += out.small[below]
                    one_floor += out.floors[below]
                    below += 1
                beside = np.float64(min(one - before, out.sizes[value])) / size
            else:
                one, one_small, one_floor = out.sizes[value], out.small[value], out.floors[value]
            cost = split_cost(inst, feature, one, size, small, one_small, floor, one_floor, hidden, out)
            out.bounds[PARTS, feature] = cost
            if one == 0 or one == size:
                continue
            if min(one, size - one) >= inst.params[at.K]:
                out.bounds[APART, feature] += beside
            if cost < least:
                second, least, which = least, cost, feature
            elif cost < second:
                second = cost
    return least, second, which


@compiled
def evaluate(
    inst: at.Instance,
    state: Int8,
    keys: Int64_2,
    counts: Int64,
    label_rows: Int64_2,
    floors: Float64,
    start: int,
    ends: Int64,
    first: int,
    last: int,
    settled: float,
    hidden: int,
    out: Verdicts,
):
    """Compute the bound of a node, and of each feature of its tail.

    Args:
        keys, counts, label_rows, floors: The atoms, from `start` on; ends: where classes end, from `first` to `last`.
        settled: Cost of the classes already removed; hidden: rows suppressed so far.

    Returns:
        What nothing below the node can cost less than.
    """
    bounds = out.bounds
    for feature in range(len(state)):
        bounds[WITH, feature] = bounds[WITHOUT, feature] = bounds[APART, feature] = 0.0
        out.counts[SPLITS, feature], out.counts[HIDES, feature] = 0, hidden
    features, starts = np.empty(len(state), np.int64), np.empty(len(inst.weights) + 1, np.int64)
    count = tail_of(inst, state, features, starts)
    total = settled
    for place in range(first, last):
        stop = ends[place]
        size, small, floor = sum_up(inst, counts, floors, start, stop)
        whole = whole_cost(inst, size, label_rows, start, stop, floor)
        part = (start, stop, size, small, floor, whole, hidden)
        least, second, which = best_splits(inst, features, starts, keys, counts, floors, *part, out)
        own = part_floor(inst, size, small, floor, hidden)
        bound = max(least, own)
        total += bound
        for index in range(count):
            if bounds[PARTS, features[index]] > bound:
                bounds[WITH, features[index]] += bounds[PARTS, features[index]] - bound
        if which >= 0:
            bounds[WITHOUT, which] += max(second, own) - bound
        start = stop
    for index in range(count):
        bounds[WITH, features[index]] += total
        bounds[WITHOUT, features[index]] += total
    return total
