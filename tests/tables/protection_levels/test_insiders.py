"""Who attacks from within: dominant respondents, holdings with several cells, persons of counts of 1, coalitions."""

import numpy as np
import pytest

from refusals import coded
from sfumato.errors import PlanError, UnattainableError
from sfumato.pipelines.tables.protect import columns_from, protect
from sfumato.pipelines.tables.table_source import tabulate
from sfumato.tables.build import build
from sfumato.tables.cells.system import AttackerKind
from sfumato.tables.plan.table_plan import read_table_plan

pandas = pytest.importorskip("pandas")
TOP = 3
NAMED = {
    "frequency": "count",
    "holdings": "holdings",
    "contributions": [f"top{place + 1}" for place in range(TOP)],
    "contributors": [f"top{place + 1}_id" for place in range(TOP)],
}
PERCENT = [{"rule": "p-percent", "p": 10}]


def survey(rows):
    """A table of records (code, code, amount, holding)."""
    frame = pandas.DataFrame(rows, columns=["a", "b", "v", "h"])
    return tabulate(frame, ["a", "b"], value="v", holding="h", top=TOP)


def parts(table, **more):
    plan = {"version": 1, "table": {"value": "v", **NAMED}, "primary": PERCENT, "method": "optimal"}
    plan |= {"dimensions": {"a": {"column": "a"}, "b": {"column": "b"}}} | more
    read = read_table_plan(plan)
    return build(read, columns_from(table, read))[0]


DOMINATED = [
    ("I", "13", 6431.70, "big"),
    ("I", "13", 199.99, "small"),
    ("I", "14", 900.0, "c"),
    ("I", "14", 800.0, "d"),
    ("I", "14", 700.0, "e"),
    ("J", "13", 500.0, "f"),
    ("J", "13", 450.0, "g"),
    ("J", "13", 420.0, "i"),
    ("J", "14", 300.0, "j"),
    ("J", "14", 310.0, "k"),
    ("J", "14", 320.0, "l"),
]


def test_only_what_is_not_his_is_protected_from_a_respondent():
    part = parts(survey(DOMINATED))
    cell = part.table.names.index("a I, b 13")
    assert part.table.protection_levels.upper[cell] == pytest.approx(643.17)
    known = {attacker.name: attacker for attacker in part.knowledge.attackers}
    open_to = {
        name: float(known[name].reach.upper[known[name].cells == cell][0]) for name in ("holding big", "holding small")
    }
    assert open_to == pytest.approx({"holding big": 19.999, "holding small": 643.17})


def test_default_protects_a_table_with_a_dominant_respondent():
    done = protect(
        survey(DOMINATED), value="v", **NAMED, dimensions={"a": {"column": "a"}, "b": {"column": "b"}}, primary=PERCENT
    )
    assert done.passed
    assert done.report["attackers"]["attacked"]["holdings"] == 11
    assert "holdings" not in done.report["attackers"]["did_not_attack"]


SCATTERED = [
    ("x", "p", 100.0, "H"),
    ("y", "q", 90.0, "H"),
    ("x", "q", 60.0, "other"),
    ("y", "p", 70.0, "else"),
    *[("z", code, 400.0 + place, f"z{code}{place}") for code in "pqr" for place in range(4)],
    *[(code, "r", 300.0 + place, f"r{code}{place}") for code in "xy" for place in range(4)],
]


def test_holding_alone_in_two_cells_is_one_attacker():
    part = parts(survey(SCATTERED))
    (holding,) = [attacker for attacker in part.knowledge.attackers if attacker.name == "holding H"]
    alone = holding.cells[holding.bounds.low == holding.bounds.high]
    assert {part.table.names[cell] for cell in alone} == {"a x, b p", "a y, b q"}


@pytest.mark.parametrize("method", ["optimal", "fast"])
def test_holding_with_two_cells_recovers_nothing(method):
    common = {"dimensions": {"a": {"column": "a"}, "b": {"column": "b"}}, "primary": PERCENT}
    done = protect(survey(SCATTERED), value="v", **NAMED, **common, method=method)
    shown = done.data.set_index(["a", "b"])["v_published"]
    without = protect(survey(SCATTERED), value="v", **NAMED, **common, method={"name": method, "insiders": False})
    # The square x, y by p, q hides from an outsider, not from one who knows two corners of it.
    assert (without.data.set_index(["a", "b"])["v_published"] == "*").sum() == 4
    assert (shown == "*").sum() > 4
    assert without.report["attackers"]["did_not_attack"] == ["respondents", "holdings", "persons"]


def counts(grid):
    """A table of counts with its margins."""
    grid = np.array(grid)
    rows = [("Total", "Total", grid.sum())]
    rows += [(f"r{i}", "Total", row.sum()) for i, row in enumerate(grid)]
    rows += [("Total", f"c{j}", column.sum()) for j, column in enumerate(grid.T)]
    rows += [(f"r{i}", f"c{j}", value) for i, row in enumerate(grid) for j, value in enumerate(row)]
    return pandas.DataFrame(rows, columns=["r", "c", "n"])


LEAKING = [[9, 6, 4, 1], [2, 1, 1, 1], [1, 9, 6, 12], [4, 6, 12, 9]]
GRID = {"r": {"column": "r"}, "c": {"column": "c"}}
SMALL = [{"rule": "frequency", "min": 3}]


def test_person_of_a_count_of_one_learns_nothing():
    off = {"attackers": {"persons": False}}
    open_ = protect(counts(LEAKING), value="n", dimensions=GRID, primary=SMALL, **off)
    assert open_.report["attackers"]["did_not_attack"] == ["persons"]
    done = protect(counts(LEAKING), value="n", dimensions=GRID, primary=SMALL)
    assert done.report["masked"] > open_.report["masked"]
    assert done.report["attackers"]["attacked"] == {"outsider": 1, "persons": 5}


def test_two_who_tell_each_other_know_more():
    grid = [[1, 2, 9, 30], [9, 1, 2, 31], [2, 9, 1, 32], [33, 34, 35, 36]]
    alone = protect(counts(grid), value="n", dimensions=GRID, primary=SMALL)
    pair = protect(counts(grid), value="n", dimensions=GRID, primary=SMALL, attackers={"coalition": 2})
    assert pair.report["attackers"]["attacked"]["coalition"] == 3
    assert pair.report["cost"] >= alone.report["cost"]


def test_refusal_names_the_attacker_and_what_would_help():
    table = pandas.DataFrame({"a": ["Total", "x", "y"], "v": [30, 10, 20], "n": [2, 1, 1], "s": ["z", "u", "u"]})
    rules = [{"rule": "status", "column": "s"}]
    with pytest.raises(UnattainableError) as caught:
        protect(table, value="v", frequency="n", dimensions={"a": {"column": "a"}}, primary=rules)
    assert "from the respondent of a" in caught.value.message
    assert "attackers: {respondents: false}" in caught.value.hint


def test_outsider_cannot_be_switched_off():
    with pytest.raises(PlanError, check=coded("value.outsider_always_attacks")):
        read_table_plan(
            {"version": 1, "table": {}, "dimensions": GRID, "primary": SMALL, "attackers": {"outsider": False}}
        )


def test_single_total_belongs_to_the_respondent_of_its_part():
    table = counts([[1, 0, 0], [2, 5, 9], [7, 8, 9]])
    plan = read_table_plan({"version": 1, "table": {"value": "n"}, "dimensions": GRID, "primary": SMALL})
    part = build(plan, columns_from(table, plan))[0]
    (person,) = part.knowledge.attackers
    assert person.kind is AttackerKind.PERSON
    assert {part.table.names[cell] for cell in person.cells[person.bounds.high == 1]} == {"r r0", "r r0, c c0"}
