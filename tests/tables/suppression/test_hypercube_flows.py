"""Cubes: their flows keep all sums, stay within the room, and are the cheapest of their kind."""

import itertools

import numpy as np
import pytest

from sfumato.tables.cells.constraints import Coordinates
from sfumato.tables.cells.system import (
    AttackerKind,
    Bounds,
    CellStatus,
    Insider,
    ProtectionLevels,
    make_constraints,
    make_table,
)
from sfumato.tables.deadline import Deadline, within
from sfumato.tables.suppression.hypercube_flows import HypercubeFlows
from sfumato.tables.suppression.patterns import PatternSearch
from sfumato.tables.suppression.problem import Threat, make_problem

# A total, two branches of it, and their parts: a short one among them, which has none.
TREE = np.array([-1, 0, 0, 0, 1, 1, 2, 2, 2])
FLAT = np.array([-1, 0, 0, 0, 0])


def details_of(above):
    return [code for code in range(len(above)) if code not in above]


def problem(*trees, seed=0, unsafe=6, need=3.0, attackers=()):
    """A table over trees of codes with random values; some of its cells are unsafe, sums among them."""
    rng = np.random.default_rng(seed)
    shape = tuple(len(above) for above in trees)
    values = np.zeros(shape)
    inner = np.ix_(*(details_of(above) for above in trees))
    values[inner] = rng.integers(1, 40, values[inner].shape)
    for axis, above in enumerate(trees):
        moved = np.moveaxis(values, axis, 0)
        for code in reversed(range(len(above))):
            if (above == code).any():
                moved[code] = moved[above == code].sum(axis=0)
    places = np.arange(values.size).reshape(shape)
    relations = []
    for axis, above in enumerate(trees):
        for line in np.moveaxis(places, axis, -1).reshape(-1, len(above)):
            for code in sorted(set(above.tolist()) - {-1}):
                parts = line[above == code].tolist()
                relations.append(([int(line[code]), *parts], [-1.0] + [1.0] * len(parts)))
    status = np.zeros(values.size, np.int8)
    status[rng.choice(values.size, unsafe, replace=False)] = CellStatus.SENSITIVE
    needs = np.where(status == CellStatus.SENSITIVE, need, 0.0)
    table = make_table(
        values.ravel(), make_constraints(relations), status=status, protection_levels=ProtectionLevels(needs, needs)
    )
    codes = np.stack(np.unravel_index(np.arange(values.size), shape), axis=1)
    return make_problem(table, None, attackers, Coordinates(codes, tuple(trees)))


def fits(chosen, threat, flow):
    """Whether a flow keeps all sums, moves the cell as far as is needed and no cell further than it can go."""
    up, down = chosen.room(threat)
    others = flow.cells != threat.cell
    return (
        np.abs(chosen.matrix[:, flow.cells] @ flow.amounts).max() < 1e-9
        and flow.amounts[~others].tolist() == [threat.sign * threat.need]
        and (flow.amounts[others] <= up[flow.cells[others]]).all()
        and (-flow.amounts[others] <= down[flow.cells[others]]).all()
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("trees", [(TREE, FLAT, TREE), (TREE, TREE), (FLAT, FLAT, FLAT, TREE), (FLAT,) * 5])
def test_cubes_keep_all_sums_and_stay_within_the_room(trees, seed):
    chosen = problem(*trees, seed=seed, need=1.0)
    cubes = HypercubeFlows(chosen, chosen.costs + 1.0, chosen.coordinates)
    flows = {threat: cubes.find(threat) for threat in chosen.threats}
    assert all(flow is not None for flow in flows.values())
    assert all(fits(chosen, threat, flow) for threat, flow in flows.items())


@pytest.mark.parametrize("seed", range(3))
def test_no_cube_of_single_codes_is_cheaper(seed):
    """Tried one by one: for every choice of another code, the total among them, in each dimension."""
    chosen = problem(FLAT, FLAT, FLAT, seed=seed)
    prices = chosen.costs + 1.0
    cubes = HypercubeFlows(chosen, prices, chosen.coordinates)
    where = {tuple(codes): cell for cell, codes in enumerate(chosen.coordinates.codes.tolist())}
    for threat in chosen.threats:
        own = chosen.coordinates.codes[threat.cell].tolist()
        if 0 in own:
            continue
        costs = []
        for others in itertools.product(*([code for code in range(5) if code != mine] for mine in own)):
            cells, amounts = [], []
            for turned in itertools.product((False, True), repeat=3):
                cells.append(where[tuple(b if t else a for a, b, t in zip(own, others, turned, strict=True))])
                # The total moves with its part, a sibling against it.
                against = sum(t and other != 0 for t, other in zip(turned, others, strict=True))
                amounts.append(threat.sign * threat.need * (-1) ** against)
            moved = np.array(amounts)
            room = np.where(moved > 0, chosen.up[cells], chosen.down[cells])
            if (np.abs(moved[1:]) <= room[1:]).all():
                costs.append(prices[cells[1:]].sum())
        flow = cubes.find(threat)
        assert prices[flow.cells[flow.cells != threat.cell]].sum() == pytest.approx(min(costs))


def test_closed_and_dear_cells_are_avoided():
    chosen = problem(FLAT, FLAT, FLAT)
    cubes = HypercubeFlows(chosen, chosen.costs + 1.0, chosen.coordinates)
    threat = chosen.threats[0]
    first = [cell for cell in cubes.find(threat).cells.tolist() if cell != threat.cell]
    cubes.reopen(first[0], 0.0)
    assert first[0] not in cubes.find(threat).cells
    cubes.reopen(first[0], 1.0)
    cubes.reprice(np.array(first[:1]), np.array([1e6]))
    assert first[0] not in cubes.find(threat).cells
    cubes.open(np.zeros(chosen.size))
    assert cubes.find(threat) is None


def test_who_knows_a_cell_is_shown_a_cube_without_it():
    plain = problem(FLAT, FLAT, FLAT)
    threat = plain.threats[0]
    known = next(
        cell
        for cell in HypercubeFlows(plain, plain.costs + 1.0, plain.coordinates).find(threat).cells
        if cell != threat.cell
    )
    value = plain.values[[known]]
    knows = Insider(
        "b",
        AttackerKind.RESPONDENT,
        np.array([known]),
        Bounds(value, value),
        ProtectionLevels(np.zeros(1), np.zeros(1)),
    )
    chosen = problem(FLAT, FLAT, FLAT, attackers=(knows,))
    inside = Threat(threat.cell, threat.sign, threat.need, 0)
    flow = HypercubeFlows(chosen, chosen.costs + 1.0, chosen.coordinates).find(inside)
    assert known not in flow.cells
    assert fits(chosen, inside, flow)


def test_without_patience_patterns_are_found_all_the_same():
    """Programs over all cells take seconds each here: none is asked, and everything is withstood."""
    trees = (np.array([-1, *[0] * 6]),) * 4
    chosen = problem(*trees, unsafe=40, need=2.0)
    search = PatternSearch(chosen)
    pattern = search.protect(chosen.forced, Deadline(), patience=within(0.0))
    assert set(pattern.proofs) == set(chosen.threats)
    for threat, proofs in pattern.proofs.items():
        assert all(fits(chosen, threat, proof.flow) and proof.within(pattern.masked) for proof in proofs)
