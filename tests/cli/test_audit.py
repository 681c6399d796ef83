"""`sfumato audit` on tables that anyone published."""

import json

import pytest

from sfumato.cli.main import run

PLAN = """
version: 1
table: {value: Wert}
dimensions: {area: {levels: [Kreis, Quartier], total: 0}}
primary: [{rule: range, min: 1, max: 3}]
"""
ORIGINALS = {
    "own protector": "0,0,16,16,,\n1,0,6,0-4,0,4\n1,1,3,1–3,1,3\n1,2,3,1–3,1,3\n2,0,10,10,,\n2,1,10,10,,\n",
    "all ones": "0,0,3,1-3,1,3\n1,0,3,3-9,3,9\n1,1,1,1–3,1,3\n1,2,1,1–3,1,3\n1,3,1,1–3,1,3\n2,0,0,0,,\n2,1,0,0,,\n",
}
HIDDEN = """Kreis,Quartier,Wert,Wert_korr,Wert_min,Wert_max,Wert_fall
0,0,20,20,,,
1,0,1,1-3,1,3,A12
1,1,1,1–3,1,3,primär
2,0,19,17-19,17,19,A21
2,1,3,1–3,1,3,primär
2,2,16,14-16,14,16,C1
"""


@pytest.fixture
def audit(tmp_path):
    def call(text, *more):
        (tmp_path / "plan.yaml").write_text(PLAN)
        (tmp_path / "table.csv").write_text(text)
        return run(["audit", str(tmp_path / "table.csv"), "--plan", str(tmp_path / "plan.yaml"), *more])

    return call


@pytest.mark.parametrize("name", ORIGINALS)
def test_broken_examples_are_flagged(audit, capsys, name):
    assert audit("Kreis,Quartier,Wert,Wert_korr,Wert_min,Wert_max\n" + ORIGINALS[name], "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert not found["passed"]
    assert found["audit"]["exact"] >= 2
    assert all(
        cell["certificate"] for cell in found["cells"] if cell["verdict"] == "exact" and "Quartier" in cell["cell"]
    )


def test_range_of_hidden_values_is_flagged(audit, capsys):
    assert audit(HIDDEN) == 1
    assert "Quartier 1: exact, range 3-3" in capsys.readouterr().out


def test_masks_without_ranges(audit, capsys):
    assert audit("Kreis,Quartier,Wert\n0,0,19\n1,0,9\n1,1,*\n1,2,7\n2,0,10\n2,1,10\n") == 1
    assert "given away by" in capsys.readouterr().out
    assert audit("Kreis,Quartier,Wert\n0,0,19\n1,0,9\n1,1,*\n1,2,*\n2,0,10\n2,1,10\n", "--quiet") == 0
    assert capsys.readouterr().out == ""


def test_wrong_totals_and_wrong_use(audit, tmp_path):
    assert audit("Kreis,Quartier,Wert\n0,0,19\n1,0,9\n1,1,*\n1,2,*\n2,0,11\n2,1,11\n") == 3
    assert run(["audit", str(tmp_path / "table.csv")]) == 2


SIX = "Kreis,Quartier,{}\n0,0,19\n1,0,9\n1,1,{}\n1,2,{}\n2,0,10\n2,1,10\n"


def test_unsafe_cells_in_the_clear_exit_1(audit, capsys):
    assert audit(SIX.format("Wert", "2", "7")) == 1
    out = capsys.readouterr().out
    assert "0 masked cells attacked, 1 exactly recovered" in out
    assert "Quartier 1: exact, unsafe and published as it is" in out


def test_value_that_is_not_the_true_one_is_told(audit, capsys):
    rows = "0,0,24,25\n1,0,11,11\n1,1,11,11\n2,0,13,13\n2,1,13,13\n"
    assert audit("Kreis,Quartier,Wert,Wert_published\n" + rows) == 1
    assert "the grand total: what is published is false" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "about 2", "1;3", "?"])
def test_unreadable_cells_exit_3(audit, capsys, text):
    assert audit(SIX.format("Wert", f'"{text}"', "*")) == 3
    said = capsys.readouterr().err
    assert "line 4, column 3" in said and "data.unreadable-cell" in said


def test_thousands_are_numbers(audit):
    table = 'Kreis,Quartier,Wert\n0,0,"1,040"\n1,0,40\n1,1,*\n1,2,38\n2,0,1 000\n2,1,1000\n'
    assert audit(table) == 1


def test_contradictory_totals_exit_3(audit, capsys):
    assert audit("Kreis,Quartier,Wert\n0,0,19\n1,0,9\n1,1,*\n1,2,*\n2,0,*\n2,1,11\n") == 3
    assert "contradict one another" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("rule", ["frequency, min: 3", "zero", "p-percent, p: 10", "status, column: s"])
def test_every_rule_without_true_values(tmp_path, rule, capsys):
    (tmp_path / "plan.yaml").write_text(
        PLAN.replace("rule: range, min: 1, max: 3", f"rule: {rule}").replace(
            "{value: Wert}", "{value: Wert, contributions: [a, b]}" if "percent" in rule else "{value: Wert}"
        )
    )
    (tmp_path / "t.csv").write_text(SIX.format("Wert_published", "*", "7"))
    assert run(["audit", str(tmp_path / "t.csv"), "--plan", str(tmp_path / "plan.yaml")]) == 1
    assert ("Not judged" in capsys.readouterr().out) == (rule.startswith(("p-percent", "status")))
