"""Public Python packages of the field on the same file: `make peers` runs it in an environment of their own.

It writes, as JSON, what each took (seconds of the processor) and what came out.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

QUASI = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
SENSITIVE = "salary-class"


def timed(work: Any) -> tuple[Any, float]:
    """What some work hands over, and the seconds of the processor that it took."""
    start = time.process_time()
    return work(), round(time.process_time() - start, 2)


def rows(folder: Path, number: int | None = None) -> Any:
    """The Adult file, or its first rows, all values as texts."""
    import pandas

    return pandas.read_csv(folder / "adult.csv", sep=";", dtype=str, nrows=number)


def hierarchies(folder: Path, frame: Any) -> dict[str, dict[int, Any]]:
    """The hierarchy files, level by level and row by row, as anjana takes them."""
    import pandas

    levels: dict[str, dict[int, Any]] = {}
    for name in QUASI:
        ladder = pandas.read_csv(
            folder / "adult_hierarchies" / f"adult_hierarchy_{name}.csv", sep=";", header=None, dtype=str
        )
        steps = {step: dict(zip(ladder[0], ladder[step], strict=True)) for step in range(ladder.shape[1])}
        levels[name] = {step: frame[name].map(labels).to_numpy() for step, labels in steps.items()}
    return levels


def anjana_release(folder: Path, k: int, suppressed: float, number: int | None = None) -> dict[str, Any]:
    """k-anonymity by anjana: seconds, rows, classes, the smallest class, and which values are left."""
    from anjana.anonymity import k_anonymity

    frame = rows(folder, number)[[*QUASI, SENSITIVE]]
    ladders = hierarchies(folder, frame)
    release, seconds = timed(lambda: k_anonymity(frame, [], list(QUASI), k, suppressed, ladders))
    sizes = release.groupby(list(QUASI)).size()
    left = {name: int(release[name].nunique()) for name in QUASI}
    return {"seconds": seconds, "rows": len(release), "classes": len(sizes), "smallest": int(sizes.min()), "left": left}


def pycanon_checks(path: Path) -> dict[str, Any]:
    """What pycanon says of a published file, and how long it takes."""
    import pandas
    from pycanon import anonymity

    frame = pandas.read_csv(path, sep=";", dtype=str)
    columns = list(QUASI)
    checks = {
        "k": lambda: anonymity.k_anonymity(frame, columns),
        "l": lambda: anonymity.l_diversity(frame, columns, [SENSITIVE]),
        "t": lambda: anonymity.t_closeness(frame, columns, [SENSITIVE]),
    }
    answers = {name: timed(check) for name, check in checks.items()}
    return {name: {"reached": float(reached), "seconds": seconds} for name, (reached, seconds) in answers.items()}


def main(folder: Path, published: Path, number: int) -> None:
    """Measure both packages; anjana on the first rows of the file."""
    print(json.dumps({"pycanon": pycanon_checks(published)}, indent=2), flush=True)
    print(json.dumps({"anjana": anjana_release(folder, 5, 2, number)}, indent=2))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
