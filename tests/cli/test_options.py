"""What a user made of the demo's files is not replaced."""

import pytest


@pytest.mark.parametrize("name", ["demo-plan.yaml", "demo-patients.csv"])
def test_an_edited_file_of_the_demo_is_not_replaced(sfumato, tmp_path, name) -> None:
    (tmp_path / name).write_text("mine", encoding="utf-8")
    ran = sfumato("demo", "--out", tmp_path / "two")
    assert (ran.code, f"{name} exists" in ran.err) == (2, True)
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [(name, "mine")]


def test_the_demo_runs_again_beside_its_own_files(sfumato, tmp_path) -> None:
    assert sfumato("demo", "--out", tmp_path / "new" / "one").code == 0
    assert sfumato("demo", "--out", tmp_path / "new" / "two").code == 0
