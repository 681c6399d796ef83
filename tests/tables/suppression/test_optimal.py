"""Optimal suppression against brute force, and the other methods against it."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import UnattainableError
from sfumato.tables.attack.audit import audit_publication
from sfumato.tables.attack.findings import AttackerView
from sfumato.tables.cells.constraints import Coordinates
from sfumato.tables.cells.system import (
    AlternativeTable,
    AttackerKind,
    AttackerKnowledge,
    Bounds,
    CellStatus,
    Insider,
    ProtectionLevels,
    make_constraints,
    make_table,
    no_bounds,
)
from sfumato.tables.deadline import Deadline, within
from sfumato.tables.suppression import attack_programs as guards
from sfumato.tables.suppression import cut_separation
from sfumato.tables.suppression import optimal as search
from sfumato.tables.suppression.cut_separation import LEAST, AttackerChecks, Separation
from sfumato.tables.suppression.master_problem import Master
from sfumato.tables.suppression.optimal import optimal
from sfumato.tables.suppression.patterns import InitialPattern, fast
from sfumato.tables.suppression.problem import make_problem
from sizes import size


def square(values, needs, rows, columns, ceiling=np.inf):
    """A two-way table with margins; `needs` maps an inner cell to how far its range must reach."""
    grid = np.zeros((rows + 1, columns + 1))
    grid[1:, 1:] = np.array(values, float).reshape(rows, columns)
    grid[0, 1:], grid[:, 0] = grid.sum(axis=0)[1:], grid.sum(axis=1)
    grid[0, 0] = grid[1:, 1:].sum()
    places = np.arange(grid.size).reshape(grid.shape)
    lines = [line.tolist() for line in places] + [line.tolist() for line in places.T]
    relations = make_constraints([(line, [-1.0] + [1.0] * (len(line) - 1)) for line in lines])
    inner = places[1:, 1:].ravel()
    status = np.zeros(grid.size, np.int8)
    down, up = np.zeros(grid.size), np.zeros(grid.size)
    for cell, need in needs.items():
        place = inner[cell]
        status[place] = CellStatus.SENSITIVE
        down[place], up[place] = min(need, grid.ravel()[place]), need
    return make_table(
        grid.ravel(),
        relations,
        status=status,
        protection_levels=ProtectionLevels(down, up),
        bounds=Bounds(np.zeros(grid.size), np.full(grid.size, ceiling)),
    )


def alone_in(table, columns, cells):
    """The single respondents of some inner cells of a two-way table."""
    inner = np.arange(len(table)).reshape(-1, columns + 1)[1:, 1:].ravel()
    return respondents_of(table, [inner[cell] for cell in cells])


def respondents_of(table, cells):
    """The single respondents of some cells, who know their values."""
    places = [np.array([cell]) for cell in cells]
    nothing = ProtectionLevels(np.zeros(1), np.zeros(1))
    return tuple(
        Insider(
            f"c{place[0]}", AttackerKind.RESPONDENT, place, Bounds(table.values[place], table.values[place]), nothing
        )
        for place in places
    )


def holds(table, masked, alone=()):
    exact = np.where(masked, np.nan, table.values)
    shown = AttackerView(exact, no_bounds(len(table)), table.bounds, table.constraints, table.names)
    audit = audit_publication(shown, table.protection_interval, AttackerKnowledge(attackers=alone), table.values)
    return not [leak for leak in audit.leaks if table.sensitive[leak.cell]]


def lone(table, masked):
    """Whether a mask stands alone in a relation: it tells as much as no mask, so the pattern without it comes first."""
    counts = np.add.reduceat(masked[table.constraints.cells], table.constraints.starts[:-1])
    return bool((counts == 1).any())


def cheapest(table, alone=()):
    """The least cost over all patterns; those with a lone mask are no better than others that cost no more."""
    free = np.flatnonzero(~table.sensitive)
    order = sorted(product([False, True], repeat=len(free)), key=lambda bits: table.costs[free[list(bits)]].sum())
    for bits in order:
        masked = table.sensitive.copy()
        masked[free[list(bits)]] = True
        if not lone(table, masked) and holds(table, masked, alone):
            return table.costs[free[list(bits)]].sum()
    return None


tiny = st.fixed_dictionaries(
    {
        "values": st.lists(st.integers(0, 6), min_size=4, max_size=4),
        "needs": st.dictionaries(st.integers(0, 3), st.integers(1, 3), min_size=1, max_size=2),
    }
)


@settings(max_examples=size(12, 25), deadline=None)
@given(tiny, st.sets(st.integers(0, 3)))
def test_optimal_equals_brute_force(drawn, cells):
    table = square(drawn["values"], drawn["needs"], 2, 2)
    alone = alone_in(table, 2, cells)
    least = cheapest(table, alone)
    problem = make_problem(table, attackers=alone)
    if least is None:
        with pytest.raises(UnattainableError):
            optimal(problem)
        return
    found = optimal(problem)
    assert found.proved
    assert found.cost == pytest.approx(least)
    assert holds(table, found.masked, alone)
    assert found.cost <= fast(problem).cost + 1e-9


@settings(max_examples=size(12, 25), deadline=None)
@given(
    st.lists(st.integers(0, 9), min_size=6, max_size=6),
    st.sets(st.integers(0, 5), min_size=1, max_size=3),
    st.integers(7, 40),
)
def test_optimal_equals_brute_force_with_bounds(values, unsafe, ceiling):
    """A hierarchy of two districts with three quarters each, and an upper bound that everyone knows."""
    totals = [sum(values), sum(values[:3]), sum(values[3:])]
    relations = make_constraints(
        [([0, 1, 2], [-1, 1, 1]), ([1, 3, 4, 5], [-1, 1, 1, 1]), ([2, 6, 7, 8], [-1, 1, 1, 1])]
    )
    numbers = np.array(totals + values, float)
    status = np.zeros(9, np.int8)
    status[[3 + cell for cell in unsafe]] = CellStatus.SENSITIVE
    upper = np.maximum(numbers, ceiling)
    need_up = np.where(status == CellStatus.SENSITIVE, np.minimum(2, upper - numbers), 0)
    need_down = np.where(status == CellStatus.SENSITIVE, np.minimum(2, numbers), 0)
    table = make_table(
        numbers,
        relations,
        status=status,
        bounds=Bounds(np.zeros(9), upper),
        protection_levels=ProtectionLevels(need_down, need_up),
    )
    least = cheapest(table)
    if least is None:
        with pytest.raises(UnattainableError):
            optimal(make_problem(table))
        return
    found = optimal(make_problem(table))
    assert found.proved
    assert found.cost == pytest.approx(least)
    assert holds(table, found.masked)


def cube(seed, inner=2, unsafe=2):
    """A three-way table, which is no network."""
    rng, side = np.random.default_rng(seed), inner + 1
    values = np.zeros((side,) * 3)
    values[1:, 1:, 1:] = rng.integers(1, 9, (inner,) * 3)
    values[0] = values.sum(axis=0)
    values[:, 0] = values.sum(axis=1)
    values[:, :, 0] = values.sum(axis=2)
    places = np.arange(side**3).reshape(values.shape)
    lines = [line for axis in range(3) for line in np.moveaxis(places, axis, 2).reshape(-1, side).tolist()]
    relations = make_constraints([(line, [-1.0] + [1.0] * inner) for line in lines])
    status = np.zeros(side**3, np.int8)
    status[rng.choice(places[1:, 1:, 1:].ravel(), unsafe, replace=False)] = CellStatus.SENSITIVE
    need = np.where(status == CellStatus.SENSITIVE, 1.0, 0.0)
    return make_table(values.ravel(), relations, status=status, protection_levels=ProtectionLevels(need, need))


@pytest.mark.parametrize("seed", range(6))
def test_three_way_tables_hold_and_optimal_is_never_costlier(seed):
    table = cube(seed)
    problem = make_problem(table)
    best, quick = optimal(problem), fast(problem)
    assert best.proved
    assert best.cost <= quick.cost + 1e-9
    assert holds(table, best.masked)
    assert holds(table, quick.masked)


@pytest.mark.parametrize("seed", range(3))
def test_where_dimensions_are_known_the_least_cost_is_the_same(seed):
    """Then attackers are asked in another way: a bound that is too high would end the search with a dearer pattern."""
    table = cube(seed)
    alone = respondents_of(table, np.flatnonzero(table.sensitive)[:1])
    known, unknown = (optimal(make_problem(table, None, alone, places)) for places in (coordinates_of(2), None))
    assert known.proved
    assert known.cost == unknown.cost
    assert holds(table, known.masked, alone)


def coordinates_of(inner):
    """Where the cells of a cube stand, totals first."""
    codes = np.stack(np.unravel_index(np.arange((inner + 1) ** 3), (inner + 1,) * 3), axis=1)
    return Coordinates(codes, (np.array([-1] + [0] * inner),) * 3)


@pytest.mark.parametrize("seed", range(size(2, 4)))
def test_sums_of_cuts_raise_the_bound_and_leave_the_least_cost_as_it_is(seed, monkeypatch):
    table = cube(seed, 3, 6)
    problem = make_problem(table, None, respondents_of(table, np.flatnonzero(table.sensitive)), coordinates_of(3))
    plain, bound = optimal(problem), bound_of_points(problem)
    monkeypatch.setattr(cut_separation, "SMALL", 0)
    monkeypatch.setattr(search, "FAR", 0.0)
    monkeypatch.setattr(search, "SETTLED", np.inf)
    summed = optimal(problem)
    assert plain.proved
    assert summed.proved
    assert summed.cost == plain.cost
    assert bound < bound_of_points(problem) <= plain.cost


def bound_of_points(problem):
    """What the linear program proves once no point gives cuts any more, or fifty of them did."""
    master = Master(problem)
    learning = Separation(problem, master)
    learning.look_thoroughly()
    for _ in range(50):
        if not learning.learn(master.relax(60.0), Deadline()):
            break
    return master.bound


@pytest.mark.parametrize("seed", range(2))
def test_every_safe_pattern_satisfies_what_attackers_say_of_points(seed):
    """Points of all kinds; attackers from outside and from within answer with cuts that they violate."""
    table, rng = cube(seed), np.random.default_rng(seed)
    alone = respondents_of(table, np.flatnonzero(table.sensitive))
    problem = make_problem(table, attackers=alone)
    watch = AttackerChecks(problem)
    points = (np.where(problem.forced, 1.0, rng.random(27) ** (1 + place)) for place in range(8))
    cuts = [(cut, point) for point in points for cut in watch.cuts(point, Deadline())]
    patterns = [table.sensitive | (rng.random(27) < share) for share in (0.5, 0.7, 0.9) for _ in range(5)]
    safe = [masked.astype(float) for masked in patterns if holds(table, masked, alone)]
    assert len(safe) > 3
    assert len(cuts) > 5
    assert all(cut.short(point) >= LEAST for cut, point in cuts)
    assert all(cut.short(masked) <= 1e-9 for cut, _ in cuts for masked in safe)


def test_who_knows_a_cell_is_asked_at_points_that_hold_off_the_outsider():
    table = square([5, 9, 9, 5, 9, 9, 9, 9, 9], {0: 1, 3: 1}, 3, 3)
    outside, within_ = make_problem(table), make_problem(table, attackers=alone_in(table, 3, (0, 3)))
    shares = optimal(outside).masked.astype(float)
    assert not list(AttackerChecks(outside).cuts(shares, Deadline()))
    cuts = list(AttackerChecks(within_).cuts(shares, Deadline()))
    assert cuts
    assert all(cut.short(shares) > 0 for cut in cuts)


def random_square(seed, rows, columns, share):
    rng = np.random.default_rng(seed)
    values = np.floor(rng.lognormal(3, 1, rows * columns)).clip(1)
    chosen = rng.choice(rows * columns, int(share * rows * columns), replace=False)
    return square(values, {int(cell): float(np.ceil(values[cell] * 0.15)) for cell in chosen}, rows, columns)


@pytest.mark.parametrize("seed", range(4))
def test_medium_tables_are_proved_and_deterministic(seed):
    table = random_square(seed, 12, 10, 0.1)
    problem = make_problem(table)
    first, second = optimal(problem), optimal(problem)
    assert first.proved
    assert (first.masked == second.masked).all()
    assert holds(table, first.masked)
    assert first.cost <= fast(problem).cost + 1e-9


def test_time_limit_leaves_a_protected_pattern_with_a_gap():
    table = random_square(1, 15, 15, 0.1)
    found = optimal(make_problem(table), 0.01)
    assert holds(table, found.masked)
    assert found.bound <= found.cost
    assert found.gap == pytest.approx((found.cost - found.bound) / found.cost)


def test_single_respondents_need_a_wider_pattern():
    table = square([5, 9, 9, 5, 9, 9, 9, 9, 9], {0: 1, 3: 1}, 3, 3)
    alone = alone_in(table, 3, (0, 3))
    with_insiders = optimal(make_problem(table, attackers=alone))
    without = optimal(make_problem(table))
    assert with_insiders.cost > without.cost
    assert holds(table, with_insiders.masked, alone)
    assert not holds(table, without.masked, alone)


def test_cells_to_be_published_stay_open():
    table = square([3, 9, 9, 9], {0: 1}, 2, 2)
    fixed = table.with_columns(
        status=np.where(table.sensitive, CellStatus.SENSITIVE, CellStatus.PUBLISH).astype(np.int8)
    )
    with pytest.raises(UnattainableError):
        optimal(make_problem(fixed))


def test_two_guards_find_the_same_as_one(monkeypatch):
    problem = make_problem(random_square(2, 14, 14, 0.3))
    assert len(problem.threats) >= guards.MANY
    two = optimal(problem)
    monkeypatch.setattr(guards, "COUNT", 1)
    one = optimal(problem)
    assert two.proved
    assert one.cost == two.cost


@pytest.mark.parametrize("method", [fast, optimal])
def test_a_search_starts_from_a_pattern_that_is_known(method):
    """Its flows need not be sought again: what was dearer than the cheapest stays where there is no time for more."""
    table = square([5, 20, 30, 20, 40, 90, 30, 60, 80], {0: 5}, 3, 3)
    problem, places = make_problem(table), np.arange(16).reshape(4, 4)[1:, 1:]
    dear = np.zeros(16, bool)
    dear[places[np.ix_([0, 2], [0, 2])].ravel()] = True
    first = fast(make_problem(table, dear))
    start = InitialPattern(dear, first.witnesses)
    assert len(list(start.flows(problem))) == len(first.witnesses) > 0
    # Deadlines that are over allow a first pattern, and nothing else.
    assert np.array_equal(method(problem, within(0.0), start=start).over(table), dear)
    assert method(problem, within(0.0)).cost < table.costs[dear].sum()


def test_what_is_no_flow_of_a_problem_does_not_count():
    table = square([5, 20, 30, 20, 40, 90, 30, 60, 80], {0: 5}, 3, 3)
    inner = np.arange(16).reshape(4, 4)[1:, 1:]
    masked, ring = np.zeros(16, bool), inner[np.ix_([0, 1], [0, 1])].ravel()
    masked[ring] = True
    moves = np.array([5.0, -5.0, -5.0, 5.0])
    kept, broken, far = (
        AlternativeTable(int(ring[0]), ring, amounts) for amounts in (moves, np.abs(moves), 10 * moves)
    )
    outside = AlternativeTable(int(ring[0]), inner[np.ix_([0, 2], [0, 2])].ravel(), moves)
    start = InitialPattern(masked, (kept, broken, far, outside))
    assert [flow.amounts.tolist() for _, flow in start.flows(make_problem(table))] == [moves.tolist()]
