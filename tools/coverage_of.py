"""Measure branch coverage of the three main packages: `make coverage`.

Loops count, because tests/microdata/test_kernels.py runs their sources.

Given names, these tests run once; otherwise the tests of the packages, and of what runs them, in parallel parts. The
output lists uncovered lines of each module and the coverage of each package.
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WINGS = ("microdata", "tables", "attributes")
LEAST = 95.0
# Parts of the tests, the longest first; a minus sign excludes what follows.
PARTS = (
    ("tests/microdata", "-tests/microdata/methods", "-tests/microdata/test_kernels.py"),
    ("tests/tables",),
    ("tests/microdata/methods",),
    *(
        tuple(f"tests/pipelines/{name}" for name in names)
        for names in (
            ("attacks", "sequential_releases"),
            ("linked_files", "release_stages", "test_publish.py", "test_pseudonyms.py"),
            ("test_persons.py", "test_presence.py", "test_survey_files.py", "test_apply.py", "test_rules.py"),
        )
    ),
    ("tests/pipelines/tables",),
    ("tests/microdata/test_kernels.py",),
    ("tests/attributes", "tests/service/attributes"),
)
MINUTES = 20


def run(tests: Sequence[str]) -> int:
    """Run some tests under measurement; the results of all runs are combined."""
    sources = ",".join(f"src/sfumato/{wing}" for wing in WINGS)
    measured = ["run", "--branch", "--parallel-mode", f"--source={sources}"]
    options = ["-q", "-p", "no:cacheprovider", "--no-header", f"--timeout={MINUTES * 60}"]
    chosen = [f"--ignore={name[1:]}" if name.startswith("-") else name for name in tests]
    command = [sys.executable, "-m", "coverage", *measured, "-m", "pytest", "-n", "0", *options, *chosen]
    began = time.monotonic()
    try:
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=MINUTES * 60)
    except subprocess.TimeoutExpired:
        print(f"{' '.join(tests)}: NOT DONE in {MINUTES} minutes: what it runs is not counted", flush=True)
        return 1
    if ended.returncode:
        print(ended.stdout[-6000:], ended.stderr[-2000:])
    print(f"{' '.join(tests)}: {ended.stdout.strip().splitlines()[-1]}, {time.monotonic() - began:.0f} s", flush=True)
    return ended.returncode


def covered() -> dict[str, float]:
    """Return the percentage of covered lines and branches of each package."""
    ask = [sys.executable, "-m", "coverage"]
    subprocess.run([*ask, "combine", "--quiet"], cwd=ROOT, check=True)
    subprocess.run([*ask, "report", "--skip-covered", "--sort=cover", "--show-missing"], cwd=ROOT, check=True)
    shares = {}
    for wing in WINGS:
        shown = [*ask, "report", "--format=total", "--precision=1", f"--include=src/sfumato/{wing}/*"]
        shares[wing] = float(subprocess.run(shown, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    return shares


def main(chosen: list[str]) -> int:
    """Measure; return 1 if a test fails or the coverage of a package is too low."""
    subprocess.run([sys.executable, "-m", "coverage", "erase"], cwd=ROOT, check=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = sum(pool.map(run, [chosen] if chosen else PARTS))
    shares = covered()
    for wing, share in shares.items():
        print(f"{wing}: {share} % of lines and branches; {LEAST} are asked for.")
    return int(bool(failed) or min(shares.values()) < LEAST)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
