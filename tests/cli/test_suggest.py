"""Suggested plans run as they are."""

import pytest
import yaml

from sfumato.datasets import DATASETS


@pytest.mark.parametrize("name", DATASETS)
def test_a_suggested_plan_runs_as_it_is(sfumato, tmp_path, name) -> None:
    make = DATASETS[name]
    dataset = make(rows=2000) if name == "census" else make()
    dataset.write(tmp_path / "rows.csv")
    ran = sfumato("suggest", tmp_path / "rows.csv")
    assert ran.code == 0, ran.err
    (tmp_path / "plan.yaml").write_text(ran.out, encoding="utf-8")
    plan = yaml.safe_load(ran.out)
    assert set(plan["columns"]) == set(dataset.columns())
    assert ran.out.count("  # ") == len(dataset.columns())
    done = sfumato("anonymize", tmp_path / "plan.yaml", "--out", tmp_path / "out")
    assert done.code == 0, done.err


def test_a_plan_written_to_a_file_finds_its_data(sfumato, tmp_path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rows.csv").write_text(
        "name;geburtsdatum;plz\n" + "".join(f"N{i};{1950 + i % 9}0230;7000{i % 3}\n" for i in range(60)),
        encoding="utf-8",
    )
    assert sfumato("suggest", tmp_path / "data" / "rows.csv", "--out", tmp_path / "plan.yaml").code == 0
    assert yaml.safe_load((tmp_path / "plan.yaml").read_text(encoding="utf-8"))["data"]["source"] == "data/rows.csv"
    assert sfumato("anonymize", tmp_path / "plan.yaml", "--out", tmp_path / "out").code == 0


def test_words_for_missing_are_found(sfumato, tmp_path) -> None:
    rows = "".join(f"{20 + i % 30},{'?' if i % 9 == 0 else 'a'}\n" for i in range(90))
    (tmp_path / "rows.csv").write_text("age,kind\n" + rows, encoding="utf-8")
    plan = yaml.safe_load(sfumato("suggest", tmp_path / "rows.csv").out)
    assert plan["data"]["missing"] == ["?"]


def test_a_header_alone_is_no_table(sfumato, tmp_path) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n", encoding="utf-8")
    assert sfumato("suggest", tmp_path / "rows.csv").code == 3


def test_a_few_whole_numbers_are_categories(sfumato, tmp_path) -> None:
    (tmp_path / "rows.csv").write_text("children\n" + "0\n1\n2\n" * 5, encoding="utf-8")
    plan = yaml.safe_load(sfumato("suggest", tmp_path / "rows.csv").out)
    assert plan["columns"]["children"] == {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
