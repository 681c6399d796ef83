"""Runs in the archive of a project come back as they were; what is none is left out, and nothing leaves its folder."""

import json
import zipfile

from sfumato.web.projects.archives import run_archives, unpacked_runs


def test_runs_are_put_away_and_found_again(tmp_path) -> None:
    place = tmp_path / "job"
    place.mkdir()
    with zipfile.ZipFile(place / "result.zip", "w") as archive:
        archive.writestr("report.json", json.dumps({"rows": 3}))
        archive.writestr("parts/data.csv", "age\n1\n")
    names = run_archives({2: place, 3: tmp_path / "gone"})
    assert list(names) == ["run-2.zip"]
    project = tmp_path / "project"
    project.mkdir()
    (project / "run-2.zip").write_bytes(names["run-2.zip"].read_bytes())
    plan = {"version": 1}
    ((number, known, folder),) = unpacked_runs(project, [{"number": 2, "plan": plan}, {"number": 3, "plan": plan}])
    assert (number, known) == (2, plan)
    assert json.loads((folder / "report.json").read_text()) == {"rows": 3}
    assert (folder / "parts" / "data.csv").exists()
    assert (folder.parent / "result.zip").exists()  # it can be downloaded whole
    assert run_archives({2: folder.parent}) == {"run-2.zip": folder.parent / "result.zip"}


def test_what_is_no_run_is_left_out(tmp_path) -> None:
    (tmp_path / "run-1.zip").write_bytes(b"no archive")
    with zipfile.ZipFile(tmp_path / "run-2.zip", "w") as archive:
        archive.writestr("report.json", "{}")
        archive.writestr("../../outside", "x")
    with zipfile.ZipFile(tmp_path / "run-4.zip", "w") as archive:
        archive.writestr("report.json", "[1]")
    records = [{"number": number, "plan": {}} for number in (1, 2, 4, 5)]
    assert list(unpacked_runs(tmp_path, [*records, "junk", {"number": "../1", "plan": {}}, {"number": 1}])) == []
    assert not (tmp_path.parent / "outside").exists()
