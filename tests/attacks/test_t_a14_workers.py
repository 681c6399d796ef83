"""Workers of pages: without a folder of their own they read the file that they are given, and no other."""

import pytest

from sfumato.errors import SfumatoError
from sfumato.service.workers.fork_server import run_once
from sfumato.service.workers.messages import CrashedError, WorkerCall
from sfumato.service.workers.process import WorkerLimits

LOAD = "sfumato.web.projects.loaded_data:load"
LIMITS = WorkerLimits(2_000_000_000)


def test_a_worker_without_a_folder_reads_its_file_and_no_other(tmp_path) -> None:
    own, secret = tmp_path / "own", tmp_path / "secret.csv"
    own.mkdir()
    secret.write_text("ort;alter\nWien;5\n", encoding="utf-8")
    lines = "".join(f"Köln;{20 + n % 9}\n" for n in range(30))
    (own / "rows.csv").write_text("ort;alter\n" + lines, encoding="cp1252")
    loaded = run_once(WorkerCall(LOAD, (own / "rows.csv", {"encoding": "cp1252"})), LIMITS, 60)
    assert (loaded.rows, [path.name for path in own.iterdir()]) == (30, ["rows.csv"])
    (own / "link.csv").symlink_to(secret)
    with pytest.raises((SfumatoError, CrashedError)):
        run_once(WorkerCall(LOAD, (own / "link.csv", {})), LIMITS, 60)
