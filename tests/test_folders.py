"""Scratch folders are gone with their owner, whoever still writes into them."""

import subprocess
import sys
import time

from sfumato.folders import Scratch

WRITER = """
import sys
for number in range(20_000):
    with open(f"{sys.argv[1]}/{number}", "w"):
        pass
"""


def test_a_scratch_folder_goes_though_others_still_write_into_it(tmp_path) -> None:
    """As the engine of an interrupted run does, whose threads end later."""
    scratch = Scratch(tmp_path)
    command = [sys.executable, "-c", WRITER, str(scratch.path)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as writer:
        while len(list(scratch.path.iterdir())) < 500:
            time.sleep(0.001)
        scratch.cleanup()
        assert not any(tmp_path.iterdir())
        writer.wait(10)
