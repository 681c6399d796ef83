"""Options that do not go together are refused, and what a user made of the demo's files is not replaced."""

import pytest

DROPPED = {
    "--data": "rows.csv",
    "--engine": "frames",
    "--memory-limit": "1GB",
    "--temp-folder": "scratch",
    "--to-table": "postgresql://nobody@127.0.0.1:1/base?table=rows",
}


@pytest.mark.parametrize("option", DROPPED)
def test_what_would_be_ignored_is_refused(sfumato, tmp_path, option) -> None:
    arguments = ("anonymize", tmp_path / "rows.csv", "--apply", tmp_path / "recoding.json", "--out", tmp_path / "out")
    ran = sfumato(*arguments, option, DROPPED[option])
    assert (ran.code, "do not go with --apply" in ran.err, option in ran.err) == (2, True, True)


def test_dropping_goes_with_applying(sfumato, tmp_path) -> None:
    ran = sfumato("anonymize", tmp_path / "plan.yaml", "--drop-failing", "--out", tmp_path / "out")
    assert (ran.code, "goes with --apply alone" in ran.err) == (2, True)


@pytest.mark.parametrize("name", ["demo-plan.yaml", "demo-patients.csv"])
def test_an_edited_file_of_the_demo_is_not_replaced(sfumato, tmp_path, name) -> None:
    (tmp_path / name).write_text("mine", encoding="utf-8")
    ran = sfumato("demo", "--out", tmp_path / "two")
    assert (ran.code, f"{name} exists" in ran.err) == (2, True)
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [(name, "mine")]


def test_the_demo_runs_again_beside_its_own_files(sfumato, tmp_path) -> None:
    assert sfumato("demo", "--out", tmp_path / "new" / "one").code == 0
    assert sfumato("demo", "--out", tmp_path / "new" / "two").code == 0
