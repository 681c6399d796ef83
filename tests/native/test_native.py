"""The extension module: built on request, missed aloud."""

import json
import os
import subprocess
import sys

import pytest

from sfumato.native import dispatch


def test_compile_builds_what_is_missing(sfumato):
    assert sfumato("compile", "--quiet").out == "The loops are built.\n"
    assert dispatch.find_native() is not None


def test_missing_loops_are_said_and_run_as_python(monkeypatch):
    def double(number: int) -> int:
        return 2 * number

    monkeypatch.setattr(dispatch, "find_native", lambda: None)
    dispatch.native_module.cache_clear()
    try:
        with pytest.warns(RuntimeWarning, match="sfumato compile"):
            assert dispatch.compiled(double) is double
    finally:
        dispatch.native_module.cache_clear()
    monkeypatch.setenv("SFUMATO_LOOPS", "python")
    assert dispatch.way() == "python"
    dispatch.native_module.cache_clear()


def test_a_release_is_written_without_compiled_loops(tmp_path):
    rows = [f"{'mf'[row % 2]},t{row % 3}" for row in range(24)]
    (tmp_path / "rows.csv").write_text("\n".join(["sex,town", *rows, ""]), encoding="utf-8")
    known = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    plan = {
        "version": 1,
        "data": {"source": "rows.csv"},
        "columns": {"sex": known, "town": known},
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "method": {"name": "optimal", "suppression": 0.5},
    }
    (tmp_path / "plan.yaml").write_text(json.dumps(plan), encoding="utf-8")
    command = [sys.executable, "-m", "sfumato", "anonymize", "plan.yaml", "--out", "out", "--quiet"]
    environment = {**os.environ, "SFUMATO_LOOPS": "python", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "report.json").exists()
