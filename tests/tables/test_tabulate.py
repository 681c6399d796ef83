"""Microdata to tables: the same answer from frames and files, ready to be protected."""

import csv

import numpy as np
import pytest

from refusals import coded
from sfumato.errors import DataError, PlanError
from sfumato.pipelines.tables.protect import protect
from sfumato.pipelines.tables.table_source import tabulate

PEOPLE = {
    "Kreis": ["1", "1", "1", "2", "2", "2"],
    "Quartier": ["1", "2", "2", "1", "1", "1"],
    "sex": ["m", "w", "w", "m", "w", "m"],
    "firm": ["f1", "f2", "f3", "f1", "f1", "f4"],
    "turnover": [10.0, 20.0, 5.0, 7.0, 1.5, 2.0],
    "weight": [1, 1, 2, 1, 2, 1],
    "asked": ["no", "yes", "", "no", "", "Y"],
}
AREA = {"area": {"levels": ["Kreis", "Quartier"], "total": 0}}


@pytest.fixture(params=["pandas", "polars", "csv", "parquet"])
def people(request, tmp_path):
    if request.param in ("pandas", "polars"):
        return pytest.importorskip(request.param).DataFrame(PEOPLE)
    path = tmp_path / f"people.{request.param}"
    if request.param == "parquet":
        pytest.importorskip("polars").DataFrame(PEOPLE).write_parquet(path)
        return path
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(PEOPLE)
        writer.writerows(zip(*PEOPLE.values(), strict=True))
    return str(path)


def rows(table, *names):
    return list(zip(*(list(table[name]) for name in names), strict=True))


def test_counts_with_levels(people):
    table = tabulate(people, AREA)
    expected = [("0", "0", 6), ("1", "0", 3), ("2", "0", 3), ("1", "1", 1), ("1", "2", 2), ("2", "1", 3)]
    assert rows(table, "Kreis", "Quartier", "count") == expected


def test_sums_and_largest_contributions(people):
    table = tabulate(people, ["sex"], value="turnover", top=2)
    assert rows(table, "sex", "count", "turnover", "top1", "top2") == [
        ("Total", 6, 45.5, 20.0, 10.0),
        ("m", 3, 19.0, 10.0, 7.0),
        ("w", 3, 26.5, 20.0, 5.0),
    ]


def test_holdings_and_weights(people):
    table = tabulate(people, ["sex"], value="turnover", weight="weight", holding="firm", top=1)
    assert rows(table, "sex", "turnover", "top1", "holdings") == [
        ("Total", 52.0, 20.0, 4),
        ("m", 19.0, 17.0, 2),
        ("w", 33.0, 20.0, 3),
    ]


def test_counts_say_how_many_holdings_are_behind_them(people):
    """A person or firm with several records was taken for several respondents."""
    table = tabulate(people, ["Kreis"], holding="firm", weight="weight", top=2)
    assert rows(table, "Kreis", "count", "holdings", "top1", "top1_id") == [
        ("Total", 6, 4, 3, "f1"),
        ("1", 3, 3, 1, "f1"),
        ("2", 3, 2, 2, "f1"),
    ]


def test_rules_on_counts_look_at_holdings(people):
    plan = {
        "version": 1,
        "table": {"value": "count", "holding": "firm"},
        "tables": [{"name": "areas", "dimensions": {"area": {"column": "Kreis"}}}],
        "primary": [{"rule": "frequency", "min": 3}],
        "attackers": {"respondents": False, "holdings": False},
    }
    if isinstance(people, str) or hasattr(people, "suffix"):
        plan["table"]["microdata"] = str(people)
    data = None if "microdata" in plan["table"] else people
    cells = protect(data, plan).tables["areas"].columns
    # Three records of area 2 are of two firms.
    assert dict(zip(cells.text("Kreis"), cells.text("count_case"), strict=True))["2"] == "primary"
    with pytest.raises(PlanError, check=coded("plan.holding-rule")):
        protect(data, plan | {"primary": [{"rule": "range", "min": 1, "max": 2}]})


def test_requests_are_those_of_the_largest_contributors(people):
    table = tabulate(people, ["sex"], value="turnover", request="asked")
    assert rows(table, "sex", "asked") == [("Total", "1"), ("m", "0"), ("w", "1")]
    areas = tabulate(people, AREA, value="turnover", request="asked")
    assert rows(areas, "Quartier", "asked") == [("0", "1"), ("0", "1"), ("0", "0"), ("1", "0"), ("2", "1"), ("1", "0")]
    # Of firm f1 nobody asked; f4 did, whose 2.0 are less than f1's 7.0 and 1.5.
    firms = tabulate(people, ["Kreis"], value="turnover", holding="firm", request="asked")
    assert rows(firms, "Kreis", "asked", "top1_id") == [("Total", "1", "f2"), ("1", "1", "f2"), ("2", "0", "f1")]
    with pytest.raises(PlanError, check=coded("plan.request")):
        tabulate(people, ["sex"], request="asked")


def test_the_request_rule_on_microdata(people):
    plan = {
        "version": 1,
        "table": {"value": "turnover"},
        "tables": [{"name": "areas", "dimensions": AREA}],
        "primary": [{"rule": "request", "column": "asked", "share": 50}],
        "attackers": {"respondents": False, "holdings": False},
    }
    if isinstance(people, str) or hasattr(people, "suffix"):
        plan["table"]["microdata"] = str(people)
    done = protect(None if "microdata" in plan["table"] else people, plan)
    cells = done.tables["areas"].columns
    cases = dict(
        zip(zip(cells.text("Kreis"), cells.text("Quartier"), strict=True), cells.text("turnover_case"), strict=True)
    )
    # 20 of 25, of one who asked; in the whole 20 of 45.5 are too few.
    assert {cell for cell, case in cases.items() if case == "primary"} == {("1", "2"), ("1", "0")}


def test_two_dimensions_with_a_hierarchy_add_up(people, tmp_path):
    (tmp_path / "sex.csv").write_text("m,persons\nw,persons\n")
    sex = {"column": "sex", "hierarchy": str(tmp_path / "sex.csv")}
    table = tabulate(people, AREA | {"sex": sex}, value="turnover")
    done = protect(
        table,
        value="turnover",
        frequency="count",
        contributions=["top1", "top2"],
        dimensions=AREA | {"sex": sex},
        primary=[{"rule": "p-percent", "p": 1}],
        method={"name": "fast", "insiders": False},
    )
    assert done.passed
    assert {"persons", "Total", "m", "w"} == set(table["sex"])


def test_order_of_records_does_not_matter(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    frame = pandas.DataFrame(
        {"a": rng.choice(list("xyz"), 200), "b": rng.choice(list("uv"), 200), "v": rng.integers(1, 99, 200)}
    )
    mixed = frame.sample(frac=1, random_state=2)
    pandas.testing.assert_frame_equal(tabulate(frame, ["a", "b"], value="v"), tabulate(mixed, ["a", "b"], value="v"))
    frame.to_csv(tmp_path / "f.csv", index=False)
    from_file = tabulate(tmp_path / "f.csv", ["a", "b"], value="v")
    assert rows(from_file, "a", "b", "count", "v", "top2") == rows(
        tabulate(frame, ["a", "b"], value="v"), "a", "b", "count", "v", "top2"
    )


def test_bad_input_is_refused(people):
    with pytest.raises(PlanError):
        tabulate(people, ["nobody"])
    with pytest.raises(DataError):
        tabulate(people, ["sex"], value="firm")
    with pytest.raises(DataError, check=coded("data.no-code.a_record_has_no_code")):
        tabulate(people, {"sex": {"column": "sex", "total": "m"}})


def test_missing_codes_are_refused():
    frame = pytest.importorskip("polars").DataFrame({"sex": ["m", None]})
    with pytest.raises(DataError, check=coded("data.no-code.a_record_has_no_code")):
        tabulate(frame, ["sex"])


def made(kind, columns, tmp_path):
    """The same records as a frame or a file."""
    if kind in ("pandas", "polars"):
        return pytest.importorskip(kind).DataFrame(columns)
    path = tmp_path / "records.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.mark.parametrize("kind", ["pandas", "polars", "csv"])
@pytest.mark.parametrize("value", [None, "nan", "inf", "-inf", ""])
def test_values_that_are_no_numbers_are_refused_everywhere(kind, value, tmp_path):
    data = made(kind, {"nace": ["A", "A", "B"], "v": ["10", value, "5"]}, tmp_path)
    for more in ({}, {"holding": "nace"}):
        with pytest.raises(DataError) as caught:
            tabulate(data, ["nace"], value="v", **more)
        assert caught.value.code == "data.not-a-number"


@pytest.mark.parametrize("kind", ["pandas", "polars", "csv"])
def test_codes_are_trimmed_everywhere(kind, tmp_path):
    table = tabulate(made(kind, {"nace": [" B", "B ", "A"]}, tmp_path), ["nace"])
    assert rows(table, "nace", "count") == [("Total", 3), ("A", 1), ("B", 2)]


@pytest.mark.parametrize("kind", ["pandas", "polars", "csv"])
def test_the_largest_losses_count_as_contributions(kind, tmp_path):
    data = made(kind, {"area": list("aaabb"), "v": [-100, 5, 40, 7, -7]}, tmp_path)
    table = tabulate(data, ["area"], value="v")
    assert rows(table, "area", "top1", "top2") == [("Total", -100, 40), ("a", -100, 40), ("b", 7, -7)]


def test_single_loss_makes_a_cell_unsafe():
    frame = pytest.importorskip("pandas").DataFrame(
        {"area": list("abbbbbccccc"), "v": [-100, 50, 40, 30, 20, 10, 50, 60, 55, 40, 30]}
    )
    table = tabulate(frame, ["area"], value="v")
    for rule in ({"rule": "p-percent", "p": 10}, {"rule": "dominance", "n": 1, "k": 80}):
        done = protect(
            table,
            value="v",
            frequency="count",
            contributions=["top1", "top2"],
            dimensions={"area": {"column": "area"}},
            primary=[rule],
            attacker={"lower": -1000},
        )
        assert done.data.set_index("area").loc["a", "v_case"] == "primary"


@pytest.mark.parametrize(
    ("columns", "dimensions"),
    [
        ({"R": ["1", "N", "3"]}, {"r": {"column": "R", "hierarchy": "tree.csv"}}),
        ({"K": ["1", "1"], "Q": ["2", "0"]}, {"area": {"levels": ["K", "Q"], "total": 0}}),
    ],
)
def test_records_above_others_are_refused(columns, dimensions, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tree.csv").write_text("1,N\n2,N\n3,S\n")
    with pytest.raises(DataError) as caught:
        tabulate(pytest.importorskip("pandas").DataFrame(columns), dimensions)
    assert caught.value.code == "data.inner-code"


def test_records_that_name_nobody_are_no_holding_together(people):
    with pytest.raises(DataError, check=coded("data.no-holding")) as caught:
        tabulate(people, dimensions=AREA, value="turnover", holding="asked")
    assert caught.value.code == "data.no-holding"
