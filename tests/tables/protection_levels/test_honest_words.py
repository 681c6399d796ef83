"""What is said is true: bounds that were not found, totals that are off, weights that stand for several respondents."""

import pytest

import sfumato as sf
from refusals import coded
from sfumato.errors import DataError
from sfumato.report.tables.report import summary

REPORT = {
    "masked": 4,
    "cells": 9,
    "primary": 1,
    "secondary": 3,
    "cost": 30,
    "proved_optimal": False,
    "ranges": True,
    "warnings": [],
    "audit": {"checked": 4, "exact": 0, "too_narrow": 0, "inconsistent": 0},
    "attackers": {"attacked": {"outsider": 1}, "did_not_attack": []},
}


@pytest.mark.parametrize(
    ("bound", "gap", "words"),
    [
        (0, 1.0, "no bound above 0 was found"),
        (None, None, "no bound was sought"),
        (27, 0.1, "less than 27: at most 10.00 %"),
    ],
)
def test_a_bound_that_was_not_found_is_said_as_that(bound, gap, words):
    text = summary(REPORT | {"bound": bound, "gap": gap})
    assert words in text
    assert "100" not in text


def test_a_record_of_some_weight_stands_for_so_many_respondents():
    pandas = pytest.importorskip("pandas")
    firms = pandas.DataFrame({"area": ["a", "a", "b"], "v": [10.0, 4.0, 7.0], "w": [2.0, 1.0, 2.5]})
    table = sf.tabulate(firms, ["area"], value="v", weight="w", top=3)
    rows = table[["area", "v", "top1", "top2", "top3"]].to_numpy().tolist()
    assert rows[1:] == [["a", 24.0, 10.0, 10.0, 4.0], ["b", 17.5, 7.0, 7.0, 3.5]]


def test_a_total_that_is_off_is_named_with_the_difference_and_a_code():
    pandas = pytest.importorskip("pandas")
    cells = pandas.DataFrame({"area": ["Total", "a", "b"], "n": [12, 5, 4]})
    with pytest.raises(DataError, check=coded("data.totals")) as error:
        sf.protect(cells, value="n", dimensions={"area": {"column": "area"}}, primary=[{"rule": "frequency", "min": 3}])
    assert (error.value.code, error.value.values) == ("data.totals", ("3",))
