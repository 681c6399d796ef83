"""Several servers with one folder: they share the work, leave each other's jobs alone, and take over from the dead."""

import os
import signal
import sqlite3
import time
from pathlib import Path

import pytest
import yaml

from sfumato.datasets import patients
from sfumato.service.jobs.database import open_database
from sfumato.service.jobs.folders import Folders
from sfumato.service.jobs.pool import Pool
from sfumato.service.jobs.store import new_id
from sfumato.service.settings import JobSettings

LEASE = ("--lease-seconds", "2")


def leases_of(folder):
    """Names of the leases in the store of a folder, the one that was silent longest first."""
    with open_database(folder, None).transaction() as transaction:
        return [row["id"] for row in transaction.run("SELECT id FROM leases ORDER BY seen").rows]


def ask(client, dataset, name, plan):
    path = Path(name)
    dataset.write(path)
    sent = {"kind": "anonymize", "plan": yaml.safe_dump(plan)}
    answer = client.post("/api/jobs", data=sent, files={"data": (path.name, path.read_bytes())})
    assert answer.status_code == 202, answer.text
    return answer.headers["location"]


@pytest.fixture
def ask_short(tmp_path):
    return lambda client: ask(client, patients(), tmp_path / "patients.csv", patients().plan("patients.csv", 5))


def pool(folder, **more):
    return Pool(JobSettings(folder, pages=False, **more))


def test_a_restart_takes_up_what_was_left(tmp_path):
    """A running job of a server that is gone waits again once, then fails; what is whole is kept."""
    folder = tmp_path / "jobs"
    gone = pool(folder)
    gone.leases.renew()
    once, twice, whole, empty = (gone.store.add(new_id(), "", "anonymize", "d") for _ in range(4))
    for job in (once, twice, whole, empty):
        (folder / job.id / "draft-1").mkdir(parents=True)
        if job is not empty:
            (folder / job.id / "request.json").write_text("{}")
    claimed = {job.id: job for job in [gone.store.claim(gone.leases.id) for _ in range(4)]}
    gone.store.requeue(claimed[twice.id])
    assert gone.store.claim(gone.leases.id).attempts == 2
    (folder / whole.id / "output-1").mkdir()
    gone.folders.private("upload")
    gone.leases.drop()
    again = pool(folder)
    again.leases.renew()
    own = again.folders.private("session")
    again.upkeep.take_over()
    states = {name: again.store.find(name).state for name in claimed}
    assert states == {once.id: "queued", twice.id: "failed", whole.id: "done", empty.id: "failed"}
    assert {path.name for path in folder.iterdir() if path.is_dir()} == {once.id, whole.id, own.name}
    assert [path.name for path in (folder / whole.id).iterdir()] == ["output-1"]


def test_a_folder_that_nobody_notes_is_erased_but_not_at_once(tmp_path):
    server = pool(tmp_path / "jobs", lease_seconds=0.5)
    stranger = tmp_path / "jobs" / new_id()
    stranger.mkdir()
    server.upkeep.clean()
    assert stranger.exists()  # another server may be about to note it
    time.sleep(0.6)
    server.upkeep.clean()
    assert not stranger.exists()


def test_what_a_killed_server_had_noted_but_not_erased_is_erased(tmp_path):
    server = pool(tmp_path / "jobs")
    server.leases.renew()
    job = server.store.add(new_id(), "", "risk", "d")
    (tmp_path / "jobs" / job.id / "input").mkdir(parents=True)
    server.store.cancel(job.id, 60)
    server.upkeep.tidy()
    assert not (tmp_path / "jobs" / job.id).exists()


def freeze(process, folder):
    """Stop a server at a moment when it does not hold the store's lock, which would stop all others, too."""
    while True:
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)  # until then it may still take the lock
        connection = sqlite3.connect(folder / "jobs.sqlite", timeout=0.5, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError:
            process.send_signal(signal.SIGCONT)
            time.sleep(0.2)
        finally:
            connection.close()


def test_a_frozen_server_loses_its_job_and_publishes_nothing_when_it_comes_back(
    serving, served, until, ask_short, tmp_path
):
    folder = tmp_path / "jobs"
    with served("--jobs", folder, *LEASE) as (process, first):
        freeze(process, folder)
        try:
            with serving(folder, lease_seconds=2.0) as second:
                session = Folders(folder, leases_of(folder)[0]).private("session")
                until(lambda: not session.exists())
                short = ask_short(second)
                until(lambda: second.get(short).json()["state"] == "done")
                process.send_signal(signal.SIGCONT)
                assert first.get(short).json()["state"] == "done"
                until(lambda: len(leases_of(folder)) == 2)
        finally:
            process.send_signal(signal.SIGCONT)


def test_two_servers_on_postgresql_share_the_work(serving, until, ask_short, postgresql, tmp_path):
    shared = {"store": postgresql.url, "lease_seconds": 2.0}
    with serving(tmp_path / "jobs", **shared) as first, serving(tmp_path / "jobs", **shared) as second:
        jobs = [ask_short(client) for client in (first, second, first)]
        for job in jobs:
            until(lambda job=job: second.get(job).json()["state"] == "done")
        assert first.get(f"{jobs[1]}/result").content == second.get(f"{jobs[1]}/result").content
        assert second.delete(jobs[0]).status_code == 204
        assert first.get(jobs[0]).status_code == 404
    assert not (tmp_path / "jobs" / "jobs.sqlite").exists()


def test_threads_of_a_pool_end_when_it_closes(tmp_path):
    server = pool(tmp_path / "jobs")
    server.start()
    server.close()
    assert not [thread for thread in server._threads if thread.is_alive()]
    assert server.leases.live() == set()
