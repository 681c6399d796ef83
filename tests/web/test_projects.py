"""Projects: loaded data, archives and their limits, workspaces that fall asleep, work in other processes."""

import ast
import asyncio
import io
import json
import os
import subprocess
import sys
import time
import zipfile
from importlib import import_module
from pathlib import Path

import openpyxl
import pytest

import sfumato.web
from sfumato.localization.messages import words_in
from sfumato.service.jobs.pool import Pool
from sfumato.service.jobs.store import Ending, new_id
from sfumato.service.settings import JobSettings
from sfumato.web.projects import workspace as module
from sfumato.web.projects.archives import (
    RECORD,
    ExtractionLimits,
    TooLargeArchiveError,
    run_archives,
    unpack,
    unpacked_runs,
)
from sfumato.web.projects.loaded_data import load
from sfumato.web.projects.workspaces import Receiving, Workspaces


def archive_of(files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream


def project(**files):
    return archive_of({RECORD: json.dumps({"plan": {}}), **files})


@pytest.mark.parametrize(
    ("limits", "files"),
    [
        (ExtractionLimits(10_000_000, 1_000_000), {"rows.csv": bytes(2_000_000)}),
        (ExtractionLimits(1_500_000, 1_000_000), {"rows.csv": bytes(900_000), "more.csv": bytes(900_000)}),
        (ExtractionLimits(10_000_000, 1_000_000, 3), {f"{number}.csv": b"a" for number in range(5)}),
    ],
    ids=["one file", "all files", "many files"],
)
def test_what_is_too_large_unpacked_is_refused(tmp_path, limits, files) -> None:
    packed = project(**files)
    assert len(packed.getvalue()) < 5_000
    with pytest.raises(TooLargeArchiveError):
        unpack(packed, tmp_path, limits)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 1_000_000


def test_a_project_within_its_room_is_unpacked(tmp_path) -> None:
    limits = ExtractionLimits(1_000_000, 1_000_000)
    assert unpack(project(**{"rows.csv": "age\n1\n"}), tmp_path, limits) == {"plan": {}}
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]
    assert limits.all_bytes < 1_000_000


def test_runs_take_their_room_from_the_same(tmp_path) -> None:
    run = archive_of({"report.json": "{}", "data.csv": bytes(900_000)}).getvalue()
    for number in (1, 2):
        (tmp_path / f"run-{number}.zip").write_bytes(run)
    runs = unpacked_runs(
        tmp_path, [{"number": number, "plan": {}} for number in (1, 2)], ExtractionLimits(1_500_000, 1_000_000)
    )
    assert next(runs)[0] == 1
    with pytest.raises(TooLargeArchiveError):
        next(runs)


def test_a_record_that_could_not_be_read_is_no_project(tmp_path) -> None:
    for content in ("[" * 100_000, "no JSON", "[1]", '{"plan": 1}'):
        with pytest.raises((ValueError, RecursionError)):
            unpack(archive_of({RECORD: content}), tmp_path, ExtractionLimits(10**6, 10**6))


def test_numbers_are_shown_with_the_mark_of_the_language_and_codes_are_not(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    lines = [f"{place};2.596,{place:02};{place:02}.04.1980" for place in range(1, 28)]
    path.write_text("nr;Einkommen;am\n" + "\n".join(lines) + "\n", encoding="utf-8")
    loaded = load(path)
    row = loaded.preview[0]
    assert row["Einkommen"] == "2596.01"
    assert loaded.shown("Einkommen", row["Einkommen"], words_in("de")) == "2596,01"
    assert loaded.shown("Einkommen", row["Einkommen"], words_in()) == "2596.01"
    assert loaded.shown("am", row["am"], words_in("de")) == "01.04.1980"


def test_codes_of_a_file_with_points_stay(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("code,n\n" + "89.00,1\n47.01,2\n" * 20, encoding="utf-8")
    assert load(path).shown("code", "89.00", words_in("de")) == "89.00"


def test_who_waits_is_told_each_step_and_how_far_it_is(tmp_path) -> None:
    """A million rows were read for two minutes with "Reading the file …" and nothing else."""
    path, told = tmp_path / "rows.csv", []
    path.write_text("nr,zip,illness\n" + "".join(f"{place},town,flu\n" for place in range(30)), encoding="utf-8")
    load(path, {}, lambda *progress: told.append(progress))
    assert list(dict.fromkeys(stage for stage, _, _ in told)) == ["count", "look", "compare-columns"]
    shares = [done for _, done, whole in told if whole == 100]
    assert shares == sorted(shares) and len({*shares}) > 5 and shares[-1] < 100
    assert {stage for stage, _, _ in told} <= {*words_in("de")} & {*words_in()}


def test_what_there_is_to_know_of_a_file_is_said(tmp_path) -> None:
    """A page read the first of two sheets, and errors as missing, without a word."""
    book = openpyxl.Workbook()
    for row in (("age", "income"), *((20 + row, 100 * row) for row in range(30)), (51, "#REF!")):
        book.active.append(row)
    book.create_sheet("others")
    book.save(tmp_path / "rows.xlsx")
    notes = load(tmp_path / "rows.xlsx").notes
    assert [note.split(":")[0] for note in notes] == [
        "The workbook has 2 sheets",
        "1 cell holds an error (B32), read as missing.",
    ]
    german = [words_in("de").text(note) for note in notes]
    assert not {*german} & {*notes}


def test_runs_are_put_away_and_found_again(tmp_path) -> None:
    place = tmp_path / "job"
    place.mkdir()
    with zipfile.ZipFile(place / "result.zip", "w") as archive:
        archive.writestr("report.json", json.dumps({"rows": 3}))
        archive.writestr("parts/data.csv", "age\n1\n")
    names = run_archives({2: place, 3: tmp_path / "gone"})
    assert list(names) == ["run-2.zip"]
    project = tmp_path / "project"
    project.mkdir()
    (project / "run-2.zip").write_bytes(names["run-2.zip"].read_bytes())
    plan = {"version": 1}
    ((number, known, folder),) = unpacked_runs(project, [{"number": 2, "plan": plan}, {"number": 3, "plan": plan}])
    assert (number, known) == (2, plan)
    assert json.loads((folder / "report.json").read_text()) == {"rows": 3}
    assert (folder / "parts" / "data.csv").exists()
    assert (folder.parent / "result.zip").exists()  # it can be downloaded whole
    assert run_archives({2: folder.parent}) == {"run-2.zip": folder.parent / "result.zip"}


def test_what_is_no_run_is_left_out(tmp_path) -> None:
    (tmp_path / "run-1.zip").write_bytes(b"no archive")
    with zipfile.ZipFile(tmp_path / "run-2.zip", "w") as archive:
        archive.writestr("report.json", "{}")
        archive.writestr("../../outside", "x")
    with zipfile.ZipFile(tmp_path / "run-4.zip", "w") as archive:
        archive.writestr("report.json", "[1]")
    records = [{"number": number, "plan": {}} for number in (1, 2, 4, 5)]
    assert list(unpacked_runs(tmp_path, [*records, "junk", {"number": "../1", "plan": {}}, {"number": 1}])) == []
    assert not (tmp_path.parent / "outside").exists()


PLACE = Path(sfumato.web.__file__).parent


def _modules() -> set[str]:
    """The modules of all functions that pages have worked out apart."""
    found = set()
    for path in PLACE.rglob("*.py"):
        page = ".".join(("sfumato.web", *path.relative_to(PLACE).with_suffix("").parts))
        text = path.read_text(encoding="utf-8")
        for call in ast.walk(ast.parse(text)) if "aside(" in text or "watched(" in text else ():
            for given in call.args if isinstance(call, ast.Call) and _is_apart(call.func) else ():
                function = getattr(import_module(page), given.id, None) if isinstance(given, ast.Name) else None
                found |= {function.__module__} if callable(function) else set()
    return found


def _is_apart(called: ast.expr) -> bool:
    """Whether a call has its first function worked out in a process of its own."""
    return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) in ("aside", "watched")


def test_no_process_apart_loads_what_pages_are_made_of() -> None:
    """A second went by before each preview: the function lay in the module of its page."""
    modules = sorted(_modules())
    assert {"sfumato.web.projects.loaded_data", "sfumato.web.microdata.result.result_figures"} <= {*modules}
    code = f"import sys, {', '.join(modules)}; sys.exit('nicegui' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


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
        patched.setattr(spaces._projects, "seal", full)
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
    seal = spaces._projects.seal

    def used_meanwhile(*parts):
        seal(*parts)
        workspace.touch()

    monkeypatch.setattr(spaces._projects, "seal", used_meanwhile)
    clock[0] += 2 * SECONDS
    spaces.seal_idle(SECONDS)
    assert not workspace.asleep
    assert workspace.loaded.path.exists()
    assert not spaces._projects.path(KEY).exists()


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
        assert spaces._projects.path(KEY).exists()
        raise KeyboardInterrupt

    monkeypatch.setattr("sfumato.web.projects.workspaces.load", interrupted)
    with pytest.raises(KeyboardInterrupt):
        spaces.of(KEY)
    assert spaces._projects.path(KEY).exists()


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
    assert not spaces._projects.path(KEY).exists()


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
    assert not spaces._projects.path(KEY).exists()
