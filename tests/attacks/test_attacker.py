"""The program that attacks releases sees what it looks for: faults planted in sound files are found by its judges."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "attack"))
from draw_rows import as_csv
from draw_tables import Dimension, TableCase, filled
from findings import Outcome, lines
from judge_rows import Published, judge_chain, judge_rows
from judge_tables import Attacker, File, judge_tables

import models
from models import contains

PLAN = {
    "data": {},
    "columns": {
        "person": {"role": "identifier"},
        "age": {"role": "quasi-identifier"},
        "smoker": {"role": "quasi-identifier"},
        "illness": {"role": "sensitive"},
    },
    "privacy": [
        {"model": "k-anonymity", "k": 4},
        {"model": "l-diversity", "l": 2, "column": "illness", "variant": "distinct"},
    ],
    "method": {"name": "optimal"},
    "output": {"order": "keep", "suppressed": "star"},
}
RAW = [
    {
        "person": f"Qx{n:03d}",
        "age": str(20 + 20 * (n % 2) + n % 3),
        "smoker": "yes",
        "illness": ("flu", "gout")[n // 2 % 2],
    }
    for n in range(16)
]
SOUND = [{**row, "person": "*", "age": "20-39" if int(row["age"]) < 40 else "40-59"} for row in RAW]


def judged(folder, rows, plan=PLAN, raw=RAW, verified=0) -> dict[str, str]:
    folder.mkdir(exist_ok=True)
    (folder / "data.csv").write_text(as_csv(rows))
    own = [
        {"model": model["model"], "column": model.get("column"), "satisfied": True, "achieved": 2}
        for model in plan["privacy"]
    ]
    report = {"models": own, "rows": len(raw), "published_rows": len(raw), "suppressed_rows": 0, "dropped_rows": 0}
    (folder / "report.json").write_text(json.dumps(report))
    outcome = Outcome("rows", 0)
    judge_rows(outcome, Published(folder, raw, plan), verified)
    return outcome.refuted


def changed(rows, place, **values):
    return [{**row, **(values if at == place else {})} for at, row in enumerate(rows)]


def test_a_sound_release_is_not_refuted(tmp_path) -> None:
    assert judged(tmp_path, SOUND) == {}


FAULTS = {
    "a class below k": ("model k-anonymity", changed(SOUND, 0, smoker="*")),
    "a class of one illness": ("model l-diversity", [{**row, "illness": "flu"} for row in SOUND]),
    "a label that is not true": ("labels are true", changed(SOUND, 0, age="40-59")),
    "an identifier": ("no identifier", changed(SOUND, 3, person="Qx003")),
    "a second spelling": ("one spelling (promised)", changed(SOUND, 0, illness="flu ")),
    "a lost row": ("published rows", SOUND[:-1]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(tmp_path, fault) -> None:
    what, rows = FAULTS[fault]
    assert what in judged(tmp_path, rows)


def test_a_column_that_determines_a_quasi_identifier_is_read_back(tmp_path) -> None:
    raw = [
        {**row, "smoker": ("yes", "no")[n // 2 % 2], "illness": ("dark", "clear")[n // 2 % 2]}
        for n, row in enumerate(RAW * 6)
    ]
    rows = [{**row, "age": "20-39" if int(row["age"]) < 40 else "40-59"} for row in raw]
    plan = PLAN | {"privacy": PLAN["privacy"][:1]}
    assert judged(tmp_path, rows, plan, raw) == {"no identifier": "16 of them are in files to hand out"}
    # Of one class of eight, smokers and others, smoking is suppressed, and lungs are not: three of them smoke.
    few = [{**row, "age": "60-79", "smoker": "*"} for row in [row for row in rows if row["smoker"] == "no"][:5]]
    few += [{**row, "age": "60-79", "smoker": "*"} for row in [row for row in rows if row["smoker"] == "yes"][:3]]
    of_few = [{**row, "age": "61", "smoker": "no" if row["illness"] == "clear" else "yes"} for row in few]
    assert "columns read back" in judged(tmp_path, rows + few, plan, raw + of_few)
    assert "columns read back" not in judged(tmp_path, rows + few, plan, raw + of_few, verified=1)


def test_persons_are_the_unit(tmp_path) -> None:
    """Eight rows of two persons are a class of two; a value that all persons have is had by a share of one."""
    columns = PLAN["columns"] | {"person": {"role": "person"}}
    alpha = {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 2, "column": "illness"}
    plan = PLAN | {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}, alpha]}
    raw = [{**row, "person": f"Qx{n // 8 * 2 + n % 2}"} for n, row in enumerate(RAW)]
    found = judged(tmp_path, SOUND, plan, raw)
    assert "is not kept: 1 over persons" in found["model alpha-k-anonymity"]
    four = plan | {"privacy": [{"model": "k-anonymity", "k": 4}]}
    assert "is not kept: 2 over persons" in judged(tmp_path, SOUND, four, raw)["model k-anonymity"]


def test_somebody_who_moved_alone_is_found_in_a_chain(tmp_path) -> None:
    columns = PLAN["columns"] | {"person": {"role": "person"}}
    plan, chain = PLAN | {"columns": columns}, []
    for name, rows in (("one", SOUND), ("two", changed(SOUND, 0, age="40-59"))):
        judged(tmp_path / name, rows, plan)
        chain.append(Published(tmp_path / name, RAW, plan))
    outcome = Outcome("rows", 0)
    judge_chain(outcome, chain)
    assert "one by 1" in outcome.refuted["chain of releases"]
    judge_chain(sound := Outcome("rows", 0), [chain[0], chain[0]])
    assert not sound.refuted


def test_shapes_of_pseudonyms(tmp_path) -> None:
    columns = PLAN["columns"] | {"person": {"role": "identifier", "publish": {"pseudonym": "keyed"}}}
    rows = [{**row, "person": "k" * (20 if n else 36) + str(n % 10)} for n, row in enumerate(SOUND)]
    assert "shapes of pseudonyms" in judged(tmp_path, rows, PLAN | {"columns": columns})


LABELS = [
    ("[-10–43]", "-3", True),
    ("[-10–43]", "44", False),
    ("[99999999990000000–100000000000000000]", "100000000000000003", False),
    ("100000000000000000..100000000000000007", "100000000000000007", True),
    ("[70, 80)", "80", False),
    ("<0", "-1", True),
    ("<0", "0", False),
    ("≤3", "3", True),
    (">89", "89", False),
    ("100*", "1001", True),
    ("100*", "2001", False),
    ("{dark, red, green}", "dark, red", True),
    ("{blue, red}", "green", False),
    ("warm", "dark, red", True),
    ("cold", "red", False),
    ("*", "anything", True),
    ("7", "007", True),
    ("", "5", None),
]


@pytest.mark.parametrize(("label", "value", "held"), LABELS)
def test_labels(label, value, held) -> None:
    assert contains(label, value) is held


def test_definitions() -> None:
    flu, gout = frozenset(["flu"]), frozenset(["gout"])
    whole = [flu] * 5 + [gout] * 5
    assert models.diversity([flu, flu, gout, gout], "entropy", 2, 1) == pytest.approx(2)
    assert models.diversity([flu, flu, flu, gout], "recursive", 2, 3) == 1  # 3 is not less than 3 times 1
    assert models.distance([flu] * 4, whole, "equal") == pytest.approx(0.5)
    beta = {"model": "beta-likeness", "beta": 1, "variant": "basic"}
    assert models.of_class(beta, [flu, flu, flu, gout], whole) == (pytest.approx(0.5), True)
    assert models.of_class({"model": "delta-disclosure", "delta": 9}, [flu], whole) == (np.inf, False)
    # docs/models.md, and the false claim of k = 10^6 at 13.
    assert models.delta_of(1, 47) <= 1e-4 < models.delta_of(1, 46)
    assert models.delta_of(13, 10**6) == pytest.approx(0.104, abs=0.001)


def case_of(values, rules, kind="counts"):
    dimensions = [
        Dimension("A", dict.fromkeys(["A1", "A2"], "Total")),
        Dimension("B", dict.fromkeys(["B1", "B2"], "Total")),
    ]
    leaves = {(a, b): {f"p{a}{b}{n}": 1.0 for n in range(values[a, b])} for a in ("A1", "A2") for b in ("B1", "B2")}
    plan = {"primary": rules, "method": {"name": "optimal"}, "table": {}}
    return TableCase(0, kind, filled(dimensions, leaves), plan, {})


COUNTS = {("A1", "B1"): 2, ("A1", "B2"): 9, ("A2", "B1"): 9, ("A2", "B2"): 12}
FREQUENCY = [{"rule": "frequency", "min": 3}]


def attacked(case, hidden) -> dict[str, str]:
    table, outcome = case.table, Outcome("tables", 0)
    shown = {cell: table.value(cell) for cell in table.cells() if cell not in hidden}
    judge_tables(outcome, case, File(table, shown, dict.fromkeys(hidden, (0.0, np.inf))))
    return outcome.refuted


def test_tables_are_attacked() -> None:
    case, square = case_of(COUNTS, FREQUENCY), list(COUNTS)
    assert attacked(case, square) == {}
    assert "no exact cell, outsider" in attacked(case, [("A1", "B1"), ("A1", "B2")])
    assert "unsafe cells are suppressed" in attacked(case, [])
    single = case_of(COUNTS | {("A2", "B2"): 1}, FREQUENCY)
    assert "no exact cell, a person" in attacked(single, square)


def test_a_suppressed_count_is_at_least_one_where_zeros_are_shown() -> None:
    case = case_of({("A1", "B1"): 2, ("A1", "B2"): 1, ("A2", "B1"): 1, ("A2", "B2"): 0}, FREQUENCY)
    rest = [
        ("A1", "B1"),
        ("A1", "B2"),
        ("A1", "Total"),
        ("A2", "B1"),
        ("A2", "Total"),
        ("Total", "B1"),
        ("Total", "B2"),
    ]
    file = File(case.table, {("A2", "B2"): 0.0, ("Total", "Total"): 4.0}, dict.fromkeys(rest, (0.0, np.inf)))
    attacker = Attacker(file, counts=True)
    assert attacker.range(("A1", "B1")) == (1.0, 2.0)


def test_group_disclosure_in_tables_of_persons() -> None:
    case = case_of(COUNTS | {("A1", "B2"): 0}, FREQUENCY, "records")
    assert "group disclosure by default" in attacked(
        case, [("A1", "B1"), ("A1", "Total"), ("A2", "B1"), ("A2", "Total")]
    )


def test_what_is_printed_names_the_seed_of_what_is_refuted() -> None:
    outcome = Outcome("tables", 17)
    outcome.add("something", "why")
    outcome.add("else", None)
    assert "  --kind tables --seed 17: something: why" in lines([outcome])


def test_the_program_imports_nothing_of_what_it_attacks() -> None:
    folder = Path(__file__).resolve().parents[2] / "tools" / "attack"
    lines_ = [line for path in folder.glob("*.py") for line in path.read_text().splitlines()]
    # The one line that does stands in the program of the worker.
    assert [line for line in lines_ if "import" in line and "sfumato" in line] == ["from sfumato.cli.main import run"]
