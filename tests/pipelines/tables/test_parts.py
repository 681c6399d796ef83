"""A table protected by parts of a plan: one that there is not is told, with the nearest."""

import pandas
import pytest

import sfumato as sf
from refusals import refused

TABLE = pandas.DataFrame({"area": ["Total", "a", "b"], "n": [11, 2, 9]})
PARTS = {"dimensions": {"area": {"column": "area"}}, "primary": [{"rule": "range", "min": 1, "max": 3}]}


@pytest.mark.parametrize(("wrong", "meant"), [("vlaue", "value"), ("primry", "primary"), ("tolerence", "tolerance")])
def test_the_nearest_part_is_named(wrong, meant) -> None:
    with pytest.raises(sf.PlanError, match=f'{wrong}: unknown key. Did you mean "{meant}"'):
        sf.protect(TABLE, **PARTS | {wrong: "n"})


def test_what_is_no_plan_is_told_as_such() -> None:
    with pytest.raises(sf.PlanError, check=refused("error.plan.no-plan.is_no_table_plan", kind="a list")):
        sf.protect(TABLE, plan=["n"])
