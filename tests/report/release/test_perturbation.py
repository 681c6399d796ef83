"""What is handed out with perturbed columns: true sentences, the matrices, and that perturbation promises nothing."""

import json

import numpy as np
import polars as pl
import pytest

from sfumato.localization.messages import words_in
from sfumato.pipelines.release import anonymize

DRAW = np.random.default_rng(2)
ROWS = 120
FRAME = pl.DataFrame(
    {
        "hh": [str(place // 2) for place in range(ROWS)],
        "region": DRAW.choice(["north", "south"], ROWS // 2).repeat(2),
        "sex": DRAW.choice(["m", "f"], ROWS),
        "job": DRAW.choice(["a", "b", "c"], ROWS),
        "state": DRAW.choice(["x", "y"], ROWS),
        "weight": DRAW.uniform(10, 60, ROWS).round(1),
        "limit": DRAW.uniform(0, 1, ROWS).round(3),
    }
)
PLAN = {
    "version": 1,
    "columns": {
        "hh": {"role": "household"},
        "region": {"role": "insensitive", "publish": {"swap_households": {"share": 0.15, "k": 3}}},
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "job": {"role": "insensitive", "publish": {"pram": 0.7}},
        "state": {"role": "insensitive", "publish": {"pram": {"retention": 0.6, "strata": ["sex"]}}},
        "weight": {"role": "weight"},
        "limit": {"role": "insensitive", "publish": {"top": {"value": 0.5}}},
    },
    "privacy": [{"model": "k-anonymity", "k": 3}],
    "seed": 1,
}


@pytest.fixture(scope="module", params=["en", "de"])
def folder(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param) / "out"
    anonymize(FRAME, PLAN | {"language": request.param}).save(folder)
    return folder


def test_sentences_to_hand_out_are_true(folder) -> None:
    report = json.loads((folder / "report-external.json").read_text())
    page = (folder / "report-external.html").read_text()
    told = {name: entry["what"] for name, entry in report["columns"].items()}
    german = report["language"] == "de"
    assert ("0,15" if german else "0.15") in told["region"]
    assert told["weight"] == words_in(report["language"])["fate.weight"]
    assert ("0,5 als >0.5 veröffentlicht" if german else "above 0.5 published as >0.5") in told["limit"]
    honest = (
        "Verfremdung bietet für sich genommen keine Garantie"
        if german
        else "Perturbation provides no guarantee by itself"
    )
    assert honest in page and any(line.startswith(honest) for line in report["limits"])
    assert all(name in next(line for line in report["limits"] if honest in line) for name in ("region", "job", "state"))


def test_matrices_stand_on_the_page_to_hand_out_but_not_those_of_strata(folder) -> None:
    report = json.loads((folder / "report-external.json").read_text())
    page = (folder / "report-external.html").read_text()
    matrix = report["columns"]["job"]["matrices"][""]
    german = report["language"] == "de"
    for row in matrix.values():
        for share in row.values():
            assert f"{share:g}".replace(".", "," if german else ".") in page
    assert words_in(report["language"])["external.matrix"].format(column="job") in page
    assert "matrices" not in report["columns"]["state"]
    assert words_in(report["language"])["external.matrix"].format(column="state") not in page


def test_matrices_name_no_category_that_few_rows_have(tmp_path) -> None:
    jobs = [*["clerk"] * 70, *["nurse"] * 48, "astronaut", "pope"]
    release = anonymize(FRAME.with_columns(job=pl.Series(jobs)), PLAN)
    text = (release.save(tmp_path / "out") / "report-external.json").read_text(encoding="utf-8")
    matrix = json.loads(text)["columns"]["job"]["matrices"][""]
    assert "pope" not in text and "astronaut" not in text
    assert matrix.keys() == {"clerk", "nurse"} and matrix["clerk"].keys() == {"clerk", "nurse", "(other)"}
    assert sum(matrix["clerk"].values()) == pytest.approx(1, abs=0.02)


def test_sentences_of_cells_and_of_rounding_are_true(tmp_path) -> None:
    rows = pl.DataFrame(
        {
            "area": ["n", "s"] * 20,
            "key": [str(place) for place in range(40)],
            "sex": ["m", "m", "f", "f"] * 10,
            "rent": list(range(40)),
        }
    )
    columns = {name: {"role": "quasi-identifier"} for name in rows.columns[:3]}
    columns["area"]["importance"] = "never"
    columns["rent"] = {"role": "insensitive", "publish": {"noise": 0.2, "round": 10}}
    privacy = [{"model": "k-anonymity", "k": 4, "subsets": {1: 8}}]
    release = anonymize(
        rows, {"version": 1, "columns": columns, "privacy": privacy, "method": {"name": "local-suppression"}}
    )
    report = json.loads((release.save(tmp_path / "out") / "report-external.json").read_text(encoding="utf-8"))
    told = {name: entry["what"] for name, entry in report["columns"].items()}
    assert told["area"] == "Published unchanged: none of its values may be suppressed."
    assert told["key"] == "Removed: every value is missing."
    assert told["sex"] == told["area"]
    assert told["rent"].endswith("Then rounded to multiples of 10.")
    assert words_in()["promise.subsets"].format(columns=1, rows=8) in report["models"][0]["statement"]


def test_special_uniques_are_told_before_and_after(folder) -> None:
    risk = json.loads((folder / "report.json").read_text())["risk"]
    assert risk["special_uniques_after"]["rows"] == 0


def test_special_uniques_after_a_release_without_classes_are_those_before(tmp_path) -> None:
    keys = pl.DataFrame({name: DRAW.integers(0, 9, 60).astype(str) for name in "abc"})
    plan = {
        "version": 1,
        "columns": {name: {"role": "quasi-identifier", "hierarchy": {"type": "any"}} for name in "abc"},
        "privacy": [{"model": "k-anonymity", "k": 1}],
    }
    release = anonymize(keys, plan)
    before, after = (release.report.risk[name] for name in ("special_uniques", "special_uniques_after"))
    assert before == after and before["rows"] > 0
    release.save(tmp_path / "out")
    assert f"{after['rows']} special uniques remain" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize("kept", [0, 100])
def test_the_page_says_how_many_rows_have_all_numbers(tmp_path, kept) -> None:
    frame = FRAME.select(
        "sex",
        a=pl.when(pl.int_range(ROWS) < 60 + kept).then("weight"),
        b=pl.when(pl.int_range(ROWS) >= 60 - kept // 10).then("limit"),
    )
    perturbed = {name: {"role": "insensitive", "publish": {"swap": 0.1}} for name in "ab"}
    plan = {**PLAN, "columns": {"sex": PLAN["columns"]["sex"], **perturbed}}
    anonymize(frame, plan).save(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert f"all these numbers: {70 if kept else 0}. " in page and "within 1 % of the ranks" in page
    assert ("selects the correct one in" in page) == bool(kept)
