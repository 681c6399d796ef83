"""Table plans: the example of the documentation, all faults at once, and the schema."""

from pathlib import Path

import pytest

from refusals import coded
from sfumato.errors import PlanError
from sfumato.pipelines.tables.protect import protect
from sfumato.tables.plan import rules as primary
from sfumato.tables.plan.table_plan import read_table_plan, table_plan_dict, table_plan_schema

EXAMPLE = """
version: 1
table: {source: cells.csv, value: Wert, group_by: []}
dimensions:
  area: {levels: [Kreis, Quartier], total: 0}
  size: {column: Size, total: Total}
  nace: {column: NACE, hierarchy: nace.hrc, total: Total}
primary: [{rule: range, min: 1, max: 3}]
method: {name: optimal, cost: value, time_limit: 60}
protection: {lower: 1, upper: 1}
"""


def test_example(tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text(EXAMPLE)
    plan = read_table_plan(path)
    assert plan.folder == tmp_path
    assert plan.dimensions["area"].levels == ("Kreis", "Quartier")
    assert plan.dimensions["area"].total == "0"
    assert plan.primary == (primary.RangeRule(1, 3),)
    assert plan.protection.lower == 1
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(dict(plan.plain), table_plan_schema())


def test_all_faults_at_once():
    wrong = {
        "version": 2,
        "table": {"valeu": "n"},
        "dimensions": {"area": {"levels": ["a"], "column": "b"}},
        "primary": [{"rule": "rnage", "min": 1}, {"rule": "range", "min": 3, "max": 1}],
        "method": {"name": "optimale"},
        "protection": {},
    }
    with pytest.raises(PlanError) as caught:
        read_table_plan(wrong)
    places = {fault.path for fault in caught.value.issues}
    assert {
        "version",
        "table.valeu",
        "dimensions.area",
        "primary[0].rule",
        "primary[1]",
        "method.name",
        "protection",
    } <= places
    assert 'Did you mean "value"?' in str(caught.value)


@pytest.mark.parametrize(
    "plan",
    [
        {"version": 1, "table": {"value": "n"}, "primary": [{"rule": "frequency", "min": 3}]},
        {"version": 1, "table": {"value": "n"}, "dimensions": {"a": {"column": "a"}}},
        {"version": 1, "table": {"cells": "cells.csv"}},
        {"version": 1, "table": {"cells": "c", "relations": "r", "source": "s"}},
        {"version": 1, "table": {"cells": "c", "relations": "r"}, "dimensions": {"a": {"column": "a"}}},
        ["no mapping"],
    ],
)
def test_refused(plan):
    with pytest.raises(PlanError):
        read_table_plan(plan)


def test_short_forms():
    plan = read_table_plan(
        {
            "version": 1,
            "table": {"value": "n"},
            "dimensions": {"a": {"column": "a"}},
            "primary": [{"rule": "range", "min": 1, "max": 3}],
            "method": {"name": "intervals", "funktion": "min"},
            "columns": "original",
            "language": "de",
        }
    )
    assert plan.method.tie_break == "min"
    assert table_plan_dict(plan, Path())["method"]["tie_break"] == "min"  # written in our own words
    assert (plan.output.columns, plan.output.language) == ("original", "de")


def test_a_decimal_of_a_plan_file_is_written_as_it_was(tmp_path):
    """Numbers of a plan file know how they were written; the plan of the release folder has them so."""
    (tmp_path / "cells.csv").write_text("area,n\nTotal,24\na,2\nb,9\nc,13\n")
    (tmp_path / "plan.yaml").write_text(
        "version: 1\ntable: {source: cells.csv, value: n, tolerance: 0.50}\n"
        "dimensions: {area: {column: area}}\nprimary: [{rule: range, min: 1, max: 3}]\n"
    )
    protect(plan=tmp_path / "plan.yaml").save(tmp_path / "out")
    assert "tolerance: 0.50" in (tmp_path / "out" / "plan.yaml").read_text()


@pytest.mark.parametrize("name", ["../evil", "a/b", ".hidden", "", "a\\b", "x" * 101, "dot.", "line\nbreak"])
def test_the_name_of_a_table_leads_out_of_no_folder(name):
    crossing = {"name": name, "source": "a.csv", "dimensions": {"area": {"column": "area"}}}
    plan = {"version": 1, "table": {"value": "n"}, "tables": [crossing], "primary": [{"rule": "frequency", "min": 3}]}
    with pytest.raises(PlanError, check=coded("value.table_name_as_folder" if name else "issue.not_empty")):
        read_table_plan(plan)
