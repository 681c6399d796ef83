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


def test_a_first_line_with_a_person_in_words_alone_is_no_header(sfumato, tmp_path) -> None:
    """None of its values recurs and none is a number; but its columns hold addresses, and so does it."""
    towns, paths = ("Anna", "Jonas", "Petra", "Emil"), ("Rosenweg", "Hauptstraße", "Lindenallee")
    rows = [f"{towns[n % 4]} Meyer,{paths[n % 3]} {n},{('Grippe', 'Asthma')[n % 2]}" for n in range(60)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["Zacharias Quirrell,Zwergenweg 7b,Morbus Crohn", *rows]) + "\n", encoding="utf-8")
    ran = sfumato("suggest", path)
    assert (ran.code, "looks like data" in ran.err, "Zacharias" in ran.err + ran.out) == (2, True, False)
    assert sfumato("suggest", path, "--no-header").code == 0
    path.write_text("\n".join(["Full name,Street 1,Illness", *rows]) + "\n", encoding="utf-8")
    assert sfumato("suggest", path).code == 0


def test_questions_become_the_purpose_of_the_plan(sfumato, tmp_path) -> None:
    DATASETS["four-rows"]().write(tmp_path / "rows.csv")
    asked = ["count by illness", 'mean of (illness == "Asthma") by sex']
    ran = sfumato("suggest", tmp_path / "rows.csv", "--for", asked[0], "--for", asked[1])
    assert yaml.safe_load(ran.out)["purpose"] == {"questions": asked}
    assert sfumato("suggest", tmp_path / "rows.csv", "--for", "count by ilness").code == 2
