"""Paths and boxes find flows as programs over all cells do."""

import numpy as np
import pytest

from sfumato.tables.cells.constraints import Coordinates
from sfumato.tables.cells.system import CellStatus, ProtectionLevels, make_constraints, make_table
from sfumato.tables.suppression.flow_finders import Boxes, DeferredFinder, Finders, Paths, network_of
from sfumato.tables.suppression.linear_flows import FlowPrograms
from sfumato.tables.suppression.problem import GENEROUS, make_problem


def problem(*shape, seed=0):
    """A table with margins, a few unsafe cells with small needs, and where its cells stand."""
    rng = np.random.default_rng(seed)
    values = rng.integers(5, 90, shape).astype(float)
    for axis in range(len(shape)):
        values = np.concatenate([values.sum(axis=axis, keepdims=True), values], axis=axis)
    places = np.arange(values.size).reshape(values.shape)
    lines = [line for axis in range(len(shape)) for line in np.moveaxis(places, axis, -1).reshape(-1, shape[axis] + 1)]
    relations = make_constraints([(line.tolist(), [-1.0] + [1.0] * (len(line) - 1)) for line in lines])
    inner = places[tuple(slice(1, None) for _ in shape)].ravel()
    status = np.zeros(values.size, np.int8)
    status[rng.choice(inner, 4, replace=False)] = CellStatus.SENSITIVE
    need = np.where(status == CellStatus.SENSITIVE, 3.0, 0.0)
    table = make_table(values.ravel(), relations, status=status, protection_levels=ProtectionLevels(need, need))
    codes = np.stack(np.unravel_index(np.arange(values.size), values.shape), axis=1)
    above = tuple(np.array([-1] + [0] * size) for size in shape)
    return make_problem(table, coordinates=Coordinates(codes, above))


def price(flow, prices):
    return float(prices[flow.cells] @ np.abs(flow.amounts))


@pytest.mark.parametrize("seed", range(4))
def test_cheapest_paths_cost_what_programs_say(seed):
    chosen = problem(6, 5, seed=seed)
    prices = chosen.costs + 1.0
    network = network_of(chosen.matrix)
    assert network is not None
    paths, programs = Paths(chosen, prices, *network), FlowPrograms(chosen, prices)
    for threat in chosen.threats:
        flow = paths.find(threat)
        assert np.abs(chosen.matrix[:, flow.cells] @ flow.amounts).max() == 0
        assert flow.reach(threat.cell) == threat.need
        # Every cell has room for the need here, so that one cycle is best.
        assert price(flow, prices) == pytest.approx(price(programs.find(threat), prices))


def test_closed_cells_are_not_on_a_path():
    chosen = problem(6, 5)
    paths = Paths(chosen, chosen.costs + 1.0, *network_of(chosen.matrix))
    threat = chosen.threats[0]
    first = paths.find(threat)
    others = [cell for cell in first.cells.tolist() if cell != threat.cell]
    paths.reopen(others[0], 0.0)
    assert others[0] not in paths.find(threat).cells
    paths.open(np.zeros(chosen.size))
    assert paths.find(threat) is None


def test_three_way_tables_are_no_network():
    assert network_of(problem(3, 3, 3).matrix) is None


@pytest.mark.parametrize("seed", range(3))
def test_boxes_find_flows_that_keep_all_relations(seed):
    chosen = problem(9, 9, 9, seed=seed)
    prices = chosen.costs + 1.0
    boxes, programs = Boxes(chosen, prices, chosen.coordinates), FlowPrograms(chosen, prices, GENEROUS)
    for threat in chosen.threats:
        flow = boxes.find(threat)
        assert np.abs(chosen.matrix[:, flow.cells] @ flow.amounts).max() < 1e-9
        assert price(flow, prices) >= price(programs.find(threat), prices) - 1e-6


def test_who_is_asked_last_knows_what_was_opened_and_what_it_costs():
    """As programs made afterwards: what changed before the first question, and what changed between questions."""
    chosen = problem(3, 4)
    prices, threat = chosen.costs + 1.0, chosen.threats[0]
    finder = Finders(_Nothing(), DeferredFinder(chosen, prices))
    shares = np.ones(chosen.size)
    for cell, price_now in [(int(place), 50.0) for place in FlowPrograms(chosen, prices, GENEROUS).find(threat).cells]:
        if cell == threat.cell:
            continue
        finder.reopen(cell, 0.0)
        finder.reprice(np.array([cell]), np.array([price_now]))
        shares[cell], prices[cell] = 0.0, price_now
        fresh = FlowPrograms(chosen, prices, GENEROUS)
        fresh.open(shares)
        expected, found = fresh.find(threat), finder.find(threat)
        assert (expected is None) == (found is None)
        if expected is not None:
            assert cell not in found.cells
            assert price(found, prices) == pytest.approx(price(expected, prices))
    finder.open(np.zeros(chosen.size))
    assert finder.find(threat) is None
    finder.open(np.ones(chosen.size))
    fresh = FlowPrograms(chosen, prices, GENEROUS)
    assert price(finder.find(threat), prices) == pytest.approx(price(fresh.find(threat), prices))


class _Nothing:
    """Finds nothing, so that the next is asked."""

    def open(self, shares):
        pass

    def reopen(self, cell, share):
        pass

    def reprice(self, cells, prices):
        pass

    def find(self, *_):
        return None
