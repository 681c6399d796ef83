"""Persons whom whole numbers name are counted and recorded in memory: as by the database, and by other engines."""

import random
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sfumato.engines.duckdb import engine as module
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.duckdb.in_memory import fits
from sfumato.engines.engine import MissingRules
from sfumato.engines.join_keys import PERSON, record_key, recorded
from sfumato.engines.person_rows import record_of
from sfumato.microdata.data_plan import DataPlan
from sfumato.pipelines.persons.pseudonyms import erase
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.verify import verify

PLAN: dict[str, Any] = {
    "version": 1,
    "columns": {
        "who": {"role": "person"},
        "age": {"role": "quasi-identifier", "hierarchy": {"type": "intervals", "start": 0, "end": 39, "widths": [10]}},
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "illness": {"role": "sensitive"},
    },
    "privacy": [
        {"model": "k-anonymity", "k": 3},
        {"model": "l-diversity", "variant": "distinct", "l": 2, "column": "illness"},
    ],
    "method": {"name": "optimal", "suppression": 0.3},
    "output": {"format": "parquet", "order": "keep", "suppressed": "drop"},
    "seed": 5,
}


def visits(seed: int) -> pl.DataFrame:
    """Visits of persons with numbers of any size, some of whom change."""
    draw = random.Random(seed)
    names = [draw.choice((1, -1, 2**40)) * number for number in range(1, 60)]
    rows = []
    for name in names:
        age, sex = draw.randrange(40), draw.choice("mf")
        for _ in range(draw.choice((1, 2, 4))):
            rows.append((name, draw.randrange(40) if draw.random() < 0.2 else age, sex, draw.choice("abc")))
    draw.shuffle(rows)
    return pl.DataFrame(rows, schema=["who", "age", "sex", "illness"], orient="row")


def by_person(engine: DuckDBEngine, person: str, value: str | None, reading: MissingRules) -> Any:
    """The persons of combinations, as sets of what each has: numbers of persons are of no matter."""
    engine.count(("age", "sex", "illness"), reading)
    found = engine.count_persons(("age", "sex"), person, value, reading)
    texts = found.text_counts
    several: dict[int, set[tuple[Any, ...]]] = {}
    added: dict[tuple[Any, ...], int] = {}
    for codes, count, number in zip(texts.codes, texts.counts, found.persons, strict=True):
        entry = tuple(values[code] for values, code in zip(texts.values, codes, strict=True))
        if number < 0:
            added[entry] = added.get(entry, 0) + int(count)
        else:
            several.setdefault(int(number), set()).add(entry)
    return added, sorted(map(sorted, several.values())), found.nameless


@pytest.mark.parametrize("value", [None, "illness"])
@pytest.mark.parametrize("missing", [(), ("7", "x"), ("-7",)])
def test_memory_and_database_count_the_same_persons(tmp_path: Path, monkeypatch, value, missing) -> None:
    visits(3).write_parquet(tmp_path / "rows.parquet")
    anonymize(tmp_path / "rows.parquet", PLAN).save(tmp_path / "out")
    answers = []
    for here in (True, False):
        monkeypatch.setattr(module, "fits", lambda *_, here=here: here)
        with closing(DuckDBEngine(tmp_path / "rows.parquet")) as source:
            answers.append([by_person(source, "who", value, MissingRules(missing))])
        with closing(DuckDBEngine(tmp_path / "out" / "data.parquet")) as published:
            published.attach_persons(tmp_path / "out" / "persons.parquet")
            answers[-1].append(by_person(published, PERSON, value, MissingRules()))
    assert answers[0] == answers[1]
    assert answers[0][0][0] and answers[0][0][1], "some add up, and some do not"


def test_the_record_has_the_numbers_of_the_keys_that_every_engine_makes(tmp_path: Path) -> None:
    raw = visits(4)
    raw.write_parquet(tmp_path / "rows.parquet")
    anonymize(tmp_path / "rows.parquet", PLAN).save(tmp_path / "out")
    frame = anonymize(raw.cast(str), PLAN)
    assert pl.read_parquet(tmp_path / "out" / "persons.parquet").schema == {"sfumato_person": pl.Int64}
    assert record_of(tmp_path / "out" / "data.parquet") == recorded(frame.published.person_keys)
    assert verify(tmp_path / "out").satisfied


def test_a_person_with_a_number_is_erased(tmp_path: Path) -> None:
    raw = visits(5)
    raw.write_parquet(tmp_path / "rows.parquet")
    anonymize(tmp_path / "rows.parquet", PLAN).save(tmp_path / "out")
    record = record_of(tmp_path / "out" / "data.parquet")
    who, rows = next(
        (str(name), many) for name in raw["who"] if (many := record.count(record_key(str(name), "seed 5:person:")))
    )
    assert erase(who, [tmp_path / "out"]).rows == {"out": rows}
    assert record_key(who, "seed 5:person:") not in record_of(tmp_path / "out" / "data.parquet")
    assert verify(tmp_path / "out").satisfied


def test_keys_that_are_published_are_no_numbers(tmp_path: Path) -> None:
    pl.DataFrame({"who": [1, 2, 3, 1], "age": [1] * 4, "sex": ["m"] * 4, "illness": list("abab")}).write_parquet(
        tmp_path / "rows.parquet"
    )
    columns = PLAN["columns"] | {"who": {"role": "person", "publish": "key"}}
    plan = PLAN | {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 1}]}
    anonymize(tmp_path / "rows.parquet", plan).save(tmp_path / "out")
    keys = pl.read_parquet(tmp_path / "out" / "data.parquet")["who"].to_list()
    assert all(len(key) == 32 for key in keys) and len({*keys}) == 3


def test_rows_come_into_memory_within_a_limit() -> None:
    assert fits(1_000, DataPlan()) and fits(1_000, DataPlan(memory_limit="1MB"))
    assert not fits(None, DataPlan()) and not fits(10_000, DataPlan(memory_limit="1MB"))
    assert not fits(10**9, DataPlan())
