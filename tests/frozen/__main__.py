"""Record the frozen cases anew, and say which of them changed: `python -m tests.frozen`."""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.frozen.inputs import write_inputs
from tests.frozen.released import EXPECTED, cases, differences, expected, released


def record(names: list[str]) -> None:
    """Carry out all cases, or those named, and write what they publish now; the others stay as they were."""
    then = expected() if EXPECTED.exists() else {}
    now = {name: then[name] for name in cases() if name in then}
    with TemporaryDirectory() as folder:
        write_inputs(Path(folder))
        for name, case in cases().items():
            if not names or name in names:
                now[name] = released(case, Path(folder), Path(folder) / "out" / name)
    for name in sorted({*then, *now}):
        for difference in differences(then.get(name, {}), now.get(name, {})):
            print(f"{name}: {difference}")
    EXPECTED.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record(sys.argv[1:])
