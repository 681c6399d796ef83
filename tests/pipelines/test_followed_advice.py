"""Errors and notes that advise a change of the plan: following the advice works, without further errors."""

import polars as pl
import pytest

from sfumato.errors import PlanError, SfumatoError
from sfumato.pipelines.compare import compare
from sfumato.pipelines.release import anonymize

ROWS = 120
FRAME = pl.DataFrame(
    {
        "age": [20 + row % 8 for row in range(ROWS)],
        "born": [f"19{50 + row % 40}-0{1 + row % 9}-11" for row in range(ROWS)],
        "town": [("Ulm", "Jena", "Bonn")[row % 3] for row in range(ROWS)],
        "ill": [("flu", "gout", "cold", "angina")[row // 3 % 4] for row in range(ROWS)],
        "pay": [1000 + row * 7 for row in range(ROWS)],
    }
)
QUASI = {"role": "quasi-identifier"}
COLUMNS = {
    "age": QUASI | {"hierarchy": {"type": "any"}},
    "born": {"role": "identifier"},
    "town": {"role": "insensitive"},
    "ill": {"role": "sensitive"},
    "pay": {"role": "insensitive"},
}
DIFFERING = {"model": "l-diversity", "variant": "distinct", "l": 2, "column": "ill"}


def plan_of(method: str = "optimal", **columns: dict) -> dict:
    return {
        "version": 1,
        "columns": COLUMNS | columns,
        "privacy": [{"model": "k-anonymity", "k": 3}, DIFFERING],
        "method": {"name": method, "suppression": 0.1},
    }


@pytest.mark.parametrize("method", ["optimal", "auto", "local"])
@pytest.mark.parametrize("name", ["age", "born", "town", "pay"])
def test_a_quasi_identifier_needs_no_more_than_its_role(name: str, method: str) -> None:
    release = anonymize(FRAME, plan_of(method, **{name: QUASI}))
    assert release.plan.columns[name].hierarchy is not None
    assert release.report.satisfied and name not in release.report.removed_columns


def test_columns_are_compared_without_hierarchies_of_their_own() -> None:
    assert compare(FRAME, plan_of(born=QUASI), methods=["optimal"]).answers


def test_a_hierarchy_fits_all_values_or_is_none() -> None:
    """Among many dates are words: the column is kept whole or removed, and no row is refused."""
    years = ["unknown!" if row % 10 == 0 else f"19{50 + row % 4}" for row in range(ROWS)]
    mixed = FRAME.with_columns(pl.Series("born", years))
    assert anonymize(mixed, plan_of(born=QUASI)).report.satisfied


@pytest.mark.parametrize("role", ["identifier", "undecided"])
def test_a_column_is_removed_by_its_role_alone(role: str) -> None:
    """Although a privacy model names it: nothing of it is published."""
    report = anonymize(FRAME, plan_of(ill={"role": role})).report
    assert "ill" in report.removed_columns and [one.model for one in report.models] == ["k-anonymity"]
    assert any(getattr(note, "code", "") == "note.needless_models" for note in report.notes)


def test_a_plan_of_needless_models_alone_is_refused() -> None:
    plan = plan_of(ill={"role": "identifier"}) | {"privacy": [DIFFERING]}
    with pytest.raises(PlanError):
        anonymize(FRAME, plan)


def test_what_an_error_names_can_be_removed() -> None:
    textless = FRAME.with_columns(pl.Series("skills", [["a", "b"]] * ROWS))
    plan = plan_of(skills={"role": "insensitive"})
    with pytest.raises(SfumatoError) as refusal:
        anonymize(textless, plan)
    assert "role: identifier" in str(refusal.value.hint)
    assert anonymize(textless, plan_of(skills={"role": "identifier"})).report.satisfied
