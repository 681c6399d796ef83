"""Groups that are totals of others, however their rows stand; years that merely look alike stay tables of their own."""

import numpy as np
import pytest

from refusals import coded
from sfumato.errors import DataError
from sfumato.pipelines.tables.protect import protect
from sfumato.tables.groups import is_no_accident, parts_of

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
    with pytest.raises(DataError, check=coded("data.group-is-total.column")) as caught:
        call(TOTALS[name])
    assert caught.value.code == "data.group-is-total"


CROSSED = {("m", "20"): (2, 20, 30), ("w", "20"): (11, 21, 31), ("m", "21"): (12, 22, 32), ("w", "21"): (13, 23, 33)}


def cross(groups):
    rows = [
        (sex, year, code, value)
        for (sex, year), values in groups.items()
        for code, value in zip(("Total", "a", "b", "c"), (sum(values), *values), strict=True)
    ]
    return protect(
        pandas.DataFrame(rows, columns=["sex", "year", "area", "n"]),
        value="n",
        group_by=["sex", "year"],
        dimensions={"area": {"column": "area"}},
        primary=[{"rule": "range", "min": 1, "max": 3}],
    )


@pytest.mark.parametrize(
    "more",
    [
        {("all", "all"): (38, 86, 126)},
        {("all", "all"): (38, 86, 126), ("x", "22"): (40, 50, 60)},
        {("w", "all"): (124, 544, 964), ("all", "any"): (138, 586, 1026), ("x", "22"): (500, 600, 700)},
    ],
    ids=["of all groups", "crossed", "of some groups"],
)
def test_totals_over_several_columns_are_refused(more):
    with pytest.raises(DataError, check=coded("data.group-is-total.columns")) as caught:
        cross(CROSSED | more)
    assert caught.value.code == "data.group-is-total"


def test_groups_by_several_columns_are_tables_of_their_own():
    assert cross(CROSSED | {("m", "22"): (31, 47, 58), ("w", "22"): (29, 40, 65)}).report["groups"] == 6


def test_many_small_groups_by_several_columns_are_no_totals():
    rng = np.random.default_rng(8)
    groups = {(sex, str(year)): tuple(rng.integers(4, 30, 3)) for sex in "mw" for year in range(12)}
    assert cross(groups).report["groups"] == 24


COARSE = {
    "m": [(0, 0, 62), (1, 0, 2), (2, 0, 40), (3, 0, 20)],
    "w": [(0, 0, 90), (1, 0, 30), (2, 0, 40), (3, 0, 20)],
}
FINE = [(1, 1, 12), (1, 2, 20), (2, 1, 50), (2, 2, 30), (3, 1, 22), (3, 2, 18)]
ALL = [(0, 0, 152), (1, 0, 32), (2, 0, 80), (3, 0, 40)]


def detailed(groups):
    rows = [(sex, *cell) for sex, cells in groups.items() for cell in cells]
    return protect(
        pandas.DataFrame(rows, columns=["sex", "K", "Q", "n"]).astype({"K": str, "Q": str}),
        value="n",
        group_by=["sex"],
        dimensions={"area": {"levels": ["K", "Q"], "total": 0}},
        primary=[{"rule": "range", "min": 1, "max": 3}],
    )


@pytest.mark.parametrize(
    "more", [{"all": ALL + FINE}, {"all": ALL + FINE, "x": [(0, 0, 41), (1, 0, 41), (1, 1, 20), (1, 2, 21)]}]
)
def test_totals_in_more_detail_than_their_parts_are_refused(more):
    with pytest.raises(DataError) as caught:
        detailed(COARSE | more)
    assert caught.value.code == "data.group-is-total"


def test_groups_of_different_detail_are_tables_of_their_own():
    other = [(0, 0, 170), (1, 0, 50), (1, 1, 30), (1, 2, 20), (2, 0, 80), (3, 0, 40)]
    assert detailed(COARSE | {"x": other}).report["groups"] == 3


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


PERSONS = {"Total": 1249, "a": 3, "b": 120, "c": 430, "d": 696}
UNITS = {
    "thousands": lambda value: value / 1000,
    "shares": lambda value: round(100 * value / 1249, 2),
    "another currency": lambda value: round(1.95583 * value, 2),
}


@pytest.mark.parametrize("name", UNITS)
def test_the_same_numbers_in_another_unit_are_refused(name):
    other = {code: UNITS[name](value) for code, value in PERSONS.items() if code != "Total"}
    with pytest.raises(DataError, check=coded("data.group-in-other-unit")) as caught:
        call([("NR", PERSONS), ("unit", {"Total": sum(other.values()), **other})])
    assert caught.value.code == "data.group-in-other-unit"


@pytest.mark.parametrize(
    "other",
    [
        {"Total": 1254, "a": 4, "b": 120, "c": 431, "d": 699},
        {"Total": 60, "a": 4, "b": 16, "c": 40},
        {"Total": 0, "a": 0, "b": 0},
        {"Total": 1300, "a": 5, "b": 131, "c": 441, "d": 723},
    ],
    ids=["hardly changed", "small ones by accident", "empty", "grown"],
)
def test_years_that_look_alike_are_tables_of_their_own(other):
    first = {"Total": 30, "a": 2, "b": 8, "c": 20} if other["Total"] == 60 else PERSONS
    assert call([("2021", first), ("2022", other)]).report["groups"] == 2
