"""A small disk that jobs and uploads fill: they end with a reason, nothing is left behind, a next start starts."""

import json
import logging
import shutil
import subprocess

import pytest

from sfumato.service.jobs.folders import ServerLock
from sfumato.service.jobs.pool import Pool
from sfumato.service.jobs.store import new_id
from sfumato.service.settings import JobSettings

COLUMNS = {"a": {"role": "insensitive"}, "b": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}}
PLAN = {"version": 1, "columns": COLUMNS, "privacy": [{"model": "k-anonymity", "k": 2}], "method": {"name": "optimal"}}


@pytest.fixture
def disk(tmp_path):
    """A disk of 30 MB of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=30m", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(mount, check=False, capture_output=True).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("no small disk can be had here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=False)


def rows(megabytes):
    line = b"x" * 96 + b",1\n"
    return b"a,b\n" + line * (megabytes * 1_000_000 // len(line))


def ask(client, content):
    return client.post(
        "/api/jobs", data={"kind": "anonymize", "plan": json.dumps(PLAN)}, files={"data": ("a.csv", content)}
    )


def ended(client, answer, until):
    assert answer.status_code == 202, answer.text
    place = answer.headers["location"]
    until(lambda: client.get(place).json().get("state") in ("done", "failed"))  # no answer while the disk is full
    return client.get(place).json()


def test_a_job_that_fills_the_disk_is_ended_with_a_reason(serving, until, disk):
    """Its draft filled the disk, its end could not be noted, and its rows stayed."""
    ballast = disk / "ballast"
    # What the upload leaves is less than the result takes: a quick job fails by itself before anybody ends it.
    ballast.write_bytes(bytes(14_000_000))
    with serving(disk / "jobs", free_bytes=5_000_000) as client:
        job = ended(client, ask(client, rows(9)), until)
        assert (job["state"], job["error"]["code"].split(".")[1]) == ("failed", "disk")
        assert "no room" not in job["error"]["message"]
        assert "full" in job["error"]["message"]
        until(lambda: client.get("/health/ready").status_code == 200)
        assert not [path for path in (disk / "jobs").iterdir() if len(path.name) == 32]
        ballast.unlink()
        assert ended(client, ask(client, rows(1)), until)["state"] == "done"


def test_an_upload_that_finds_no_room_is_told_so(serving, disk, caplog):
    """It was told that its form cannot be read."""
    (disk / "ballast").write_bytes(bytes(12_000_000))
    with serving(disk / "jobs", free_bytes=100_000) as client, caplog.at_level(logging.ERROR, "sfumato.service"):
        refused = ask(client, rows(25))
        assert (refused.status_code, refused.headers["retry-after"]) == (507, "60")
        assert "disk" in refused.json()["errorMessage"]
        assert any("OSError" in record.getMessage() for record in caplog.records)
        assert shutil.disk_usage(disk).free > 15_000_000


def test_a_start_on_a_full_disk_erases_first(disk):
    """It ended with: no space left on device."""
    folder = disk / "jobs"
    settings = JobSettings(folder, pages=False, free_bytes=5_000_000)
    pool = Pool(settings)
    pool.leases.renew()
    job = pool.store.add(new_id(), "", "anonymize", "digest")
    pool.store.claim(pool.leases.id)
    pool._presence.leave()  # as if it was killed
    for name in ("draft-1", "scratch-1", "input"):
        (folder / job.id / name).mkdir(parents=True)
    for name in ("draft-1", "scratch-1"):
        with (folder / job.id / name / "rows").open("wb", buffering=0) as stream, pytest.raises(OSError):
            for _ in range(30 if name == "scratch-1" else 10):
                stream.write(bytes(1_000_000))
            raise OSError
    assert shutil.disk_usage(disk).free < 100_000
    second = Pool(settings)
    assert shutil.disk_usage(disk).free > 15_000_000
    assert [path.name for path in (folder / job.id).iterdir()] == ["input"]
    second.close()


def test_only_a_server_that_is_alone_erases_what_attempts_left(tmp_path):
    draft = tmp_path / new_id() / "draft-1"
    first = ServerLock(tmp_path)
    draft.mkdir(parents=True)
    ServerLock(tmp_path).leave()
    assert draft.is_dir()
    first.leave()
    ServerLock(tmp_path).leave()
    assert not draft.exists()
