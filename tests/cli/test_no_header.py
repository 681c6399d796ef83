"""A file without a header: its first row is a person, who must not be quoted by any command."""

import pytest
import yaml

from sfumato.errors import PlanError
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.risk import risk
from sfumato.pipelines.verify import verify

ROWS = "Greta Graf,34,70150\nAnna Abel,35,70151\nBert Bode,34,70150\nCara Christ,35,70151\n"
FIRST = ("Greta Graf", "34", "70150")
PLAN = {
    "version": 1,
    "data": {"source": "rows.csv"},
    "columns": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "zip": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 5}},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "good.csv").write_text("name,age,zip\n" + ROWS, encoding="utf-8")
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(PLAN), encoding="utf-8")
    return tmp_path


COMMANDS = {
    "anonymize": ("anonymize", "plan.yaml", "--out", "out"),
    "compare": ("compare", "plan.yaml", "--out", "out"),
    "risk by a plan": ("risk", "rows.csv", "--plan", "plan.yaml"),
    "risk by names": ("risk", "rows.csv", "--quasi-identifiers", "age,zip"),
    "verify by a plan": ("verify", "rows.csv", "--plan", "plan.yaml"),
    "verify by names": ("verify", "rows.csv", "--k", "2", "--quasi-identifiers", "age,zip"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_nobody_is_quoted(sfumato, folder, monkeypatch, name) -> None:
    monkeypatch.chdir(folder)
    ran = sfumato(*COMMANDS[name])
    assert ran.code == 2
    assert "has the file a header?" in ran.err
    assert not [value for value in FIRST if value in ran.err + ran.out]


def test_nobody_is_quoted_when_a_recoding_is_applied(sfumato, folder, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    assert sfumato("anonymize", "plan.yaml", "--data", "good.csv", "--out", "out").code == 0
    ran = sfumato("anonymize", "rows.csv", "--apply", "out/recoding.json", "--out", "new")
    assert (ran.code, "has the file a header?" in ran.err) == (2, True)
    assert "Greta" not in ran.err


def test_the_names_are_for_the_caller_of_the_library(folder) -> None:
    data = folder / "rows.csv"
    calls = (
        lambda: anonymize(data, PLAN),
        lambda: risk(data, ["age", "zip"]),
        lambda: verify(data, PLAN),
    )
    for call in calls:
        with pytest.raises(PlanError) as caught:
            call()
        assert caught.value.values == FIRST
        assert "Greta" not in str(caught.value)


def test_columns_are_quoted_where_one_of_them_is_known(sfumato, folder, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    ran = sfumato("risk", "good.csv", "--quasi-identifiers", "age,zipp")
    assert 'Did you mean "zip"?' in ran.err
    ran = sfumato("verify", "good.csv", "--k", "2", "--quasi-identifiers", "age,zipp")
    assert 'Did you mean "zip"?' in ran.err
