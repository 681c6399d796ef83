"""A command leaves its memory to the system, but not what is still to be done or said."""

import os
import subprocess
import sys

import pytest

LAST_THINGS = """
import atexit, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from sfumato.cli.main import leave
folder = Path(sys.argv[1])
atexit.register(lambda: (folder / "handler").write_text("done"))
threading.Thread(target=lambda: (time.sleep(0.3), (folder / "thread").write_text("done"))).start()
threading.Thread(target=lambda: time.sleep(600), daemon=True).start()
idle = ThreadPoolExecutor(1)  # its thread waits for more to do, until it is told that there will be none
idle.submit(int).result()
sys.stdout.write("said")
leave(int(sys.argv[2]))
"""


def test_what_is_left_to_do_is_done(tmp_path):
    code = 4
    command = [sys.executable, "-c", LAST_THINGS, str(tmp_path), str(code)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, "said", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["handler", "thread"]


@pytest.mark.parametrize(("code", "told"), [(0, 120), (4, 4)])
def test_output_that_nobody_takes_is_told_as_python_tells_it(code, told):
    read, write = os.pipe()
    os.close(read)
    program = f"import sys; from sfumato.cli.main import leave; sys.stdout.write('said'); leave({code})"
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    ended = subprocess.run(
        [sys.executable, "-c", program], stdout=write, stderr=subprocess.PIPE, env=buffered, check=False
    )
    os.close(write)
    assert ended.returncode == told


def test_streams_that_are_closed_are_no_fault():
    program = "import sys; from sfumato.cli.main import leave; sys.stdout.close(); sys.stderr = None; leave(3)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 3
