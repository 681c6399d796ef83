"""The risk of every row, as the library and the command line tell it: known answers, households, dropped rows."""

import csv
import stat

import numpy as np
import polars as pl
import pytest

from sfumato.pipelines.risk import risk

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
