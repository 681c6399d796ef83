"""Separation: cuts that a point of the master program violates, from bridges, attackers' programs and rounding."""

from collections.abc import Iterator, Sequence

import numpy as np

from sfumato.tables.cells.system import BoolArray, Numbers
from sfumato.tables.deadline import FOREVER, Deadline
from sfumato.tables.suppression.attack_programs import WHISPER, AttackerProgram, ParallelAttackers
from sfumato.tables.suppression.master_problem import Bridges, Cut, Master, capacity_cut, relation_cuts
from sfumato.tables.suppression.problem import GENEROUS, OUTSIDER, SLACK, Flow, SuppressionProblem, Threat, flow_of
from sfumato.tables.suppression.pruning import infeasible_protection
from sfumato.tables.suppression.zero_half_cuts import ZeroHalf
from sfumato.values import Value

# Insiders that were never successful are checked if other attackers give at most this many cuts per threat.
FEW = 0.25
# Minimum violation of a cut by a point for adding the cut to the master program.
LEAST = 1e-4
# How far a flow of an earlier point may exceed the capacity, in needs; a cut violated by less is not added.
EXCESS = 1e-5


class AttackerChecks:
    """Finds the capacity cuts that points violate; flows that protect against a threat are kept for the next point.

    The capacity of a cell counts at most the need of a threat, as in the cuts themselves, so that a cell that is hardly
    suppressed has hardly any capacity. One program finds the attackers who succeed. Only for these a second, slower
    program searches for a cut of few cells.
    """

    def __init__(self, problem: SuppressionProblem) -> None:
        self._problem = problem
        self._checks, self._cutters = AttackerProgram(problem), AttackerProgram(problem)
        self._flows: dict[Threat, Flow] = {}
        # Attacks of insiders that succeeded once; they are checked at every point.
        self._hostile: dict[Threat, None] = {}
        self._shares = np.zeros(problem.size)

    def cuts(self, shares: Numbers, end: Deadline) -> Iterator[Cut]:
        """Return the cuts of the threats against which a point does not protect."""
        self._shares = shares
        self._checks.open(shares)
        self._cutters.open(np.maximum(shares, WHISPER))
        self._cutters.until(end)
        held: list[tuple[Threat, Flow]] = []
        found, few = 0, FEW * len(self._problem.threats)
        for threat in (*self._problem.threats, *self._hostile):
            answer = None if end.over else self._answer(threat)
            if isinstance(answer, Cut):
                found += 1
                yield answer
            elif answer is not None and threat.attacker == OUTSIDER:
                held.append((threat, answer))
        for threat, flow in held if found <= few else ():
            yield from self._from_within(threat, flow, end)

    def _from_within(self, threat: Threat, flow: Flow, end: Deadline) -> Iterator[Cut]:
        """Return the cuts of insiders who can exclude a flow, unless they cannot exclude another one."""
        waiting = self._unconvinced(threat, flow)
        while waiting and not end.over:
            attack = self._problem.with_insiders(threat, waiting.pop(0))
            answer = None if attack is None or attack in self._hostile else self._answer(attack)
            if isinstance(answer, Cut) and attack is not None:
                self._hostile[attack] = None
                yield answer
            elif isinstance(answer, Flow):
                unconvinced = self._unconvinced(threat, answer)
                waiting = [other for other in waiting if other in unconvinced]

    def _answer(self, threat: Threat) -> Flow | Cut | None:
        """Return a flow, in units of the need, that protects against a threat, or a cut if there is none."""
        flow = self._remembered(threat)
        if flow is not None:
            return flow
        directions, values = self._checks.attack(threat)
        if directions is None:
            self._flows[threat] = flow_of(values, 1.0)
            return self._flows[threat]
        cut = capacity_cut(self._problem, threat, directions)
        if cut is None or cut.short(self._shares) < LEAST:
            # If the table is not a network, a point may withstand a threat although this capacity is too small.
            return None
        sparse = self._cutters.directions(threat)
        other = None if sparse is None else capacity_cut(self._problem, threat, sparse)
        return cut if other is None or other.short(self._shares) < LEAST else other

    def _remembered(self, threat: Threat) -> Flow | None:
        """Return a fitting flow of an earlier point, of the opposite threat, or of the outsider; None if none fits."""
        opposite = self._flows.get(threat.opposite)
        turned = None if opposite is None else Flow(opposite.cells, -opposite.amounts)
        known = (self._flows.get(threat), turned, self._flows.get(Threat(threat.cell, threat.sign, threat.need)))
        up, down = self._problem.room(threat)
        return next((flow for flow in known if flow is not None and self._fits(flow, threat, up, down)), None)

    def _fits(self, flow: Flow, threat: Threat, up: Numbers, down: Numbers) -> bool:
        """Return whether a flow, in units of the need, fits into the capacity that the point opens."""
        cells, need = flow.cells, threat.need
        above = np.minimum(up[cells] / need, 1.0) * self._shares[cells] + EXCESS
        below = np.minimum(down[cells] / need, 1.0) * self._shares[cells] + EXCESS
        inside = (flow.amounts <= above) & (-flow.amounts <= below)
        return bool((inside | (cells == threat.cell)).all())

    def _unconvinced(self, threat: Threat, flow: Flow) -> list[int]:
        """Return the insiders who can exclude a flow, given in units of the need."""
        who: set[int] = set()
        for cell, amount in zip(flow.cells.tolist(), (flow.amounts * threat.need).tolist(), strict=True):
            for place, up, down in self._problem.insiders.get(cell, ()) if cell != threat.cell else ():
                if amount > up * (1 + SLACK) + 1e-6 or -amount > down * (1 + SLACK) + 1e-6:
                    who.add(place)
        return sorted(who)


# Minimum shares at which a cell counts as suppressed; each is tried.
ALMOST = (0.9999, 0.7, 0.5, 0.3)
# Maximum number of divisors, and the minimum fractional part that is not attributed to numerical error.
MOST_DIVISORS, LEAST_FRACTION = 60, 0.02
# Minimum distance of a point from a violated cut for adding the cut.
DISTANCE = 1e-3
# Slack of a rounded cut, so that no arithmetic error makes it too strong.
ALLOWANCE = 1e-9
# Tables with at most this many entries in their linear constraints start with all cuts against bridges.
SMALL = 2_000
# In such small tables of this many dimensions, attackers at points of the linear program get only the capacity that
# their cuts count: gaps at 5×5×5 were 10 to 15 % instead of 12 to 18 %. In larger tables, up to this many entries,
# this applies if the gap is wide, and zero-half cuts are sought as well. In all other tables patterns get more time.
MANY_DIMENSIONS, CUBE = 3, 6_000
# Attackers are checked at points with fewer zero-half cuts than the first number, and at every n-th other point.
FEW_HALVES, TURNS = 20, 3
# Cuts that a point satisfies by more than this are not rounded there.
NEAR = 0.5


class Separation:
    """Adds the cuts that points of the master program violate.

    Attributes:
        guarded: Whether attackers checked the last point, in addition to the bridges.
        doubtful: Whether the last pattern was neither proved to be protected nor cut off.
        thorough: Whether zero-half cuts are sought, too.
    """

    def __init__(self, problem: SuppressionProblem, master: Master, end: Deadline = FOREVER) -> None:
        self._problem, self._master = problem, master
        self._bridges, self._guards = Bridges(problem), ParallelAttackers(problem)
        self._cutters = AttackerProgram(problem)
        self._watch = AttackerChecks(problem) if _is_cube(problem, SMALL) else None
        self._halves = ZeroHalf(problem.size) if self._watch is None and _is_cube(problem, CUBE) else None
        self._turn = 0
        self._wide: AttackerProgram | None = None
        self._whispers = _whispers(problem.costs)
        self._insiders: list[Threat] = []
        self._roundable: list[Cut] = []
        self.guarded = self.doubtful = self.thorough = False
        for cut in relation_cuts(problem, end):
            self._add(cut)
        if problem.matrix.nnz <= SMALL:
            self.add_bridges()

    def look_thoroughly(self) -> bool:
        """Search for zero-half cuts from now on, and limit attackers to the capacity that cuts count.

        Returns:
            False if both are done already or would not help.
        """
        if self._halves is None or self.thorough:
            return False
        self.thorough, self._watch = True, AttackerChecks(self._problem)
        # These cuts are valid whether the master program contains them or not.
        for cut in self._bridges.all():
            self._halves.add(cut)
        return True

    def add_bridges(self) -> None:
        """Add every cut against a bridge."""
        for cut in self._bridges.all():
            self._add(cut)

    def learn(self, shares: Numbers, end: Deadline) -> int:
        """Add cuts that a point of the linear program violates; bridges first, because they are cheap to find."""
        learnt = sum(self._add(cut) for cut in self._bridges.violated(shares))
        self.guarded = not learnt
        if learnt:
            return learnt
        if self._watch is None:
            return self._round(shares) + self._guard(shares, end, self._whispers[:1])
        halves = 0 if self._halves is None else sum(self._teach_master(cut) for cut in self._halves.cuts(shares))
        learnt = halves + self._round(shares)
        self._turn += 1
        self.guarded = halves < FEW_HALVES or self._turn % TURNS == 0
        if self.guarded:
            learnt += sum(self._take(cut, shares, LEAST) for cut in self._watch.cuts(shares, end))
        return learnt

    def learn_pattern(self, shares: Numbers, end: Deadline) -> int:
        """Add cuts that a pattern violates; several for each attack, because each may save an integer program."""
        learnt = sum(self._add(cut) for cut in self._bridges.violated(shares))
        self.guarded = True
        return learnt + self._guard(shares, end, self._whispers)

    def _round(self, shares: Numbers) -> int:
        """Add roundings of the cuts near a point."""
        near = [cut for cut in self._roundable if cut.short(shares) > -NEAR]
        return sum(self._teach_master(rounded_cut(cut, shares)) for cut in near)

    def _guard(self, shares: Numbers, end: Deadline, whispers: Sequence[Numbers]) -> int:
        """Solve the programs of all attackers with the full capacities."""
        self.doubtful, learnt = False, 0
        self._guards.open(shares)
        self._cutters.until(end)
        failed = self._guards.failed([*self._problem.threats, *self._insiders], end)
        if not failed and self._problem.attackers:
            failed = self._failed_insiders(end)
        for threat in failed:
            learnt += not end.over and self._teach(threat, shares, whispers)
            if end.over:
                # No cut was added although a threat remains: the point is no solution.
                return max(learnt, 1)
        return learnt

    def _failed_insiders(self, end: Deadline) -> list[Threat]:
        known = set(self._insiders)
        new = [threat for threat in self._guards.insiders() if threat not in known]
        self._insiders.extend(new)
        return self._guards.failed(new, end)

    def _teach(self, threat: Threat, shares: Numbers, whispers: Sequence[Numbers]) -> bool:
        """Add the cuts of a threat that a point does not withstand."""
        learnt = False
        for whisper in whispers:
            self._cutters.open(np.maximum(shares, whisper))
            learnt = self._answer(self._cutters, threat, shares, 1e-4) or learnt
        if learnt:
            return True
        self._cutters.open(shares)
        if self._answer(self._cutters, threat, shares, 1e-6):
            return True
        self._wide = self._wide or AttackerProgram(self._problem, GENEROUS)
        self._wide.open(shares)
        if self._answer(self._wide, threat, shares, 1e-6):
            return True
        # Neither a flow nor a cut was found: the numbers are at the edge of precision and not reliable.
        self.doubtful = self.doubtful or self._wide.directions(threat) is not None
        return False

    def _answer(self, attackers: AttackerProgram, threat: Threat, shares: Numbers, least: float) -> bool:
        """Add the cut of an attacker who succeeds."""
        directions = attackers.directions(threat)
        cut = None if directions is None else capacity_cut(self._problem, threat, directions)
        return cut is not None and self._take(cut, shares, least)

    def _take(self, cut: Cut, shares: Numbers, least: float) -> bool:
        """Add a cut and its rounding if a point violates them."""
        learnt = cut.short(shares) > least and self._add(cut)
        rounded = rounded_cut(cut, shares) if is_roundable(cut) else None
        if rounded is None or not self._teach_master(rounded):
            return learnt
        if not learnt:
            self._roundable.append(cut)
        return True

    def _add(self, cut: Cut) -> bool:
        if cut.least > 0 and not len(cut.cells):
            raise infeasible_protection(self._problem, self._problem.threats[0])
        new = self._teach_master(cut)
        if new and is_roundable(cut):
            self._roundable.append(cut)
        return new

    def _teach_master(self, cut: Cut | None) -> bool:
        """Add a cut to the master program, unless the program contains it."""
        new = self._master.add(cut)
        if new and cut is not None and self._halves is not None:
            self._halves.add(cut)
        return new


def _is_cube(problem: SuppressionProblem, entries: int) -> bool:
    """Return whether a table has many dimensions and at most this many entries in its linear constraints."""
    dimensions = 0 if problem.coordinates is None else len(problem.coordinates.above)
    return bool(dimensions >= MANY_DIMENSIONS and problem.matrix.nnz <= entries)


def _whispers(costs: Numbers) -> tuple[Numbers, ...]:
    """Return small capacities for published cells: each kind selects another of the equally violated cuts."""
    scaled = costs / max(float(costs.max(initial=0.0)), 1e-9)
    return np.full(len(costs), WHISPER), WHISPER * (0.1 + scaled), WHISPER / (1.0 + 100.0 * scaled)


# A cut Σ w·x ≥ 1 counts cells that do not suffice alone by a fraction. Because cells are suppressed entirely, more are
# needed. Mixed-integer rounding derives this; cells that are almost suppressed at a point count as suppressed
# (Marchand and Wolsey 2001, doi:10.1287/opre.49.3.363.11211; knapsack covers are a special case).
def is_roundable(cut: Cut) -> bool:
    """Return whether rounding can strengthen a cut: some cell does not suffice alone, but all together do."""
    if cut.least <= 0 or (cut.weights <= 0).any():
        return False
    return bool((cut.weights < cut.least - 1e-6).any() and cut.weights.sum() >= cut.least)


def rounded_cut(cut: Cut, shares: Numbers) -> Cut | None:
    """Return the rounding of a cut that a point violates most; None if it violates none.

    >>> cut = Cut(np.arange(3), np.array([0.9, 0.9, 0.9]), 1.0)
    >>> rounded = rounded_cut(cut, np.array([0.5, 0.4, 0.3]))
    >>> (np.round(rounded.weights, 6).tolist(), round(rounded.least, 6))
    ([1.0, 1.0, 1.0], 2.0)
    """
    roundings = [rounding for masked in _choices(cut, shares) for rounding in _roundings(cut, shares, masked)]
    best = max(roundings, key=lambda rounding: rounding.distance, default=None)
    return None if best is None or best.distance < DISTANCE else best.cut(cut)


class _Rounding(Value):
    """A rounding: its weights and right-hand side if the cells of `masked` are complemented (1 - x)."""

    masked: BoolArray
    weights: Numbers
    least: float
    distance: float

    def cut(self, base: Cut) -> Cut:
        """Return the cut in the original variables, with weights of at most 1."""
        weights = np.where(self.masked, -self.weights, self.weights)
        least = self.least - float(self.weights[self.masked].sum())
        scale = float(np.abs(weights).max())
        # The omitted weights are smaller than the tolerance.
        counted = np.abs(weights) > 1e-12 * scale
        return Cut(base.cells[counted], weights[counted] / scale, least / scale - ALLOWANCE)


def _choices(cut: Cut, shares: Numbers) -> Iterator[BoolArray]:
    """Yield the sets of cells that may count as suppressed such that the cut still requires more."""
    tried: set[bytes] = set()
    for share in ALMOST:
        masked = shares[cut.cells] > share
        if masked.tobytes() not in tried and cut.least - cut.weights[masked].sum() > 1e-6:
            tried.add(masked.tobytes())
            yield masked


def _roundings(cut: Cut, shares: Numbers, masked: BoolArray) -> Iterator[_Rounding]:
    """Return the best rounding over all divisors, for one choice of cells that count as suppressed."""
    own = shares[cut.cells]
    asked = cut.least - float(cut.weights[masked].sum())
    divisors = _divisors(cut.weights[(own > 1e-6) & (own < 1 - 1e-6)], asked + float(cut.weights.max()) + 1.0)
    parts = asked / divisors - np.floor(asked / divisors)
    useful = (parts > LEAST_FRACTION) & (parts < 1 - 1e-6)
    if not useful.any():
        return
    divisors, parts = divisors[useful], parts[useful]
    weights = _rounded(np.where(masked, -cut.weights, cut.weights) / divisors[:, None], parts[:, None])
    least = np.ceil(asked / divisors)
    short = least - weights @ np.where(masked, 1 - own, own)
    distance = short / np.sqrt((weights * weights).sum(axis=1) + 1e-12)
    place = int(np.argmax(distance))
    yield _Rounding(masked, weights[place], float(least[place]), float(distance[place]))


def _divisors(weights: Numbers, large: float) -> Numbers:
    """Return the divisors to try: weights of undecided cells, fractions of them, and one larger than all."""
    ends = np.unique(np.round(weights[weights > 1e-3], 9))
    divisors = np.unique(np.concatenate([ends, ends / 2, ends / 3, [large]]))
    if len(divisors) <= MOST_DIVISORS:
        return divisors
    return np.asarray(divisors[np.linspace(0, len(divisors) - 1, MOST_DIVISORS).astype(np.int64)])


def _rounded(weights: Numbers, part: Numbers) -> Numbers:
    """Apply the rounding function: whole units plus the remainder, relative to that of the right-hand side."""
    whole = np.floor(weights)
    return np.asarray(whole + np.minimum((weights - whole) / part, 1.0))
