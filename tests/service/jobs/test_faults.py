"""Faults of the world: a locked store, a full disk, killed workers and servers, a clock that jumps.

Nothing is lost, nothing half published, nothing left behind; every finding of a review has its reproduction here.
"""

import io
import json
import os
import signal
import sqlite3
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from sfumato.datasets import patients
from sfumato.service.access.keys import new_key
from sfumato.service.jobs import folders
from sfumato.service.jobs.pool import Pool
from sfumato.service.jobs.store import Ending, new_id
from sfumato.service.settings import JobSettings, Limits, Settings
from sfumato.service.workers.fork_server import shared_template
from sfumato.web.projects.archives import EncryptedProjects


def plan(**more):
    return patients().plan("patients.csv", 5) | more


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "patients.csv"
    patients().write(path)
    return path.read_bytes()


def ask(client, rows, **more):
    fields = {"kind": "anonymize", "plan": json.dumps(plan()), **more}
    return client.post("/api/jobs", data=fields, files={"data": ("patients.csv", rows)})


def state(client, answer):
    assert answer.status_code == 202, answer.text
    return client.get(answer.headers["location"]).json()


@contextmanager
def locked(folder):
    """Another process keeps the store for itself."""
    connection = sqlite3.connect(folder / "jobs.sqlite", isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


def test_a_locked_store_delays_jobs_and_loses_none(serving, until, rows, tmp_path):
    folder = tmp_path / "jobs"
    with serving(folder, keep_seconds=3, busy_seconds=0.1) as client:
        first = ask(client, rows)
        with locked(folder):
            refused = ask(client, rows)
            time.sleep(1)  # ten times as long as a call waits; threads that claim, end and erase run into it
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        until(lambda: state(client, first).get("state") == "done")  # a call may find the store busy
        second = ask(client, rows)
        until(lambda: state(client, second)["state"] == "done")
        until(lambda: client.get(second.headers["location"]).status_code == 404)  # it expires: erasing goes on as well
        until(lambda: not [path for path in folder.iterdir() if path.is_dir()])


def test_a_killed_template_fails_its_job_alone(serving, until, rows, tmp_path):
    with serving(tmp_path / "jobs") as client:
        first = ask(client, rows)
        os.kill(shared_template().pid, signal.SIGKILL)
        until(lambda: state(client, first)["state"] in ("done", "failed"))
        second = ask(client, rows)
        until(lambda: state(client, second)["state"] == "done")


def test_a_clock_that_jumps_erases_nothing_early_and_keeps_nothing_longer(tmp_path, monkeypatch):
    """Neither while a server runs nor when one starts with a wrong clock; results as little as projects."""
    monkeypatch.setattr(folders, "GRACE_SECONDS", 0.8)
    pool, sealed = Pool(JobSettings(tmp_path / "jobs", keep_seconds=1.0, pages=False)), tmp_path / "jobs" / "projects"
    pool.leases.renew()
    job = pool.store.add(new_id(), "", "risk", "digest")
    pool.store.conclude(pool.store.claim(pool.leases.id), Ending("done", 1.0))
    projects = EncryptedProjects(tmp_path / "jobs", 1.0)
    projects.seal("key", {}, {"plan": {}})
    pool.upkeep.clean()
    clock = time.time
    for jump in (10 * 86_400, -10 * 86_400):
        monkeypatch.setattr(time, "time", lambda jump=jump: clock() + jump)
        for upkeep in (pool.upkeep, Pool(pool.settings).upkeep):
            upkeep.clean()
            assert pool.store.find(job.id) is not None
        for kept in (projects, EncryptedProjects(tmp_path / "jobs", 1.0)):
            kept.erase_old()
            assert len(list(sealed.iterdir())) == 1
    time.sleep(1.1)
    pool.upkeep.clean()
    projects.erase_old()
    assert pool.store.find(job.id) is None
    assert not list(sealed.iterdir())


def test_a_partitioned_result_is_whole(serving, until, rows, tmp_path):
    """It ended as done with an empty archive, and its file answered with an error of the server."""
    with serving(tmp_path / "jobs") as client:
        partitioned = plan(output={"format": "parquet", "partition": ["sex"]})
        answer = ask(client, rows, plan=json.dumps(partitioned))
        until(lambda: state(client, answer)["state"] not in ("queued", "running"))
        job = state(client, answer)
        assert job["state"] == "done", job
        names = client.get(job["links"]["files"]).json()
        parts = [name for name in names if name.endswith(".parquet")]
        assert parts
        for name in names:
            assert len(client.get(f"{job['links']['self']}/files/{name}").content) == names[name]
        archive = zipfile.ZipFile(io.BytesIO(client.get(job["links"]["result"]).content))
        assert set(archive.namelist()) == set(names)


def test_a_plan_that_comes_as_a_file_is_read_as_far_as_its_limit(served, rows, tmp_path):
    with served("--jobs", tmp_path / "jobs") as (process, client):
        before = memory(process.pid)
        files = {"plan": ("plan.yaml", b"#" * 60_000_000), "data": ("patients.csv", rows)}
        answer = client.post("/api/jobs", data={"kind": "anonymize"}, files=files)
        assert (answer.status_code, "characters" in answer.text) == (400, True)
        assert memory(process.pid) - before < 30_000_000


def memory(pid):
    """The most bytes that a process has held."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def test_no_file_of_a_form_is_dropped_and_no_source_replaced(serving, rows, tmp_path):
    with serving(tmp_path / "jobs") as client:
        fields = {"kind": "anonymize", "plan": yaml.safe_dump(plan())}
        several = [("data", ("patients.csv", rows)), ("data", ("other.csv", b"a\n1\n"))]
        assert client.post("/api/jobs", data=fields, files=several).status_code == 202
        client.headers["Accept"] = "application/problem+json"
        twice = [("data", ("patients.csv", rows)), ("data", ("patients.csv", b"a\n1\n"))]
        assert client.post("/api/jobs", data=fields, files=twice).json()["code"] == "jobs.file-name"
        sourceless = {**fields, "plan": json.dumps(plan(data={"separator": ";"}))}
        refused = client.post("/api/jobs", data=sourceless, files=several)
        assert (refused.status_code, refused.json()["code"]) == (400, "jobs.files")
        for name in ("kind", "plan"):
            doubled = [(name, (None, fields[name])), *((key, (None, text)) for key, text in fields.items()), several[0]]
            refused = client.post("/api/jobs", files=doubled)
            assert (refused.status_code, refused.json()["code"]) == (400, f"jobs.{name}")
        elsewhere = ask(client, rows, plan=json.dumps(plan(data={"source": "elsewhere.csv", "separator": ";"})))
        assert (elsewhere.status_code, elsewhere.json()["code"]) == (400, "plan.path")


def test_an_upload_that_stops_coming_is_ended(serving, tmp_path):
    import socket

    settings = Settings(limits=Limits(seconds=0.5))
    with (
        serving(tmp_path / "jobs", settings) as client,
        socket.create_connection(("127.0.0.1", client.base_url.port), timeout=20) as connection,
    ):
        head = "POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000\r\n"
        connection.sendall(f"{head}Content-Type: multipart/form-data; boundary=b\r\n\r\n--b\r\n".encode())
        assert b" 408 " in connection.recv(200)


def test_a_plan_of_long_json_is_read_and_a_removed_result_is_said_to_be_gone(serving, until, rows, tmp_path):
    with serving(tmp_path / "jobs") as client:
        zips = {f"{number:05d}" + "x" * 1200: "y" for number in range(3)}
        tree = {"role": "quasi-identifier", "hierarchy": {"type": "tree", "parents": zips}}
        answer = ask(client, rows, plan=json.dumps(plan(columns=plan()["columns"] | {"zip": tree})))
        assert answer.status_code == 202, answer.text
        answer = ask(client, rows)
        until(lambda: state(client, answer)["state"] == "done")
        import shutil

        shutil.rmtree(tmp_path / "jobs" / state(client, answer)["id"])
        assert client.get(f"{answer.headers['location']}/result").status_code == 410
        assert client.get(f"{answer.headers['location']}/files/data.csv").status_code == 410


def test_an_upload_that_comes_slowly_does_not_hold_up_a_stop(served, tmp_path):
    """The server waited for it for 38 seconds."""
    import socket

    with served("--jobs", tmp_path / "jobs") as (process, client):
        with socket.create_connection(("127.0.0.1", client.base_url.port), timeout=20) as connection:
            head = "POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000\r\n"
            connection.sendall(f"{head}Content-Type: multipart/form-data; boundary=b\r\n\r\n--b\r\n".encode())
            time.sleep(0.5)
            begun = time.monotonic()
            process.send_signal(signal.SIGTERM)
            assert b" 503 " in connection.recv(400)
        assert process.wait(20) == 0
        assert time.monotonic() - begun < 10


def test_a_killed_parent_of_several_processes_leaves_none(served, until):
    with served("--workers", "2") as (process, _):
        children = set(offspring(process.pid))
        assert len(children) >= 2
        process.send_signal(signal.SIGKILL)
        process.wait()
        until(lambda: not [pid for pid in children if alive(pid)])


def offspring(parent):
    """The processes that come from one, by the system's own list."""
    for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
        yield int(pid)
        yield from offspring(int(pid))


def alive(pid):
    try:
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def test_the_log_names_user_and_job(serving, until, rows, tmp_path, caplog):
    key, line = new_key("clinic")
    (tmp_path / "keys").write_text(line + "\n")
    caplog.set_level("INFO", "sfumato.service")
    with serving(tmp_path / "jobs", Settings(api_keys=tmp_path / "keys")) as client:
        client.headers["X-API-Key"] = key
        answer = ask(client, rows)
        job = answer.headers["location"].rsplit("/", 1)[1]
        until(lambda: any(f'"user": "key:clinic", "job": "{job}"' in record.message for record in caplog.records))
    assert key not in caplog.text


def test_an_upload_is_written_once(served, rows, tmp_path):
    """It lay in a temporary file first, and was copied from there."""
    with served("--jobs", tmp_path / "jobs") as (process, client):
        before = bytes_written(process.pid)
        files = [("data", ("patients.csv", rows)), ("data", ("other.csv", b"x" * 30_000_000))]
        answer = client.post("/api/jobs", data={"kind": "anonymize", "plan": json.dumps(plan())}, files=files)
        assert answer.status_code == 202, answer.text
        assert bytes_written(process.pid) - before < 45_000_000


def bytes_written(pid):
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("wchar"))
