"""Run the tests that have a full size at that size: `python tools/full_tests.py [FILE...]`, by default all of them."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def files() -> list[str]:
    """Return the tests that use a size."""
    every = sorted((ROOT / "tests").rglob("test_*.py"))
    return [str(path) for path in every if "from sizes import size" in path.read_text(encoding="utf-8")]


def main(chosen: list[str]) -> int:
    environment = os.environ | {"SFUMATO_SIZES": "full"}
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "--durations=20", *(chosen or files())]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
