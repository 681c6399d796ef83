"""Counts whose mark may stand between thousands: never read as fractions unless the plan says so."""

import pytest

import sfumato as sf
from refusals import coded
from sfumato.errors import DataError
from sfumato.localization.messages import words_in
from sfumato.tables.plan.table_plan import read_table_plan

CELLS = "area;count\nJena;1.204\nGera;3\nTotal;1.207\n"
# Not every number of a table is written by the same hand.
MIXED = "area;count\nJena;1.204\nGera;204\nUlm;1000\nTotal;2408\n"
CROSSED = "area;m;f;Total\nJena;1.204;3;1.207\nGera;2;1.050;1.052\nTotal;1.206;1.053;2.259\n"


def published(folder, text, decimal=None, dimensions=("area",)):
    (folder / "cells.csv").write_text(text, encoding="utf-8")
    table = {"source": "cells.csv", "value": "count"} | ({"decimal": decimal} if decimal else {})
    plan = {"version": 1, "table": table, "dimensions": {name: {"column": name} for name in dimensions}}
    plan |= {"primary": [{"rule": "frequency", "min": 2}]}
    return sf.protect(plan=read_table_plan(plan, folder))


@pytest.mark.parametrize("text", [CELLS, CELLS.replace(".", ","), MIXED, MIXED.replace(".", ",")])
def test_counts_in_doubt_are_refused_until_the_plan_says_what_they_are(text, tmp_path) -> None:
    with pytest.raises(DataError, check=coded("data.thousands")) as caught:
        published(tmp_path, text)
    assert caught.value.code == "data.thousands" and "table.decimal: " in caught.value.hint
    told = words_in("de").text(caught.value.text)
    assert "Tausenderzeichen" in told and "Bruchzahl ist" in told


@pytest.mark.parametrize(("text", "decimal"), [(MIXED, ","), (MIXED.replace(".", ","), ".")])
def test_marks_that_some_thousands_lack_are_no_fractions_either(text, decimal, tmp_path) -> None:
    assert max(published(tmp_path, text, decimal).source.numbers("count")) == 2408


@pytest.mark.parametrize(("text", "decimal"), [(CELLS, ","), (CELLS.replace(".", ","), ".")])
def test_the_other_mark_makes_them_thousands(text, decimal, tmp_path) -> None:
    assert max(published(tmp_path, text, decimal).source.numbers("count")) == 1207


def test_the_cells_of_a_crosstab_are_in_doubt_together(tmp_path) -> None:
    with pytest.raises(DataError, check=coded("data.thousands")):
        published(tmp_path, CROSSED, dimensions=("area", "sex"))
    assert max(published(tmp_path, CROSSED, ",", ("area", "sex")).source.numbers("count")) == 2259


@pytest.mark.parametrize("text", ["Jena;1.25\nGera;3\nTotal;4.25\n", "Jena;1.204\nGera;0.003\nUlm;3.5\nTotal;4.707\n"])
def test_numbers_that_are_no_thousands_are_read_as_they_are(text, tmp_path) -> None:
    assert max(published(tmp_path, f"area;count\n{text}").source.numbers("count")) < 5


@pytest.mark.parametrize("gap", ["'", "\u2019", " ", "\u00a0", "\u202f"])
@pytest.mark.parametrize("decimal", [None, ",", "."])
def test_blanks_and_apostrophes_between_thousands_are_in_no_doubt(gap, decimal, tmp_path) -> None:
    fraction = f"{decimal}5" if decimal else ""
    text = CELLS.replace(".", gap).replace("204", f"204{fraction}").replace("207", f"207{fraction}")
    assert max(published(tmp_path, text, decimal).source.numbers("count")) == 1207 + 0.5 * bool(decimal)
