"""Labels and means that show exact values of few persons are warned of, whichever method made them."""

import random

import polars as pl
import pytest

import sfumato as sf
from sfumato.report.release.report import text

pytestmark = pytest.mark.usefixtures("no_remedies")

ROWS, K = 120, 5
FIXED = {"type": "intervals", "start": 0, "end": 500_000, "widths": [1000, 5000, 500_000]}


def rows(extreme: int = 9_000) -> pl.DataFrame:
    draw = random.Random(3)
    incomes = [1000 + int(9000 * draw.random() ** 3) for _ in range(ROWS)]
    incomes[5] = extreme
    return pl.DataFrame(
        {
            "place": [f"{72000 + draw.randrange(60)}" for _ in range(ROWS)],
            "income": incomes,
            "sex": [draw.choice("mf") for _ in range(ROWS)],
        }
    )


def plan(method: dict[str, object], privacy: dict[str, object] | None = None, **columns: object) -> dict[str, object]:
    known = {
        "place": {"role": "quasi-identifier"},
        "income": {"role": "quasi-identifier", "type": "integer"},
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
    }
    asked = privacy or {"model": "k-anonymity", "k": K}
    return {"version": 1, "columns": known | columns, "privacy": [asked], "method": method}


def found(release: sf.Release) -> dict[str, int]:
    entries = release.report.details.get("rare_values", ())
    return {entry["column"]: entry.get("labels") or entry["means"] for entry in entries}


def truly_named(release: sf.Release, raw: pl.DataFrame, column: str) -> int:
    """The labels of a column that show an exact value of fewer than k rows, computed another way."""
    counts = {str(value): number for value, number in raw[column].value_counts().iter_rows()}
    labels = {label for label in release.data[column] if label is not None}
    parts = {label: label.strip("[]{}").replace("–", ", ").replace("-", ", ").split(", ") for label in labels}
    return sum(any(0 < counts.get(part, 0) < K for part in each) for each in parts.values())


@pytest.mark.parametrize(
    "method", [{"name": "mondrian"}, {"name": "mondrian", "bounds": "own"}, {"name": "k-optimize"}], ids=str
)
def test_sets_and_intervals_with_values_of_few_rows_are_counted(method) -> None:
    raw = rows()
    release = sf.anonymize(raw, plan(method))
    for column in ("place", "income"):
        assert found(release).get(column, 0) == truly_named(release, raw, column)
    assert found(release)
    assert "EXACT" in text(release.report)


def test_a_hierarchy_names_nobody() -> None:
    fixed = {
        "place": {"role": "quasi-identifier", "hierarchy": {"type": "digits"}},
        "income": {"role": "quasi-identifier", "type": "integer", "hierarchy": FIXED},
    }
    assert not found(sf.anonymize(rows(), plan({"name": "local"}, **fixed)))


def test_suppressed_cells_leave_exact_values_of_single_rows() -> None:
    whole = {name: {"role": "quasi-identifier", "hierarchy": {"type": "any"}} for name in ("place", "income")}
    risk = {"model": "individual-risk", "threshold": 0.9}
    raw = rows().with_columns(weight=pl.lit(40))
    release = sf.anonymize(raw, plan({"name": "local-suppression"}, risk, weight={"role": "weight"}, **whole))
    assert found(release)["income"] == raw["income"].value_counts().filter(pl.col("count") == 1).height


@pytest.mark.parametrize("role", ["quasi-identifier", "insensitive"])
def test_means_that_reveal_an_extreme_value_are_counted(role) -> None:
    """The mean of a group with one of 400,000 among incomes of thousands says which it is, nearly."""
    method = {"name": "microaggregation"} if role == "quasi-identifier" else {"name": "mondrian"}
    column = {"role": role, "type": "integer", "publish": {"microaggregate": K}}
    place = (
        {"role": "insensitive"}
        if role == "quasi-identifier"
        else {"role": "quasi-identifier", "hierarchy": {"type": "digits"}}
    )
    used = {"income": column, "place": place}
    if role == "quasi-identifier":
        used["sex"] = {"role": "insensitive"}
    assert found(sf.anonymize(rows(400_000), plan(method, **used)))["income"] == 1
    assert "income" not in found(sf.anonymize(rows(), plan(method, **used)))


def test_the_report_to_hand_out_says_so_without_numbers(tmp_path) -> None:
    folder = sf.anonymize(rows(), plan({"name": "mondrian", "bounds": "own"})).save(tmp_path / "release")
    outside = (folder / "report-external.json").read_text()
    assert "some published labels contain exact values that few persons have" in outside
    assert '"rare_values"' in (folder / "report.json").read_text()


def test_persons_are_counted_not_their_rows() -> None:
    """Six rows of one person name one person's income."""
    raw = pl.concat(
        [
            rows().with_columns(who=pl.int_range(ROWS, dtype=pl.Int32)),
            *[rows()[7:8].with_columns(who=pl.lit(7, pl.Int32))] * 6,
        ]
    )
    release = sf.anonymize(raw, plan({"name": "mondrian", "bounds": "own"}, who={"role": "person"}))
    once = raw.unique(["who", "income"])
    assert found(release)["income"] == truly_named(release, once, "income")
