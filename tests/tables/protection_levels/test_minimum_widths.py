"""Promises of no width: a masked cell never has a single possible value, whatever the rule or the plan asks."""

import numpy as np
import pytest

from refusals import coded
from sfumato.errors import PlanError, UnattainableError
from sfumato.pipelines.tables.protect import protect, run
from sfumato.tables.attack.audit import audit_publication
from sfumato.tables.attack.findings import AttackerView, DisclosureStatus
from sfumato.tables.cell_labels import lower_end, upper_end
from sfumato.tables.cells.columns import read_columns
from sfumato.tables.cells.constraints import precision_of
from sfumato.tables.cells.system import Bounds, ProtectionLevels, make_constraints, no_bounds
from sfumato.tables.plan.table_plan import read_table_plan
from sfumato.tables.protection_levels.insiders import attainable

pandas = pytest.importorskip("pandas")
AREA = {"area": {"column": "area"}}
SMALL = [{"rule": "range", "min": 1, "max": 3}]
THIN = {
    "value at the lower bound": ([31, 1, 10, 20], {}, SMALL, {"lower": 1}),
    "value at the upper bound": ([33, 3, 10, 20], {}, SMALL, {"upper": 1}),
    "no percent": ([31, 1, 10, 20], {}, SMALL, {"percent": 0}),
    "less than a unit": ([36, 6, 10, 20], {}, [{"rule": "frequency", "min": 9}], {"percent": 10}),
    "no margin above zero": ([30, 0, 10, 20], {}, [{"rule": "zero", "margin": 0}], None),
    "one respondent with nothing": ([40, 0, 10, 30], {"f": [25, 1, 8, 16]}, [{"rule": "frequency", "min": 3}], None),
    "one holding with nothing": ([40, 0, 10, 30], {"h": [25, 1, 8, 16]}, [{"rule": "holdings", "min": 3}], None),
}


@pytest.mark.parametrize("name", THIN)
@pytest.mark.parametrize("method", ["optimal", "fast", "ranges"])
def test_masked_cells_keep_a_second_value(name, method):
    values, more, rules, protection = THIN[name]
    frame = pandas.DataFrame({"area": ["Total", "a", "b", "c"], "n": values} | more)
    given = {"frequency": "f"} if "f" in more else {"holdings": "h"} if "h" in more else {}
    asked = {} if protection is None else {"protection": protection}
    done = protect(frame, value="n", dimensions=AREA, primary=rules, method=method, **given, **asked)
    finding = next(finding for part in done.parts for finding in part.audit.findings if finding.name == "area a")
    assert finding.upper - finding.lower >= 1
    assert done.report["secondary"] >= 1
    published = done.data.set_index("area").loc["a"]
    assert published["n_lower"] != published["n_upper"]


def test_range_of_one_value_is_refused():
    with pytest.raises(PlanError, check=coded("value.min_must_lie_below")):
        read_table_plan(
            {"version": 1, "table": {}, "dimensions": AREA, "primary": [{"rule": "range", "min": 1, "max": 1}]}
        )


def test_known_bounds_without_room_are_unattainable():
    frame = pandas.DataFrame({"area": ["Total", "a", "b", "c"], "n": [31, 1, 10, 20]})
    with pytest.raises(UnattainableError, check=coded("part.of_cells")) as caught:
        protect(frame, value="n", dimensions=AREA, primary=[{"rule": "frequency", "min": 2}], attacker={"rule": True})
    assert caught.value.rows == (2,)


def test_given_cells_without_protection_levels_get_one_step(tmp_path):
    rows = [(0, 30, "s"), (1, 4, "u"), (2, 6, "s"), (3, 20, "s")]
    cells = "id,value,status,cost,lb,ub,lpl,upl\n"
    cells += "".join(f"{place},{value},{status},{value},0,99,0,0\n" for place, value, status in rows)
    (tmp_path / "cells.csv").write_text(cells)
    (tmp_path / "relations.csv").write_text("relation,cell_id,coef\nr,0,-1\nr,1,1\nr,2,1\nr,3,1\n")
    plan = read_table_plan({"version": 1, "table": {"cells": "cells.csv", "relations": "relations.csv"}}, tmp_path)
    done = run(plan, read_columns(tmp_path / "cells.csv"))
    assert done.columns.text("value_published") == ("30", "*", "*", "20")


def test_audit_calls_a_single_value_exact_whatever_was_promised():
    shown = AttackerView(
        np.array([5.0, np.nan, 3.0]),
        no_bounds(3),
        Bounds(np.zeros(3), np.full(3, np.inf)),
        make_constraints([([0, 1, 2], [-1, 1, 1])]),
        ("all", "a", "b"),
    )
    promise = Bounds(np.array([np.nan, 2.0, np.nan]), np.array([np.nan, 2.0, np.nan]))
    assert audit_publication(shown, promise).findings[0].verdict is DisclosureStatus.EXACT


def test_steps():
    assert precision_of(np.array([1.0, 20.0])) == 1
    assert precision_of(np.array([1.5, 20.25])) == 0.01
    assert precision_of(np.array([1 / 3, 2.0])) == 1e-4
    values, unsafe = np.array([2.0, 2.0]), np.array([True, False])
    bounds, wished = Bounds(np.zeros(2), np.array([2.0, 9.0])), ProtectionLevels(np.zeros(2), np.zeros(2))
    reach = attainable(values, unsafe, bounds, wished, 1.0)
    assert (reach.lower.tolist(), reach.upper.tolist()) == ([1, 0], [0, 0])


def test_ends_are_never_rounded_into_the_range():
    assert (lower_end(1234567.6), upper_end(1234567.4)) == ("1234567.6", "1234567.4")
    assert (lower_end(0.3 - 1e-12), upper_end(0.3 + 1e-12)) == ("0.3", "0.3")
    assert (lower_end(2 / 3), upper_end(1 / 3)) == ("0.666666", "0.333334")
