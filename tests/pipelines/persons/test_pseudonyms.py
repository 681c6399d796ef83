"""Releases with pseudonyms: on every engine, with persons, applied to new rows, turned back with a log."""

import json
import stat
from html import escape
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from refusals import coded
from sfumato.cli.main import run
from sfumato.errors import DataError, PlanError, UnattainableError
from sfumato.localization.messages import from_json, words_in
from sfumato.pipelines.persons.pseudonyms import KEY_FILE, new_key

SEX = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
NAMES = [f"patient {place:03d}" for place in range(20)]


def plan_of(pseudonym: Any = "keyed", role: str = "identifier", **more: Any) -> dict[str, Any]:
    columns = {"id": {"role": role, "publish": {"pseudonym": pseudonym}}, "sex": SEX, "ill": {"role": "sensitive"}}
    plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 3}]}
    return plan | {"method": {"name": "optimal"}} | more


def write_rows(path: Path, ids: list[str]) -> Path:
    lines = [f"{name},{'fm'[place % 2]},{place % 3}" for place, name in enumerate(ids)]
    path.write_text("id,sex,ill\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "rows.csv", NAMES)


def published(folder: Path) -> list[str]:
    return [line.split(",")[0] for line in (folder / "data.csv").read_text().splitlines()[1:]]


def test_the_holder_of_the_key_finds_everybody_again(rows: Path, tmp_path: Path) -> None:
    folder = sf.anonymize(rows, plan_of()).save(tmp_path / "out")
    tokens = published(folder)
    assert len(set(tokens)) == 20
    everything = "".join(path.read_text() for path in folder.iterdir() if path.name != KEY_FILE)
    assert "patient 0" not in everything
    assert sorted(sf.reveal(folder, tokens, by="ada", reason="a test")) == NAMES
    assert stat.S_IMODE((folder / KEY_FILE).stat().st_mode) == 0o600
    entry = json.loads((folder / f"{KEY_FILE}.log").read_text())
    assert (entry["by"], entry["reason"], entry["pseudonyms"]) == ("ada", "a test", 20)
    assert not any(token in json.dumps(entry) for token in tokens)


def test_reports_say_that_the_data_stay_personal(rows: Path, tmp_path: Path) -> None:
    folder = sf.anonymize(rows, plan_of()).save(tmp_path / "out")
    report = from_json((folder / "report.json").read_text())
    (personal,) = [remark for remark in report["remarks"] if remark.code == "note.pseudonymous"]
    assert report["removed_columns"] == []
    assert escape(personal) in (folder / "report.html").read_text()
    key = json.loads((folder / KEY_FILE).read_text())
    assert key["key"] not in "".join(path.read_text() for path in folder.iterdir() if path.name != KEY_FILE)


def test_the_release_is_verified_and_a_raw_name_is_seen(rows: Path, tmp_path: Path) -> None:
    folder = sf.anonymize(rows, plan_of()).save(tmp_path / "out")
    assert sf.verify(folder).satisfied
    data = folder / "data.csv"
    data.write_text(data.read_text().replace(published(folder)[0], "patient 000"))
    assert not sf.verify(data, folder / "plan.yaml").satisfied


def test_a_key_of_the_house_gives_the_same_pseudonyms_again(rows: Path, tmp_path: Path) -> None:
    new_key(tmp_path / "study.key", "study")
    kind = {"kind": "format", "key_file": str(tmp_path / "study.key"), "domain": "study"}
    ids = [f"P-{place:06d}" for place in range(20)]
    write_rows(rows, ids)
    first, second = (sf.anonymize(rows, plan_of(kind)).save(tmp_path / name) for name in ("one", "two"))
    assert sorted(published(first)) == sorted(published(second))
    assert all(text[:2].isupper() or text[1] == "-" for text in published(first))
    assert not (first / KEY_FILE).exists()
    assert sorted(sf.reveal(first, published(first), by="ada", reason="a test")) == ids
    never = next(text for text in (f"Q-{place:06d}" for place in range(99)) if text not in published(first))
    entries = (tmp_path / "study.key.log").read_text().count("\n")
    with pytest.raises(DataError, check=coded("data.pseudonym.not_published")):
        sf.reveal(first, [published(first)[0], never], by="ada", reason="a test")
    assert (tmp_path / "study.key.log").read_text().count("\n") == entries


def test_a_key_that_others_may_read_is_warned_about(rows: Path, tmp_path: Path) -> None:
    new_key(tmp_path / "study.key", "study")
    asked = plan_of({"kind": "keyed", "key_file": str(tmp_path / "study.key"), "domain": "study"})
    assert not any("study.key" in remark for remark in sf.anonymize(rows, asked).report.notes)
    (tmp_path / "study.key").chmod(0o640)
    remark = next(one for one in sf.anonymize(rows, asked).report.notes if "study.key" in one)
    assert "is readable by others than its owner" in remark and "Eigentümer" in words_in("de").text(remark)


def test_a_wrong_key_is_refused(rows: Path, tmp_path: Path) -> None:
    folder = sf.anonymize(rows, plan_of()).save(tmp_path / "out")
    new_key(tmp_path / "other.key", "release")
    with pytest.raises(PlanError, check=coded("plan.key.this_is_the_key")):
        sf.reveal(folder, published(folder)[:1], by="ada", reason="a test", key=tmp_path / "other.key")
    with pytest.raises(PlanError, check=coded("plan.reason")):
        sf.reveal(folder, published(folder)[:1], by="", reason="a test")


def test_frames_and_files_publish_the_same(rows: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    new_key(tmp_path / "study.key", "study")
    plan = plan_of({"kind": "keyed", "key_file": str(tmp_path / "study.key")}, seed=4)
    by_file = sf.anonymize(rows, plan).save(tmp_path / "one")
    by_frame = sf.anonymize(pandas.read_csv(rows, dtype=str), plan).save(tmp_path / "two")
    assert (by_file / "data.csv").read_bytes() == (by_frame / "data.csv").read_bytes()


def test_new_rows_get_pseudonyms_of_the_same_key(rows: Path, tmp_path: Path) -> None:
    folder = sf.anonymize(rows, plan_of()).save(tmp_path / "out")
    assert run(["apply", str(folder / "recoding.json"), str(rows), "--out", str(tmp_path / "more"), "--quiet"]) == 0
    assert sorted(published(tmp_path / "more")) == sorted(published(folder))


def test_an_identifier_that_repeats_must_be_a_person(rows: Path) -> None:
    write_rows(rows, [*NAMES[:10], *NAMES[:10]])
    with pytest.raises(DataError, check=coded("data.repeats")):
        sf.anonymize(rows, plan_of())


def test_persons_with_pseudonyms_are_not_told_apart(rows: Path, tmp_path: Path) -> None:
    """With pseudonyms a reader sees all rows of a person: the promises hold for these together, or nothing is."""
    write_rows(rows, [name for name in NAMES[:10] for _ in range(2)])
    folder = sf.anonymize(rows, plan_of(role="person")).save(tmp_path / "out")
    assert len(set(published(folder))) == 10
    assert sf.verify(folder).satisfied
    write_rows(rows, [*NAMES[:6], *NAMES[:6], *NAMES[:1], *NAMES[:1]])
    with pytest.raises(UnattainableError, check=coded("unattainable.fingerprint")):
        sf.anonymize(rows, plan_of(role="person"))


WRONG = {
    "a seed without a key": plan_of(seed=3),
    "no key there": plan_of({"kind": "keyed", "key_file": "nowhere.key"}),
    "a sensitive column": plan_of(role="sensitive"),
    "no such kind": plan_of("hashed"),
}


@pytest.mark.parametrize("plan", WRONG.values(), ids=WRONG)
def test_wrong_plans_are_refused(rows: Path, plan: dict[str, Any]) -> None:
    with pytest.raises(PlanError):
        sf.anonymize(rows, plan)


def test_the_command_line(rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["pseudonyms", "new", str(tmp_path / "study.key"), "--domain", "study"]) == 0
    assert run(["pseudonyms", "new", str(tmp_path / "study.key")]) == 2
    folder = sf.anonymize(rows, plan_of({"kind": "keyed", "key_file": str(tmp_path / "study.key")})).save(
        tmp_path / "out"
    )
    capsys.readouterr()
    token = published(folder)[0]
    assert run(["pseudonyms", "reveal", str(folder), token, "--by", "ada", "--reason", "a test"]) == 0
    assert capsys.readouterr().out.strip() in NAMES
    assert run(["pseudonyms", "reveal", str(folder), "x" * 52, "--by", "ada", "--reason", "a test"]) == 3
