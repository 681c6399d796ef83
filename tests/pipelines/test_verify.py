"""Verification: published rows judged by themselves."""

import polars as pl
import pytest

import sfumato as sf
from sfumato.datasets import patients

ROWS = pl.DataFrame(
    {
        "age": ["30-39", "30-39", "40-49", "40-49", "*"],
        "zip": ["72***", "72***", "70***", "70***", "*"],
        "illness": ["flu", "asthma", "flu", "flu", "*"],
    }
)
QIS = ["age", "zip"]
PLAN = {
    "version": 1,
    "columns": {
        "age": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "zip": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "illness": {"role": "sensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2, "column": "illness"}],
    "output": {"order": "keep"},
}


@pytest.mark.parametrize(("k", "holds"), [(1, True), (2, True), (3, False)])
def test_k_anonymity_of_a_file(k, holds) -> None:
    verdict = sf.verify(ROWS, k=k, quasi_identifiers=QIS)
    assert verdict.satisfied is holds
    assert (verdict.classes, verdict.smallest, verdict.suppressed_rows, verdict.rows) == (2, 2, 1, 5)
    assert verdict.promises[0].achieved == 2


def test_every_promise_of_a_plan_is_judged() -> None:
    verdict = sf.verify(ROWS, PLAN)
    assert [(promise.model, promise.achieved, promise.satisfied) for promise in verdict.promises] == [
        ("k-anonymity", 2, True),
        ("l-diversity", 1, False),
    ]


def test_a_starred_row_that_shows_its_illness_breaks_the_promise() -> None:
    told = ROWS.with_columns(illness=pl.Series(["flu", "asthma", "flu", "asthma", "plague"]))
    assert not sf.verify(told, PLAN).satisfied
    veiled = told.with_columns(illness=pl.Series(["flu", "asthma", "flu", "asthma", "*"]))
    assert sf.verify(veiled, PLAN).satisfied


def test_a_file_of_stars_alone_is_one_class() -> None:
    stars = pl.DataFrame({"age": ["*"] * 3, "zip": ["*"] * 3})
    assert sf.verify(stars, k=3, quasi_identifiers=QIS).satisfied
    assert not sf.verify(stars, k=4, quasi_identifiers=QIS).satisfied


def test_a_row_with_a_missing_quasi_identifier_is_a_row() -> None:
    rows = pl.DataFrame({"age": ["1", "1", None], "zip": ["2", "2", "2"]})
    verdict = sf.verify(rows, k=2, quasi_identifiers=QIS)
    assert not verdict.satisfied
    assert (verdict.rows, verdict.smallest) == (3, 1)


def test_the_command_line_tells_by_its_exit_code(sfumato, tmp_path) -> None:
    ROWS.write_csv(tmp_path / "rows.csv")
    file = tmp_path / "rows.csv"
    assert sfumato("verify", file, "--k", 2, "--quasi-identifiers", "age,zip").code == 0
    ran = sfumato("verify", file, "--k", 3, "--quasi-identifiers", "age, zip")
    assert (ran.code, "DOES NOT HOLD" in ran.out) == (1, True)
    assert sfumato("verify", file, "--k", 3, "--quasi-identifiers", "age,plz").code == 2
    assert sfumato("verify", file).code == 2
    assert sfumato("verify", tmp_path / "none.csv", "--k", 2, "--quasi-identifiers", "age").code == 3


def test_a_tampered_release_is_caught(sfumato, tmp_path) -> None:
    patients().write(tmp_path / "rows.csv")
    sf.anonymize(tmp_path / "rows.csv", patients().plan("rows.csv", 5)).save(tmp_path / "out")
    assert sfumato("verify", tmp_path / "out").code == 0
    data = tmp_path / "out" / "data.csv"
    head, first, *rest = data.read_text(encoding="utf-8").splitlines()
    name, _, tail = first.partition(";")
    data.write_text("\n".join([head, f"Anna;{tail}", *rest]) + "\n", encoding="utf-8")
    ran = sfumato("verify", tmp_path / "out")
    assert (name, ran.code) == ("*", 1)
    assert "identifier removed of name" in ran.out


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        ({"model": "l-diversity", "variant": "recursive", "l": 2, "c": 2, "column": "d"}, {"variant", "c"}),
        ({"model": "delta-presence", "lower": 0.5, "upper": 0.5, "subset": {"column": "d", "value": "y"}}, {"lower"}),
        ({"model": "alpha-k-anonymity", "alpha": 1, "k": 1, "column": "d"}, {"k"}),
    ],
)
def test_parameters_that_equal_what_is_asked_are_told(model, parameters) -> None:
    from sfumato.microdata.plan.read import read_plan
    from sfumato.microdata.verdict import parameters_of

    columns = {"q": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "d": {"role": "sensitive"}}
    [read] = read_plan({"version": 1, "columns": columns, "privacy": [model], "output": {"order": "keep"}}).privacy
    assert set(parameters_of(read)) == parameters


@pytest.mark.parametrize(
    "distance",
    [
        {"distance": "ordered"},
        {"distance": "ordered", "order": ["1", "2", "3", "4"]},
        {"distance": "hierarchical", "hierarchy": {"type": "any"}},
    ],
)
def test_the_veil_is_no_value_of_the_column(distance) -> None:
    rows = pl.DataFrame({"zip": list("aaaabbbbc"), "income": list("123412341")})
    zips = {"role": "quasi-identifier", "hierarchy": {"type": "any"}, "max_level": 0}
    plan = {
        "version": 1,
        "columns": {"zip": zips, "income": {"role": "sensitive"}},
        "privacy": [{"model": "t-closeness", "t": 0.3, "column": "income", **distance}],
        "method": {"name": "optimal", "suppression": 0.2},
        "output": {"suppressed": "star", "order": "keep"},
    }
    release = sf.anonymize(rows, plan)
    assert release.data.rows()[-1] == ("*", "*")
    assert release.report.models[0].satisfied
