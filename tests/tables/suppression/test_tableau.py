"""Flows by steps over the free cells: there is one just where a linear program finds one, and it is a flow."""

import numpy as np
import pytest

from sfumato.tables.cells.system import (
    AttackerKind,
    Bounds,
    CellStatus,
    Insider,
    ProtectionLevels,
    make_constraints,
    make_table,
)
from sfumato.tables.suppression.linear_flows import FlowPrograms, Tableau
from sfumato.tables.suppression.problem import GENEROUS, make_problem
from sizes import size


def masked_part(seed, sides=(4, 4, 4), unsafe=6, share=0.4, need=0.5):
    """The masked cells of a table with margins, of which some are unsafe; who is alone in such a cell attacks."""
    rng = np.random.default_rng(seed)
    values = np.floor(rng.lognormal(2, 1, sides)).clip(1)
    for axis in range(len(sides)):
        values = np.concatenate([values.sum(axis=axis, keepdims=True), values], axis=axis)
    places = np.arange(values.size).reshape(values.shape)
    lines = [
        (line, [-1.0] + [1.0] * size)
        for axis, size in enumerate(sides)
        for line in np.moveaxis(places, axis, -1).reshape(-1, size + 1).tolist()
    ]
    masked = rng.choice(values.size, int(share * values.size), replace=False)
    status = np.full(values.size, CellStatus.PUBLISH, np.int8)
    status[masked] = CellStatus.SAFE
    status[masked[:unsafe]] = CellStatus.SENSITIVE
    reach = np.where(status == CellStatus.SENSITIVE, np.maximum(need * values.ravel(), 1.0), 0.0)
    table = make_table(
        values.ravel(), make_constraints(lines), status=status, protection_levels=ProtectionLevels(reach, reach)
    )
    nothing = ProtectionLevels(np.zeros(1), np.zeros(1))
    alone = [
        Insider(f"c{cell}", AttackerKind.RESPONDENT, np.array([cell]), Bounds(*[table.values[[cell]]] * 2), nothing)
        for cell in masked[: unsafe // 2]
    ]
    return make_problem(table, attackers=alone)


def attacks(problem):
    """All threats, by the outsider and by those within."""
    within = (
        problem.with_insiders(threat, place) for threat in problem.threats for place in range(len(problem.attackers))
    )
    return [*problem.threats, *(attack for attack in within if attack is not None)]


def check_flow(problem, attack, flow, closed):
    """It keeps all relations, reaches the need, and stays within the room of whoever attacks."""
    net = np.zeros(problem.size)
    net[flow.cells] = flow.amounts
    assert np.abs(problem.matrix @ net).max() <= 1e-8 * attack.need
    assert net[attack.cell] * attack.sign == pytest.approx(attack.need)
    up, down = problem.room(attack)
    net[attack.cell] = 0.0
    assert (net <= up + 1e-9).all()
    assert (-net <= down + 1e-9).all()
    assert not net[closed].any()


@pytest.mark.parametrize(("sides", "share"), [((4, 4, 4), 0.6), ((7, 8), 0.4), ((3, 3, 3, 3), 0.7), ((4, 4, 4), 0.8)])
def test_there_is_a_flow_where_a_program_finds_one(sides, share):
    answers = []
    for seed in range(size(6, 12)):
        problem = masked_part(seed, sides, share=share)
        prices, chance = np.ones(problem.size), np.random.default_rng(seed)
        tableau, programs, closed = Tableau(problem, prices), FlowPrograms(problem, prices, GENEROUS), []
        for turn in range(3):
            for cell in chance.choice(problem.size, 3).tolist() if turn else ():
                tableau.reopen(cell, 0.0)
                programs.reopen(cell, 0.0)
                closed.append(cell)
            for attack in attacks(problem):
                flow = tableau.find(attack)
                assert (flow is None) == (programs.find(attack) is None)
                answers.append(flow is not None)
                if flow is not None:
                    check_flow(problem, attack, flow, [cell for cell in closed if cell != attack.cell])
    assert 0.1 < np.mean(answers) < 0.9


def test_what_is_stuck_has_no_flow():
    counts = {True: 0, False: 0}
    for seed in range(12):
        problem = masked_part(seed, share=0.7, need=0.01)
        for cell in np.flatnonzero(~problem.forced)[:20].tolist():
            tableau = Tableau(problem, np.ones(problem.size))
            tableau.reopen(cell, 0.0)
            stuck = tableau.stuck
            counts[stuck] += 1
            assert not (stuck and all(tableau.find(threat) for threat in problem.threats))
    assert min(counts.values()) > 10


def test_a_rate_that_is_lost_is_found_again():
    """Rates that do not belong to the relations any more give flows that do not hold: they are worked out anew."""
    problem = masked_part(1, share=0.6)
    tableau = Tableau(problem, np.ones(problem.size))
    before = [tableau.find(threat) is not None for threat in problem.threats]
    tableau._rates[:] += 0.25
    assert [tableau.find(threat) is not None for threat in problem.threats] == before
    assert any(before)
