"""Streams: a reader that goes away, a full disk, a closed stream, an encoding that lacks a character."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.cli import main
from sfumato.cli.main import Stream

ROWS = "age,zip\n" + "30,7000\n30,7000\n40,7001\n40,7001\n"
PLAN = """
version: 1
data: {source: rows.csv}
columns:
  age: {role: quasi-identifier, hierarchy: {type: any}}
  zip: {role: quasi-identifier, hierarchy: {type: any}}
privacy: [{model: k-anonymity, k: 2}]
"""
NEEDS_FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    (folder / "rows.csv").write_text(ROWS, encoding="utf-8")
    (folder / "plan.yaml").write_text(PLAN, encoding="utf-8")
    assert main.run(["anonymize", str(folder / "plan.yaml"), "--out", str(folder / "release")]) == 0
    return folder


def ended(folder, *arguments, stdout, **environment):
    """Exit code and talk of a command in a process of its own."""
    command = [sys.executable, "-m", "sfumato", *map(str, arguments)]
    known = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    ran = subprocess.run(
        command, cwd=folder, stdout=stdout, stderr=subprocess.PIPE, env=known | environment, text=True, check=False
    )
    return ran.returncode, ran.stderr


def broken_pipe():
    reading, writing = os.pipe()
    os.close(reading)
    return writing


VIOLATED = ("verify", "release/data.csv", "--k", "3", "--quasi-identifiers", "age,zip")


@pytest.mark.parametrize(
    ("arguments", "code", "environment"),
    [
        (VIOLATED, 1, {}),
        (VIOLATED, 1, {"PYTHONUNBUFFERED": "1"}),
        (("verify", "--help"), 0, {}),
        (("--version",), 0, {"PYTHONUNBUFFERED": "1"}),
    ],
    ids=["violated", "violated, unbuffered", "help", "version, unbuffered"],
)
def test_a_reader_that_goes_away_does_not_change_the_exit_code(folder, arguments, code, environment) -> None:
    pipe = broken_pipe()
    try:
        assert ended(folder, *arguments, stdout=pipe, **environment) == (code, "")
    finally:
        os.close(pipe)


def test_a_reader_of_the_talk_that_goes_away_does_not_change_the_exit_code(folder) -> None:
    pipe = broken_pipe()
    command = [sys.executable, "-m", "sfumato", "anonymize", "plan.yaml", "--out", "quietly"]
    try:
        ran = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=pipe, check=False)
    finally:
        os.close(pipe)
    assert ran.returncode == 0
    assert (folder / "quietly" / "data.csv").exists()


@NEEDS_FULL
@pytest.mark.parametrize("environment", [{}, {"PYTHONUNBUFFERED": "1"}], ids=["buffered", "unbuffered"])
def test_a_full_disk_is_told_and_what_was_written_is_there(folder, environment) -> None:
    out = f"full{len(environment)}"
    with Path("/dev/full").open("w") as full:
        code, err = ended(folder, "anonymize", "plan.yaml", "--out", out, stdout=full, **environment)
    assert code == 5
    assert "the results cannot be printed: No space left on device." in err
    assert "nothing was published" not in err
    assert "Exception ignored" not in err
    assert (folder / out / "data.csv").exists()


@NEEDS_FULL
def test_a_broken_promise_is_told_by_the_exit_code_all_the_same(folder) -> None:
    with Path("/dev/full").open("w") as full:
        code, err = ended(folder, *VIOLATED, stdout=full)
    assert (code, "cannot be printed" in err) == (1, True)


def test_a_closed_stream_is_told(folder) -> None:
    command = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "sfumato", "verify", "release"]
    ran = subprocess.run(command, cwd=folder, stderr=subprocess.PIPE, text=True, check=False)
    assert ran.returncode == 5
    assert "the results cannot be printed: standard output is closed." in ran.stderr


def test_what_an_encoding_lacks_is_replaced() -> None:
    raw = io.BytesIO()
    stream = Stream(io.TextIOWrapper(raw, encoding="latin-1"))
    stream.write("Größe 1 – 2\n")
    stream.flush()
    assert (raw.getvalue().decode("latin-1"), stream.fault) == ("Größe 1 ? 2\n", None)


def test_a_connection_that_breaks_is_no_broken_promise(capsys, monkeypatch) -> None:
    def command() -> None:
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(main, "_function", lambda _name: command)
    assert main.run(["demo"]) == 5
    assert "cannot be read or written: Broken pipe." in capsys.readouterr().err
