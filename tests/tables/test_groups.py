"""Groups that are totals of others, however their rows stand; years that merely look alike stay tables of their own."""

import numpy as np
import pytest

from sfumato.errors import DataError
from sfumato.tables.protect import protect
from sfumato.tables.sums import is_no_accident, parts_of

pandas = pytest.importorskip("pandas")
MEN = {"Total": 30, "a": 2, "b": 8, "c": 20}
WOMEN = {"Total": 41, "a": 9, "b": 1, "c": 31}
BOTH = {code: MEN[code] + WOMEN[code] for code in MEN}
OTHERS = {"Total": 60, "a": 20, "b": 20, "c": 20}
TOTALS = {
    "in order": [("m", MEN), ("w", WOMEN), ("all", BOTH)],
    "in another order": [("m", MEN), ("w", dict(reversed(WOMEN.items()))), ("all", BOTH)],
    "with an empty cell left out": [
        ("m", MEN),
        ("w", {"Total": 40, "a": 9, "c": 31}),
        ("all", {"Total": 70, "a": 11, "b": 8, "c": 51}),
    ],
    "of some groups": [("A", MEN), ("B", WOMEN), ("A+B", BOTH), ("C", OTHERS)],
}


def call(groups):
    rows = [(group, code, value) for group, cells in groups for code, value in cells.items()]
    return protect(
        pandas.DataFrame(rows, columns=["g", "area", "n"]),
        value="n",
        group_by=["g"],
        dimensions={"area": {"column": "area"}},
        primary=[{"rule": "range", "min": 1, "max": 3}],
    )


@pytest.mark.parametrize("name", TOTALS)
def test_totals_are_refused(name):
    with pytest.raises(DataError, match="Make g a dimension") as caught:
        call(TOTALS[name])
    assert caught.value.code == "data.group-is-total"


def test_other_groups_are_tables_of_their_own():
    assert call([("m", MEN), ("w", WOMEN), ("x", OTHERS)]).report["groups"] == 3


def test_many_small_years_are_no_totals():
    rng = np.random.default_rng(7)
    years = []
    for year in range(2000, 2025):
        values = rng.integers(4, 9, 3).tolist()
        years.append((str(year), {"Total": sum(values), "a": values[0], "b": values[1], "c": values[2]}))
    assert call(years).report["groups"] == 25


def test_sums_are_found_with_negative_numbers_and_noise():
    rng = np.random.default_rng(3)
    lines = rng.normal(0, 100, (8, 6))
    lines[5] = lines[[0, 2, 7]].sum(axis=0) + 1e-9
    assert parts_of(lines, 5).tolist() == [0, 2, 7]
    assert parts_of(lines, 4) is None
    assert is_no_accident(np.array([50.0, 60.0]), 2, 3)
    assert not is_no_accident(np.array([5.0, 6.0]), 10, 20)
