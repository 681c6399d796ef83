"""Applying a recoding to new rows keeps to everything that its plan says."""

from pathlib import Path

import pytest
import yaml

ANY = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}


def released(sfumato, folder: Path, rows: str, **plan: object) -> Path:
    (folder / "rows.csv").write_text(rows)
    data = {"source": "rows.csv"} | plan.pop("data", {})  # type: ignore[operator]
    whole = {"version": 1, "data": data, "output": {"order": "keep"}} | plan
    (folder / "plan.yaml").write_text(yaml.safe_dump(whole))
    ran = sfumato("anonymize", folder / "plan.yaml", "--out", folder / "release")
    assert ran.code == 0, ran.err
    return folder / "release"


def test_a_missing_value_matches_anything_there_too(sfumato, tmp_path) -> None:
    columns = {"q": ANY | {"max_level": 0}, "r": ANY | {"max_level": 0}}
    k = [{"model": "k-anonymity", "k": 2}]
    release = released(
        sfumato, tmp_path, "q,r\na,1\na,\nb,2\n,2\n", columns=columns, privacy=k, data={"on_missing": "any"}
    )
    apply = ("apply", release / "recoding.json", tmp_path / "rows.csv")
    ran = sfumato(*apply, "--out", tmp_path / "again")
    assert ran.code == 0, ran.err
    assert (tmp_path / "again" / "data.csv").read_bytes() == (release / "data.csv").read_bytes()
    (tmp_path / "rows.csv").write_text("q,r\n" + "a,1\n" * 4 + "b,2\n")
    assert sfumato(*apply, "--out", tmp_path / "third").code == 1
    assert sfumato(*apply, "--out", tmp_path / "third", "--drop-violating").code == 0
    assert (tmp_path / "third" / "data.csv").read_text() == "q,r\n" + "a,1\n" * 4


def test_files_are_laid_in_folders_there_too(sfumato, tmp_path) -> None:
    rows = "q,r\n" + "a,1\n" * 3 + "b,2\n" * 3
    output = {"format": "parquet", "partition": ["q"]}
    columns = {"q": ANY, "r": {"role": "insensitive"}}
    release = released(
        sfumato, tmp_path, rows, columns=columns, privacy=[{"model": "k-anonymity", "k": 2}], output=output
    )
    again = tmp_path / "again"
    ran = sfumato("apply", release / "recoding.json", tmp_path / "rows.csv", "--out", again)
    assert ran.code == 0, ran.err
    assert sorted(path.name for path in (again / "data.parquet").iterdir()) == ["q=a", "q=b"]


@pytest.mark.parametrize("name", ["Größe", "zip code", "a/b", '"q"'])
def test_folders_are_not_named_after_any_column(sfumato, tmp_path, name) -> None:
    plan = {
        "version": 1,
        "columns": {name: ANY, "r": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"format": "parquet", "partition": [name], "order": "keep"},
    }
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(plan, allow_unicode=True), encoding="utf-8")
    ran = sfumato("anonymize", tmp_path / "plan.yaml", "--out", tmp_path / "out")
    assert ran.code == 2
    assert "output.partition" in ran.err


def test_some_column_is_left_for_the_files(sfumato, tmp_path) -> None:
    plan = {
        "version": 1,
        "columns": {"q": ANY},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"format": "parquet", "partition": ["q"], "order": "keep"},
    }
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(plan))
    ran = sfumato("anonymize", tmp_path / "plan.yaml", "--out", tmp_path / "out")
    assert ran.code == 2
    assert "no column is left" in ran.err


@pytest.mark.parametrize(
    ("further", "told"),
    [
        ("x,m", '"zip": 1 value is not known to the recoding (row 5).'),
        ("x,m\ny,m", '"zip": 2 values are not known to the recoding (row 5, 6).'),
        ("x,m\n,m", '"zip": 1 value and the missing value are not known to the recoding (row 5).'),
        (",m", '"zip": the missing value is not known to the recoding.'),
    ],
)
def test_values_that_are_not_known_are_counted_in_words_that_fit(sfumato, tmp_path, further, told) -> None:
    rows = "zip,sex\na,m\na,f\nb,m\nb,m\n"
    tree = {"role": "quasi-identifier", "hierarchy": {"type": "tree", "parents": {"a": "both", "b": "both"}}}
    columns = {"zip": tree, "sex": {"role": "insensitive"}}
    release = released(sfumato, tmp_path, rows, columns=columns, privacy=[{"model": "k-anonymity", "k": 2}])
    (tmp_path / "rows.csv").write_text(rows + further + "\n")
    ran = sfumato("apply", release / "recoding.json", tmp_path / "rows.csv", "--out", tmp_path / "new")
    assert told in ran.err
