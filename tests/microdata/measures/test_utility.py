"""Utility: measures worked by hand, and that doing nothing loses nothing."""

import numpy as np
import polars as pl
import pytest

from sfumato.errors import PlanError
from sfumato.microdata.measures.association import correlation, cramers_v
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.risk import risk

FRAME = pl.DataFrame(
    {
        "age": ["20", "21", "22", "23", "20", "21", "22", "23"] * 2,
        "sex": ["m", "m", "f", "f", "m", "m", "f", "f"] * 2,
        "ill": ["flu", "flu", "cold", "cold", "flu", "cold", "cold", "flu"] * 2,
    }
)


def plan(k=1, min_level=0, **more):
    return {
        "version": 1,
        "columns": {
            "age": {
                "role": "quasi-identifier",
                "type": "integer",
                "hierarchy": {"type": "intervals", "start": 20, "end": 23, "widths": [2]},
                "min_level": min_level,
            },
            "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "ill": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": k}],
        "output": {"order": "keep"} | more.pop("output", {}),
        **more,
    }


def test_a_release_that_changes_nothing_loses_nothing():
    found = anonymize(FRAME, plan()).report.utility
    assert found["losses"]["loss-metric"]["value"] == 0
    assert found["distributions"] == {
        "age": {"total_variation": 0.0, "earth_mover": 0.0},
        "sex": {"total_variation": 0.0, "earth_mover": None},
    }
    assert found["association"]["mean_drift"] == 0
    assert found["range_counts"]["mean_error"] == 0


def test_an_even_distribution_survives_even_intervals():
    found = anonymize(FRAME, plan(min_level=1)).report.utility
    assert found["distributions"]["age"] == {"total_variation": 0.0, "earth_mover": 0.0}
    assert found["losses"]["loss-metric"]["per_column"] == {"age": pytest.approx(1 / 3), "sex": 0.0}


def test_the_distance_of_an_uneven_distribution():
    # Ages 20 (six times) and 21 (twice) become 20-21: a reader guesses four of each; 22 and 23 stay as they are.
    rows = pl.DataFrame(
        {"age": ["20"] * 6 + ["21"] * 2 + ["22"] * 4 + ["23"] * 4, "sex": ["m"] * 16, "ill": ["flu"] * 16}
    )
    found = anonymize(rows, plan(min_level=1)).report.utility["distributions"]["age"]
    assert found["total_variation"] == pytest.approx(2 / 16)
    # Two of sixteen rows move by one of a range of three years.
    assert found["earth_mover"] == pytest.approx(2 / 16 / 3)


def test_association_is_lost_with_the_column():
    dropped = plan(k=16)
    report = anonymize(FRAME, dropped).report
    pair = report.utility["association_pairs"][0]
    assert (pair["first"], pair["second"]) == ("age", "sex")
    assert pair["cramers_v_before"] == pytest.approx(1)
    assert pair["cramers_v"] == 0
    assert report.utility["association"]["largest_drift"] == pytest.approx(1)


def test_cramers_v_worked_by_hand():
    # The table 10 20 / 30 40, with chi-squared by its definition.
    one, two = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    rows = np.array([10, 20, 30, 40])
    expected = np.array([30 * 40, 30 * 60, 70 * 40, 70 * 60]) / 100
    chi = ((rows - expected) ** 2 / expected).sum()
    assert cramers_v(one, two, rows) == pytest.approx(np.sqrt(chi / 100))
    assert cramers_v(one * 10_000_000, two, rows) == pytest.approx(np.sqrt(chi / 100))


def test_correlation_is_pearsons():
    one, two = np.array([1.0, 2, 3, 4]), np.array([2.0, 1, 4, 3])
    rows = np.array([1, 2, 1, 3])
    expected = np.corrcoef(np.repeat(one, rows), np.repeat(two, rows))[0, 1]
    assert correlation(one, two, rows) == pytest.approx(expected)
    assert correlation(one, np.ones(4), rows) == 0


def test_range_counts_are_seeded():
    rows = FRAME.filter(~pl.col("age").is_in(["21"]) | (pl.col("ill") == "flu"))
    found = [anonymize(rows, plan(min_level=1, seed=seed)).report.utility["range_counts"] for seed in (1, 1, 2)]
    one, again, other = found
    assert one == again
    assert one["mean_error"] > 0 and one != other


def test_everything_suppressed_or_starred_is_still_measured():
    found = anonymize(FRAME, plan(k=16)).report
    assert found.utility["losses"]["loss-metric"]["value"] == pytest.approx(2)
    assert found.risk["after"]["classes"] == 1


def test_risk_before_and_after_with_what_forced_it():
    found = anonymize(FRAME, plan(k=8)).report.risk
    assert (found["before"]["classes"], found["after"]["classes"]) == (4, 2)
    assert found["after"]["highest"] == 1 / 8
    assert found["after"]["sizes"] == {"8": 2}
    assert sum(entry["rows"] > 0 for entry in found["forcing"].values()) >= 1
    assert found["contribution"]["without"] == {"age": 0, "sex": 0}


WITH_MISSING = pl.DataFrame({"q": ["a", "a", None, "b", "b"], "z": ["1", "1", "?", "2", None]})


def matching(method: dict, k: int = 2) -> dict:
    any_value = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    return {
        "version": 1,
        "data": {"missing": ["?"], "on_missing": "any"},
        "columns": {"q": any_value, "z": any_value},
        "privacy": [{"model": "k-anonymity", "k": k}],
        "method": method,
        "output": {"order": "keep"},
    }


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("method", [{"name": "optimal"}, {"name": "optimal", "suppression": 0.4}, {"name": "local"}])
def test_risk_where_a_missing_value_matches_anything_is_that_of_the_published_rows(method, k):
    release = anonymize(WITH_MISSING, matching(method, k))
    for name, rows in (("before", WITH_MISSING), ("after", release.data)):
        expected = risk(rows, ["q", "z"], missing=["?"], on_missing="any")
        for told, figures in (
            (release.report.risk[name], expected.figures),
            (release.report.risk["matching"][name], expected.matching),
        ):
            assert (told["highest"], told["average"]) == (figures.highest, figures.average)
            assert (told["rows_above"], told["uniques"]) == (figures.rows_above, figures.uniques)
        assert release.report.risk[name]["highest"] >= release.report.risk["matching"][name]["highest"]
    assert release.report.risk["matching"]["after"]["highest"] == 1 / release.report.models[0].achieved
    assert any("missing value as a value of its own" in remark for remark in release.report.notes)


def test_a_class_recoding_is_measured_too():
    release = anonymize(FRAME, plan(k=4) | {"method": {"name": "mondrian"}})
    losses = release.report.utility["losses"]
    assert losses["loss-metric"]["value"] == pytest.approx(release.report.loss.value)
    assert losses["discernibility"]["value"] == sum(size**2 for size in release.recoding.sizes)


def test_classification_predicts_on_raw_rows():
    pytest.importorskip("sklearn")
    rows = pl.DataFrame({"age": [str(20 + row % 4) for row in range(400)], "sex": ["m", "f"] * 200})
    rows = rows.with_columns(
        ill=pl.when(pl.col("age").is_in(["20", "21"])).then(pl.lit("flu")).otherwise(pl.lit("cold"))
    )
    found = anonymize(rows, plan(min_level=1) | {"utility": {"target": "ill"}}).report.utility["classification"]
    # Intervals of two years keep exactly what illness depends on.
    assert (found["raw"], found["release"]) == (1.0, 1.0)
    assert 0.4 < found["majority"] < 0.65
    lost = anonymize(rows, plan(k=400) | {"utility": {"target": "ill"}}).report.utility["classification"]
    assert lost["raw"] == 1.0 and lost["release"] < 0.65


def test_a_target_that_is_not_published_is_refused():
    with pytest.raises(PlanError, match="must be published as it is"):
        anonymize(FRAME, plan() | {"utility": {"target": "age"}})
    with pytest.raises(PlanError, match='Did you mean "ill"'):
        anonymize(FRAME, plan() | {"utility": {"target": "il"}})
