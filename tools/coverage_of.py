"""Branch coverage of the three wings: `make coverage`; compiled loops are run as Python, so that they count.

The tests run twice, with the compiler and without it; what takes too long uncompiled ends at its time limit, and is
covered by the run with the compiler.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WINGS = ("microdata", "tables", "attributes")
LEAST = 95.0


def run(tests: list[str], compiled: bool) -> None:
    """Run some tests under measurement; the figures of all runs are added up."""
    environment = os.environ | ({} if compiled else {"NUMBA_DISABLE_JIT": "1"})
    sources = ",".join(f"src/sfumato/{wing}" for wing in WINGS)
    measured = ["run", "--branch", "--parallel-mode", f"--source={sources}"]
    options = ["-q", "-x", "-p", "no:cacheprovider", "--timeout=120", "--no-header"]
    command = [sys.executable, "-m", "coverage", *measured, "-m", "pytest", "-n", "0", *options, *tests]
    subprocess.run(command, cwd=ROOT, env=environment, check=False)


def total() -> float:
    """The share of lines and branches that were run, in percent."""
    subprocess.run([sys.executable, "-m", "coverage", "combine", "--quiet"], cwd=ROOT, check=True)
    subprocess.run([sys.executable, "-m", "coverage", "report", "--skip-covered", "--sort=cover"], cwd=ROOT, check=True)
    shown = [sys.executable, "-m", "coverage", "report", "--format=total", "--precision=1"]
    return float(subprocess.run(shown, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def main(chosen: list[str]) -> int:
    """Measure, compiled and uncompiled; 1 when too little is covered."""
    subprocess.run([sys.executable, "-m", "coverage", "erase"], cwd=ROOT, check=True)
    tests = chosen or [f"tests/{wing}" for wing in WINGS]
    for compiled in (True, False):
        run(tests, compiled)
    share = total()
    print(f"{share} % of lines and branches; {LEAST} are asked for.")
    return int(share < LEAST)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
