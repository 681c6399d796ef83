"""Words for a missing value: the report to hand out explains those that the file may hold."""

import json
import re

import polars as pl
import pytest
from dossiers import files

from sfumato.pipelines.release import anonymize
from sfumato.pipelines.suggest import suggest_for_file
from sfumato.pipelines.verify import verify

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
    assert columns["s"]["values"] == [{"value": "k.A.", "meaning": "the value is missing"}]
    assert {"value": "", "meaning": "the value is missing"} in columns["q"]["values"]
    assert not columns["id"]["values"]


@pytest.mark.parametrize(("missing", "role"), [([], "sensitive"), (["k.A."], "identifier")])
def test_words_that_the_file_cannot_hold_are_not(missing: list[str], role: str) -> None:
    assert "of these words" not in files(release(missing, role))["report-external.html"]


def test_a_remark_of_one_row_among_numbers_is_nowhere_handed_out(tmp_path) -> None:
    """What means missing counts in no promise, and stood in the file as it was written, and in the report beside it."""
    path = tmp_path / "pay.csv"
    rows = [f"{'mf'[place % 2]},{20 + place % 50},{1800 + 37 * place}.50,{place % 90}" for place in range(200)]
    rows += ["f,ask his wife Ann Miller,2100.50,3", "m,33,see Mr. Kowalczyk,3"]
    path.write_text("sex,age,salary,bonus\n" + "\n".join(rows) + "\n", encoding="utf-8")
    release = anonymize(path, suggest_for_file(path).plan | {"seed": 1})
    folder = release.save(tmp_path / "out")
    for name in ("data.csv", "report-external.html", "report-external.json"):
        assert not {"Kowalczyk", "Miller"} & {*re.findall(r"\w+", (folder / name).read_text(encoding="utf-8"))}
    assert any("a word of few rows" in remark for remark in release.report.notes)
    assert verify(folder).satisfied


def test_a_word_of_many_rows_stays_and_is_explained() -> None:
    rows = pl.DataFrame({"q": ["a"] * 12, "s": ["refused"] * 6 + [*"123456"]})
    columns = {"q": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "s": {"role": "sensitive"}}
    promises = [
        {"model": "k-anonymity", "k": 5},
        {"model": "l-diversity", "variant": "distinct", "l": 2, "column": "s"},
    ]
    plan = {"version": 1, "data": {"missing": ["refused"]}, "columns": columns, "privacy": promises}
    made = anonymize(rows, plan)
    assert "refused" in made.data["s"].to_list()
    assert "the value is missing: <code>refused</code>" in files(made)["report-external.html"]


@pytest.mark.parametrize("writers", [1, 6])
def test_a_remark_in_many_rows_of_one_person_is_as_rare_as_in_one(writers: int) -> None:
    """Promises count persons: six rows of one person are no crowd."""
    remarked = {f"p{place // 6 if writers == 1 else place}" for place in range(6)}
    persons = [f"p{place // 6}" for place in range(60)] if writers == 1 else [f"p{place}" for place in range(60)]
    ill = [
        "see Mr. Kowalczyk" if person in remarked else "flu" if place % 12 < 6 else "cold"
        for place, person in enumerate(persons)
    ]
    rows = pl.DataFrame({"pid": persons, "q": ["a"] * 60, "ill": ill})
    columns = {
        "pid": {"role": "person"},
        "q": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "ill": {"role": "sensitive"},
    }
    promises = [
        {"model": "k-anonymity", "k": 5},
        {"model": "l-diversity", "variant": "distinct", "l": 2, "column": "ill"},
    ]
    plan = {"version": 1, "data": {"missing": ["see Mr. Kowalczyk"]}, "columns": columns, "privacy": promises}
    published = anonymize(rows, plan).data["ill"].to_list()
    assert published.count("see Mr. Kowalczyk") == (0 if writers == 1 else 6)
    assert published.count(None) == (6 if writers == 1 else 0)


def test_a_word_that_was_published_as_an_empty_field_is_not_explained(tmp_path) -> None:
    """Empty fields and a word became one spelling, and the report to hand out told of a word that no row has."""
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["q,s", *(f"a,{('x', 'y', '', 'k.A.')[place % 4]}" for place in range(40))]))
    columns = {"q": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "s": {"role": "sensitive"}}
    privacy = [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2, "column": "s", "variant": "distinct"}]
    plan = {"version": 1, "data": {"missing": ["k.A."]}, "columns": columns, "privacy": privacy}
    folder = anonymize(path, plan).save(tmp_path / "out")
    assert "k.A." not in (folder / "data.csv").read_text(encoding="utf-8")
    assert "k.A." not in (folder / "report-external.html").read_text(encoding="utf-8")
    assert "k.A." not in (folder / "report-external.json").read_text(encoding="utf-8")
