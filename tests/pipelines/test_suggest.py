"""Suggested plans for messy files: right roles, few quasi-identifiers, and releases in which no column is lost."""

import csv
import io
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from functools import cache
from itertools import combinations
from pathlib import Path

import foreign_files
import later_files
import messy_files
import numpy as np
import polars as pl
import pytest
import unseen_files
import yaml
from messy_files import MessyFile

import sfumato
from refusals import coded
from sfumato.errors import DataError, UnattainableError
from sfumato.hierarchies.role_detection import role_reasons
from sfumato.hierarchies.role_detection.quasi_identifiers import MOST_QUASI_IDENTIFIERS
from sfumato.hierarchies.role_detection.role_reasons import UNDECIDED
from sfumato.pipelines.plan_suggestion.plan_draft import SuggestedPlan
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.suggest import suggest, suggest_for_file, suggest_for_frame
from sfumato.report.release.report import promise_text
from sizes import FULL, size

LETTERS = {"quasi-identifier": "Q", "sensitive": "S", "identifier": "I", "insensitive": "C", "person": "P"}
LETTERS |= {"weight": "I", "household": "I", "undecided": "I"}
ROWS = 1200


@cache
def frame_of(file: MessyFile, rows: int):
    polars = pytest.importorskip("polars")
    lines = list(csv.reader(io.StringIO(file.text(rows)), delimiter=file.separator))
    columns = zip(*(lines[1:] if file.header else lines), strict=True)
    return polars.DataFrame({name: list(cells) for name, cells in zip(file.roles, columns, strict=True)})


@cache
def suggestion_for(file: MessyFile) -> SuggestedPlan:
    """What is suggested for a file, which several tests look at."""
    return suggest_for_frame(frame_of(file, ROWS))


def wrong_columns(file: MessyFile, suggestion: SuggestedPlan) -> list[str]:
    """Columns with a wrong role; a quasi-identifier for which there was no room any more is withheld rightly.

    A column that hardly anyone could place may be kept as one of unknown meaning: who is unique by it is judged.
    """
    roles = {name: LETTERS[entry["role"]] for name, entry in suggestion.plan["columns"].items()}
    crowded = ("are already quasi-identifiers", "could be inferred by means of it")
    assert crowded[0] in role_reasons.LESS

    def right(name: str) -> bool:
        reason = suggestion.reasons[name]
        withheld = "Q" in file.roles[name] and reason.startswith(UNDECIDED) and any(one in reason for one in crowded)
        kept = "Q" in file.roles[name] and "on the assumption that no one knows it" in reason
        return roles[name] in file.roles[name] or withheld or kept

    return [name for name in file.roles if not right(name)]


@pytest.mark.parametrize(
    ("files", "share"),
    [(messy_files.FILES, 0.95), (unseen_files.FILES, 0.9), (later_files.FILES, 0.9), (foreign_files.FILES, 0.9)],
)
def test_roles_are_right(files, share):
    wrong, total = [], 0
    for file in files:
        mistakes = wrong_columns(file, suggestion_for(file))
        assert len(mistakes) <= 0.25 * len(file.roles), (file.name, mistakes)
        wrong += mistakes
        total += len(file.roles)
    assert len(wrong) <= (1 - share) * total, wrong


@pytest.mark.parametrize("file", messy_files.FILES, ids=lambda file: file.name)
def test_what_is_proposed_runs_and_loses_no_column(file):
    frame, plan = frame_of(file, ROWS), suggestion_for(file).plan
    names = [name for name, entry in plan["columns"].items() if entry["role"] == "quasi-identifier"]
    assert 0 < len(names) <= MOST_QUASI_IDENTIFIERS
    release = sfumato.anonymize(frame, plan)
    assert release.report.satisfied
    assert release.report.suppressed_rows <= 0.02 * ROWS
    # That a value is missing tells something, too.
    left = [name for name in names if len({*release.data[name].to_list()} - {"*"}) > 1]
    assert 2 * len(left) > sum("weight" not in plan["columns"][name] for name in names)


def test_each_column_has_a_reason_and_doubt_is_a_comment(tmp_path):
    path = tmp_path / "survey.csv"
    path.write_text(messy_files.SURVEY.text(400), encoding="utf-8")
    suggestion = suggest_for_file(path)
    text = suggestion.to_yaml()
    assert yaml.safe_load(text) == suggestion.plan
    assert text.count("  # ") == len(suggestion.plan["columns"])
    assert any(note.code == "note.unknown_kept" for note in suggestion.notes)
    assert "seed" not in suggestion.plan
    assert not any(entry["role"] == "insensitive" for entry in suggestion.plan["columns"].values())


@pytest.mark.parametrize("values", ["12345", "YN"])
def test_answers_that_nothing_tells_are_no_fingerprint_by_two(values):
    """Who knows the quasi-identifiers and any two answers finds at most 5 % of the rows of the release."""
    draw = random.Random(4)
    cells = {"age": [draw.randrange(18, 90) for _ in range(1000)], "sex": [draw.choice("mf") for _ in range(1000)]}
    cells |= {f"q{number}": [draw.choice(values) for _ in range(1000)] for number in range(1, 13)}
    proposal = suggest_for_frame(pl.DataFrame(cells))
    answers = [name for name, entry in proposal.plan["columns"].items() if entry["role"] == "sensitive"]
    assert len(answers) >= 2 and {*answers} <= {f"q{number}" for number in range(1, 13)}
    with closing(sfumato.anonymize(pl.DataFrame(cells), proposal.plan)) as release:
        rows = release.data
    for two in combinations(answers, 2):
        alone = rows.group_by("age", "sex", *two).len().filter(pl.col("len") == 1).height
        assert alone <= 0.07 * rows.height  # classes are estimated before the release
    codes = {note.code: note.values for note in proposal.notes}
    assert codes["note.unknown_kept"]["count"] == len(answers)


MANY_ROWS = size(2_000, 10_000)


@pytest.fixture
def assert_quick() -> Callable[[Path], None]:
    """A plan is proposed in 5 CPU seconds, at full size."""

    def suggested(path: Path) -> None:
        begin = time.process_time()
        suggest_for_file(path)
        assert time.process_time() - begin < 5 or not FULL

    return suggested


def test_numbers_of_columns_without_names_are_quick(tmp_path, assert_quick):
    """Fifty columns of numbers that nothing tells: what all of them would lose is weighed a few times, roughly."""
    draw = random.Random(5)
    path = tmp_path / "rows.csv"
    lines = (",".join(str(draw.randrange(1000)) for _ in range(50)) for _ in range(MANY_ROWS))
    path.write_text(",".join(f"c{place}" for place in range(50)) + "\n" + "\n".join(lines), encoding="utf-8")
    assert_quick(path)


def test_many_rows_of_fifty_columns_are_quick(tmp_path, assert_quick):
    path = tmp_path / "survey.csv"
    path.write_text(messy_files.SURVEY.text(MANY_ROWS), encoding="utf-8")
    assert len(messy_files.SURVEY.columns) == 50
    assert_quick(path)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("rows", [40, 400])
def test_a_mark_that_is_there_or_not_gets_no_promise_that_cannot_hold(share, rows):
    draw = random.Random(4)
    frame = pl.DataFrame(
        {
            "age": [draw.randrange(20, 60) for _ in range(rows)],
            "sucht": ["x" if draw.random() < share else None for _ in range(rows)],
        }
    )
    release = sfumato.anonymize(frame, sfumato.suggest(frame))
    assert release.report.suppressed_rows < rows


@pytest.mark.parametrize("separator", [None, ";"])
def test_a_file_read_with_the_wrong_separator_is_no_file_of_one_column(tmp_path, separator):
    sign = "," if separator else ":"
    path = tmp_path / "rows.csv"
    path.write_text(f"age{sign}sex\n" + "".join(f"{20 + i % 40}{sign}m\n" for i in range(60)), encoding="utf-8")
    if separator is None:
        assert list(suggest_for_file(path).plan["columns"]) == [f"age{sign}sex"]
        return
    with pytest.raises(DataError, match="one column") as caught:
        suggest_for_file(path, separator)
    assert "--separator" in caught.value.hint


@pytest.mark.parametrize(
    ("header", "row", "separator", "typed"),
    [
        ("alter,kinder", "{},1", ";", "','"),
        ("alter,kinder", "{},1", "\t", "','"),
        ("alter;kinder", "{};1", "|", "';'"),
        ("age\tsex", "{}\tm", ";", "tab"),
        ("age sex", "{} m", None, "' '"),
        ("town age kids", "Ulm {} 2", None, "' '"),
    ],
)
def test_a_file_of_one_column_is_told_what_to_type(tmp_path, header, row, separator, typed):
    path = tmp_path / "rows.csv"
    path.write_text(f"{header}\n" + "".join(f"{row.format(20 + i % 40)}\n" for i in range(60)), encoding="utf-8")
    with pytest.raises(DataError, match="one column") as caught:
        suggest_for_file(path, separator)
    assert f"--separator {typed}" in caught.value.hint
    right = suggest_for_file(path, "\t" if typed == "tab" else typed[1:-1])
    assert len(right.plan["columns"]) == len(header.split(typed[1:-1] if typed != "tab" else "\t"))


@pytest.mark.parametrize(
    ("header", "rows", "separator"),
    [
        ("Income, net", [f"{i},5" for i in range(60)], ";"),
        ("full name", [f"Ada L{chr(97 + i % 26)}ve" for i in range(60)], None),
        ("town age", [f"Ulm {i}" for i in range(60)], ","),
    ],
)
def test_a_file_of_one_column_is_read_as_one(tmp_path, header, rows, separator):
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([f'"{header}"' if separator is None else header, *rows]) + "\n", encoding="utf-8")
    assert list(suggest_for_file(path, separator if separator != "," else "|").plan["columns"]) == [header]


def test_rare_values_must_not_fill_a_class_and_common_ones_may(tmp_path):
    path = tmp_path / "rows.csv"
    rows = "".join(
        f"{20 + i % 40},{'yes' if i % 20 == 0 else 'no'},{'abc'[i % 3]},{'x' if i % 9 == 0 else ''}\n"
        for i in range(400)
    )
    path.write_text("age,hiv,diagnosis,allergy\n" + rows, encoding="utf-8")
    promises = {entry.get("column"): entry for entry in suggest_for_file(path).plan["privacy"]}
    assert promises["hiv"]["values"] == ["yes"]
    assert promises["allergy"]["values"] == ["x"]
    assert promises["diagnosis"]["model"] == "l-diversity"
    assert promises[None] == {"model": "k-anonymity", "k": 5}


def test_a_plan_has_a_quasi_identifier_even_where_no_column_is_one():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"email": [f"p{i}@example.org" for i in range(50)], "hiv": ["yes", "no"] * 25})
    roles = {name: entry["role"] for name, entry in suggest_for_frame(frame).plan["columns"].items()}
    assert [*roles.values()].count("quasi-identifier") == 1
    assert roles["email"] == "identifier"


VISITS = {
    "en": ("patient_id", "visit date", "age", "sex", "illness", "charges USD"),
    "de": ("Pat.-Nr.", "Besuch am", "Alter", "Geschlecht", "Krankheit", "Kosten EUR"),
}


def visits(language: str, rows: int = 900):
    polars = pytest.importorskip("polars")
    draw = random.Random(5)
    ages = [draw.randint(18, 90) for _ in range(300)]
    cells = []
    for _ in range(rows):
        who = draw.randrange(300)
        day = f"{draw.randint(1, 28):02d}.{draw.randint(1, 12):02d}.2023"
        cost = f"{draw.lognormvariate(6, 1):.2f}"
        cells.append((f"{7000 + who}", day, str(ages[who]), "mf"[who % 2], draw.choice("abcd"), cost))
    return polars.DataFrame(cells, schema=list(VISITS[language]), orient="row")


@pytest.mark.parametrize("language", VISITS)
def test_a_key_that_repeats_is_proposed_as_the_person_and_the_plan_runs(language):
    frame = visits(language)
    suggestion = suggest_for_frame(frame)
    key = VISITS[language][0]
    assert suggestion.plan["columns"][key] == {"role": "person"}
    assert "3.1 rows each on average, so they name persons" in suggestion.reasons[key]
    release = sfumato.anonymize(frame, suggestion.plan)
    assert set(release.data[key]) == {"*"}
    assert not any("repeats" in remark for remark in release.report.notes)
    assert release.report.risk["after"]["highest"] <= 0.2
    identifier = suggestion.plan["columns"] | {key: {"role": "identifier"}}
    by_rows = sfumato.anonymize(frame, suggestion.plan | {"columns": identifier})
    assert f'rows of one "{key}" were counted' in promise_text(by_rows.report)


def test_promises_about_persons_ask_for_no_more_than_there_are():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"patient_id": ["P01", "P02", "P03"] * 20, "age": [str(30 + i % 9) for i in range(60)]})
    plan = suggest_for_frame(frame).plan
    assert (plan["columns"]["patient_id"]["role"], plan["privacy"][0]["k"]) == ("person", 3)
    assert sfumato.anonymize(frame, plan).report.satisfied


@pytest.mark.parametrize("present", [18, 27, 45])
def test_the_few_numbers_of_a_mostly_blank_column_are_published_rounded(present: int):
    """Exact ones would be found, and what they are computed from with them."""
    polars = pytest.importorskip("polars")
    debts = [f"{151.37 + 13.71 * place + place % 7:.2f}" for place in range(present)]
    frame = polars.DataFrame(
        {"age": [str(20 + place % 45) for place in range(400)], "debt": [*debts, *[""] * (400 - present)]}
    )
    suggestion = suggest_for_frame(frame)
    entry = suggestion.plan["columns"]["debt"]
    assert entry["role"] == "sensitive" and "publish" in entry
    release = sfumato.anonymize(frame, suggestion.plan)
    assert not {*release.data["debt"]} & {*debts}


def test_numbers_of_too_few_rows_to_be_rounded_are_withheld():
    polars = pytest.importorskip("polars")
    debts = ["151.37", "202.11", "310.90", "77.05"]
    frame = polars.DataFrame({"age": [str(20 + place % 45) for place in range(400)], "debt": [*debts, *[""] * 396]})
    suggestion = suggest_for_frame(frame)
    assert suggestion.plan["columns"]["debt"] == {"role": "undecided"}
    assert "Only 4 rows have a number" in suggestion.reasons["debt"]


def test_decimal_commas_are_told_to_be_published_as_points(tmp_path):
    lines = [f"{20 + place % 9};{100 + place % 8},50" for place in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["age;fee", *lines]), encoding="utf-8")
    age = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    plan = {
        "version": 1,
        "data": {"separator": ";", "decimal": ","},
        "columns": {"age": age, "fee": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "method": {"name": "optimal"},
    }
    release = sfumato.anonymize(tmp_path / "rows.csv", plan)
    assert any("published with decimal points" in remark for remark in release.report.notes)
    plain = sfumato.anonymize(tmp_path / "rows.csv", plan | {"data": {"separator": ";"}})
    assert not any("decimal" in remark for remark in plain.report.notes)


def test_numbers_that_single_out_rows_are_published_rounded():
    frame = visits("en")
    suggestion = suggest_for_frame(frame)
    entry = suggestion.plan["columns"]["charges USD"]
    assert (entry["role"], "type" in entry) == ("sensitive", False)
    assert entry["publish"]["round"] >= 10 and entry["publish"]["top"] > 1000
    assert "rounded" in suggestion.reasons["charges USD"]
    release = sfumato.anonymize(frame, suggestion.plan)
    sizes = Counter(release.data["charges USD"])
    assert sum(rows for rows in sizes.values() if rows >= 5) >= 0.95 * len(release.data)
    raw = suggestion.plan["columns"] | {"charges USD": {"role": "insensitive"}}
    privacy = [entry for entry in suggestion.plan["privacy"] if entry.get("column") != "charges USD"]
    telling = sfumato.anonymize(frame, suggestion.plan | {"columns": raw, "privacy": privacy})
    assert "charges USD" in telling.report.notes[0] and "single out" in telling.report.notes[0]


def test_values_that_single_out_rows_and_are_no_numbers_are_withheld():
    polars = pytest.importorskip("polars")
    draw = random.Random(2)
    cells = {
        "age": [str(draw.randint(20, 80)) for _ in range(300)],
        "crp": ["0-0.5" if draw.random() < 0.3 else f"{draw.uniform(1, 90):.2f}" for _ in range(300)],
    }
    suggestion = suggest_for_frame(polars.DataFrame(cells))
    assert suggestion.plan["columns"]["crp"]["role"] == "undecided"
    assert suggestion.reasons["crp"].startswith(UNDECIDED)
    assert "no number to round" in suggestion.reasons["crp"]


def test_a_column_that_could_not_be_published_is_the_quasi_identifier_where_there_is_no_other():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"town": [f"Ort {chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(60)]})
    assert suggest_for_frame(frame).plan["columns"]["town"]["role"] == "quasi-identifier"


def test_two_columns_of_numbers_do_not_single_out_rows_together():
    polars = pytest.importorskip("polars")
    draw = random.Random(8)
    cells = {"age": [str(draw.randint(20, 80)) for _ in range(1500)]}
    for name in ("income", "savings"):
        cells[name] = [str(int(draw.lognormvariate(9, 1))) for _ in range(1500)]
    frame = polars.DataFrame(cells)
    release = sfumato.anonymize(frame, suggest_for_frame(frame).plan)
    pairs = Counter(zip(release.data["income"], release.data["savings"], strict=True))
    assert sum(rows == 1 for rows in pairs.values()) < 0.1 * len(release.data)


def test_a_survey_has_its_weights_and_households_recognized() -> None:
    random = np.random.default_rng(3)
    rows = pl.DataFrame(
        {
            "hhid": [f"{row // 3:05d}" for row in range(600)],
            "pweight": random.uniform(1, 90, 600).round(2).astype(str).tolist(),
            "designweight": random.uniform(0.2, 3, 600).round(2).astype(str).tolist(),
            "sex": random.choice(["m", "f"], 600).tolist(),
            "income": np.exp(random.normal(7, 1.2, 600)).round(0).astype(int).astype(str).tolist(),
        }
    )
    suggestion = suggest_for_frame(rows)
    columns = suggestion.plan["columns"]
    assert columns["hhid"] == {"role": "household"}
    assert columns["pweight"] == {"role": "weight", "publish": "removed"}
    assert columns["designweight"]["role"] == "identifier"  # some rows would stand for less than a person
    assert columns["income"]["role"] == "sensitive" and "publish" in columns["income"]
    release = anonymize(rows, suggestion.plan)
    assert set(release.data["hhid"]) == set(release.data["pweight"]) == {"*"}
    assert release.report.risk["sample"]["after"]["households"]["highest"] < 1


KEYS = np.arange(300).repeat(2)
SHARED_WEIGHTS, OWN_WEIGHTS = np.linspace(20, 90, 300).repeat(2).round(1), np.linspace(48, 99, 600).round(1)
SURVEYS = {
    "keys of households": ({"haushalt": KEYS}, {"haushalt": "household"}),
    "kinds of households": ({"haushalt": ["allein", "paar", "kinder"] * 200}, {"haushalt": "quasi-identifier"}),
    "weights beside households": (
        {"household": KEYS, "weight": OWN_WEIGHTS},
        {"household": "household", "weight": "weight"},
    ),
    "bodies beside households": (
        {"hhid": KEYS, "gewicht": OWN_WEIGHTS, "größe": OWN_WEIGHTS[::-1] + 100},
        {"gewicht": "quasi-identifier", "größe": "quasi-identifier"},
    ),
    "weights of households beside heights": (
        {"haushalt": KEYS, "gewicht": SHARED_WEIGHTS, "groesse": OWN_WEIGHTS[::-1] + 100},
        {"gewicht": "weight", "groesse": "quasi-identifier"},
    ),
    "bodies without households": ({"weight": OWN_WEIGHTS}, {"weight": "quasi-identifier"}),
    "ages": ({"jahre": np.arange(600) % 70 + 18}, {"jahre": "quasi-identifier"}),
}


@pytest.mark.parametrize(("columns", "roles"), SURVEYS.values(), ids=SURVEYS)
def test_words_of_surveys_are_understood_by_what_stands_beside_them(columns, roles) -> None:
    rows = {name: [str(value) for value in values] for name, values in columns.items()}
    proposed = suggest_for_frame(pl.DataFrame({"sex": ["m", "f", "f"] * 200, **rows})).plan["columns"]
    assert {name: proposed[name]["role"] for name in roles} == roles


def test_one_row_is_not_released(tmp_path):
    (tmp_path / "one.csv").write_text("Name,Alter,Diagnose\nAnna Schmidt,34,Asthma\n", encoding="utf-8")
    with pytest.raises(UnattainableError):
        anonymize(tmp_path / "one.csv", suggest_for_file(tmp_path / "one.csv").plan)


def test_spellings_are_warned_about():
    frame = pl.DataFrame({"age": [20 + place % 9 for place in range(90)], "smoker": ["yes", "no", "No "] * 30})
    assert "1 of its values is likely another spelling" in suggest_for_frame(frame).reasons["smoker"]


def lines(header: str, rows: list[tuple[object, ...]]) -> str:
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


def nested(coarse: str, fine: str, rows: int = 900) -> pl.DataFrame:
    """Rows of keys of which each of the finer belongs to one of the coarser, with a few typing errors in cases."""
    draw = random.Random(3)
    keys = [draw.randrange(300) for _ in range(rows)]
    return pl.DataFrame(
        {
            fine: [("LB{:05d}", "lb-{:05d}", "LB {:05d}")[place % 3].format(key) for place, key in enumerate(keys)],
            coarse: [f"{70000 + key // 2}" for key in keys],
            "age": [str(20 + key % 50) for key in keys],
        }
    )


@pytest.mark.parametrize(
    ("coarse", "fine"), [("policy_no", "plate"), ("MRN", "episode_id"), ("Vertragsnummer", "Kennzeichen")]
)
def test_of_nested_keys_the_coarser_names_the_persons(coarse, fine):
    suggestion = suggest_for_frame(nested(coarse, fine))
    roles = {name: entry["role"] for name, entry in suggestion.plan["columns"].items()}
    assert (roles[coarse], roles[fine]) == ("person", "identifier"), suggestion.reasons
    assert f'"{fine}"' in suggestion.reasons[coarse] and f'"{coarse}"' in suggestion.reasons[fine]


def test_a_key_that_speaks_of_persons_names_them_though_a_coarser_one_does_not():
    roles = {
        name: entry["role"]
        for name, entry in suggest_for_frame(nested("policy_no", "driver_id")).plan["columns"].items()
    }
    assert (roles["policy_no"], roles["driver_id"]) == ("identifier", "person")


def test_noisy_keys_are_counted_as_they_are_compared():
    suggestion = suggest_for_frame(nested("age_2", "Mitgliedsnummer"))
    assert suggestion.plan["columns"]["Mitgliedsnummer"]["role"] == "person"
    assert "3.2 rows each" in suggestion.reasons["Mitgliedsnummer"]


def test_names_that_repeat_without_a_key_are_warned_about(tmp_path, sfumato):
    draw = random.Random(5)
    who = [
        (draw.choice(messy_files.GIVEN_DE), draw.choice(messy_files.SURNAMES_DE), draw.randint(1, 28))
        for _ in range(300)
    ]
    rows = [(a, b, f"{day:02d}.03.{1940 + place % 60}", draw.choice("mw"), draw.choice("abc"))
            for place, (a, b, day) in enumerate(who) for _ in range(3)]  # fmt: skip
    path = tmp_path / "visits.csv"
    path.write_text(lines("Vorname,Nachname,geb. am,Geschlecht,Diagnose", rows), encoding="utf-8")
    run = sfumato("suggest", str(path), "--out", str(tmp_path / "plan.yaml"))
    assert "cannot be distinguished" in run.err and "role: person" in run.err
    text = (tmp_path / "plan.yaml").read_text(encoding="utf-8")
    assert text.startswith("# Rows of one person cannot be distinguished")
    released = sfumato("anonymize", str(tmp_path / "plan.yaml"), "--out", str(tmp_path / "out"))
    assert "cannot be distinguished" in released.out + released.err
    assert "cannot be distinguished" in str(suggest(path))
    once = [row for place, row in enumerate(rows) if place % 3 == 0]
    path.write_text(lines("Vorname,Nachname,geb. am,Geschlecht,Diagnose", once), encoding="utf-8")
    assert not suggest_for_file(path).notes


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16"])
def test_a_file_that_is_no_utf8_is_read_and_said(tmp_path, encoding, sfumato):
    path = tmp_path / "rows.csv"
    rows = [(20 + place % 40, ("Köln", "Jülich", "Bad Sülze")[place % 3]) for place in range(90)]
    path.write_bytes(lines("Alter,Größe des Orts", rows).encode(encoding))
    run = sfumato("suggest", str(path), "--out", str(tmp_path / "plan.yaml"))
    assert run.code == 0 and "not UTF-8" in run.err
    plan = yaml.safe_load((tmp_path / "plan.yaml").read_text(encoding="utf-8"))
    assert "Größe des Orts" in plan["columns"]
    assert plan["data"]["encoding"] == ("utf-16" if encoding == "utf-16" else "cp1252")
    assert sfumato("anonymize", str(tmp_path / "plan.yaml"), "--out", str(tmp_path / "out")).code == 0


@pytest.mark.parametrize(
    ("encoding", "header", "sexes"),
    [
        ("cp1250", "wiek;płeć;źródło", ("mężczyzna", "kobieta (żona)")),
        ("iso8859-2", "wiek;płeć;źródło", ("mężczyzna", "kobieta (żona)")),
        ("cp1250", "věk;pohlaví;město", ("muž", "žena")),
        ("cp1251", "возраст;пол;город", ("мужской", "женский")),
        ("cp1253", "ηλικία;φύλο;πόλη", ("άνδρας", "γυναίκα")),
        ("cp1252", "edad;sexo;año", ("varón nº1", "mujer ¿señora?")),
        ("cp1254", "yaş;cinsiyet;doğum yeri", ("kadın", "erkek")),
        ("cp1250", "kor;nem;időpont", ("nő", "férfi")),
        ("cp1252", "aldur;kyn;bær í sveit", ("karlmaður", "kona úr Reykjavík")),
        ("cp1252", "idade;sexo;região", ("homem de Camões", "mulher (informações)")),
        ("cp1252", "vanus;sugu;sünniaeg", ("mees, Võru", "naine, Põlva")),
    ],
)
def test_a_file_of_another_code_page_is_told_by_its_letters(tmp_path, encoding, header, sexes):
    """Polish was read as Western European: the release had P³eæ above its column, and words for sex were no words."""
    rows = [f"{20 + place % 50};{sexes[place % 2]};{header.split(';')[2]}" for place in range(120)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([header, *rows]), encoding=encoding)
    suggestion = suggest_for_file(path)
    assert suggestion.plan["data"]["encoding"] == encoding
    assert [*suggestion.plan["columns"]] == header.split(";")
    assert sfumato.anonymize(path, suggestion.plan).report.rows == len(rows)


def test_a_damaged_utf8_file_is_not_read_as_something_else(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"Alter,Ort\n" + "30,Köln\n".encode() * 20 + b"31,K\xf6ln\n")
    with pytest.raises(DataError, check=coded("data.encoding.wrong_encoding 22:5")) as caught:
        suggest_for_file(path)
    assert "--encoding cp1252" in caught.value.hint


def test_quoted_decimal_commas_are_numbers_without_a_header_too(tmp_path):
    path = tmp_path / "rows.csv"
    lines = (f'{"mw"[place % 2]},"{place % 40 + 20},{place % 10}",{place % 50 + 20}' for place in range(200))
    path.write_text("\n".join(lines), encoding="utf-8")
    assert suggest_for_file(path, header=False).plan["data"]["decimal"] == ","


def test_quoted_decimal_commas_are_numbers_and_commas_of_thousands_stay(tmp_path):
    path = tmp_path / "rows.csv"
    rows = [(f'"{place},{place % 100:02d}"', 20 + place % 40) for place in range(1, 200)]
    path.write_text(lines("Gehalt,Alter", rows), encoding="utf-8")
    plan = suggest_for_file(path).plan
    assert plan["data"]["decimal"] == "," and plan["columns"]["Gehalt"]["role"] == "sensitive"
    assert anonymize(path, plan | {"data": {"decimal": ","}}).report.satisfied
    rows = [(f'"{place},{place % 1000:03d}"', 20 + place % 40) for place in range(1, 200)]
    path.write_text(lines("Gehalt,Alter", rows), encoding="utf-8")
    assert "decimal" not in suggest_for_file(path).plan["data"]


@pytest.mark.parametrize(
    ("form", "decimal"),
    [
        ("£{0},{1:03d}", None),
        ("${0},{1:03d}", None),
        ("{0},{1:03d},500", None),
        ("{0},{1:03d}", ","),
        ("€ {0},{1:03d}", ","),
        ("£{0},{1:02d}", ","),
    ],
)
def test_thousands_of_pounds_are_no_fractions_where_fields_are_divided_otherwise(tmp_path, form, decimal):
    """£20,130 in a file with semicolons is not 20.13; a liter for 1,789 euros is."""
    path = tmp_path / "rows.csv"
    rows = [f"{form.format(place, place * 7 % 100)};{20 + place % 40}" for place in range(10, 200)]
    path.write_text("\n".join(["Salary;Age", *rows]), encoding="utf-8")
    plan = suggest_for_file(path).plan
    assert plan["data"].get("decimal") == decimal
    assert (plan["columns"]["Salary"]["publish"]["round"] >= 500) == (decimal is None)


@pytest.mark.parametrize("gap", [" ", "\u00a0", "\u202f"])
def test_decimal_commas_with_gaps_between_thousands_are_numbers(tmp_path, gap):
    """As French, Polish and Czech files have them: exact sums were published where most rows have no thousands."""
    sums = [17 * place % 90 + (2000 if place % 40 == 0 else 5) for place in range(300)]
    written = [f"{number:,}{place % 100 / 100:.2f}" for place, number in enumerate(sums)]
    texts = [f"{number.replace(',', gap)[:-4]},{number[-2:]}{gap}€" for number in written]
    lines = [f"{20 + place % 9};{text}" for place, text in enumerate(texts)]
    (tmp_path / "dons.csv").write_text("\n".join(["age;dernier_don", *lines]), encoding="utf-8")
    plan = suggest_for_file(tmp_path / "dons.csv").plan
    assert plan["data"]["decimal"] == ","
    assert {"role": "sensitive"}.items() < plan["columns"]["dernier_don"].items()
    assert "round" in plan["columns"]["dernier_don"]["publish"]


def test_what_the_shell_writes_elsewhere_finds_its_rows(tmp_path):
    (tmp_path / "plans").mkdir()
    (tmp_path / "rows.csv").write_text(messy_files.SURVEY.text(60), encoding="utf-8")
    command = f"{sys.executable} -m sfumato suggest rows.csv > plans/plan.yaml"
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    plan = yaml.safe_load((tmp_path / "plans" / "plan.yaml").read_text(encoding="utf-8"))
    assert plan["data"]["source"] == "../rows.csv"


@pytest.mark.parametrize("method", ["mondrian", "local", "optimal"])
def test_the_proposed_method_can_be_changed_by_hand(method):
    frame = frame_of(messy_files.FILES[0], 300)
    plan = suggest_for_frame(frame).plan
    plan["method"]["name"] = method
    assert sfumato.anonymize(frame, plan).report.method == method


def test_columns_that_nobody_can_place_are_kept_beside_known_ones():
    draw = random.Random(2)
    known = {"age": range(18, 90), "sex": "mf", "zip": range(10000, 10040), "job": "abcdef"}
    strange = {f"zz{place}": "pqrstu"[: place + 2] for place in range(3)}
    frame = pl.DataFrame(
        {name: [str(draw.choice(values)) for _ in range(1500)] for name, values in (known | strange).items()}
    )
    proposal = suggest_for_frame(frame)
    roles = {name: proposal.plan["columns"][name]["role"] for name in strange}
    assert roles["zz0"] == "sensitive" and {*roles.values()} <= {"sensitive", "undecided"}
    models = {entry["column"]: entry["model"] for entry in proposal.plan["privacy"] if "column" in entry}
    assert {*models.values()} <= {"alpha-k-anonymity"}
