"""Which tables are of the same records, and so must be attacked together."""

import numpy as np
import pytest

from sfumato.tables.batch.joint_audit import same_records
from sfumato.tables.cells.dimensions import Tree
from sfumato.tables.office.office_table import OfficeTable

TOTAL = ("T",)


def line(cells, origins=None):
    tree = Tree("x", TOTAL, {(code,): TOTAL for code in cells})
    keys = (((TOTAL),), *(((code,),) for code in cells))
    values = np.array([sum(cells.values()), *cells.values()], float)
    statuses = np.ones(len(values), np.int64)
    return OfficeTable("v", (tree,), keys, values, statuses, origins={"x": origins} if origins else {})


def test_a_new_code_that_is_called_like_an_old_one_is_not_taken_for_it():
    fine = line({"1": 901, "2": 365, "3": 290, "4": 372})
    coarse = line({"1": 1266, "2": 662}, {"1": frozenset("12"), "2": frozenset("34")})
    assert same_records([fine, coarse]) == [[0, 1]]


@pytest.mark.parametrize(("other", "groups"), [(0.0, [[0, 1]]), (1.0, [[0], [1]])])
def test_a_common_total_of_0_tells_as_much_as_another(other, groups):
    origins = {"ad": frozenset("ad"), "bc": frozenset("bc")}
    coarse = line({"ad": 709, "bc": -709 + other}, origins)
    assert same_records([line({"a": 1000, "b": 285, "c": -994, "d": -291}), coarse]) == groups


def test_tables_of_one_source_are_of_the_same_records():
    tables = [line({"a": 5, "b": 6}), line({"a": 7, "b": 9})]
    assert same_records(tables) == same_records(tables, [None, None]) == same_records(tables, ["m", "n"]) == [[0], [1]]
    assert same_records(tables, ["m", "m"]) == [[0, 1]]
