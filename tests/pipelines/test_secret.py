"""The secret of a release: kept in one file, drawn anew, and no use to who knows the program, the plan and the rows.

Attackers of the order count the rows that they put back to their raw places. By chance that is one row whatever the
number of rows (the fixed points of a random order are Poisson(1)); 13 or more come about once in 10^10 orders. So a
bound of 13 over the ten thousand seeds that are tried gives a false alarm once in a million runs.
"""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
import yaml

from sfumato.microdata.keyed_random import shuffled
from sfumato.pipelines.apply import apply
from sfumato.pipelines.release import anonymize
from sizes import size

ROWS = 300
ALARM = 13
PLAN = {
    "version": 1,
    "columns": {
        "place": {"role": "insensitive"},
        "age": {
            "role": "quasi-identifier",
            "type": "integer",
            "hierarchy": {"type": "intervals", "start": 0, "end": 99, "widths": [20]},
        },
        "illness": {"role": "sensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "method": {"name": "optimal", "suppression": 0.0},
}


@pytest.fixture(scope="module")
def raw() -> pl.DataFrame:
    """Persons in the order of a public list: by age, as lists often are. `place` is what the attacker wants to know."""
    draw = random.Random(7)
    ages = sorted(draw.randrange(100) for _ in range(ROWS))
    return pl.DataFrame({"place": list(range(ROWS)), "age": ages, "illness": [draw.choice("abcd") for _ in ages]})


@pytest.fixture(scope="module")
def published(raw: pl.DataFrame) -> list[int]:
    """The raw places of the published rows, in the published order."""
    return list(anonymize(raw, PLAN).data["place"])


def right(published: list[int], guess: list[int]) -> int:
    """How many rows an attacker puts back who guesses the raw place of each published row."""
    return sum(one == other for one, other in zip(published, guess, strict=True))


def guesses() -> Iterator[list[int]]:
    """The orders that small seeds give, as the program draws them, and as it once did."""
    from hashlib import md5

    rows = range(1, ROWS + 1)
    for seed in range(size(500, 5_000)):
        yield shuffled(rows, f"seed {seed}:order:").tolist()
        yield sorted(range(ROWS), key=lambda row, seed=seed: md5(f"{seed}:{row + 1}".encode()).hexdigest())


def test_small_seeds_put_no_rows_back(published: list[int]) -> None:
    assert max(right(published, guess) for guess in guesses()) < ALARM


def test_the_attack_works_where_the_seed_is_known(raw: pl.DataFrame) -> None:
    """The attack itself is sound: with a named seed it puts every row back, which the report says."""
    release = anonymize(raw, PLAN | {"seed": 41})
    assert right(list(release.data["place"]), shuffled(range(1, ROWS + 1), "seed 41:order:").tolist()) == ROWS
    assert any("seed" in remark for remark in release.report.notes)


def test_the_file_alone_tells_no_place(published: list[int]) -> None:
    """Published places and raw places have a rank correlation of chance: beyond 5 / sqrt(n) once in a million runs."""
    middle = (ROWS - 1) / 2
    together = sum((at - middle) * (place - middle) for at, place in enumerate(published))
    assert abs(together) / sum((at - middle) ** 2 for at in range(ROWS)) < 5 / ROWS**0.5


def test_a_public_list_links_nobody_above_chance(raw: pl.DataFrame, published: list[int]) -> None:
    """Who has the list in its order links each published row to a person of its class, in the order of both.

    Within a class of s rows that is right for one row on average, whatever s: Poisson(classes) all together.
    """
    rows = anonymize(raw, PLAN).data
    classes: dict[str, list[int]] = {}
    for place, label in zip(rows["place"], rows["age"], strict=True):
        classes.setdefault(label, []).append(place)
    linked = sum(right(places, sorted(places)) for places in classes.values())
    assert linked < len(classes) + 6 * len(classes) ** 0.5 + 6


def test_two_releases_have_two_orders_and_a_seed_one(raw: pl.DataFrame) -> None:
    one, two = (list(anonymize(raw, PLAN).data["place"]) for _ in range(2))
    assert right(one, two) < ALARM
    seeded = [anonymize(raw, PLAN | {"seed": 5}).data for _ in range(2)]
    assert seeded[0].equals(seeded[1])


def test_the_secret_is_in_the_recoding_alone(raw: pl.DataFrame, tmp_path: Path) -> None:
    plan = PLAN | {"method": {"name": "mondrian", "mode": "relaxed"}}
    anonymize(raw, plan).save(tmp_path / "out")
    secret = json.loads((tmp_path / "out" / "recoding.json").read_text())["secret"]
    assert len(bytes.fromhex(secret)) == 16
    others = [file for file in (tmp_path / "out").iterdir() if file.name != "recoding.json"]
    assert all(secret.encode() not in file.read_bytes() for file in others)
    assert json.loads((tmp_path / "out" / "report.json").read_text())["seed"] is None
    assert not yaml.safe_load((tmp_path / "out" / "plan.yaml").read_text()).get("seed")


def test_rows_to_which_a_recoding_is_applied_are_drawn_anew(raw: pl.DataFrame, tmp_path: Path) -> None:
    anonymize(raw, PLAN).save(tmp_path / "out")
    raw.write_csv(tmp_path / "rows.csv")
    orders = []
    for name in ("one", "two"):
        apply(tmp_path / "out" / "recoding.json", tmp_path / "rows.csv", tmp_path / name)
        orders.append(pl.read_csv(tmp_path / name / "data.csv")["place"].to_list())
    first = pl.read_csv(tmp_path / "out" / "data.csv")["place"].to_list()
    assert max(right(orders[0], orders[1]), right(orders[0], first), right(orders[1], first)) < ALARM


def test_the_order_of_a_plan_that_names_none_is_shuffled() -> None:
    """Asked of a process of its own, which no fixture has touched."""
    script = "from sfumato.microdata.plan.parts import OutputPlan; print(OutputPlan().order)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "shuffle"


def test_a_release_in_the_raw_order_says_so(raw: pl.DataFrame) -> None:
    release = anonymize(raw, PLAN | {"output": {"order": "keep"}})
    assert list(release.data["place"]) == list(range(ROWS))
    assert any("order: keep" in remark for remark in release.report.notes)
