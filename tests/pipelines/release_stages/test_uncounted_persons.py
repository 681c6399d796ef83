"""A release whose withheld column names persons: the verdict itself says that rows of one person were counted."""

import json
import random

import polars as pl
import pytest

from sfumato.pipelines.release import anonymize
from sfumato.report.release import report as reports

TOLD = 'rows with the same "who" were counted'


def stays() -> pl.DataFrame:
    """Rows of sixty persons, five to nine of each."""
    chance = random.Random(5)
    rows = []
    for number in range(60):
        person = {"who": f"P{number:04}", "born": str(1930 + number), "sex": chance.choice("mw")}
        stays = chance.randint(5, 9)
        rows += [{**person, "stay": f"S{number:03}{one}", "ill": chance.choice("abcde")} for one in range(stays)]
    chance.shuffle(rows)
    return pl.DataFrame(rows)


def plan(**roles: str) -> dict:
    known = {name: {"role": "quasi-identifier", "hierarchy": {"type": "any"}} for name in ("born", "sex")}
    columns = {**known, "ill": {"role": "sensitive"}, **{name: {"role": role} for name, role in roles.items()}}
    return {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]}


def test_the_verdict_says_that_rows_of_one_person_were_counted(tmp_path):
    asked = plan(who="identifier", stay="identifier")
    release = anonymize(stays(), asked)
    release.save(tmp_path / "out")
    assert release.report.uncounted == ("who",)
    assert "NOT FOR PERSONS" in reports.text(release.report).splitlines()[0]
    content = json.loads((tmp_path / "out" / "report.json").read_text())
    assert content["persons_uncounted"][0]["column"] == "who"
    for name in ("report.html", "report-external.html"):
        page = (tmp_path / "out" / name).read_text().replace("&quot;", '"').replace("&#x27;", "'")
        verdict = page.partition('<div class="verdict bad">')[2].partition("</div>")[0]
        limits = page.partition('<div class="verdict not">')[2].partition("</div>")[0]
        assert TOLD in verdict and '"who" repeats' in limits
        assert "All guarantees are satisfied" not in page
    outside = json.loads((tmp_path / "out" / "report-external.json").read_text())
    assert '"who" repeats' in outside["limits"][0]


@pytest.mark.parametrize(
    ("roles", "told"), [({"who": "person", "stay": "identifier"}, ()), ({"who": "identifier"}, ("who",))]
)
def test_who_names_the_persons_is_told_nothing(roles, told):
    rows = stays().select("born", "sex", "ill", *roles)
    assert anonymize(rows, plan(**roles)).report.uncounted == told


def test_withheld_codes_of_doctors_are_no_persons():
    chance = random.Random(6)
    rows = (
        stays()
        .drop("who", "stay")
        .with_columns(pl.Series("who", [f"D{chance.randint(0, 30)}" for _ in range(stays().height)]))
    )
    assert anonymize(rows, plan(who="identifier")).report.uncounted == ()


def test_what_somebody_learns_who_knows_how_often_a_person_came():
    often = {"a": 12, "b": 1, "c": 1, "d": 1, "e": 1}
    rows = [
        {"who": f"{town}{who}", "born": town, "ill": "xy"[one % 2]}
        for town in "12"
        for who, times in often.items()
        for one in range(times)
    ]
    known = {"born": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}}
    columns = {**known, "who": {"role": "person"}, "ill": {"role": "insensitive"}}
    asked = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]}
    report = anonymize(pl.DataFrame(rows), asked).report
    assert report.disclosure.largest_share == pytest.approx(12 / 16)
    assert "75.0 % of the rows belong to one person" in reports.text(report).replace("75.0%", "75.0 %")
