"""The report for the house names the files that are there, and its annex has the hash of each that is sealed."""

import hashlib
import json

import polars as pl
import pytest

from sfumato.pipelines.release import anonymize
from sfumato.pipelines.report_folder import read_annex
from sfumato.report.annex import markdown


def _folder(tmp_path, method, role):
    rows = pl.DataFrame([{"pid": f"p{place}", "sex": "mf"[place % 2], "ill": "abc"[place % 3]} for place in range(40)])
    columns = {
        "pid": {"role": role},
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "ill": {"role": "insensitive"},
    }
    plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]}
    release = anonymize(rows, plan | {"method": {"name": method}})
    release.save(tmp_path / "out")
    release.close()
    return tmp_path / "out"


@pytest.mark.parametrize(("method", "role"), [("optimal", "person"), ("exhaustive", "identifier"), ("local", "person")])
def test_the_files_named_are_those_of_the_folder(tmp_path, method, role) -> None:
    folder = _folder(tmp_path, method, role)
    page = (folder / "report.html").read_text(encoding="utf-8")
    names = {path.name for path in folder.iterdir()} - {"data.csv", "report.html"}
    inside = {name for name in names if "external" not in name}
    told = page[page.index("as are these files: ") :].partition(": ")[2].partition(". They")[0]
    assert set(told.split(", ")) == inside


def test_the_annex_has_the_hash_of_the_persons(tmp_path) -> None:
    folder = _folder(tmp_path, "optimal", "person")
    digest = hashlib.sha256((folder / "persons.parquet").read_bytes()).hexdigest()
    assert digest in markdown(read_annex(folder))


@pytest.mark.parametrize("method", ["local", "optimal", "mondrian"])
def test_a_name_of_a_loss_has_one_figure(tmp_path, method) -> None:
    """What the method counted of the loss metric is what the measures say of it."""
    rows = pl.DataFrame([{"age": 20 + place % 37, "zip": f"{1000 + place * 7 % 50}"} for place in range(80)])
    columns = {
        "age": {"role": "quasi-identifier", "hierarchy": {"type": "intervals", "widths": [5, 10, 20]}},
        "zip": {"role": "quasi-identifier", "hierarchy": {"type": "digits"}},
    }
    plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]}
    release = anonymize(rows, plan | {"method": {"name": method}})
    told = json.loads(json.dumps(release.report.to_dict()))
    release.close()
    if told["loss"]["name"] in told["utility"]["losses"] and told["loss"]["per_column"]:
        assert told["utility"]["losses"][told["loss"]["name"]]["per_column"] == told["loss"]["per_column"]
    measured = told["utility"]["losses"]["loss-metric"]
    assert measured["value"] == pytest.approx(told["mean_loss"] * len(columns))
