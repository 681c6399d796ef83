"""Where a column names persons, every figure and sentence says whether it counts rows or persons, and is true."""

import re
from collections import defaultdict

import polars as pl
import pytest
from dossiers import dossier_of, files

from sfumato.pipelines.release import anonymize
from sfumato.report.release import sections
from sfumato.report.release.sign_off import residual_sentences

SAYS = {"en": ("at least 5 persons", "at least 5 rows"), "de": ("mindestens 5 Personen", "mindestens 5 Zeilen")}
SEX = {"m": 6, "w": 9, "d": 1}


@pytest.fixture(scope="module", params=["en", "de"])
def visits(request):
    """Three visits of each of sixteen persons, one of whom has a sex of its own."""
    rows = [
        {"pid": f"{sex}{number}", "sex": sex, "ill": "abc"[visit]}
        for sex, persons in SEX.items()
        for number in range(persons)
        for visit in range(3)
    ]
    columns = {
        "pid": {"role": "person"},
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "ill": {"role": "insensitive"},
    }
    plan = {"version": 1, "language": request.param, "columns": columns}
    plan |= {"privacy": [{"model": "k-anonymity", "k": 5}], "method": {"name": "optimal", "suppression": 0.1}}
    release = anonymize(pl.DataFrame(rows), plan)
    yield request.param, release
    release.close()


@pytest.mark.parametrize("name", ["report.html", "report-external.html", "report-external.json"])
def test_promises_about_persons_say_persons(visits, name) -> None:
    language, release = visits
    page = files(release)[name]
    persons, rows = SAYS[language]
    assert persons in page and rows not in page


def test_both_glossaries_know_the_person(visits) -> None:
    language, release = visits
    says = {
        "en": "privacy models and risks then count persons",
        "de": "Privatheitsmodelle und Risiken zählen dann Personen",
    }[language]
    assert all(says in files(release)[name] for name in ("report.html", "report-external.html"))


def test_figures_are_those_counted_by_hand(visits) -> None:
    """The smallest published class has the six persons m, the one person d had three rows of its own."""
    language, release = visits
    published = defaultdict(int)
    for label in release.data["sex"].to_list():
        published[label] += 1
    assert dict(published) == {"m": 18, "w": 27}
    known, before, *_ = residual_sentences(dossier_of(release))
    assert {"en": "rows of at least 6 persons", "de": "mindestens 6 Personen"}[language] in known
    assert {"en": "3 rows (6.2 %) were of persons", "de": "3 Zeilen (6,2 %) von Personen"}[language] in before
    table = sections.risk_table(dossier_of(release))
    for words, figures in {
        "persons of the smallest class|Personen der kleinsten Klasse": (1, 6),
        "persons of the largest class|Personen der größten Klasse": (9, 9),
    }.items():
        name = words.split("|")[language == "de"]
        line = table[table.index(name) :].partition("</tr>")[0]
        assert re.findall(r">(\d+)<", line) == [str(figure) for figure in figures]


def test_rows_are_said_where_rows_are_counted(release) -> None:
    assert "at least 4 rows" in files(release)["report.html"]
    assert "persons of the smallest class" not in files(release)["report.html"]
