"""`sfumato protect` from a plan to the release folder, with every exit code."""

import csv
import itertools
import json
import signal
import subprocess
import sys

import numpy as np
import pytest

from sfumato.cli.main import run
from sfumato.localization.messages import words_in
from sfumato.tables.linked import cross as implicit_cells

CELLS = "Kreis,Quartier,Wert\n0,0,28\n1,0,9\n1,1,2\n1,2,7\n2,0,2\n2,1,2\n2,2,0\n3,0,17\n3,1,17\n"
PLAN = """
version: 1
table: {source: cells.csv, value: Wert}
dimensions: {area: {levels: [Kreis, Quartier], total: 0}}
primary: [{rule: range, min: 1, max: 3}]
method: {name: intervals, tie_break: max}
columns: original
"""
ANSWER = [
    ("0", "0", "28", "28", "", "", ""),
    ("1", "0", "9", "9", "", "", ""),
    ("1", "1", "2", "1–3", "1", "3", "primär"),
    ("1", "2", "7", "6-8", "6", "8", "A11"),
    ("2", "0", "2", "1-3", "1", "3", "A12"),
    ("2", "1", "2", "1–3", "1", "3", "primär"),
    ("2", "2", "0", "0", "", "", ""),
    ("3", "0", "17", "16-18", "16", "18", "A21"),
    ("3", "1", "17", "16-18", "16", "18", "C1"),
]
NAMES = ("Kreis", "Quartier", "Wert", "Wert_korr", "Wert_min", "Wert_max", "Wert_fall")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "cells.csv").write_text(CELLS)
    (tmp_path / "plan.yaml").write_text(PLAN)
    return tmp_path


def protect(folder, *more):
    return run(["protect", str(folder / "plan.yaml"), "--out", str(folder / "out"), *more])


def test_known_answer_row_by_row(folder, capsys):
    assert protect(folder) == 0
    with (folder / "out" / "table.csv").open(encoding="utf-8") as file:
        rows = [tuple(row[name] for name in NAMES) for row in csv.DictReader(file)]
    assert rows == ANSWER
    assert "0 exactly recovered, 0 too narrow" in capsys.readouterr().out
    assert run(["audit", str(folder / "out" / "table.csv"), "--plan", str(folder / "plan.yaml")]) == 0
    for name in ("published.csv", "table-external.csv"):
        assert run(["audit", str(folder / "out" / name), "--plan", str(folder / "plan.yaml")]) == 0


def test_report(folder, capsys):
    assert protect(folder, "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((folder / "out" / "report.json").read_text())
    assert printed["audit"] == {"checked": 6, "exact": 0, "too_narrow": 0}
    assert (printed["cells"], printed["primary"], printed["secondary"], printed["masked"]) == (9, 2, 4, 6)


def test_quiet_prints_nothing(folder, capsys):
    assert protect(folder, "--quiet") == 0
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_which_files_may_be_handed_out_is_said(folder, capsys):
    assert protect(folder) == 0
    said = dict(line.split(": ", 1) for line in capsys.readouterr().err.splitlines() if ": " in line)
    assert said["For publication"] == "report-external.html, table-external.csv"
    files = {path.name for path in (folder / "out").iterdir()}
    assert {*said["Internal"].split(", "), "report-external.html", "table-external.csv"} == files
    readable = {path.name for path in (folder / "out").iterdir() if path.stat().st_mode & 0o044}
    assert readable == {"report-external.html", "table-external.csv"}


@pytest.mark.parametrize("method", ["optimal", "fast", "ranges"])
def test_other_methods(folder, method):
    (folder / "plan.yaml").write_text(PLAN.replace("{name: intervals, tie_break: max}", f"{{name: {method}}}"))
    assert protect(folder) == 0
    assert run(["audit", str(folder / "out" / "table.csv"), "--plan", str(folder / "out" / "plan.yaml")]) == 0


def test_original_with_its_faults_warns_and_exits_1(folder, capsys):
    (folder / "cells.csv").write_text("Kreis,Quartier,Wert\n0,0,16\n1,0,6\n1,1,3\n1,2,3\n2,0,10\n2,1,10\n")
    (folder / "plan.yaml").write_text(PLAN.replace("tie_break: max", "tie_break: min, repair: false"))
    assert protect(folder) == 1
    assert "Do not publish" in capsys.readouterr().err
    assert (folder / "out" / "table.csv").exists()
    assert run(["audit", str(folder / "out" / "table.csv"), "--plan", str(folder / "plan.yaml")]) == 1


# Types, regions and Kreise fit neither way: what tables of all tell of Gemeinden only their cross shows.
CROSSED = """
version: 1
table: {microdata: records.csv, value: count}
tables:
  - {name: one, dimensions: {typ: {column: typ}, size: {column: size}}}
  - {name: two, dimensions: {kreis: {column: kreis}, size: {column: size}}}
  - {name: three, dimensions: {region: {column: region}, size: {column: size}}}
primary: [{rule: frequency, min: LEAST}]
method: {name: METHOD}
language: de
"""
PLACES = {"1;a;x;p": 2, "1;b;y;p": 9, "2;c;x;p": 7, "2;d;y;q": 8, "3;e;x;q": 9, "3;f;y;q": 8}


@pytest.mark.parametrize(
    ("method", "least", "code"),
    [("fast", 12, 1), ("fast", 1, 0), ("rounding, base: 3", 12, 1), ("rounding, base: 3", 1, 0)],
)
def test_a_cross_that_is_too_large_to_be_attacked_is_no_promise(tmp_path, monkeypatch, capsys, method, least, code):
    """A plan ends as a batch does, so that scripts do not overlook it; where no cell is unsafe nothing is broken."""
    monkeypatch.setattr(implicit_cells, "MOST_CROSSED", 3)
    lines = [
        f"{place};{size}" for place, count in PLACES.items() for size in "st" for _ in range(count + (size == "t"))
    ]
    (tmp_path / "records.csv").write_text("\n".join(["kreis;gem;typ;region;size", *lines]).replace(";", ",") + "\n")
    (tmp_path / "plan.yaml").write_text(CROSSED.replace("LEAST", str(least)).replace("METHOD", method))
    assert protect(tmp_path) == code
    assert "Not audited, therefore not guaranteed" in capsys.readouterr().err
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert (report["satisfied"], report["attacked"]) == (code == 0, False)
    for page in ("report.html", "two/report-external.html") if code else ():
        told = (tmp_path / "out" / page).read_text(encoding="utf-8")
        assert words_in("de")["tabled.unattacked"] in told
        assert told.count("Nicht geprüft, daher") == 1
        assert 'class="verdict"' not in told


BAD = {
    "total": (CELLS.replace("1,2,7", "1,2,8"), 3, "Kreis 1"),
    "parent": (CELLS.replace("1,0,9\n", ""), 3, "Kreis 1"),
    "twice": (CELLS + "1,2,7\n", 3, "same cell"),
    "text": (CELLS.replace("1,2,7", "1,2,seven"), 3, "data.not-a-number"),
    "chain": ("Kreis,Quartier,Wert\n0,0,2\n1,0,2\n1,1,2\n", 4, "grand total"),
    "column": (CELLS.replace("Wert", "Zahl"), 2, "Wert"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_writes_nothing(folder, capsys, name):
    text, code, words = BAD[name]
    (folder / "cells.csv").write_text(text)
    assert protect(folder) == code
    assert words in " ".join(capsys.readouterr().err.split())
    assert sorted(path.name for path in folder.iterdir()) == ["cells.csv", "plan.yaml"]


def test_existing_folder_is_refused(folder):
    (folder / "out").mkdir()
    assert protect(folder) == 2
    assert list((folder / "out").iterdir()) == []


def test_missing_source_and_plan(folder):
    (folder / "cells.csv").unlink()
    assert protect(folder) == 3
    (folder / "plan.yaml").unlink()
    assert protect(folder) == 2


def test_table_to_hand_out_has_neither_values_nor_cases(folder):
    assert protect(folder) == 0
    with (folder / "out" / "table-external.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["Kreis", "Quartier", "Wert_korr", "Wert_min", "Wert_max"]
    assert [tuple(row) for row in rows[1:]] == [(*row[:2], row[3].replace("–", "-"), row[4], row[5]) for row in ANSWER]


def test_faulty_answer_of_the_original_is_not_for_handing_out(folder):
    (folder / "cells.csv").write_text("Kreis,Quartier,Wert\n0,0,16\n1,0,6\n1,1,3\n1,2,3\n2,0,10\n2,1,10\n")
    (folder / "plan.yaml").write_text(PLAN.replace("tie_break: max", "tie_break: min, repair: false"))
    assert protect(folder) == 1
    assert not (folder / "out" / "table-external.csv").exists()


def test_plan_of_the_release_runs_again(folder):
    assert protect(folder) == 0
    assert run(["protect", str(folder / "out" / "plan.yaml"), "--out", str(folder / "again")]) == 0
    assert (folder / "again" / "table.csv").read_text() == (folder / "out" / "table.csv").read_text()


def large(folder, seconds):
    """A three-way table that takes a while, and its plan."""
    rng = np.random.default_rng(3)
    values, number = np.floor(rng.lognormal(4, 1, (9, 9, 9))).clip(1), rng.integers(1, 40, (9, 9, 9))
    for axis in range(3):
        values = np.concatenate([values.sum(axis=axis, keepdims=True), values], axis=axis)
        number = np.concatenate([number.sum(axis=axis, keepdims=True), number], axis=axis)
    codes = list(itertools.product(*[["Total", *"abcdefghi"]] * 3))
    rows = zip(codes, values.ravel(), number.ravel(), strict=True)
    lines = ["x,y,z,v,n", *(f"{','.join(code)},{value:.0f},{count}" for code, value, count in rows)]
    (folder / "cells.csv").write_text("\n".join(lines))
    (folder / "plan.yaml").write_text(
        "version: 1\ntable: {source: cells.csv, value: v, frequency: n}\n"
        "dimensions: {x: {column: x}, y: {column: y}, z: {column: z}}\n"
        f"primary: [{{rule: frequency, min: 3}}]\nmethod: {{name: optimal, time_limit: {seconds}}}\n"
    )
    command = [sys.executable, "-m", "sfumato", "protect", str(folder / "plan.yaml"), "--out", str(folder / "out")]
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_in_a_pipe_lines_say_how_far_it_is_and_ctrl_c_writes_the_best_so_far(tmp_path):
    with large(tmp_path, 300) as process:
        first = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert first.startswith("Searching: ")
    assert "Stopping" in err
    assert process.returncode == 0, err
    assert json.loads((tmp_path / "out" / "report.json").read_text())["satisfied"]
    assert "Audit:" in out
