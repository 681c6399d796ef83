"""Words for a missing value: the report to hand out explains those that the file may hold."""

import json

import polars as pl
import pytest
from dossiers import files

from sfumato.pipelines.release import anonymize

ROWS = pl.DataFrame({"q": ["a", "a", "k.A.", "k.A."], "s": ["1", "k.A.", "3", "4"], "id": ["1", "2", "3", "k.A."]})


def release(missing, role="sensitive"):
    columns = {
        "q": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "s": {"role": role},
        "id": {"role": "identifier"},
    }
    privacy = [{"model": "k-anonymity", "k": 2}]
    return anonymize(ROWS, {"version": 1, "data": {"missing": missing}, "columns": columns, "privacy": privacy})


@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
def test_a_published_word_for_a_missing_value_is_explained(role: str) -> None:
    made = release(["k.A."], role)
    assert "k.A." in made.data["s"].to_list()
    pages = files(made)
    assert "the value is missing: <code>k.A.</code>" in pages["report-external.html"]
    columns = json.loads(pages["report-external.json"])["columns"]
    assert columns["s"]["values"] == [{"value": "k.A.", "stands_for": "the value is missing"}]
    assert {"value": "", "stands_for": "the value is missing"} in columns["q"]["values"]
    assert not columns["id"]["values"]


@pytest.mark.parametrize(("missing", "role"), [([], "sensitive"), (["k.A."], "identifier")])
def test_words_that_the_file_cannot_hold_are_not(missing: list[str], role: str) -> None:
    assert "of these words" not in files(release(missing, role))["report-external.html"]
