"""Workers: processes forked from a template, limits, queue."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import pytest

from sfumato.attributes.operations.operation import ValueRefusedError
from sfumato.errors import DataError, PlanError
from sfumato.service.problems import RefusedError
from sfumato.service.settings import Limits
from sfumato.service.workers import fork_server as template_module
from sfumato.service.workers import messages
from sfumato.service.workers import request_queue as lanes_module
from sfumato.service.workers.fork_server import CallHandle, Template, run_once, shared_template
from sfumato.service.workers.messages import (
    CancelledWorkError,
    CrashedError,
    ProgressMessage,
    WorkerCall,
    WorkerEndedError,
)
from sfumato.service.workers.process import WorkerLimits
from sfumato.service.workers.request_queue import RequestQueue

QUESTION = WorkerCall("sfumato.errors:did_you_mean", ("a", ["b"]))


@pytest.fixture
def template():
    own = Template()
    yield own
    own.close()


async def answers(template, between) -> list[str]:
    """What two requests are told, with something happening between them."""
    lanes = RequestQueue(Limits(workers=1), QUESTION, template)
    await lanes.start()
    try:
        first = await lanes.run(QUESTION, 1)
        await asyncio.to_thread(between)
        return [first, await lanes.run(QUESTION, 1)]
    finally:
        await lanes.close()


def end_workers(template) -> None:
    for worker in list(template._workers.values()):
        worker.kill()
        assert worker.ended.wait(10)


@pytest.mark.parametrize("end", [end_workers, Template.close], ids=["worker", "template"])
def test_a_worker_that_ended_while_it_waited_is_replaced(template, end, complete) -> None:
    replies = complete(answers(template, lambda: end(template)))
    assert replies == ["Valid: b."] * 2


async def told_without_processes(template, monkeypatch) -> list[str | None]:
    """What the lanes tell while the system starts no process, and after."""
    monkeypatch.setattr(lanes_module, "TRYING_SECONDS", 0.1)
    lanes = RequestQueue(Limits(workers=2), QUESTION, template)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/nonexistent")
        await lanes.start()
        with pytest.raises(RefusedError) as refusal:
            await lanes.run(QUESTION, 1)
        told = [lanes.fault(), f"{refusal.value.status} {refusal.value.headers['retry-after']}"]
    try:
        while lanes.fault() is not None:
            await asyncio.sleep(0.05)
        return [*told, await lanes.run(QUESTION, 1)]
    finally:
        await lanes.close()


def test_a_system_that_starts_no_process_is_told_and_tried_again(template, complete, monkeypatch, caplog) -> None:
    """Requests waited without end, and nothing said why."""
    told = complete(told_without_processes(template, monkeypatch))
    assert told == ["no process can be started", "503 10", "Valid: b."]
    assert [record.getMessage() for record in caplog.records].count('{"workers": "no process can be started"}') == 1


LIMITS = WorkerLimits(1_000_000_000, watched=True)
FOREVER = WorkerCall("sfumato.service.workers.process:_watch_memory", (None, 1 << 60))
CODE = """
import sys, time
from sfumato.service.workers.messages import WorkerCall
from sfumato.service.workers.process import WorkerLimits
from sfumato.service.workers.fork_server import shared_template
worker = shared_template().start(WorkerLimits(1_000_000_000))
call = WorkerCall("sfumato.errors:did_you_mean", ("a", ["b"]))
print(shared_template().pid, worker.pid, worker.run(call), flush=True)
time.sleep(float(sys.argv[1]))
"""


def alive(pid):
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False


def until(holds, seconds=30):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def hanging(worker):
    """Let a worker do something without end."""
    raised = []

    def run():
        try:
            worker.run(FOREVER)
        except WorkerEndedError as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, raised


def test_a_worker_that_is_killed_says_so_and_the_next_is_there():
    worker = shared_template().start(LIMITS)
    thread, raised = hanging(worker)
    time.sleep(0.2)
    worker.kill()
    thread.join(30)
    assert len(raised) == 1
    assert worker.ended.wait(10)
    assert worker.status == -signal.SIGKILL
    worker.close()
    assert run_once(WorkerCall("sfumato.errors:did_you_mean", ("a", ["b"])), LIMITS, 60) == "Valid: b."


def test_errors_travel_whole_and_what_nobody_foresaw_without_its_text():
    configuration = {"pay": {"anonymisationType": "Generalization", "dataType": "Numeric"}}
    target = "sfumato.pipelines.attributes:anonymize_attributes"
    with pytest.raises(ValueRefusedError) as refused:
        run_once(WorkerCall(target, ([{"pay": "old"}, {"pay": 1}], configuration)), LIMITS, 60)
    assert (refused.value.column, refused.value.rows, refused.value.code) == ("pay", (1,), "data.value")
    assert "old is not numeric" in refused.value.text_for_sender()
    with pytest.raises(PlanError) as faults:
        run_once(WorkerCall(target, ([{"pay": 1}], {"pay": {}})), LIMITS, 60)
    assert faults.value.issues
    with pytest.raises(CrashedError) as crash:
        run_once(WorkerCall("sfumato.errors:did_you_mean", ("SECRET", 7)), LIMITS, 60)
    assert crash.value.kind == "TypeError"
    assert "errors.py" in crash.value.place
    assert "SECRET" not in repr(vars(crash.value)) + str(crash.value)


def test_time_is_up():
    started = time.monotonic()
    with pytest.raises(RefusedError) as refused:
        run_once(FOREVER, LIMITS, 0.5)
    assert refused.value.code == "limit.time"
    assert time.monotonic() - started < 20


def test_what_advances_is_not_ended_by_a_clock(monkeypatch):
    """A million rows were refused after 120 seconds, of which each step took twenty."""
    clock = [100.0]
    monkeypatch.setattr(template_module.time, "monotonic", lambda: clock[0])
    watch, begun = CallHandle(), clock[0]
    for done in (1, 2, 2):
        clock[0] += 50
        watch.hear(ProgressMessage("look", done, 3))
    assert watch.heard == begun + 100  # the same again is nothing new
    watch.hear(ProgressMessage("compare-columns", 2, 3))
    assert watch.heard == clock[0]


def test_who_watches_sees_how_far_a_call_is(tmp_path):
    path, watch = tmp_path / "rows.csv", CallHandle()
    path.write_text("zip,illness\n" + "town,flu\n" * 20)
    call = WorkerCall("sfumato.web.projects.loaded_data:load", (path, {}), reports=True)
    assert run_once(call, LIMITS, 60, tmp_path, watch).rows == 20
    assert (watch.progress.stage, watch.progress.whole) == ("compare-columns", 100)


@pytest.mark.parametrize("before", [True, False])
def test_who_watches_can_end_a_call(before):
    watch = CallHandle()
    if before:
        watch.cancel()
    else:
        threading.Thread(target=lambda: (until(lambda: watch.running), watch.cancel())).start()
    with pytest.raises(CancelledWorkError):
        run_once(FOREVER, LIMITS, 600, None, watch)


def test_open_files_are_limited():
    with shared_template().start(WorkerLimits(10**9, open_files=99)) as worker:
        worker.run(WorkerCall("sfumato.errors:did_you_mean", ("a", ["b"])))  # it has come so far that limits are set
        lines = Path(f"/proc/{worker.pid}/limits").read_text().splitlines()
    assert next(line.split()[3:5] for line in lines if line.startswith("Max open files")) == ["99", "99"]


def test_a_workbook_of_two_cells_ends_its_own_worker_at_most(tmp_path):
    """Its range is 17 billion cells: read in the server, it would end the server."""
    path = tmp_path / "wide.xlsx"
    workbook(path, ("A1", "XFD1048576"))
    assert path.stat().st_size < 2_000
    with pytest.raises((RefusedError, DataError)):
        call = WorkerCall("sfumato.web.projects.loaded_data:load", (path,))
        run_once(call, WorkerLimits(600_000_000, watched=True), 60, tmp_path)
    assert run_once(WorkerCall("sfumato.errors:did_you_mean", ("a", ["b"])), LIMITS, 60) == "Valid: b."


def workbook(path, cells):
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    kinds = "http://schemas.openxmlformats.org/package/2006/content-types"
    excel = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    rows = "".join(f'<row r="{cell.lstrip("XFDA")}"><c r="{cell}"><v>1</v></c></row>' for cell in cells)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{kinds}"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" '
        f'ContentType="{excel}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" '
        f'ContentType="{excel}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{relations}"><Relationship Id="a" Type="{office}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="s" sheetId="1" r:id="b"/>'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{relations}"><Relationship Id="b" '
        f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>',
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, f'<?xml version="1.0"?>{text}')


def test_a_template_that_is_killed_is_started_again(template):
    first = template.start(LIMITS)
    os.kill(template.pid, signal.SIGKILL)
    assert first.ended.wait(10)
    until(lambda: not alive(first.pid))
    first.close()
    with template.start(LIMITS) as second:
        assert second.run(WorkerCall("sfumato.errors:did_you_mean", ("a", ["b"]))) == "Valid: b."


@pytest.mark.parametrize("names", [("queue", "json", "socket", "numpy", "sfumato_plugin")])
def test_nothing_is_imported_from_where_the_server_stands_and_nothing_outlives_it(tmp_path, names):
    for name in names:
        text = f"import os\nopen({str(tmp_path / 'run')!r}, 'a').write({name!r} + str(os.getpid()) + ' ')\n"
        (tmp_path / f"{name}.py").write_text(text)
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-P", "-c", CODE, "60"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=environment) as server:
        template, worker, *_ = server.stdout.readline().split()
        assert not (tmp_path / "run").exists()
        server.send_signal(signal.SIGKILL)
        server.wait()
        until(lambda: not alive(template) and not alive(worker))


def test_frames():
    for message in (
        WorkerCall("a:b", (1, b"x" * 100_000)),
        DataError("code", message="what", hint="do").about(rows=(3,)),
    ):
        again = messages.decode(messages.encode(message))
        assert type(again) is type(message)
        assert getattr(again, "rows", None) == getattr(message, "rows", None)
