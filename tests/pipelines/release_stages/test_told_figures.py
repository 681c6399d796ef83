"""What a verdict tells besides its promises: columns of which operations leave next to nothing, and households."""

import json
import random
from contextlib import closing

import polars as pl
import pytest

import sfumato as sf
from sfumato.localization.messages import words_in
from sfumato.report.release.findings import disclosure, heavily_generalized_columns
from sfumato.report.release.report import text

ROWS = 300


def survey(**columns):
    draw = random.Random(5)
    frame = {"age": [str(draw.randrange(20, 70)) for _ in range(ROWS)], "sex": draw.choices("fm", k=ROWS)}
    return pl.DataFrame(frame | columns)


def plan(**columns):
    known = {
        "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"type": "intervals", "widths": [10, 20]}},
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
    }
    return {"version": 1, "columns": known | columns, "privacy": [{"model": "k-anonymity", "k": 5}], "seed": 1}


@pytest.mark.parametrize(
    ("publish", "left"), [({"round": 50}, 1), ({"bottom": 200}, 1), ({"bin": 100}, 2), ({"round": 10}, None)]
)
def test_an_operation_that_leaves_one_or_two_values_is_told(publish, left):
    draw = random.Random(6)
    frame = survey(score=[str(draw.randrange(78, 124)) for _ in range(ROWS)])
    report = sf.anonymize(frame, plan(score={"role": "sensitive", "publish": publish})).report
    if left is None:
        assert "columns_with_few_values" not in report.details
        assert not heavily_generalized_columns(words_in(), report)
        return
    assert report.details["columns_with_few_values"] == [{"column": "score", "values": 46, "left": left}]
    for language in ("en", "de"):
        assert any("score" in line and "46" in line for line in heavily_generalized_columns(words_in(language), report))
    assert "LOST          score" in text(report)


def households(sizes):
    """Rows of households, members of one after the other."""
    numbers = [str(number) for number in range(ROWS) for _ in range(sizes)]
    return numbers[:ROWS]


def test_a_verdict_says_that_households_are_not_counted():
    frame = pl.DataFrame({"town": [f"t{row // 10}" for row in range(ROWS)], "hh": households(10)})
    columns = {"town": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "hh": {"role": "household"}}
    asked = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}], "seed": 1}
    report = sf.anonymize(frame, asked).report
    # Each town is one household of ten.
    assert report.details["households"] == {"k": 5, "fewest": 1, "classes": 30, "rows": 300, "all_classes": 30}
    for language in ("en", "de"):
        [line] = [line for line in disclosure(words_in(language), report) if "aush" in line.lower() or "househ" in line]
        assert "30" in line and "5" in line
    assert "not households" in text(report)


def test_classes_of_enough_households_are_told_as_such():
    frame = pl.DataFrame({"town": [f"t{row % 3}" for row in range(ROWS)], "hh": households(2)})
    columns = {"town": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "hh": {"role": "household"}}
    asked = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}], "seed": 1}
    report = sf.anonymize(frame, asked).report
    assert report.details["households"]["classes"] == 0
    assert "every class nevertheless contains at least" in text(report)


def test_rows_without_a_household_are_one_each():
    frame = pl.DataFrame({"town": ["a"] * 6 + ["b"] * 6, "hh": [None] * 6 + ["1"] * 5 + [None]})
    columns = {"town": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "hh": {"role": "household"}}
    asked = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}], "seed": 1}
    figures = sf.anonymize(frame, asked).report.details["households"]
    assert (figures["fewest"], figures["classes"], figures["rows"]) == (2, 1, 6)


@pytest.mark.parametrize("engine", ["duckdb", "frames"])
def test_missing_values_of_a_sensitive_column_have_one_spelling(engine, tmp_path):
    draw = random.Random(7)
    ills = [draw.choice(["flu", "cold", "gout", "NA", "?", None]) for _ in range(ROWS)]
    lone = [draw.choice(["1", "2", "NA"]) for _ in range(ROWS)]
    path = tmp_path / "rows.csv"
    survey(ill=ills, lone=lone).write_csv(path)
    asked = plan(ill={"role": "sensitive"}, lone={"role": "sensitive"})
    asked["data"] = {"missing": ["NA", "?"]}
    asked["privacy"] += [
        {"model": "l-diversity", "variant": "distinct", "l": 2, "column": name} for name in ("ill", "lone")
    ]
    release = sf.anonymize(path, asked, engine=engine)
    release.save(tmp_path / "out")
    published = pl.read_csv(tmp_path / "out" / "data.csv", infer_schema=False)
    assert {*published["ill"]} == {"flu", "cold", "gout", None}
    assert {*published["lone"]} == {"1", "2", "NA"}  # one spelling stays as it is
    assert any("written in several ways" in remark for remark in release.report.notes)
    asked["data"]["spellings"] = "keep"
    assert {"NA", "?"} <= {*sf.anonymize(survey(ill=ills, lone=lone), asked).data["ill"]}


def test_what_operations_leave_of_columns_is_told_beside_the_losses(tmp_path) -> None:
    """The loss of rounding, limits and intervals was told nowhere: the losses are those of quasi-identifiers."""
    rows = [{"sex": "mf"[place % 2], "income": 1000 + 13 * place, "height": 150 + place % 40} for place in range(100)]
    columns = {
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "income": {"role": "sensitive", "publish": {"round": 100, "top": 2000}},
        "height": {"role": "insensitive", "publish": {"bin": 10}},
    }
    plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}], "language": "de"}
    with closing(sf.anonymize(pl.DataFrame(rows), plan)) as release:
        folder = release.save(tmp_path / "out")
    coded = {one["column"]: one for one in json.loads((folder / "report.json").read_text())["coded_columns"]}
    assert (coded["income"]["values"], coded["income"]["left"]) == (100, 12)
    assert 20 < coded["income"]["mean_change"] < 30
    assert coded["income"]["labeled"] == pytest.approx(0.23)
    assert (coded["height"]["mean_change"], coded["height"]["labeled"]) == (None, 1.0)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "mittlere Änderung" in page and "nur Bezeichnungen" in page


def test_a_card_of_a_coded_column_shows_the_shape_of_its_raw_numbers(tmp_path) -> None:
    """Both bars were of coded numbers, and equal, whatever rounding and limits had lost."""
    rows = [{"sex": "mf"[place % 2], "pay": 1000 + place % 7, "ill": "abc"[place % 3]} for place in range(90)]
    rows += [{"sex": "mf"[place % 2], "pay": 9000, "ill": "abc"[place % 3]} for place in range(10)]
    columns = {
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "pay": {"role": "sensitive", "publish": {"top": 1001}},
        "ill": {"role": "sensitive"},
    }
    promises = [
        {"model": "k-anonymity", "k": 2},
        {"model": "l-diversity", "l": 2, "variant": "distinct", "column": "pay"},
    ]
    with closing(sf.anonymize(pl.DataFrame(rows), {"version": 1, "columns": columns, "privacy": promises})) as release:
        folder = release.save(tmp_path / "out")
    report = json.loads((folder / "report.json").read_text())
    (name, before, after), *_, last = report["coded_columns"][0]["shares"]
    assert (name, before, last[0], last[1]) == ("1000–1006", pytest.approx(0.9), "9000", pytest.approx(0.1))
    assert after < 0.5 and before - after > 0.4
    assert report["sensitive_shares"]["ill"] == {
        "shares": [["a", 0.34, 0.34], ["b", 0.33, 0.33], ["c", 0.33, 0.33]],
        "others": 0,
    }
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count("<h3>pay</h3>") == page.count("<h3>ill</h3>") == 1
    assert page.count("Before: the original rows") == 1
    assert "1000–1006" not in (folder / "report-external.html").read_text(encoding="utf-8")
