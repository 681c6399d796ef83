"""The store on both databases: jobs that nobody gets twice, and leases of servers, of which some were away."""

import sqlite3
import threading
import time
from uuid import uuid4

import pytest

from sfumato.errors import PlanError
from sfumato.service.jobs.database import STEPS, StoreUnavailableError, open_database
from sfumato.service.jobs.store import BEATS, Ending, JobStore, Leases, new_id
from sfumato.service.problems import problem_of

SECONDS = 0.6


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """An empty store, of each kind."""
    address, opened = None, []
    if request.param == "postgresql":
        import psycopg

        server, name = request.getfixturevalue("postgresql"), f"store_{uuid4().hex}"
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        address = server.url.rpartition("/")[0] + "/" + name

    def opening():
        opened.append(open_database(tmp_path, address))
        return opened[-1]

    yield opening
    for one in opened:
        one.close()


def leased(database, seconds=SECONDS):
    leases = Leases(database, seconds)
    leases.renew()
    return leases


def test_no_two_callers_claim_the_same_job(database):
    stores = [JobStore(database()) for _ in range(4)]
    lease = leased(database()).id
    names = [new_id() for _ in range(20)]
    for name in names:
        stores[0].add(name, "", "anonymize", "d")
    claimed = []

    def work(store):
        while (job := store.claim(lease)) is not None:
            claimed.append(job.id)

    threads = [threading.Thread(target=work, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    while (job := stores[0].claim(lease)) is not None:  # rows that were locked for a moment
        claimed.append(job.id)
    assert sorted(claimed) == sorted(names)


def test_the_same_idempotency_key_is_the_same_job_of_one_owner(database):
    store = JobStore(database())
    first = store.add(new_id(), "a", "risk", "d", "key", 5)
    assert store.add(new_id(), "a", "risk", "e", "key") == first
    assert store.add(new_id(), "b", "risk", "d", "key").id != first.id
    assert store.add(new_id(), "a", "risk", "d").id != first.id
    assert store.use_of("a") == (2, 5)
    assert store.counts() == {"queued": 3, "running": 0, "done": 0, "failed": 0, "cancelled": 0}
    assert [job.owner for job in store.of_owner(None, 2)] == ["a", "b"]


def test_a_server_without_a_lease_gets_no_job_and_one_that_was_away_changes_nothing(database):
    shared = database()
    store, first, second = JobStore(shared), leased(shared), leased(shared)
    store.add(new_id(), "", "risk", "d")
    assert store.claim(new_id()) is None
    lost = store.claim(first.id)
    first.drop()
    assert [job.id for job in store.orphans()] == [lost.id]
    assert store.requeue(lost)
    again = store.claim(second.id)
    assert (again.id, again.attempts) == (lost.id, 2)
    erased = []
    assert not store.advance(lost, "count", 1, 2)
    assert not store.conclude(lost, Ending("done", 1.0), lambda: erased.append("input"))
    assert not store.requeue(lost)
    assert not erased
    assert store.running_on(second.id) == {(again.id, 2)}
    assert store.conclude(again, Ending("failed", 60.0, "code", "why", 7), lambda: erased.append("input"))
    assert (store.find(again.id).code, store.find(again.id).bytes, erased) == ("code", 7, ["input"])
    assert 55 < store.remaining()[again.id] <= 60


def test_what_an_ending_does_and_its_note_hold_together(database):
    shared = database()
    store, lease = JobStore(shared), leased(shared)
    store.add(new_id(), "", "risk", "d")
    job = store.claim(lease.id)

    def fails():
        raise OSError("no")

    with pytest.raises(OSError):
        store.conclude(job, Ending("done", 1.0), fails)
    assert store.find(job.id).state == "running"


def test_who_falls_silent_loses_the_lease_and_who_beats_keeps_it(database):
    shared = database()
    watcher, alive, silent = (leased(shared) for _ in range(3))
    end = time.monotonic() + 3 * SECONDS
    while time.monotonic() < end:
        assert alive.renew()
        watcher.end_silent()
        time.sleep(SECONDS / BEATS)
    assert watcher.live() == {watcher.id, alive.id}
    assert not silent.renew()  # it learns that it was believed gone
    assert silent.id in watcher.live()


def test_a_clock_that_jumps_and_a_store_that_was_away_end_no_lease(database, monkeypatch):
    shared = database()
    watcher, other = leased(shared), leased(shared)
    watcher.end_silent()
    clock, steady = time.time, time.monotonic
    for jump in (10 * 86_400, -10 * 86_400):
        monkeypatch.setattr(time, "time", lambda jump=jump: clock() + jump)
        other.renew()
        watcher.end_silent()
    watcher.end_silent()
    # Nobody could read or write for long: the watcher looks first when the store is back.
    monkeypatch.setattr(time, "monotonic", lambda: steady() + 100 * SECONDS)
    watcher.end_silent()
    assert other.id in watcher.live()


def test_an_older_store_is_taken_over(tmp_path):
    connection = sqlite3.connect(tmp_path / "jobs.sqlite")
    connection.execute(STEPS[0])
    connection.execute(
        "INSERT INTO jobs (id, owner, kind, state, created, digest) VALUES ('a', '', 'risk', 'queued', 1.0, 'd')"
    )
    connection.commit()
    connection.close()
    for _ in range(2):
        assert JobStore(open_database(tmp_path, None)).find("a").bytes == 0


def test_a_database_that_goes_away_is_told_and_found_again(postgresql, tmp_path):
    database = open_database(tmp_path, postgresql.url)
    store, name = JobStore(database), new_id()
    store.add(name, "", "risk", "d")
    postgresql.stop("immediate")
    try:
        with pytest.raises(StoreUnavailableError) as error:
            store.find(name)
        assert (problem_of(error.value).status, dict(problem_of(error.value).headers)) == (503, {"retry-after": "5"})
    finally:
        postgresql.start()
    assert store.find(name).id == name
    store.forget(name)
    database.close()


def test_an_address_of_another_database_is_refused(tmp_path):
    with pytest.raises(PlanError):
        open_database(tmp_path, "mysql://host/name")
