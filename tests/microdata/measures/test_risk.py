"""The risk of every row, as the library and the command line tell it: known answers, households, dropped rows."""

import csv
import stat

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import PlanError
from sfumato.microdata.measures.overview import SizeCount
from sfumato.microdata.measures.risk import prosecutor
from sfumato.microdata.models.re_identification_risk import expected_risks
from sfumato.pipelines.risk import risk
from sfumato.report.risk import text

# Risk: known figures, attackers, missing values, and that neither row order nor index matters.

# Sweeney (2002), the voter example in short: zip, birth, sex.
ROWS = pl.DataFrame(
    {
        "zip": ["02141", "02141", "02138", "02138", "02139", "02139"],
        "birth": ["1965", "1965", "1964", "1964", "1964", "1967"],
        "sex": ["f", "f", "m", "m", "f", "m"],
        "illness": ["flu", "cold", "flu", "flu", "cold", "flu"],
    }
)


def test_figures_of_a_small_table():
    found = risk(ROWS, ["zip", "birth", "sex"])
    assert (found.figures.rows, found.figures.classes, found.figures.uniques) == (6, 4, 2)
    assert found.prosecutor.highest == 1
    assert found.prosecutor.average == pytest.approx(4 / 6)
    assert (found.prosecutor.rows_above, found.prosecutor.share_above) == (6, 1.0)
    assert found.sizes == (SizeCount(1, 2, 2), SizeCount(2, 2, 4))
    assert found.journalist == found.prosecutor and not found.journalist.estimated


def test_spellings_of_one_value_are_said():
    rows = ROWS.with_columns(sex=pl.Series(["f", "F", "m", "m", "f ", "m"]))
    survey = risk(rows, ["sex"])
    assert survey.spellings == {"sex": 2}
    assert "sex: 2 of its values are likely other spellings of one" in text(survey)


def test_the_threshold_is_not_above_itself():
    found = risk(ROWS, ["zip", "birth", "sex"], threshold=0.5)
    assert found.prosecutor.rows_above == 2


def test_distinction_and_separation_of_every_set_of_columns():
    found = risk(ROWS, ["zip", "birth", "sex"]).subsets
    assert found.complete and found.total == len(found.sets) == 7
    told = {entry.columns: entry for entry in found.sets}
    # Three zips of two rows each: 3 of 15 pairs share one.
    assert told["zip",].distinction == 0.5
    assert told["zip",].separation == pytest.approx(12 / 15)
    # Birth: 1965 twice, 1964 three times, 1967 once: 1 + 3 pairs are alike.
    assert told["birth",].separation == pytest.approx(11 / 15)
    assert told["zip", "birth", "sex"].classes == 4


def test_sets_of_many_columns_are_tried_best_first_up_to_the_limit():
    frame = pl.DataFrame({f"c{place}": [(row * (place + 1)) % (place + 2) for row in range(40)] for place in range(12)})
    found = risk(frame, frame.columns, subset_limit=50).subsets
    assert (len(found.sets), found.total, found.complete) == (50, 4095, False)
    assert {(name,) for name in frame.columns} <= {entry.columns for entry in found.sets}


def test_what_each_column_and_step_contributes():
    plan = {
        "version": 1,
        "columns": {
            "zip": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 5}},
            "birth": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "illness": {"role": "insensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"order": "keep"},
    }
    found = risk(ROWS, plan=plan)
    assert [(entry.column, entry.uniques) for entry in found.columns] == [("zip", 2), ("birth", 2), ("sex", 2)]
    steps = {(entry.column, entry.level): str(entry) for entry in found.steps}
    assert steps["zip", 5] == "zip to level 5: uniques fall from 2 to 2"
    assert set(steps) == {("zip", level) for level in range(1, 6)} | {("birth", 1), ("sex", 1)}


def test_outliers_are_counted_and_their_rows_told_to_the_caller_alone():
    found = risk(ROWS, ["zip", "birth", "sex"], row_numbers=True)
    # 1967 stands once: one column singles the last row out; the fifth needs zip and birth, or zip and sex.
    assert found.outliers.by_columns == (1, 1)
    assert found.outliers.more == 0
    assert dict(found.outliers.columns) == {"zip": 0, "birth": 1, "sex": 0}
    assert found.outlier_rows == (5, 6)
    assert "outlier_rows" not in found.to_dict() and "combinations" not in found.to_dict()["outliers"]
    assert "outlier_rows" not in repr(found)


@pytest.mark.parametrize(
    ("policy", "rows", "classes", "dropped", "with_missing", "average"),
    [("category", 4, 3, 0, 1, 3 / 4), ("drop", 3, 2, 1, 0, 2 / 3), ("any", 4, 3, 0, 1, 3 / 4)],
)
def test_a_missing_value_is_a_policy_and_no_row_is_lost(policy, rows, classes, dropped, with_missing, average):
    frame = pl.DataFrame({"sex": ["m", "m", "f", None], "age": ["30", "30", "40", "?"]})
    found = risk(frame, ["sex", "age"], missing=["?"], on_missing=policy)
    assert (found.figures.rows, found.figures.classes, found.dropped_rows) == (rows, classes, dropped)
    assert found.rows_with_missing == with_missing
    assert found.figures.rows + found.dropped_rows == len(frame)
    assert found.prosecutor.average == pytest.approx(average)
    assert found.figures.average == pytest.approx(average)


def test_the_higher_risk_leads_where_a_missing_value_matches_anything():
    frame = pl.DataFrame({"q": ["a", "a", None, "b", "b"], "z": ["1", "1", "1", "2", None]})
    found = risk(frame, ["q", "z"], on_missing="any")
    own = risk(frame, ["q", "z"])
    assert (found.figures, found.prosecutor, found.sizes) == (own.figures, own.prosecutor, own.sizes)
    assert (own.figures.highest, own.figures.uniques, own.matching) == (1.0, 3, None)
    # The first two match each other and the third, it them and the last; (b, 2) and (b, missing) match.
    assert (found.matching.highest, found.matching.average, found.matching.uniques) == (0.5, pytest.approx(0.35), 0)
    assert (found.matching.classes, found.matching.smallest, found.matching.largest) == (4, 2, 4)
    assert risk(frame, ["q", "z"], on_missing="any", threshold=0.4).matching.rows_above == 1


def test_a_few_blank_rows_make_no_table_look_safe():
    rows = [(str(place), str(place)) for place in range(50)] + [(None, None)] * 5
    found = risk(pl.DataFrame(rows, schema=["q", "z"], orient="row"), ["q", "z"], on_missing="any")
    assert (found.matching.uniques, found.matching.highest) == (0, pytest.approx(1 / 6))
    assert (found.figures.uniques, found.figures.highest) == (50, 1.0)


@pytest.mark.parametrize(("values", "expected"), [("mmff", ()), ("mmffd", (5,))])
def test_one_column_singles_out_its_unique_rows_alone(values, expected):
    frame = pl.DataFrame({"sex": list(values)})
    assert risk(frame, ["sex"], row_numbers=True).outlier_rows == expected


def test_dropped_rows_are_no_outliers():
    frame = pl.DataFrame({"sex": ["m", None, "m", "f", "d"], "age": ["30", "41", "30", "40", "?"]})
    found = risk(frame, ["sex", "age"], missing=["?"], on_missing="drop", row_numbers=True)
    assert (found.dropped_rows, found.outlier_rows) == (2, (4,))


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["1", "2", None])), min_size=1, max_size=20), st.randoms()
)
def test_order_of_rows_and_index_of_the_frame_do_not_matter(rows, random):
    frame = pd.DataFrame(rows, columns=["x", "y"], dtype=object)
    shuffled = list(range(len(rows)))
    random.shuffle(shuffled)
    other = frame.iloc[shuffled].set_index(pd.Index([7] * len(rows)))
    assert risk(frame, ["x", "y"]).to_dict() == risk(other, ["x", "y"]).to_dict()


def test_the_journalist_is_estimated_from_the_size_of_the_population():
    found = risk(ROWS, ["zip", "birth", "sex"], population_size=60)
    # Fraction 0.1: r(1) = 1/9 ln 10, r(2) = 1/9 (1 - r(1)).
    one = 2.302585093 / 9
    assert found.journalist.estimated
    assert found.journalist.highest == pytest.approx(one)
    assert found.marketer.average == pytest.approx((2 * one + 4 * (1 - one) / 9) / 6)
    assert risk(ROWS, ["zip", "birth", "sex"], sampling_fraction=0.1).journalist == found.journalist


@pytest.mark.parametrize("fraction", [0.01, 0.3, 0.5, 0.8, 0.99])
def test_the_expected_risk_is_the_integral_it_stands_for(fraction):
    import numpy as np

    sizes = np.array([1, 2, 3, 7, 40])
    found = expected_risks(sizes, sizes / fraction)
    t = (np.arange(200_000) + 0.5) / 200_000
    for size, value in zip(sizes, found, strict=True):
        inside = t ** (size - 1) * (fraction / (1 - (1 - fraction) * t)) ** size
        assert value == pytest.approx(inside.mean(), rel=1e-4)


def test_no_rows_no_risk():
    import numpy as np

    assert prosecutor(np.zeros(0, np.int64)).highest == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"quasi_identifiers": ["sex", "zipp"]}, 'Did you mean "zip"'),
        ({"quasi_identifiers": []}, "no quasi-identifier"),
        ({"quasi_identifiers": ["zip"], "population_size": 2}, "smaller than"),
        ({"quasi_identifiers": ["zip"], "sampling_fraction": 0.0}, "above 0"),
        ({"quasi_identifiers": ["zip"], "population_size": 9, "sampling_fraction": 0.5}, "Give one"),
        ({"quasi_identifiers": ["zip"], "threshold": 2}, "from 0 to 1"),
    ],
)
def test_wrong_use_is_refused(arguments, message):
    with pytest.raises(PlanError, match=message):
        risk(ROWS, **arguments)


def test_it_shows_itself_in_a_notebook():
    shown = risk(ROWS, ["zip", "birth", "sex"], population_size=60)._repr_html_()
    assert "Population uniques" in shown and "<table>" in shown


@pytest.mark.shared
@pytest.mark.parametrize(
    ("left_out", "classes", "uniques", "average"),
    [((), 19_502, 15_512, 0.6465751608), (("salary-class",), 18_109, 14_021, 0.6003912207)],
)
def test_the_census_file(shared, left_out, classes, uniques, average):
    path = shared / "adult.csv"
    names = [name for name in path.read_text().splitlines()[0].split(";") if name not in left_out]
    found = risk(path, names, separator=";")
    assert (found.figures.classes, found.figures.uniques) == (classes, uniques)
    assert found.prosecutor.average == pytest.approx(average, abs=1e-10)
    assert found.subsets.complete


# The risk of every row, as the library and the command line tell it: known answers, households, dropped rows.

EIGHT = pl.DataFrame(
    {
        "A": [2, 3, 2, 2, 3, 3, 1, 2],
        "B": [3, 3, 3, 3, 3, 3, 4, 3],
        "C": [1, 3, 1, 2, 1, 1, 1, 1],
        "weight": [18.0, 45.5, 39.0, 17.0, 92.0, 8.0, 123.5, 51.0],
    }
)
KEYS = ["A", "B", "C"]
RISKS = [0.01355297, 0.08579129, 0.01355297, 0.17707583, 0.01877883, 0.01877883, 0.03931625, 0.01355297]
SCORED = pl.DataFrame(
    {
        "age": ["20s"] * 7 + ["60s"],
        "gender": ["m"] * 4 + ["f"] * 3 + ["m"],
        "income": ["50k+"] * 2 + ["50k-"] * 6,
        "education": ["hs"] * 4 + ["uni", "hs", "ms", "uni"],
    }
)


def test_eight_rows_of_the_literature() -> None:
    rows = risk(EIGHT, KEYS, weight="weight", row_numbers=True).row_risks
    assert rows.alike.tolist() == [3, 1, 3, 1, 2, 2, 1, 3]
    assert rows.persons.tolist() == [108, 45.5, 108, 17, 100, 100, 123.5, 108]
    assert np.round(rows.risk, 8).tolist() == RISKS
    assert np.isnan(rows.household_risk).all()


def test_a_missing_value_matches_beside_the_higher_risk() -> None:
    blank = EIGHT.with_columns(C=pl.Series([1, 3, None, 2, 1, 1, None, 1]))
    rows = risk(blank, KEYS, weight="weight", on_missing="any", row_numbers=True).row_risks
    assert rows.matching.tolist() == [3, 1, 4, 2, 2, 2, 1, 3]
    assert rows.matching_persons.tolist() == [108, 45.5, 125, 56, 100, 100, 123.5, 108]
    assert rows.alike.tolist() == [2, 1, 1, 1, 2, 2, 1, 2]
    assert (rows.risk >= rows.matching_risk).all()


def test_scores_of_special_uniques_stand_by_their_rows() -> None:
    report = risk(SCORED, SCORED.columns, row_numbers=True)
    assert report.row_risks.score.tolist() == [0, 0, 0, 0, 4, 2, 6, 8]
    assert np.round(report.row_risks.dis[4:], 6).tolist() == [0.010859, 0.004756, 0.017545, 0.024601]
    assert "row_risks" not in report.to_dict() and "row_risks" not in repr(report)


def test_households_and_dropped_rows() -> None:
    frame = pl.DataFrame({"q": ["a", "a", "b", "?"], "h": ["1", "2", "1", "2"], "w": [4, 6, 5, 9]})
    asked = {"weight": "w", "household": "h", "missing": ["?"], "on_missing": "drop", "row_numbers": True}
    rows = risk(frame, ["q"], **asked).row_risks
    own = rows.risk[:3]
    together = 1 - (1 - own[0]) * (1 - own[2])
    assert rows.household_risk[:3] == pytest.approx([together, own[1], together])
    assert np.isnan([rows.risk[3], rows.alike[3], rows.household_risk[3]]).all()


def test_the_command_line_writes_a_private_file(sfumato, tmp_path) -> None:
    EIGHT.write_csv(tmp_path / "eight.csv")
    target = tmp_path / "rows.csv"
    arguments = ["--quasi-identifiers", "A,B,C", "--weight", "weight", "--rows", target, "--quiet"]
    assert sfumato("risk", tmp_path / "eight.csv", *arguments).code == 0
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    rows = list(csv.DictReader(target.read_text().splitlines()))
    assert [int(row["row"]) for row in rows] == list(range(1, 9))
    assert [round(float(row["risk"]), 8) for row in rows] == RISKS
    assert {row["household_risk"] for row in rows} == {""}
    assert sfumato("risk", tmp_path / "eight.csv", *arguments).code == 2
