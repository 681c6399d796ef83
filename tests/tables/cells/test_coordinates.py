"""Where cells stand: in one table, and in the dimensions of several tables."""

import numpy as np
import pandas

from sfumato.pipelines.tables.protect_linked import sheets_of
from sfumato.tables.cells.constraints import NOWHERE, coordinates_of, joint_coordinates
from sfumato.tables.cells.dimensions import CodeTree
from sfumato.tables.deadline import Deadline, within
from sfumato.tables.linked.protection import joint_part
from sfumato.tables.plan.table_plan import read_table_plan
from sfumato.tables.suppression.patterns import PatternSearch, patience_of
from sfumato.tables.suppression.problem import make_problem

T = ()
BRANCH = CodeTree("branch", T, {("A",): T, ("A1",): ("A",), ("A2",): ("A",), ("B",): T})
REGION = CodeTree("region", T, {("n",): T, ("s",): T})
SIZE = CodeTree("size", T, {("1",): T})


def test_codes_are_numbered_below_their_totals():
    where = coordinates_of([BRANCH], [(("A2",),), (T,), (("B",),)])
    assert where.above[0].tolist() == [-1, 0, 1, 1, 0]
    assert where.codes.ravel().tolist() == [3, 0, 4]
    assert coordinates_of([], []) is None


def test_tables_have_the_totals_of_dimensions_of_others():
    one = ([BRANCH, REGION], [(("A",), ("n",)), (("A",), T)], np.array([0, 1]))
    other = ([SIZE, BRANCH], [(("1",), ("A1",)), (T, ("A",))], np.array([2, 1]))
    where = joint_coordinates([one, other], 4)
    assert [len(above) for above in where.above] == [5, 3, 2]
    assert where.codes.tolist() == [[1, 1, 0], [1, 0, 0], [2, 0, 1], [NOWHERE] * 3]
    assert where.padded(6).codes[4:].tolist() == [[NOWHERE] * 3] * 2


def test_spaces_that_cannot_be_numbered_have_none():
    wide = [CodeTree(f"d{place}", T, {(str(code),): T for code in range(99)}) for place in range(10)]
    assert coordinates_of(wide, [(T,) * 10]) is None


def firms(seed=1):
    rng = np.random.default_rng(seed)
    size = 4000
    leaves = [f"{one}{two}{three}" for one in "ABCD" for two in "123" for three in "xyz"]
    return pandas.DataFrame(
        {
            "branch": rng.choice(leaves, size),
            "region": rng.choice([f"r{place}" for place in range(12)], size),
            "size": rng.choice(list("1234"), size),
            "turnover": np.ceil(rng.lognormal(4, 1.2, size)),
        }
    )


def problem_of(tmp_path, crossings):
    records = firms()
    leaves = sorted(set(records["branch"]))
    pairs = [(leaf, leaf[:2]) for leaf in leaves] + [(part, part[0]) for part in sorted({leaf[:2] for leaf in leaves})]
    (tmp_path / "branch.csv").write_text("".join(f"{child},{parent}\n" for child, parent in pairs))
    known = {
        "branch": {"column": "branch", "hierarchy": "branch.csv"},
        "region": {"column": "region"},
        "size": {"column": "size"},
    }
    tables = [{"name": "-".join(names), "dimensions": {name: known[name] for name in names}} for names in crossings]
    plan = read_table_plan(
        {
            "version": 1,
            "table": {"microdata": "firms.csv", "value": "turnover"},
            "tables": tables,
            "primary": [{"rule": "frequency", "min": 3}],
        },
        tmp_path,
    )
    records.to_csv(tmp_path / "firms.csv", index=False)
    plan, sheets = sheets_of(plan)
    part, _ = joint_part(plan, sheets)
    return make_problem(part.table, part.suppressed_before, part.knowledge.attackers, part.where)


def test_tables_of_records_are_protected_without_programs_over_all_cells(tmp_path):
    """Two crossings that share a dimension with a hierarchy: without patience every cell has its cube at once."""
    problem = problem_of(tmp_path, [("branch", "region", "size"), ("branch", "size")])
    assert problem.size > 2_000
    assert problem.coordinates is not None
    pattern = PatternSearch(problem).protect(problem.forced, Deadline(), patience=within(0.0))
    assert set(pattern.proofs) == set(problem.threats)
    flows = [proof.flow for proofs in pattern.proofs.values() for proof in proofs]
    assert max(np.abs(problem.columns[:, flow.cells] @ flow.amounts).max() for flow in flows) < 1e-6


def test_patience_leaves_time_for_every_threat(tmp_path):
    problem = problem_of(tmp_path, [("branch", "region", "size")])
    assert patience_of(problem, Deadline()).left == float("inf")
    assert patience_of(problem, within(1.0)).over
    assert 0 < patience_of(problem, within(1e4)).left <= 6e3
