"""Attacks at full size: how often sound releases are accused, and how long 30,000 rows of 15 columns take.

`python bench/prove_attacks.py [RELEASES]` makes so many small releases (200 by default) that promise k, l and t and
publish nothing near-unique, by three methods in turn, each from rows of its own, and attacks each with a control of its
own. All attacks on a release together may accuse one in a hundred; the bar is the number that such a rate exceeds once
in a thousand times.
"""

import sys
import time
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from sfumato import datasets
from sfumato.microdata.attacks.outcome import FAMILYWISE_ERROR
from sfumato.pipelines.attacks.attack import AttackReport, attack
from sfumato.pipelines.release import anonymize

METHODS = ("optimal", "mondrian", "local")
ROWS, ATTEMPTS = 400, 200
LARGE_ROWS, LARGE_COLUMNS, LARGE_SECONDS = 30_000, 15, 60.0
SECRET = "salary-class"


def census(rows: int, seed: int) -> pl.DataFrame:
    """Rows of the census generator, as texts."""
    return datasets.census(rows, seed).to_polars().with_columns(pl.all().cast(pl.String))


def sound_plan(method: str) -> dict[str, object]:
    """A plan that promises k, l and t."""
    plan = datasets.census(10).plan("x.csv", k=10)
    plan.pop("data")
    plan["privacy"] += [
        {"model": "l-diversity", "variant": "distinct", "l": 2, "column": SECRET},
        {"model": "t-closeness", "t": 0.3, "column": SECRET},
    ]
    return plan | {"method": {"name": method}}


def reports(releases: int, rows: int = ROWS, attempts: int = ATTEMPTS) -> Iterator[AttackReport]:
    """What attackers reached with each of so many sound releases."""
    for seed in range(releases):
        raw, control = census(rows, 2 * seed + 1), census(rows, 2 * seed + 2)
        plan = sound_plan(METHODS[seed % len(METHODS)])
        yield attack(anonymize(raw, plan).data, raw, control=control, plan=plan, seed=seed, attempts=attempts)


def most_accusations(releases: int) -> int:
    """How many sound releases may be accused: more come once in a thousand times where the rate is what is promised."""
    chance = cumulated = (1 - FAMILYWISE_ERROR) ** releases
    count = 0
    while cumulated < 0.999:
        count += 1
        chance *= (releases - count + 1) / count * FAMILYWISE_ERROR / (1 - FAMILYWISE_ERROR)
        cumulated += chance
    return count


def report_accusations(releases: int) -> bool:
    """Print how often sound releases are accused; whether that is within the bar."""
    accused, tests = [], 0
    for seed, report in enumerate(reports(releases)):
        tests += sum(one.counted for one in report.attacks)
        if report.found:
            names = ", ".join(f"{one.name} ({one.variant})" for one in report.found)
            accused.append(f"  release {seed}, {METHODS[seed % len(METHODS)]}: {names}")
    bar = most_accusations(releases)
    print(f"{releases} sound releases, {tests} attacks: {len(accused)} accused (bar {bar})", *accused, sep="\n")
    return len(accused) <= bar


def large_rows(seed: int) -> pl.DataFrame:
    """Rows of 15 columns: those of the census, and such as were made up beside them."""
    rows, random = census(LARGE_ROWS, seed), np.random.default_rng(seed)
    more = LARGE_COLUMNS - rows.width
    return rows.with_columns(
        pl.Series(f"more{place}", random.integers(0, 5 * (place + 1), LARGE_ROWS).astype(str)) for place in range(more)
    )


def report_time() -> bool:
    """Print the time of all attacks on a large release; whether it is within the bar."""
    raw, control = large_rows(1), large_rows(2)
    plan = sound_plan("optimal")
    columns = plan["columns"] | {name: {"role": "insensitive"} for name in raw.columns if name.startswith("more")}  # type: ignore[operator]
    published = anonymize(raw, plan | {"columns": columns}).data
    began, clock = time.process_time(), time.perf_counter()
    report = attack(published, raw, control=control, plan=plan | {"columns": columns}, seed=1)
    seconds, wall = time.process_time() - began, time.perf_counter() - clock
    shape = f"{raw.height:,} x {raw.width}"
    print(f"{shape}: {len(report.attacks)} attacks in {seconds:.1f} CPU s, {wall:.1f} s (bar {LARGE_SECONDS:g} s)")
    return seconds <= LARGE_SECONDS


def main(arguments: Sequence[str]) -> int:
    """Run both; 1 when a bar is missed."""
    fine = report_time()
    return 0 if report_accusations(int(arguments[0]) if arguments else 200) and fine else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
