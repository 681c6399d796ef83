"""Bad input: each with a clear message, the right exit code, no value of a person, and nothing written."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

GOOD = "name,age,zip,note\nAnna,34,72021,x\nBert,35,72021,y\nCara,34,72062,x\nDora,35,72062,y\n"
SECRET = "Zwetschgenbaum"


def plan_of(**changes: object) -> dict:
    plan: dict = {
        "version": 1,
        "data": {"source": "rows.csv"},
        "columns": {
            "name": {"role": "identifier"},
            "age": {
                "role": "quasi-identifier",
                "type": "integer",
                "hierarchy": {"type": "intervals", "start": 0, "end": 99, "widths": [10]},
            },
            "zip": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 5}},
            "note": {"role": "insensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"order": "keep"},
    }
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = plan
        for parent in parents:
            place = place[int(parent)] if parent.isdigit() else place[parent]
        place[last] = value
    return plan


def attempt(sfumato, folder: Path, plan: dict, rows: str | bytes = GOOD):
    content = rows if isinstance(rows, bytes) else rows.encode()
    (folder / "rows.csv").write_bytes(content)
    (folder / "plan.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
    before = {path.name for path in folder.iterdir()}
    ran = sfumato("anonymize", folder / "plan.yaml", "--out", folder / "out")
    after = {path.name for path in folder.iterdir()}
    return ran, after - before


def with_tree(parents: dict) -> dict:
    return {"role": "quasi-identifier", "hierarchy": {"type": "tree", "parents": parents}}


CASES = {
    "no such column": (plan_of(columns__plz={"role": "insensitive"}), GOOD, 2, "no such column"),
    "a column the plan does not mention": (plan_of(), GOOD.replace("note", "remark"), 2, '"remark"'),
    "unknown role": (plan_of(columns__note={"role": "insensitiv"}), GOOD, 2, 'Did you mean "insensitive"?'),
    "unknown key": (plan_of(privat=[]), GOOD, 2, 'Did you mean "privacy"?'),
    "k larger than the rows": (plan_of(privacy__0__k=5), GOOD, 4, "k = 5 needs at least 5 rows"),
    "k of 0": (plan_of(privacy__0__k=0), GOOD, 2, "must be at least 1"),
    "an impossible date": (
        plan_of(columns__zip={"role": "quasi-identifier", "hierarchy": {"type": "date", "format": "%Y%m%d"}}),
        "name,age,zip,note\nAnna,34,19910230,x\nBert,35,19910228,y\n",
        3,
        'data.invalid-value & "zip" & row 1',
    ),
    "a value outside its hierarchy": (
        plan_of(columns__zip=with_tree({"72021": "A", "72063": "B"})),
        GOOD.replace("72062", SECRET, 1),
        3,
        "(row 3, 4)",
    ),
    "a hierarchy that parts what it had merged": (
        plan_of(columns__zip={"role": "quasi-identifier", "hierarchy": {"type": "file", "path": "zip.csv"}}),
        GOOD,
        2,
        "parts",
    ),
    "an empty file": (plan_of(), "", 3, "empty"),
    "a file with only a header": (plan_of(), "name,age,zip,note\n", 3, "no rows"),
    "ragged rows": (plan_of(), GOOD + f"Emil,34,72021,x,{SECRET}\n", 3, "too many or too few fields"),
    "a short row": (plan_of(), GOOD + f"{SECRET},34\n", 3, "too many or too few fields"),
    "wrong encoding": (plan_of(), GOOD.replace("Anna", "Jürgen").encode("latin-1"), 3, "data.encoding"),
    "duplicate column names": (plan_of(), GOOD.replace("note", "zip", 1), 2, 'column "zip_2" of the data is not'),
    "text in a column of numbers": (plan_of(), GOOD.replace("34", SECRET, 1), 3, 'data.invalid-value & "age" & row 1'),
    "no such file": (plan_of(data__source="nowhere.csv"), GOOD, 3, "no file nowhere.csv"),
    "an ending that belongs to no supported format": (
        plan_of(data__source="rows.odd"),
        GOOD,
        2,
        "belongs to no supported format",
    ),
    "a plan in place of rows": (plan_of(data__source="plan.yaml"), GOOD, 2, "plan.yaml is a plan by its ending"),
    "no quasi-identifier": (
        plan_of(columns__age={"role": "insensitive"}, columns__zip={"role": "insensitive"}),
        GOOD,
        2,
        "no column is a quasi-identifier",
    ),
    "a model about no column": (
        plan_of(privacy=[{"model": "l-diversity", "l": 2, "column": "ilness"}]),
        GOOD,
        2,
        'no column "ilness"',
    ),
    "min_level above the ladder": (
        plan_of(columns__zip={"role": "quasi-identifier", "hierarchy": {"type": "any"}, "min_level": 4}),
        GOOD,
        2,
        "highest level is 1",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input(sfumato, tmp_path, name) -> None:
    plan, rows, code, words = CASES[name]
    (tmp_path / "zip.csv").write_text("72021;A;X\n72062;A;Y\n", encoding="utf-8")
    (tmp_path / "rows.odd").write_text(GOOD, encoding="utf-8")
    ran, new = attempt(sfumato, tmp_path, plan, rows)
    assert ran.code == code, ran.err
    assert all(part in ran.err for part in words.split(" & ")), ran.err
    assert SECRET not in ran.err
    assert ran.out == ""
    assert new == set()


def test_all_faults_at_once(sfumato, tmp_path) -> None:
    plan = plan_of(
        columns__note={"role": "sensitiv"}, privacy__0__k=0, seed="one", output={"format": "xls", "order": "keep"}
    )
    ran, _ = attempt(sfumato, tmp_path, plan)
    assert ran.code == 2
    for place in ("columns.note.role", "privacy[0].k", "seed", "output.format"):
        assert place in ran.err


def test_an_output_folder_that_exists_is_left_alone(sfumato, tmp_path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").write_text("keep", encoding="utf-8")
    ran, new = attempt(sfumato, tmp_path, plan_of())
    assert (ran.code, new) == (2, set())
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["precious"]


def test_an_unwritable_place(sfumato, tmp_path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "rows.csv").write_text(GOOD, encoding="utf-8")
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(plan_of()), encoding="utf-8")
    ran = sfumato("anonymize", tmp_path / "plan.yaml", "--out", tmp_path / "file" / "out")
    assert ran.code == 5
    assert "cannot be written" in ran.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_publishes_nothing(tmp_path) -> None:
    """The engine's file and the folder's files are limited in size, as on a disk that is nearly full."""
    rows = "name,age,zip,note\n" + "".join(f"n,{20 + i % 40},7{i % 10}000,{'x' * 80}\n" for i in range(20_000))
    (tmp_path / "rows.csv").write_text(rows, encoding="utf-8")
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(plan_of()), encoding="utf-8")
    script = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "from sfumato.cli.main import run\n"
        "from sfumato.microdata.counts import kernels\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )
    out = tmp_path / "place" / "out"
    ran = subprocess.run(
        [sys.executable, "-c", script, "anonymize", str(tmp_path / "plan.yaml"), "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 5, ran.stderr
    assert not out.parent.exists() or not list(out.parent.iterdir())


@pytest.fixture(scope="module")
def long_plan(tmp_path_factory) -> dict:
    """A plan for rows enough for a run to be interrupted."""
    from sfumato.datasets import census

    dataset, path = census(400_000), tmp_path_factory.mktemp("long") / "rows.csv"
    dataset.write(path)
    plan = dataset.plan(str(path), 5) | {"output": {"format": "csv", "order": "shuffle"}}
    plan["data"]["temp_folder"] = "scratch"
    return plan


@pytest.mark.parametrize(("request_", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_leaves_nothing(tmp_path, long_plan, request_, code) -> None:
    (tmp_path / "scratch").mkdir()
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(long_plan), encoding="utf-8")
    place, scratch = tmp_path / "place", tmp_path / "scratch"
    command = [sys.executable, "-m", "sfumato", "anonymize", str(tmp_path / "plan.yaml"), "--out", str(place / "out")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not any(scratch.iterdir()) and process.poll() is None:
        time.sleep(0.01)
    assert any(place.iterdir())
    os.kill(process.pid, request_)
    _, err = process.communicate()
    assert process.returncode == code, err
    assert "nothing was written" in err
    assert not place.exists()
    assert not any(scratch.iterdir())


def test_a_run_that_still_holds_its_scratch_leaves_no_folder(tmp_path) -> None:
    script = (
        "import sys; from pathlib import Path; from sfumato.atomic_folders import ScratchFolder, workspace_for\n"
        "kept = []\n"
        "with workspace_for(Path(sys.argv[1]) / 'place' / 'out') as place:\n"
        "    kept.append(ScratchFolder(place))\n"
        "    raise SystemExit(130)\n"
    )
    ran = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert ran.returncode == 130
    assert not any(tmp_path.iterdir())
