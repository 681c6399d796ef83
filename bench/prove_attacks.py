"""Attacks at full size: how often sound releases are accused, and how long 30,000 rows of 15 columns take.

`python bench/prove_attacks.py [RELEASES]` makes so many small releases (300 by default) that promise k, l and t and
publish nothing near-unique, of several kinds in turn (rows, promises, methods, one or several sensitive columns, with a
control of their own or none), each from rows of its own, and attacks each. All attacks on a release together may
accuse one in a hundred; the bar is the number that such a rate exceeds once in a thousand times. Releases of the same
kinds with a leak must all be accused.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
import polars as pl

from sfumato import datasets
from sfumato.microdata.attacks.result import FAMILYWISE_ERROR
from sfumato.pipelines.attack import AttackReport, attack
from sfumato.pipelines.release import anonymize

ATTEMPTS = 400
LARGE_ROWS, LARGE_COLUMNS, LARGE_SECONDS = 30_000, 15, 60.0
SECRET = "salary-class"
LEAKS_OF_EACH = 2
# Sensitive columns of patients: how many values each has.
ILLNESSES = {"illness": 5, "drug": 3, "ward": 8}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of sound release.

    Attributes:
        control: Whether rows of others are at hand; where not, the plan is run again on a part.
        sensitive: How many columns of patients are sensitive; none for rows of the census.
        visits: How many rows a person has.
    """

    method: str
    rows: int
    k: int
    diversity: int = 2
    closeness: float | None = 0.4
    sensitive: int = 1
    control: bool = True
    visits: int = 1

    def data(self, seed: int) -> pl.DataFrame:
        return patients(self, seed) if self.sensitive else census(self.rows, seed)

    def plan(self) -> dict[str, Any]:
        return patients_plan(self) if self.sensitive else census_plan(self)


KINDS = (
    Kind("optimal", 400, 5),
    Kind("mondrian", 400, 5),
    Kind("local", 400, 5),
    Kind("optimal", 400, 3, closeness=None),
    Kind("mondrian", 600, 5, control=False),
    Kind("local", 800, 3, sensitive=3),
    Kind("optimal", 500, 10, closeness=0.3, sensitive=0),
    Kind("mondrian", 2000, 5, sensitive=2),
    Kind("local", 1000, 5, sensitive=0, control=False),
    Kind("mondrian", 900, 5, closeness=None, visits=3),
)


def census(rows: int, seed: int) -> pl.DataFrame:
    """Rows of the census generator, as texts."""
    return datasets.census(rows, seed).to_polars().with_columns(pl.all().cast(pl.String))


def census_plan(kind: Kind) -> dict[str, Any]:
    """A plan for rows of the census."""
    plan = datasets.census(10).plan("x.csv", k=kind.k)
    plan.pop("data")
    plan["privacy"] += promises(kind, SECRET)
    return dict(plan) | {"method": {"name": kind.method}}


def patients(kind: Kind, seed: int) -> pl.DataFrame:
    """Persons whose illnesses have nothing to do with who they are: what is learned of one, their row told."""
    random = np.random.default_rng(seed)
    persons = kind.rows // kind.visits
    columns: dict[str, Any] = {
        "person": [f"p{seed}-{number}" for number in range(persons)],
        "age": np.clip(random.normal(48, 18, persons), 18, 99).astype(int).astype(str),
        "sex": random.choice(["f", "m", "x"], persons, p=[0.5, 0.49, 0.01]),
        "zip": [f"{random.choice([10, 20, 30, 80]) * 1000 + random.integers(0, 40):05d}" for _ in range(persons)],
        "work": random.choice(list("bcdefg"), persons),
    }
    columns |= {name: random.choice(list("abcdefgh")[:size], persons) for name, size in ILLNESSES.items()}
    whole = pl.DataFrame(columns)
    return pl.concat([whole] * kind.visits).sample(fraction=1.0, shuffle=True, seed=seed)


def patients_plan(kind: Kind) -> dict[str, Any]:
    """A plan for patients."""
    ages = {"type": "intervals", "start": 0, "end": 119, "widths": [10, 20, 40]}
    known = {
        "age": {"type": "integer", "hierarchy": ages},
        "sex": {"hierarchy": {"type": "any"}},
        "zip": {"hierarchy": {"type": "digits", "length": 5}},
        "work": {"hierarchy": {"type": "any"}},
    }
    shown = list(ILLNESSES)[: kind.sensitive]
    columns: dict[str, Any] = {"person": {"role": "person" if kind.visits > 1 else "identifier"}}
    columns |= {name: {"role": "quasi-identifier"} | more for name, more in known.items()}
    columns |= {name: {"role": "sensitive" if name in shown else "identifier"} for name in ILLNESSES}
    privacy = [{"model": "k-anonymity", "k": kind.k}, *(one for name in shown for one in promises(kind, name))]
    return {
        "version": 1,
        "columns": columns,
        "privacy": privacy,
        "method": {"name": kind.method} | ({} if kind.method == "mondrian" else {"suppression": 0.05}),
    }


def promises(kind: Kind, column: str) -> list[dict[str, Any]]:
    """What is promised of a sensitive column."""
    diverse = {"model": "l-diversity", "variant": "distinct", "l": kind.diversity, "column": column}
    close = {"model": "t-closeness", "t": kind.closeness, "column": column}
    return [diverse] if kind.closeness is None else [diverse, close]


def reports(releases: int, kinds: Sequence[Kind] = KINDS, attempts: int = ATTEMPTS) -> Iterator[AttackReport]:
    """What attackers reached with each of so many sound releases."""
    for seed in range(releases):
        kind = kinds[seed % len(kinds)]
        raw, plan = kind.data(2 * seed + 1), kind.plan()
        others = kind.data(2 * seed + 2) if kind.control else None
        yield attack(anonymize(raw, plan), raw, control=others, seed=seed, attempts=attempts)


def leaks(kind: Kind, seed: int) -> Mapping[str, AttackReport]:
    """What attackers reached with releases of a kind in which somebody made a mistake."""
    raw, others, plan = kind.data(2 * seed + 1), kind.data(2 * seed + 2), kind.plan()
    published = anonymize(raw, plan | {"output": {"order": "keep"}}).data
    random = np.random.default_rng(seed)
    numbers = [pl.Series("code", random.integers(10_000, 99_999, frame.height).astype(str)) for frame in (raw, others)]
    coded, strangers = raw.with_columns(numbers[0]), others.with_columns(numbers[1])
    named = plan | {"columns": plan["columns"] | {"code": {"role": "insensitive"}}}
    raw_shown = raw.select(published.columns)
    return {
        "a column left raw": attack(anonymize(coded, named), coded, control=strangers, attempts=ATTEMPTS),
        "rows left as they were": attack(raw_shown, raw, control=others, plan=plan, attempts=ATTEMPTS),
        "the order of the raw file": attack(published, raw, control=others, plan=plan, attempts=ATTEMPTS),
        "classes of one value": attack(*_of_one_value(kind, raw), control=others, plan=plan, attempts=ATTEMPTS),
    }


def _of_one_value(kind: Kind, raw: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A release, and rows, in which all of a class have the same sensitive value."""
    plan = kind.plan()
    secret = "illness" if kind.sensitive else SECRET
    known = [name for name, column in plan["columns"].items() if column["role"] == "quasi-identifier"]
    kept = plan | {"privacy": plan["privacy"][:1], "output": {"order": "keep"}, "method": {"name": "mondrian"}}
    published = anonymize(raw, kept).data
    order = {labels: place for place, labels in enumerate(published.select(known).unique(maintain_order=True).rows())}
    values = sorted(raw[secret].unique().to_list())
    said = pl.Series(secret, [values[order[labels] * 7 % len(values)] for labels in published.select(known).rows()])
    return published.with_columns(said).sample(fraction=1.0, shuffle=True, seed=1234567), raw.with_columns(said)


def most_accusations(releases: int) -> int:
    """How many sound releases may be accused: more come once in a thousand times where the rate is what is promised."""
    chance = cumulated = (1 - FAMILYWISE_ERROR) ** releases
    count = 0
    while cumulated < 0.999:
        count += 1
        chance *= (releases - count + 1) / count * FAMILYWISE_ERROR / (1 - FAMILYWISE_ERROR)
        cumulated += chance
    return count


def highest_rate(accused: int, releases: int) -> float:
    """The rate above which so few accusations come once in twenty times (Clopper and Pearson)."""
    low, high = 0.0, 1.0
    for _ in range(50):
        rate = (low + high) / 2
        fewer = sum(
            comb(releases, count) * rate**count * (1 - rate) ** (releases - count) for count in range(accused + 1)
        )
        low, high = (rate, high) if fewer > 0.05 else (low, rate)
    return high


def report_accusations(releases: int) -> bool:
    """Print how often sound releases are accused; whether that is within the bar."""
    accused, tests = [], 0
    for seed, report in enumerate(reports(releases)):
        tests += sum(one.counted for one in report.attacks)
        if report.found:
            names = ", ".join(f"{one.name} ({one.variant})" for one in report.found)
            accused.append(f"  release {seed}, {KINDS[seed % len(KINDS)]}: {names}")
    bar, high = most_accusations(releases), highest_rate(len(accused), releases)
    print(f"{releases} sound releases of {len(KINDS)} kinds, {tests} attacks: {len(accused)} accused (bar {bar});")
    print(f"  with 95 % confidence at most {high:.2%} are", *accused, sep="\n")
    return len(accused) <= bar


def report_leaks() -> bool:
    """Print how many releases with a leak are accused; whether all are."""
    tried: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for place, kind in enumerate(kind for kind in KINDS if kind.control and kind.visits == 1):
        for seed in range(LEAKS_OF_EACH):
            for leak, report in leaks(kind, 10_000 + 100 * place + seed).items():
                tried[leak] += 1
                found[leak] += bool(report.found)
    print(*(f"{leak}: found in {found[leak]} of {tried[leak]}" for leak in tried), sep="\n")
    return found == tried


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
    plan = Kind("optimal", LARGE_ROWS, 10, closeness=0.3, sensitive=0).plan()
    columns = plan["columns"] | {name: {"role": "insensitive"} for name in raw.columns if name.startswith("more")}
    release = anonymize(raw, plan | {"columns": columns})
    fine = True
    for others in (control, None):
        began, clock = time.process_time(), time.perf_counter()
        report = attack(release, raw, control=others, seed=1)
        seconds, wall = time.process_time() - began, time.perf_counter() - clock
        told = f"{raw.height:,} x {raw.width}, {'no' if others is None else 'a'} control: {len(report.attacks)} attacks"
        print(f"{told} in {seconds:.1f} CPU s, {wall:.1f} s (bar {LARGE_SECONDS:g} s)")
        fine &= seconds <= LARGE_SECONDS
    return fine


def main(arguments: Sequence[str]) -> int:
    """Run all; 1 when a bar is missed."""
    outcomes = [report_time(), report_leaks(), report_accusations(int(arguments[0]) if arguments else 300)]
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
