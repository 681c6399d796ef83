"""What the service tells of itself is true: figures of queue, jobs, workers, disk and store; readiness; refusals."""

import json
import sqlite3
import threading

from sfumato.service.jobs.pool import Pool
from sfumato.service.jobs.worker import REHEARSED_PLAN, REHEARSED_ROWS
from sfumato.service.settings import JobSettings


def ask(client):
    fields = {"kind": "anonymize", "plan": json.dumps(REHEARSED_PLAN)}
    return client.post("/api/jobs", data=fields, files={"data": ("rows.csv", REHEARSED_ROWS)})


def figures(client):
    lines = client.get("/metrics").text.splitlines()
    pairs = [line.rsplit(" ", 1) for line in lines if line and not line.startswith("#")]
    return {name: float(value) for name, value in pairs}


def test_figures_of_jobs_workers_disk_and_store(serving, until, tmp_path):
    with serving(tmp_path / "jobs", slots=2) as client:
        answer = ask(client)
        until(lambda: client.get(answer.headers["location"]).json()["state"] == "done")
        until(lambda: figures(client)['sfumato_workers{state="idle"}'] == 4)
        told = figures(client)
        assert (told['sfumato_jobs{state="done"}'], told['sfumato_jobs{state="queued"}']) == (1, 0)
        assert (told["sfumato_store_up"], told["sfumato_servers"], told["sfumato_job_threads"]) == (1, 1, 6)
        assert 0 < told["sfumato_disk_free_bytes"] <= told["sfumato_disk_bytes"]
        assert told["sfumato_store_seconds"] < 5
        assert {"sfumato_queue_seconds", "sfumato_job_processes"} <= set(told)


def test_a_store_that_cannot_be_written_is_no_ready_service(serving, until, tmp_path):
    with serving(tmp_path / "jobs", lease_seconds=1.0, busy_seconds=0.2) as client:
        assert client.get("/health/ready").status_code == 200
        connection = sqlite3.connect(tmp_path / "jobs" / "jobs.sqlite", isolation_level=None)
        connection.execute("BEGIN EXCLUSIVE")
        until(lambda: client.get("/health/ready").status_code == 503)
        answer = client.get("/health/ready")
        assert (answer.json()["status"], answer.headers["retry-after"]) == ("the store of jobs cannot be written", "10")
        assert figures(client)["sfumato_store_up"] == 0
        assert client.get("/health/live").status_code == 200
        connection.execute("ROLLBACK")
        connection.close()
        until(lambda: client.get("/health/ready").status_code == 200)


def test_a_disk_that_is_nearly_full_takes_no_job(serving, tmp_path):
    with serving(tmp_path / "jobs", free_bytes=1 << 60) as client:
        assert "nearly full" in client.get("/health/ready").json()["status"]
        refused = ask(client)
        assert (refused.status_code, refused.headers["retry-after"]) == (507, "60")
        assert not list((tmp_path / "jobs").glob("upload-*"))


def test_a_thread_that_ended_is_told(tmp_path):
    pool = Pool(JobSettings(tmp_path / "jobs", pages=False))
    pool.leases.renew()
    assert pool.fault() is None
    pool._threads = [threading.Thread()]
    assert "thread" in (pool.fault() or "")


def test_a_full_disk_is_told_before_the_store_that_it_keeps_from_being_written(tmp_path):
    pool = Pool(JobSettings(tmp_path / "jobs", pages=False, free_bytes=1 << 60, lease_seconds=1e-9))
    assert not pool.writes_store()
    assert "nearly full" in (pool.fault() or "")
