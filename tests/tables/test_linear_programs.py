"""Linear programs: answered by interior points where the simplex method leads nowhere, and not past their time."""

import numpy as np
import pytest

from refusals import coded
from sfumato.errors import InternalError, UnattainableError
from sfumato.tables import linear_programs
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
from sfumato.tables.linear_programs import limit, linear_program, solved
from sfumato.tables.suppression import attack_programs
from sfumato.tables.suppression import linear_flows as flow_programs
from sfumato.tables.suppression.attack_programs import AttackerProgram, ParallelAttackers
from sfumato.tables.suppression.cut_separation import Separation
from sfumato.tables.suppression.master_problem import Master, relation_cuts
from sfumato.tables.suppression.patterns import PatternSearch
from sfumato.tables.suppression.problem import make_problem
from sfumato.values import replace


def cube(size=6):
    """A three-way table with margins, whose first inner cell is unsafe."""
    values = np.random.default_rng(1).integers(5, 50, (size, size, size)).astype(float)
    for axis in range(3):
        values = np.concatenate([values.sum(axis=axis, keepdims=True), values], axis=axis)
    places = np.arange(values.size).reshape(values.shape)
    lines = [line for axis in range(3) for line in np.moveaxis(places, axis, 2).reshape(-1, size + 1).tolist()]
    relations = make_constraints([(line, [-1.0] + [1.0] * size) for line in lines])
    status = np.zeros(values.size, np.int8)
    status[places[1, 1, 1]] = CellStatus.SENSITIVE
    need = np.where(status == CellStatus.SENSITIVE, 4.0, 0.0)
    return make_problem(
        make_table(values.ravel(), relations, status=status, protection_levels=ProtectionLevels(need, need))
    )


def furthest(problem):
    """How far the first cell can move when every cell has room by chance."""
    room = np.random.default_rng(2).random(problem.size)
    highs = linear_program(problem.matrix, np.zeros(problem.size), Bounds(-room, room))
    highs.changeColCost(0, -1.0)
    return solved(highs), highs.getInfo()


def test_where_the_simplex_method_leads_nowhere_interior_points_answer_the_same(monkeypatch):
    problem = cube()
    answered, plain = furthest(problem)
    assert answered
    assert plain.ipm_iteration_count <= 0
    monkeypatch.setattr(linear_programs, "STEPS", 1)
    monkeypatch.setattr("highspy.Highs.getNumRow", lambda _: 1)
    answered, other = furthest(problem)
    assert answered
    assert other.ipm_iteration_count > 0
    assert other.objective_function_value == pytest.approx(plain.objective_function_value)


def test_an_attack_without_time_gets_through_nowhere_and_one_with_time_is_an_error(monkeypatch):
    problem = cube()
    attackers = AttackerProgram(problem)
    attackers.open(np.zeros(problem.size))
    assert attackers.directions(problem.threats[0]) is not None
    monkeypatch.setattr(attack_programs, "solved", lambda *_: False)
    with pytest.raises(InternalError, check=coded("internal.attacker")):
        attackers.attack(problem.threats[0])
    attackers.until(within(0.0))
    assert attackers.directions(problem.threats[0]) is None


def test_what_guards_had_no_time_for_is_not_withstood():
    problem = cube()
    guards = ParallelAttackers(problem)
    guards.open(np.ones(problem.size))
    assert guards.failed(problem.threats, Deadline()) == []
    assert guards.failed(problem.threats, within(0.0)) == list(problem.threats)


def test_a_flow_not_found_in_time_is_not_called_impossible(monkeypatch):
    """Without time a finder has no flow either: the pattern is given up, and the cell not called unprotectable."""
    problem = cube()
    search = PatternSearch(problem)
    late = iter([False, True])
    end = Deadline(asked=lambda: next(late, True))
    monkeypatch.setattr(flow_programs, "solved", lambda *_: False)
    assert search.protect(problem.forced, end) is None
    with pytest.raises(UnattainableError, check=coded("unattainable.unprotectable")):
        search.protect(problem.forced, Deadline())


def hard_integer_program(seconds):
    """A market split, which takes an integer program far longer than tests have, after a run of some seconds."""
    import highspy
    from scipy.sparse import csr_matrix

    size, count = 40, 5
    weights = np.random.default_rng(3).integers(0, 100, (count, size)).astype(float)
    half = np.floor(weights.sum(axis=1) / 2)
    highs = linear_program(
        csr_matrix(np.hstack([weights, np.eye(count), -np.eye(count)])),
        np.r_[np.zeros(size), np.ones(2 * count)],
        Bounds(np.zeros(size + 2 * count), np.r_[np.ones(size), np.full(2 * count, np.inf)]),
        Bounds(half, half),
    )
    highs.changeColsIntegrality(size, np.arange(size, dtype=np.int32), np.full(size, highspy.HighsVarType.kInteger))
    limit(highs, seconds, whole=True)
    highs.run()
    assert highs.getModelStatus() == highspy.HighsModelStatus.kTimeLimit
    return highs


def test_time_of_integer_programs_counts_from_each_run():
    """Its limit was the time of all runs before and the new time: the longer a search went on, the less it was kept."""
    highs = hard_integer_program(0.4)
    before = highs.getRunTime()
    assert before >= 0.4
    limit(highs, 0.3, whole=True)
    assert highs.getOptionValue("time_limit")[1] == 0.3
    highs.run()
    # Not over at once either.
    assert highs.getRunTime() - before >= 0.25


def test_cuts_of_relations_against_thousands_of_coalitions_keep_their_time():
    """Who knows cells is asked as long as there is time; the cuts against an outsider are there anyway."""
    problem = cube(3)
    cell = problem.threats[0].cell
    cells = np.setdiff1d(np.arange(problem.size), [cell])
    values, nothing = problem.values[cells], np.zeros(len(cells))
    knowing = Insider(
        "a and b", AttackerKind.COALITION, cells, Bounds(values, values), ProtectionLevels(nothing, nothing)
    )
    attacked = replace(problem, attackers=(knowing,) * 5)
    outside = len(relation_cuts(problem))
    assert len(relation_cuts(attacked)) > outside
    assert len(relation_cuts(attacked, within(0.0))) == outside
    assert Separation(attacked, Master(attacked), within(0.0)) is not None


def test_what_an_attacker_knows_is_made_when_he_is_asked():
    problem = cube(3)
    cells, values = np.array([0, 1]), problem.values[:2]
    knows = Insider(
        "a",
        AttackerKind.HOLDING,
        cells,
        Bounds(values, values + np.array([0.0, 2.0])),
        ProtectionLevels(np.ones(2), np.ones(2)),
    )
    problem = replace(problem, attackers=(knows, knows))
    assert problem.insiders == {0: [(0, 0.0, 0.0), (1, 0.0, 0.0)], 1: [(0, 2.0, 0.0), (1, 2.0, 0.0)]}
    assert np.flatnonzero(problem.known).tolist() == [0, 1]
    assert not problem._parts
    assert problem.part_of(1).up.tolist() == [0.0, 2.0]
    assert list(problem._parts) == [1]


def test_time_of_linear_programs_counts_from_the_first_run():
    highs = linear_program(cube().matrix, np.zeros(343), Bounds(np.zeros(343), np.ones(343)))
    highs.run()
    limit(highs, 2.0)
    assert highs.getOptionValue("time_limit")[1] == 2.0 + highs.getRunTime()


def test_integer_programs_of_a_search_keep_their_time():
    """The master program's integer program: what it may take does not grow from one to the next."""
    problem = cube(3)
    master = Master(problem)
    for cut in relation_cuts(problem):
        master.add(cut)
    asked = []
    for _ in range(3):
        master.solve(within(7.0), np.ones(problem.size, bool))
        asked.append(master._whole.getOptionValue("time_limit")[1])
    assert max(asked) <= 7.0
