"""The report on a table that stays in the house: everything that somebody who signs it must have read."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from sfumato.localization.messages import words_in
from sfumato.pipelines.report_folder import read_annex
from sfumato.pipelines.tables.protect import run_plan
from sfumato.report.annex import document, markdown
from sfumato.tables.plan.table_plan import read_table_plan

CELLS = "area,n\nTotal,24\na,2\nb,9\nc,13\n"
ABOUT = {"by": "Office A", "purpose": "yearbook <2>", "recipient": "the public", "basis": "§ 16 BStatG"}
PLAN = {
    "version": 1,
    "table": {"source": "cells.csv", "value": "n"},
    "dimensions": {"area": {"column": "area"}},
    "primary": [{"rule": "frequency", "min": 7}],
}
METHODS = {
    "masked": {},
    "changed": {"method": {"name": "rounding", "base": 5}},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cells.csv").write_text(CELLS, encoding="utf-8")
    return tmp_path


def saved(folder: Path, **parts: object) -> Path:
    run_plan(read_table_plan({**PLAN, **parts}, folder)).save(folder / "out")
    return folder / "out"


def words_of(page: Path) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page.read_text(encoding="utf-8").partition("<body>")[2]))


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("method", METHODS)
def test_a_table_has_a_report_to_sign(folder: Path, method: str, language: str) -> None:
    out, words = saved(folder, release=ABOUT, language=language, **METHODS[method]), words_in(language)
    html = (out / "report.html").read_text(encoding="utf-8")
    told = words_of(out / "report.html")
    assert f'<html lang="{language}">' in html
    keys = ("document", "by", "purpose", "recipient", "basis", "date", "software", "not_promised", "utility", "made")
    for key in (*(f"report.{key}" for key in keys), "report.plan", "report.source"):
        assert words[key] in told
    for key in ("residual", "attackers", "decisions", "signatures", "prepared", "officer", "responsible", "glossary"):
        assert words[f"sign.{key}"] in told
    for text in ("Office A", "yearbook &lt;2&gt;", "the public", "§ 16 BStatG", "cells.csv", words["rule.frequency"]):
        assert text in told
    for name in ("plan.yaml", "table-external.csv"):
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() in told
    assert "min: 7" in html.partition("<pre")[2]


@pytest.mark.parametrize("method", METHODS)
def test_what_the_house_knows_is_not_on_the_page_that_is_handed_out(folder: Path, method: str) -> None:
    out = saved(folder, release=ABOUT, **METHODS[method])
    told = words_of(out / "report-external.html")
    assert all(text in told for text in ("Office A", "yearbook", "the public", "§ 16 BStatG"))
    assert not any(text in told for text in ("min: 7", "cells.csv", "Signatures", "plan.yaml"))
    assert hashlib.sha256((out / "table-external.csv").read_bytes()).hexdigest() in told


def test_what_the_plan_does_not_say_of_its_release_is_told_as_such(folder: Path) -> None:
    out, words = saved(folder), words_in()
    assert words_of(out / "report.html").count(words["report.not_stated"]) == 4
    assert words["report.not_stated"] not in words_of(out / "report-external.html")


def test_attackers_who_were_switched_off_are_among_what_is_not_promised(folder: Path) -> None:
    out, words = saved(folder, attackers={"persons": False}), words_in()
    page = (out / "report.html").read_text(encoding="utf-8")
    not_promised = page.partition(words["report.not_promised"])[2].partition("</div>")[0]
    assert words["tabled.not.persons"] in not_promised
    attackers = page.partition(words["sign.attackers"])[2].partition("</section>")[0]
    assert words["tabled.who.outsider"] in attackers
    assert words["tabled.who.off"].format(name=words["tabled.attacker.persons"]) in attackers


def test_several_tables_are_signed_for_once_and_each_has_its_page(folder: Path) -> None:
    tables = [{"name": name, "source": "cells.csv", "dimensions": PLAN["dimensions"]} for name in ("one", "two")]
    plan = {key: part for key, part in PLAN.items() if key != "dimensions"}
    run_plan(read_table_plan({**plan, "table": {"value": "n"}, "tables": tables, "release": ABOUT}, folder)).save(
        folder / "out"
    )
    told = words_of(folder / "out" / "report.html")
    for name in ("one", "two"):
        assert (folder / "out" / name / "report-external.html").exists()
        assert not (folder / "out" / name / "report.html").exists()
        assert hashlib.sha256((folder / "out" / name / "table-external.csv").read_bytes()).hexdigest() in told
        assert f"{name}/table-external.csv" in told


CHAPTERS = ("processing", "necessity", "risks", "measures", "residual", "evidence", "sign")


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("method", METHODS)
def test_a_table_has_an_annex_for_the_officer(folder: Path, method: str, language: str) -> None:
    out, words = saved(folder, release=ABOUT, language=language, **METHODS[method]), words_in(language)
    text = (out / "annex.md").read_text(encoding="utf-8")
    places = [text.index(f"## {words[f'annex.{key}']}\n") for key in CHAPTERS]
    assert (text.splitlines()[0], places) == (f"# {words['annex.title']}", sorted(places))
    for told in ("Office A", "yearbook \\<2\\>", "§ 16 BStatG", "cells.csv", words["rule.frequency"]):
        assert told in text
    holds, limit = words["table_holds" if method == "masked" else "noised.holds"], words["tabled.not.more"]
    assert all(f"- {told}\n" in text for told in (holds, limit))
    assert words["tabled.house"] in text.replace("\\", "")
    for name in ("table-external.csv", "table.csv", "plan.yaml"):
        assert f"| {name} | {hashlib.sha256((out / name).read_bytes()).hexdigest()} |" in text
    assert hashlib.sha256((out / "annex.md").read_bytes()).hexdigest() in words_of(out / "report.html")
    assert "Signatures" not in words_of(out / "report-external.html")


def test_the_annex_on_several_tables_is_made_anew_for_word(folder: Path) -> None:
    tables = [{"name": name, "source": "cells.csv", "dimensions": PLAN["dimensions"]} for name in ("one", "two")]
    plan = {key: part for key, part in PLAN.items() if key != "dimensions"}
    run_plan(read_table_plan({**plan, "table": {"value": "n"}, "tables": tables}, folder)).save(folder / "out")
    (folder / "out" / "report.pdf").write_bytes(b"printed")
    annex = read_annex(folder / "out")
    assert markdown(annex) == (folder / "out" / "annex.md").read_text(encoding="utf-8")
    seals = annex.chapters[5].tables[0]
    assert [row[0] for row in seals[1:3]] == ["one/table-external.csv", "two/table-external.csv"]
    pytest.importorskip("docx")
    made = document(annex)
    assert [[cell.text for cell in row.cells] for row in made.tables[2].rows] == [list(row) for row in seals]


def test_the_annex_on_a_table_that_leaks_says_so(folder: Path) -> None:
    cells = "area,sub,n\n0,0,16\n1,0,5\n1,1,2\n1,2,3\n2,0,11\n2,1,5\n2,2,6\n"
    (folder / "cells.csv").write_text(cells, encoding="utf-8")
    dimensions, rules = {"area": {"levels": ["area", "sub"], "total": 0}}, [{"rule": "range", "min": 1, "max": 3}]
    method = {"name": "intervals", "repair": False}
    out = saved(folder, dimensions=dimensions, primary=rules, method=method)
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    said = words_in()["table_holds" if report["satisfied"] else "table_leaks"]
    assert f"- {said}\n" in (out / "annex.md").read_text(encoding="utf-8")


def test_an_answer_that_leaks_has_nothing_to_hand_out(folder: Path) -> None:
    (folder / "cells.csv").write_text(
        "area,sub,n\n0,0,16\n1,0,5\n1,1,2\n1,2,3\n2,0,11\n2,1,5\n2,2,6\n", encoding="utf-8"
    )
    out = saved(
        folder,
        dimensions={"area": {"levels": ["area", "sub"], "total": 0}},
        primary=[{"rule": "range", "min": 1, "max": 3}],
        method={"name": "intervals", "repair": False},
    )
    holds = json.loads((out / "report.json").read_text(encoding="utf-8"))["satisfied"]
    assert (out / "report-external.html").exists() == holds == (out / "table-external.csv").exists()


def test_the_plan_of_a_job_names_the_file_that_was_sent(folder: Path) -> None:
    """It named the path from the server's own folder of results."""
    from sfumato.service.jobs.worker import WORK

    (folder / "input").mkdir()
    (folder / "input" / "cells.csv").write_text(CELLS, encoding="utf-8")
    (folder / "input" / "plan.yaml").write_text(json.dumps(PLAN), encoding="utf-8")
    WORK["protect"](folder / "input" / "plan.yaml", folder / "draft-1" / "result", {}, lambda *_: None)
    assert read_table_plan(folder / "draft-1" / "result" / "plan.yaml").table.source == "cells.csv"
    assert "source: cells.csv" in (folder / "draft-1" / "result" / "report.html").read_text(encoding="utf-8")


SUMS = "area,v,n,top1,top2\nTotal,100.5,24,60.5,9\na,9,2,5,4\nb,65.5,9,60.5,3\nc,13,6,4,3\nd,13,7,4,3\n"


def test_a_german_report_says_everything_in_german_and_which_rule_struck(folder: Path) -> None:
    """It printed internal names and a limit that the plan had not, and one reason for all rules."""
    (folder / "cells.csv").write_text(SUMS, encoding="utf-8")
    table = {"source": "cells.csv", "value": "v", "frequency": "n", "contributions": ["top1", "top2"]}
    rules = [{"rule": "frequency", "min": 3}, {"rule": "p-percent", "p": 10}]
    out, words = saved(folder, table=table, primary=rules, language="de"), words_in("de")
    told = words_of(out / "report.html").partition(words["report.plan"])[0]
    assert not re.search(r"\b(holding|value|unit|q: 100|Anonymisiert|Befragte|Methode)\b", told)
    cells = told.partition(words["tabled.masked_cells"])[2].partition(words["sign.decisions"])[0]
    assert f"primär {words['rule.frequency']}" in cells
    assert f"primär {words['rule.p-percent']}" in cells
    assert words["masked.complement"] in cells or words["case.secondary"] not in cells
    assert f"{words['rule.p-percent']} ({words['rule.p-percent.p']}: 10)" in told
