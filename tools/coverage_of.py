"""Branch coverage of the three wings: `make coverage`. Loops count: tests/microdata/test_kernels.py runs their sources.

With names, the tests named; else all of the wings and of what runs them: the pipelines.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WINGS = ("microdata", "tables", "attributes")
LEAST = 95.0


def run(tests: list[str]) -> int:
    """Run some tests under measurement; the figures of all runs are added up."""
    sources = ",".join(f"src/sfumato/{wing}" for wing in WINGS)
    measured = ["run", "--branch", "--parallel-mode", f"--source={sources}"]
    options = ["-q", "-p", "no:cacheprovider", "--no-header"]
    command = [sys.executable, "-m", "coverage", *measured, "-m", "pytest", "-n", "0", *options, *tests]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def covered() -> dict[str, float]:
    """The share of lines and branches of each wing that were run, in percent."""
    ask = [sys.executable, "-m", "coverage"]
    subprocess.run([*ask, "combine", "--quiet"], cwd=ROOT, check=True)
    subprocess.run([*ask, "report", "--skip-covered", "--sort=cover", "--show-missing"], cwd=ROOT, check=True)
    shares = {}
    for wing in WINGS:
        shown = [*ask, "report", "--format=total", "--precision=1", f"--include=src/sfumato/{wing}/*"]
        shares[wing] = float(subprocess.run(shown, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    return shares


def main(chosen: list[str]) -> int:
    """Measure; 1 when a test fails or one of the wings is covered too little."""
    subprocess.run([sys.executable, "-m", "coverage", "erase"], cwd=ROOT, check=True)
    failed = run(chosen or [*(f"tests/{wing}" for wing in WINGS), "tests/pipelines"])
    shares = covered()
    for wing, share in shares.items():
        print(f"{wing}: {share} % of lines and branches; {LEAST} are asked for.")
    return int(bool(failed) or min(shares.values()) < LEAST)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
