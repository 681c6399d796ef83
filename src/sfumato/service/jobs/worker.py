"""The worker: a process that does one job and ends; it tells how far it is on its standard output, a line at a time.

It ends at once when its standard input closes: then the server that started it is gone.
"""

import json
import os
import shutil
import signal
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sfumato.errors import SfumatoError
from sfumato.service.http.log_lines import place

PAUSE_SECONDS = 0.2
STATM = Path("/proc/self/statm")
# Programs reserve memory that they never use; the system's limit counts it all the same.
RESERVED_BYTES = 2_000_000_000
MEMORY = {"code": "limit.memory", "message": "The job needs more memory than a job may use."}
Tell = Callable[[str, int, int], None]


def main(arguments: list[str]) -> int:
    """Do the job in a folder.

    Args:
        arguments: The job's folder and the memory that it may use, in bytes.
    """
    folder, memory = Path(arguments[0]), int(arguments[1])
    threading.Thread(target=_end_with_server, daemon=True).start()
    threading.Thread(target=_watch_memory, args=(memory,), daemon=True).start()
    _limit_memory(memory + RESERVED_BYTES)
    os.umask(0o077)
    try:
        _work(folder)
    except SfumatoError as error:
        return _failed({"code": error.code, "message": str(error)})
    except MemoryError:
        return _failed(MEMORY)
    except Exception as error:  # its text may quote data: only its kind and place are told
        fault = {"error": type(error).__name__, "at": place(error)}
        return _failed({"code": "internal", "message": "An internal error; nothing was published.", **fault})
    _say({"event": "done"})
    return 0


def _end_with_server() -> None:
    while os.read(0, 1):  # without a buffer, whose lock would hinder the interpreter's end
        pass
    if os.getpgid(0) == os.getpid():  # it leads a group of its own: what it started ends with it
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _watch_memory(memory: int) -> None:
    """End the job, saying so, once it holds more memory than it may; looked at where the system tells."""
    page = os.sysconf("SC_PAGE_SIZE")
    while STATM.exists():
        if int(STATM.read_text(encoding="ascii").split()[1]) * page > memory:
            os.write(1, (json.dumps({"event": "failed", **MEMORY}) + "\n").encode())
            os._exit(1)
        time.sleep(PAUSE_SECONDS / 2)


def _limit_memory(memory: int) -> None:
    """The system's own limit, for what grows faster than it is looked at."""
    try:
        import resource
    except ImportError:  # a system without limits
        return
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _failed(why: dict[str, str]) -> int:
    _say({"event": "failed", **why})
    return 1


def _say(event: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


class Progress:
    """Tells each new stage at once, and how far it is a few times a second."""

    def __init__(self) -> None:
        self._stage = ""
        self._said = 0.0

    def __call__(self, stage: str, done: int, whole: int) -> None:
        now = time.monotonic()
        if stage != self._stage or now - self._said > PAUSE_SECONDS:
            self._stage, self._said = stage, now
            _say({"event": "progress", "stage": stage, "done": int(done), "whole": int(whole)})


def _work(folder: Path) -> None:
    """Do the job; the result appears whole, under its name, or not at all."""
    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    draft = folder / "draft"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    tell = Progress()
    WORK[request["kind"]](folder / "input" / "plan.yaml", draft / "result", request["parameters"], tell)
    tell("pack", 0, 1)
    _pack(draft / "result", draft / "result.zip")
    draft.rename(folder / "output")


def _pack(folder: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
        for path in sorted(folder.iterdir()):
            archive.write(path, path.name)


def _anonymize(plan: Path, result: Path, _: dict[str, Any], tell: Tell) -> None:
    from sfumato.pipelines.release import anonymize

    release = anonymize(None, plan, workspace=result.parent, progress=tell)
    try:
        release.save(result)
    finally:
        release.close()


def _protect(plan: Path, result: Path, _: dict[str, Any], tell: Tell) -> None:
    from sfumato.pipelines.protect import run
    from sfumato.tables.build.build import read_source
    from sfumato.tables.plan.plan import read_table_plan

    table_plan = read_table_plan(plan)
    tell("count", 0, 1)
    run(table_plan, read_source(table_plan), progress=lambda _text: tell("search", 0, 0)).save(result)


def _risk(plan: Path, result: Path, parameters: dict[str, Any], tell: Tell) -> None:
    from sfumato.folders import staged, write_text
    from sfumato.pipelines.risk import risk
    from sfumato.report.risk import page_of

    tell("count", 0, 1)
    report = risk(None, plan=plan, **parameters)
    with staged(result) as stage:
        write_text(stage / "report.html", page_of(report))
        write_text(stage / "report.json", json.dumps(report.to_dict(), indent=2, ensure_ascii=False) + "\n")


def _compare(plan: Path, result: Path, parameters: dict[str, Any], tell: Tell) -> None:
    from sfumato.pipelines.compare import compare

    compare(None, plan, **parameters, progress=tell).save(result)


WORK: dict[str, Callable[[Path, Path, dict[str, Any], Tell], None]] = {
    "anonymize": _anonymize,
    "protect": _protect,
    "risk": _risk,
    "compare": _compare,
}

if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
