"""Scratch folders are gone with their owner, whoever still writes into them."""

import subprocess
import sys
import time

from sfumato.atomic_folders import ScratchFolder

# Interrupted at every line of the module, in a process of its own each time.
INTERRUPTED = """
import atexit, os, sys
from contextlib import closing
from pathlib import Path
import sfumato.atomic_folders
from sfumato.atomic_folders import ScratchFolder, staged, workspace_for

class Kept(ScratchFolder):
    close = ScratchFolder.cleanup

def run(place):
    with workspace_for(place / "out") as beside, closing(Kept(beside)) as rows, staged(place / "out") as stage:
        (rows.path / "rows").touch()
        (stage / "data").touch()

def interrupting(after):
    lines = iter(range(after))

    def trace(frame, event, _):
        if frame.f_code.co_filename != sfumato.atomic_folders.__file__:
            return None
        if event == "line" and next(lines, None) is None:
            raise KeyboardInterrupt
        return trace

    return trace

for number in range(1000):
    child = os.fork()
    if not child:
        try:
            sys.settrace(interrupting(number))
            run(Path(sys.argv[1]) / str(number))
            code = 0
        except KeyboardInterrupt:
            code = 130
        sys.settrace(None)
        atexit._run_exitfuncs()
        os._exit(code)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
        sys.exit(number)
"""
WRITER = """
import sys
for number in range(20_000):
    with open(f"{sys.argv[1]}/{number}", "w"):
        pass
"""


def test_a_scratch_folder_goes_though_others_still_write_into_it(tmp_path) -> None:
    """As the engine of an interrupted run does, whose threads end later."""
    scratch = ScratchFolder(tmp_path)
    command = [sys.executable, "-c", WRITER, str(scratch.path)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as writer:
        while len(list(scratch.path.iterdir())) < 500:
            time.sleep(0.001)
        scratch.cleanup()
        assert not any(tmp_path.iterdir())
        writer.wait(10)


def test_whenever_a_run_is_interrupted_nothing_is_left_or_all_of_it(tmp_path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path)], check=False, capture_output=True, text=True
    )
    assert ran.returncode > 20, ran.stderr
    published = {place.name for place in tmp_path.iterdir()}
    assert str(ran.returncode) in published
    assert all({*(tmp_path / name).rglob("*")} == {out := tmp_path / name / "out", out / "data"} for name in published)
