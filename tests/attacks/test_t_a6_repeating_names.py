"""Persons who repeat by name: they are proposed as the persons, and a verdict about rows says that it is one."""

import random
from itertools import product

import polars as pl
import pytest

import sfumato as sf
from sfumato.pipelines.verify import verify
from sfumato.report.checks import verdict_text
from sfumato.report.release.report import line, promise_text

GIVEN = ("Anna", "Max", "Ida", "Paul", "Emma", "Karl", "Lena", "Otto", "Clara", "Hans")
NAMES = [f"{given} {name}" for given, name in product(GIVEN, ("Becker", "Vogt", "Winkler", "Schulz", "Roth"))]


def gifts(each: tuple[int, ...] = (1, 2, 3, 8, 12)) -> pl.DataFrame:
    """What donors gave to parties: a row a gift, nothing beside their names that says who gave it."""
    draw = random.Random(5)
    rows = [
        (name, f"{draw.choice('ABCDE')} club", draw.choice(("2018", "2019", "2020")), draw.choice(("red", "blue")))
        for name in NAMES
        for _ in range(draw.choice(each))
    ]
    return pl.DataFrame(rows, schema=["donor", "club", "year", "party"], orient="row")


def plan(role: str) -> dict:
    known = {name: {"role": "quasi-identifier", "hierarchy": {"type": "any"}} for name in ("club", "year")}
    columns = {"donor": {"role": role}, **known, "party": {"role": "sensitive"}}
    return {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]}


def test_names_that_repeat_are_proposed_as_the_persons() -> None:
    assert sf.suggest(gifts()).columns["donor"].role == "person"
    assert sf.suggest(gifts((1,))).columns["donor"].role == "identifier"


def test_a_number_for_each_person_says_that_names_repeat_by_chance() -> None:
    rows = gifts((1, 2, 2))
    numbered = rows.with_columns(pl.Series("member_no", [f"M{place:05}" for place in range(rows.height)]))
    assert sf.suggest(numbered).columns["donor"].role == "identifier"


@pytest.mark.parametrize("kind", ["frame", "csv"])
def test_every_head_says_rows_not_persons(tmp_path, kind: str) -> None:
    gifts().write_csv(tmp_path / "gifts.csv")
    release = sf.anonymize(gifts() if kind == "frame" else tmp_path / "gifts.csv", plan("identifier"))
    shared = sum(rows for rows in gifts()["donor"].value_counts()["count"] if rows > 1)
    head = promise_text(release.report)
    assert "rows, not persons" in head and f'{shared} rows share their "donor"' in head
    assert "rows, not persons" in line(release.report)
    release.save(tmp_path / "out")
    for name in ("report.html", "report-external.html"):
        page = (tmp_path / "out" / name).read_text(encoding="utf-8")
        told = "several rows share their" if "external" in name else f"{shared} of"
        assert "(rows, not persons)" in page and told in page
    assert "rows, not persons" in verdict_text(verify(tmp_path / "out")).splitlines()[-1]


def test_a_verdict_about_persons_says_so(tmp_path) -> None:
    gifts().write_csv(tmp_path / "gifts.csv")
    release = sf.anonymize(tmp_path / "gifts.csv", plan("person"))
    assert "for the persons published" in promise_text(release.report)
    release.save(tmp_path / "out")
    assert "not persons" not in (tmp_path / "out" / "report-external.html").read_text(encoding="utf-8")
    assert verdict_text(verify(tmp_path / "out")).endswith("(counted: persons)\n")


def test_names_of_those_who_serve_are_not_the_persons() -> None:
    rows = gifts().rename({"donor": "teacher"})
    assert sf.suggest(rows).columns["teacher"].role != "person"
