"""Workspaces that nobody uses: sealed before they sleep, awake while something is done for them."""

import asyncio
import os
import time
import zipfile

import pytest

from sfumato.service.jobs.pool import Pool
from sfumato.service.jobs.store import Ending, new_id
from sfumato.service.settings import JobSettings
from sfumato.web.projects import workspace as module
from sfumato.web.projects.loaded_data import load
from sfumato.web.projects.workspaces import Receiving, Workspaces

SECONDS = 60.0
KEY = "k" * 43


@pytest.fixture
def clock(monkeypatch):
    """Seconds that have passed, as a test says."""
    passed = [0.0]
    began = time.monotonic()

    class Clock:
        monotonic = staticmethod(lambda: began + passed[0])

    monkeypatch.setattr(module, "time", Clock)
    return passed


@pytest.fixture
def spaces(tmp_path):
    pool = Pool(JobSettings(tmp_path / "jobs", pages=False))
    pool.leases.renew()
    yield Workspaces(pool)
    pool.close()


def read_into(workspace):
    target = workspace.waiting_place("people.csv")
    target.write_text("zip,illness\n" + "town,flu\n" * 20)
    loaded = load(target, {})
    workspace.take(loaded, loaded.suggested)


def test_a_file_that_is_read_for_longer_than_a_session_becomes_a_project(spaces, clock, monkeypatch, complete):
    workspace = spaces.of(KEY)
    target = workspace.waiting_place("people.csv")
    target.write_text("zip,illness\n" + "town,flu\n" * 20)
    ended = asyncio.Event()
    monkeypatch.setattr(module, "run_once", lambda call, *_: load(*call.arguments))

    async def work():
        with workspace.working():
            reading = workspace.aside(load, target, {})
            await ended.wait()
            loaded = await reading
            workspace.take(loaded, loaded.suggested)

    async def both():
        going = asyncio.ensure_future(work())
        await asyncio.sleep(0)
        clock[0] += 2 * SECONDS
        await asyncio.to_thread(spaces.seal_idle, SECONDS)
        ended.set()
        await going

    complete(both())
    assert spaces.of(KEY) is workspace
    assert workspace.loaded is not None
    clock[0] += SECONDS
    spaces.seal_idle(SECONDS)
    assert workspace.asleep
    assert spaces.of(KEY).loaded is not None


def test_what_runs_aside_keeps_its_visitor_awake(spaces, clock, monkeypatch, complete):
    workspace = spaces.of(KEY)
    read_into(workspace)

    def long(*_):
        clock[0] += 2 * SECONDS
        spaces.seal_idle(SECONDS)
        return workspace.loaded is not None

    monkeypatch.setattr(module, "run_once", long)
    assert complete(workspace.aside(load))
    assert not workspace.asleep


def test_what_runs_a_plan_again_may_use_the_memory_and_the_time_of_a_job(spaces, monkeypatch, complete):
    """The attack on a million rows, which the run had published, was refused for its memory."""
    workspace = spaces.of(KEY)
    settings = workspace.pool.settings
    monkeypatch.setattr(module, "run_once", lambda _call, limits, seconds, *_: (limits.memory_bytes, seconds))
    assert complete(workspace.aside(load)) == (settings.page_memory_bytes, settings.page_seconds)
    assert complete(workspace.aside(load, reruns=True)) == (settings.memory_bytes, settings.seconds)


def test_an_upload_keeps_its_visitor_awake(spaces, clock, complete):
    workspace = spaces.of(KEY)

    async def application(*_):
        clock[0] += 2 * SECONDS
        spaces.seal_idle(SECONDS)

    scope = {"type": "http", "method": "POST", "state": {"browser_key": KEY}}
    complete(Receiving(application, spaces)(scope, None, None))
    assert not workspace.asleep
    assert spaces.of(KEY) is workspace


def test_a_release_that_is_made_keeps_its_visitor_awake_and_is_sealed_as_a_run(spaces, clock):
    """Who leaves while it is made finds it."""
    workspace = spaces.of(KEY)
    read_into(workspace)
    store, folders = workspace.pool.store, workspace.pool.folders
    job = store.add(new_id(), f"session:{workspace.id}", "anonymize", "digest")
    workspace.jobs.append(job.id)
    workspace.pending = (job, workspace.plan)
    clock[0] += 2 * SECONDS
    spaces.seal_idle(SECONDS)
    assert not workspace.asleep
    claimed = store.claim(workspace.pool.leases.id)
    result = folders.output(claimed)
    result.mkdir(parents=True)
    write_result(result)
    store.conclude(claimed, Ending("done", 3600.0))
    spaces.seal_idle(SECONDS)
    assert workspace.asleep
    again = spaces.of(KEY)
    assert [run.number for run in again.runs] == [1]
    assert (again.runs[0].folder / "report.json").read_text() == "{}"


def write_result(folder):
    with zipfile.ZipFile(folder / "result.zip", "w") as archive:
        archive.writestr("report.json", "{}")


def test_what_cannot_be_sealed_stays(spaces, clock, monkeypatch, caplog):
    workspace = spaces.of(KEY)
    read_into(workspace)

    def full(*_):
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patched:
        patched.setattr(spaces._sealed, "seal", full)
        clock[0] += 2 * SECONDS
        spaces.seal_idle(SECONDS)
        assert "could not be kept" in caplog.text
    assert spaces.of(KEY) is workspace
    assert workspace.loaded.path.exists()
    clock[0] += 2 * SECONDS
    spaces.seal_idle(SECONDS)
    assert workspace.asleep
    assert spaces.of(KEY).loaded is not None


def test_what_is_used_while_it_is_sealed_stays_awake(spaces, clock, monkeypatch):
    workspace = spaces.of(KEY)
    read_into(workspace)
    seal = spaces._sealed.seal

    def used_meanwhile(*parts):
        seal(*parts)
        workspace.touch()

    monkeypatch.setattr(spaces._sealed, "seal", used_meanwhile)
    clock[0] += 2 * SECONDS
    spaces.seal_idle(SECONDS)
    assert not workspace.asleep
    assert workspace.loaded.path.exists()
    assert not spaces._sealed.path(KEY).exists()


def test_what_is_done_on_a_page_that_sleeps_leaves_nothing_on_the_disk(spaces, clock):
    workspace = spaces.of(KEY)
    clock[0] += 2 * SECONDS
    spaces.seal_idle(SECONDS)
    with workspace.working():
        target = workspace.waiting_place("people.csv")
        target.write_text("zip\n1\n")
    assert not target.exists()


def test_a_project_that_is_opened_lies_sealed_until_it_is_read(spaces, clock, monkeypatch):
    read_into(spaces.of(KEY))
    spaces.close()

    def interrupted(*_):
        assert spaces._sealed.path(KEY).exists()
        raise KeyboardInterrupt

    monkeypatch.setattr("sfumato.web.projects.workspaces.load", interrupted)
    with pytest.raises(KeyboardInterrupt):
        spaces.of(KEY)
    assert spaces._sealed.path(KEY).exists()


@pytest.mark.parametrize("with_data", [True, False])
def test_what_was_entered_in_other_areas_sleeps_with_the_project(spaces, clock, with_data):
    workspace = spaces.of(KEY)
    if with_data:
        read_into(workspace)
    drafts = {"tables": {"table": "area,n\nTotal,7\n", "rules": {"facts": {}}}, "attributes": {"records": "[]"}}
    for area, entered in drafts.items():
        workspace.keep_draft(area, entered)
    clock[0] += 2 * SECONDS
    spaces.seal_idle(SECONDS)
    assert workspace.asleep
    opened = spaces.of(KEY)
    assert opened is not workspace
    assert {area: opened.draft(area) for area in drafts} == drafts
    assert (opened.loaded is not None) == with_data


def test_where_nothing_was_entered_nothing_is_kept(spaces, clock):
    spaces.of(KEY)
    clock[0] += 2 * SECONDS
    spaces.seal_idle(SECONDS)
    assert not spaces._sealed.path(KEY).exists()


def test_an_untouched_example_is_no_draft(spaces):
    """Whoever looked at the page of tables left a project behind."""
    workspace, example = spaces.of(KEY), {"table": "area,n"}
    workspace.keep_draft("tables", example, example)
    assert workspace.drafts == {}
    workspace.keep_draft("tables", {"table": "mine"}, example)
    assert workspace.draft("tables") == {"table": "mine"}
    workspace.keep_draft("tables", example, example)
    assert workspace.drafts == {}


def test_what_was_entered_is_erased_with_the_project(spaces):
    workspace = spaces.of(KEY)
    workspace.keep_draft("tables", {"table": "area,n"})
    spaces.erase(KEY)
    spaces.close()
    assert not spaces._sealed.path(KEY).exists()
