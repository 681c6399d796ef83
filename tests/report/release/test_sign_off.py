"""A report that can be signed: it says when, who and for what, in the plan's language, and what labels stand for."""

import json
import re
from contextlib import closing
from datetime import date
from hashlib import sha256
from html import escape

import numpy as np
import polars as pl
import pytest

from sfumato.localization.messages import words_in
from sfumato.microdata.methods.full_domain.search import alternatives
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.attack import attack
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.report_folder import add_to_folder, read_annex, read_dossier
from sfumato.report.annex import document, markdown
from sfumato.report.checks import verdict
from sfumato.report.release.column_evidence import ReportData, gather
from sfumato.report.release.findings import disclosure
from sfumato.report.release.report import files
from sfumato.report.release.sign_off import residual_sentences, rows_annex

ABOUT = {"by": "Registry Unit", "purpose": "care in rural districts", "recipient": "Ulm", "basis": "Art. 89 GDPR"}
ENGLISH = re.compile(r"\b(the|rows|which|because|published|level|before)\b")


@pytest.fixture(scope="module", params=["en", "de"])
def signed(request, patient_plan, tmp_path_factory):
    """A release in a language, and its folder."""
    made = anonymize(None, patient_plan | {"language": request.param, "release": ABOUT})
    yield made, made.save(tmp_path_factory.mktemp("signed") / "out")
    made.close()


def words_of(page):
    return re.sub(r"<[^>]+>", " ", re.sub(r"<style>.*?</style>|<pre.*?</pre>", "", page, flags=re.S))


def test_both_editions_say_when_who_and_for_what(signed) -> None:
    release, folder = signed
    words = words_in(release.plan.language)
    for name in ("report.html", "report-external.html"):
        page = (folder / name).read_text(encoding="utf-8")
        assert f'<html lang="{words.language}">' in page
        assert words.day(date.today()) in page
        assert f"Sfumato {release.report.version}" in page
        assert all(text in page for text in ABOUT.values())
        assert words["report.not_promised"] in page
    inside = (folder / "report.html").read_text(encoding="utf-8")
    for key in ("sign.residual", "sign.decisions", "sign.signatures", "sign.glossary", "sign.prepared"):
        assert words[key] in inside
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert (report["date"], report["release"]) == (date.today().isoformat(), ABOUT)
    for key in ("input_sha256", "output_sha256", "plan_sha256", "recoding_sha256"):
        assert report[key] in inside


def test_a_german_report_has_no_english_left(signed) -> None:
    release, folder = signed
    if release.plan.language == "de":
        for name in ("report.html", "report-external.html"):
            assert ENGLISH.findall(words_of((folder / name).read_text(encoding="utf-8"))) == []


def test_equal_sentences_on_columns_are_said_once(patient_plan) -> None:
    names = ("one", "two", "three")
    columns = patient_plan["columns"] | {name: {"role": "sensitive"} for name in names}
    made = anonymize(None, patient_plan)
    for language, several in (("en", "are published unchanged, and no guarantee"), ("de", "werden unverändert")):
        plan = read_plan({**patient_plan, "columns": columns, "language": language})
        told = [one for one in residual_sentences(ReportData(made.report, plan)) if several in one]
        assert len(told) == 1 and "one, two, three" in told[0]
    made.close()


def test_no_heading_of_a_column_is_empty(signed) -> None:
    _, folder = signed
    for name in ("report.html", "report-external.html"):
        assert '<th scope="col"></th>' not in (folder / name).read_text(encoding="utf-8")


def test_what_the_plan_does_not_say_is_told_as_such(release) -> None:
    evidence = gather(release.plan, release.table, release.recoding)
    page = files(ReportData(release.report, release.plan, evidence))["report.html"]
    assert page.count("not stated in the plan") == 4


def test_the_edition_to_hand_out_explains_labels_without_levels(signed) -> None:
    release, folder = signed
    words = words_in(release.plan.language)
    twin = json.loads((folder / "report-external.json").read_text(encoding="utf-8"))
    page = words_of((folder / "report-external.html").read_text(encoding="utf-8"))
    assert words["report.level"] not in page
    assert "level" not in json.dumps(twin["columns"])
    told = {entry["value"]: entry["meaning"] for column in twin["columns"].values() for entry in column["values"]}
    assert all(value in page for value in told)
    assert words["external.star"] in told.values()


def test_what_a_label_covers_is_true(tmp_path) -> None:
    """Numbers, groups and codes: each label is explained by the rule that made it, groups by all their values."""
    rows = tmp_path / "rows.csv"
    lines = [f"{age},{town},{code}" for age in (21, 25, 33, 38) for town in ("Bonn", "Ulm") for code in ("701", "702")]
    rows.write_text("age,town,code\n" + "\n".join(lines * 2) + "\n", encoding="utf-8")
    ladders = {
        "age": {"type": "intervals", "start": 20, "end": 39, "widths": [10]},
        "town": {"type": "tree", "parents": {"Bonn": "west", "Köln": "west", "Ulm": "south"}},
        "code": {"type": "digits", "length": 3},
    }
    column = {"role": "quasi-identifier", "min_level": 1, "max_level": 1}
    plan = {
        "version": 1,
        "data": {"source": str(rows)},
        "columns": {name: column | {"hierarchy": ladder} for name, ladder in ladders.items()},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"order": "keep"},
    }
    release = anonymize(None, plan)
    try:
        meanings = gather(release.plan, release.table, release.recoding).meanings
    finally:
        release.close()
    told = {name: {one.label: one.stands_for for one in own} for name, own in meanings.items()}
    assert told["age"]["20-29"] == "all values from 20 to 29 (inclusive)"
    assert told["town"] == {"west": "Bonn, Köln", "south": "Ulm"}
    assert told["code"] == {"70*": "all codes of 3 characters that start with 70; * represents any character"}


def test_labels_of_one_rule_are_told_in_one_line_of_their_column(tmp_path) -> None:
    """Every label had a line of its own: two hundred for a column of numbers."""
    rows = tmp_path / "rows.csv"
    people = [("" if n % 17 == 0 else 20 + 7 * n % 60, 80000 + 11 * (n % 40), 100 * (97 * n % 240)) for n in range(240)]
    rows.write_text("age,zip,pay\n" + "".join(f"{a},{b},{c}\n" for a, b, c in people), encoding="utf-8")
    ladders = {
        "age": {"type": "intervals", "start": 20, "end": 79, "widths": [5, 10, 20], "bottom": 25, "top": 70},
        "zip": {"type": "digits", "length": 5},
    }
    quasi = {name: {"role": "quasi-identifier", "hierarchy": ladder} for name, ladder in ladders.items()}
    plan = {
        "version": 1,
        "data": {"source": str(rows)},
        "columns": {**quasi, "pay": {"role": "sensitive", "publish": {"bottom": 1000, "top": 20000}}},
        "privacy": [{"model": "k-anonymity", "k": 4}],
        "method": {"name": "local"},
        "seed": 1,
    }
    with closing(anonymize(None, plan)) as release:
        folder = release.save(tmp_path / "out")
    page = (folder / "report-external.html").read_text(encoding="utf-8")
    read = page.partition(words_in()["external.read"])[2].partition("</section>")[0]
    assert read.count("<tr>") == 3  # the head, and a line for each column
    assert read.count("(inclusive)") == 1
    assert "(empty): the value is missing" in read
    told = json.loads((folder / "report-external.json").read_text(encoding="utf-8"))["columns"]
    labels = [entry["value"] for column in told.values() for entry in column["values"]]
    assert len(labels) > 12
    assert all(escape(label) in read for label in labels)
    assert "values below 1000 published as &lt;1000, values above 20000 published as &gt;20000" in page


def test_every_label_of_local_recoding_is_explained_by_itself(tmp_path) -> None:
    """Labels of all levels of a ladder stand in one column: each is told, none as "this group of values"."""
    rows = tmp_path / "rows.csv"
    people = [(20 + 7 * n % 60, f"19{40 + n % 50}-0{1 + n % 9}-11", ("Bonn", "Köln", "Ulm")[n % 3]) for n in range(240)]
    rows.write_text("age,born,town\n" + "".join(f"{a},{b},{c}\n" for a, b, c in people), encoding="utf-8")
    ladders = {
        "age": {"type": "intervals", "start": 20, "end": 79, "widths": [5, 10, 20]},
        "born": {"type": "date", "levels": ["year", "decade"]},
        "town": {"type": "tree", "parents": {"Bonn": "west", "Köln": "west", "Ulm": "*"}},
    }
    plan = {
        "version": 1,
        "data": {"source": str(rows)},
        "columns": {name: {"role": "quasi-identifier", "hierarchy": ladder} for name, ladder in ladders.items()},
        "privacy": [{"model": "k-anonymity", "k": 6}],
        "method": {"name": "local"},
        "seed": 1,
    }
    release = anonymize(None, plan)
    folder = release.save(tmp_path / "out")
    release.close()
    head, *lines = [line.split(",") for line in (folder / "data.csv").read_text().splitlines()]
    twin = json.loads((folder / "report-external.json").read_text(encoding="utf-8"))
    raw = [set(map(str, column)) for column in zip(*people, strict=True)]
    for place, name in enumerate(head):
        told = {entry["value"]: entry["meaning"] for entry in twin["columns"][name]["values"]}
        assert set(told) == {line[place] for line in lines} - raw[place]
        assert len(told) > 1 or name != "age"
        assert words_in()["external.group"] not in told.values()
        assert "class by class" not in twin["columns"][name]["what"]
    assert twin["output_sha256"] == sha256((folder / "data.csv").read_bytes()).hexdigest()
    page = (folder / "report-external.html").read_text(encoding="utf-8")
    assert twin["output_sha256"] in page
    assert words_in()["glossary.quasi-identifier.says"] in page


def test_the_annex_is_made_from_the_folder_alone(signed, tmp_path) -> None:
    pytest.importorskip("docx")
    release, folder = signed
    words = words_in(release.plan.language)
    dossier = read_dossier(folder)
    text = markdown(rows_annex(dossier))
    for part in ("annex.processing", "annex.residual", "annex.sign"):
        assert f"## {words[part]}" in text
    assert all(entry in text for entry in ABOUT.values())
    assert "illness" in text
    assert all(sentence in text for sentence in disclosure(words, release.report))
    document(rows_annex(dossier)).save(tmp_path / "annex.docx")
    import docx

    read = docx.Document(str(tmp_path / "annex.docx"))
    assert words["annex.title"] in [paragraph.text for paragraph in read.paragraphs]
    assert len(read.tables) == text.count("| --- |\n") == 4
    heads = [[cell.text for cell in table.rows[0].cells] for table in read.tables]
    assert all(all(head) for head in heads), heads
    paper = read.sections[0]
    assert (round(paper.page_width.mm), round(paper.page_height.mm)) == (210, 297)
    spoken = read.styles.element.xpath("//w:docDefaults//w:lang/@w:val")
    assert spoken == [{"de": "de-DE", "en": "en-US"}[words.language]]


def test_alternatives_are_told_in_the_language(signed) -> None:
    release, folder = signed
    assert alternatives(release.plan, release.table, release.recoding)
    assert words_in(release.plan.language)["report.trade_off_intro"] in (folder / "report.html").read_text(
        encoding="utf-8"
    )


def test_a_coded_column_is_not_said_to_be_as_it_is(tmp_path) -> None:
    rows = [{"sex": "mf"[place % 2], "pay": str(1000 + 37 * place)} for place in range(40)]
    plan = {
        "version": 1,
        "columns": {
            "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "pay": {"role": "sensitive", "type": "integer", "publish": {"top": 2000, "round": 100}},
        },
        "privacy": [{"model": "k-anonymity", "k": 5}],
    }
    release = anonymize(pl.DataFrame(rows), plan)
    folder = release.save(tmp_path / "out")
    release.close()
    text = markdown(read_annex(folder))
    assert "pay is published unchanged" not in text
    assert "1 transformed or perturbed and 1 published unchanged" in text
    assert "pay is published transformed or perturbed" in words_of((folder / "report.html").read_text(encoding="utf-8"))


def annex_of(rows, roles, folder):
    """The annex of a release of five alike, and the release's report."""
    plan = {"version": 1, "columns": roles, "privacy": [{"model": "k-anonymity", "k": 5}]}
    release = anonymize(pl.DataFrame(rows), plan)
    try:
        return markdown(read_annex(release.save(folder))), release.report
    finally:
        release.close()


def test_every_column_is_among_the_decisions(tmp_path) -> None:
    """What is published under a pseudonym is neither removed nor left as it is; what is coded is not left either."""
    rows = [{"mail": f"p{place}", "sex": "mf"[place % 2], "pay": str(1000 + place)} for place in range(40)]
    roles = {
        "mail": {"role": "identifier", "publish": {"pseudonym": "keyed"}},
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "pay": {"role": "insensitive", "publish": {"round": 100}},
    }
    text, _ = annex_of(rows, roles, tmp_path / "out")
    assert "| pseudonymized columns | mail |" in text
    assert "| transformed or perturbed columns | pay |" in text
    assert "removed columns" not in text and "unchanged columns" not in text
    assert "| privacy models | k-anonymity 5 |" in text  # what was asked for is the first thing that was decided
    assert "| coding of numbers | pay: multiples of 100 |" in text


def test_a_person_published_as_a_star_is_a_removed_column(tmp_path) -> None:
    """The annex, the decisions and the terminal name every column of stars, and no other count has it."""
    rows = [{"mail": f"p{place}", "sex": "mf"[place % 2], "illness": "abc"[place % 3]} for place in range(40)]
    roles = {"mail": {"role": "person"}, "illness": {"role": "insensitive"}}
    roles["sex"] = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    text, report = annex_of(rows, roles, tmp_path / "out")
    assert "Of 3 columns, 1 is removed, 0 published as stars in every row, 0 generalized in all or some rows" in text
    assert "0 transformed or perturbed and 2 published unchanged" in text
    assert "| removed columns | mail |" in text
    assert report.removed_columns == ("mail",)


def test_labels_are_told_to_the_letter_and_what_they_stand_for_with_commas(tmp_path) -> None:
    """In German: the published file has points by contract, people write commas."""
    rows = tmp_path / "rows.csv"
    rows.write_text("Größe;Ort\n" + "1,57;Ulm\n1,61;Ulm\n1,72;Ulm\n1,74;Ulm\n" * 3, encoding="utf-8")
    ladder = {"type": "intervals", "start": 1.35, "end": 2.15, "widths": [0.1], "numbers": "decimal"}
    column = {"role": "quasi-identifier", "type": "decimal", "min_level": 1, "max_level": 1, "hierarchy": ladder}
    plan = {
        "version": 1,
        "language": "de",
        "data": {"source": str(rows), "decimal": ","},
        "columns": {"Größe": column, "Ort": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    release = anonymize(None, plan)
    try:
        evidence = gather(release.plan, release.table, release.recoding)
    finally:
        release.close()
    (label, meaning, _), *_ = evidence.meanings["Größe"]
    assert label == "[1.55, 1.65)"
    assert meaning == "alle Werte von 1,55 bis unter 1,65"
    assert {value for value, _ in evidence.columns["Größe"].examples} <= {"1,57", "1,61", "1,72", "1,74"}


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_annex_tells_of_attacks_and_refers_to_nothing_outside_it(language, tmp_path) -> None:
    random = np.random.default_rng(1)
    rows = pl.DataFrame(
        {
            "age": [str(age) for age in random.integers(20, 60, 200)],
            "Diagnose <ICD>": [f"*{kind}*" for kind in random.integers(0, 4, 200)],
        }
    )
    plan = {
        "version": 1,
        "columns": {
            "age": {"role": "quasi-identifier", "hierarchy": {"type": "intervals", "start": 20, "widths": [10, 20]}},
            "Diagnose <ICD>": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "method": {"name": "local"},
        "language": language,
    }
    words = words_in(language)
    with closing(anonymize(rows, plan)) as release:
        folder = release.save(tmp_path / "out")
    assert words["annex.no_attack"] in markdown(read_annex(folder))
    report = attack(folder, rows, attempts=50)
    add_to_folder(folder, report)
    dossier = read_dossier(folder)
    text = markdown(rows_annex(dossier))
    assert verdict(report.to_dict(), words) in text
    assert "Diagnose \\<ICD\\>: " in text and "Diagnose <ICD>" not in text
    assert all(one.variant.partition(":")[0].replace("<ICD>", "\\<ICD\\>") in text for one in report.attacks[-2:-1])
    assert not re.search(
        r"steht oben\.|stands above\.|dieses Berichts|this report", text.split(words["annex.measures"])[0]
    )
    assert document(rows_annex(dossier)).tables


def test_columns_that_differ_in_their_limits_alone_are_told_together(tmp_path) -> None:
    """Forty columns of a laboratory had a line each, which differed in one number."""
    rows = [{"sex": "mf"[place % 2], **{f"lab_{lab}": lab * 10 + place for lab in range(9)}} for place in range(40)]
    coded = {f"lab_{lab}": {"role": "sensitive", "publish": {"round": 5, "top": 30 + 10 * lab}} for lab in range(9)}
    columns = {"sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, **coded}
    plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]}
    with closing(anonymize(pl.DataFrame(rows), plan)) as release:
        folder = release.save(tmp_path / "out")
    for name in ("report.html", "report-external.html"):
        page = (folder / name).read_text(encoding="utf-8")
        assert page.count("limits for each column: lab_0 (above 30 as &gt;30, multiples of 5)") == 1
    told = json.loads((folder / "report-external.json").read_text())["columns"]["lab_3"]["what"]
    assert told == "Published after transformation: values above 60 published as >60, rounded to multiples of 5."


@pytest.mark.parametrize(("method", "levels"), [("optimal", True), ("k-optimize", False)])
def test_a_column_is_said_to_have_one_level_only_where_the_method_gives_it_one(
    method: str, levels: bool, tmp_path
) -> None:
    rows = pl.DataFrame({"age": [20 + 7 * place % 24 for place in range(40)], "sex": ["m", "f"] * 20})
    ladders = {"age": {"type": "intervals", "start": 20, "end": 44, "widths": [6, 12]}, "sex": {"type": "any"}}
    plan = {
        "version": 1,
        "columns": {name: {"role": "quasi-identifier", "hierarchy": ladder} for name, ladder in ladders.items()},
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "method": {"name": method, "loss": "discernibility"},
    }
    with closing(anonymize(rows, plan)) as made:
        page = (made.save(tmp_path / "out") / "report.html").read_text(encoding="utf-8")
    assert made.report.proved_optimal
    assert (words_in()["sign.method.why.optimal"] in page) == levels
    assert (words_in()["sign.method.why.best"] in page) != levels
