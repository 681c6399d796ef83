"""All faults of the world in one run, against servers that are processes of their own; with limits made short."""

import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parents[3] / "tools" / "faults.py"
SHORT = ("--lock-seconds", "1", "--busy-seconds", "0.1", "--lease-seconds", "1.5")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
@pytest.mark.timeout(900)
def test_nothing_is_lost_half_published_or_left_behind():
    """Locked store, full disk, killed worker, clock that jumps, killed servers with and without a folder."""
    run = subprocess.run([sys.executable, RUN, *SHORT], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    for step in ("lock_the_store", "fill_the_disk", "kill_a_worker", "jump", "kill_servers", "kill_without_folder"):
        assert f"{step}: " in run.stdout
