"""Weights and households: known answers of the individual risk, as it is measured and as it is promised."""

import math

import numpy as np
import polars as pl
import pytest

from sfumato.errors import DataError, PlanError
from sfumato.microdata.counts.combinations import matching_rows
from sfumato.microdata.models.equivalence_classes import EquivalenceClasses, holding_weights
from sfumato.microdata.models.population_lists import KMap
from sfumato.microdata.models.re_identification_risk import GlobalRisk, IndividualRisk, expected_risks
from sfumato.microdata.models.uniqueness import PopulationUniqueness
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.risk import risk
from sfumato.pipelines.verify import verify

A = ["2", "3", "2", "2", "3", "3", "1", "2"]
B = ["3", "3", "3", "3", "3", "3", "4", "3"]
C = ["1", "3", "1", "2", "1", "1", "1", "1"]
WEIGHT = [18, 45.5, 39, 17, 92, 8, 123.5, 51]
ROWS = [3, 1, 3, 1, 2, 2, 1, 3]
PERSONS = [108, 45.5, 108, 17, 100, 100, 123.5, 108]
RISKS = [0.01355297, 0.08579129, 0.01355297, 0.17707583, 0.01877883, 0.01877883, 0.03931625, 0.01355297]


def frame(**more) -> pl.DataFrame:
    return pl.DataFrame({"a": A, "b": B, "c": C, "w": [str(weight) for weight in WEIGHT], **more})


def test_eight_rows_have_the_risks_of_the_literature() -> None:
    found = expected_risks(np.array(ROWS), np.array(PERSONS, float))
    assert found.round(8).tolist() == RISKS
    sample = risk(frame(), ["a", "b", "c"], weight="w").sample
    assert sample.persons == pytest.approx(394)
    assert sample.rows.highest == pytest.approx(RISKS[3], abs=5e-9)
    assert sample.rows.expected == pytest.approx(sum(RISKS), abs=5e-8)
    assert sample.matching is None


def test_missing_values_that_match_raise_rows_and_persons() -> None:
    codes = np.column_stack([np.array(column, np.int32) for column in (A, B, C)])
    unknown = np.zeros(codes.shape, bool)
    unknown[[2, 6], 2] = True
    one = np.ones(8, np.int64)
    assert matching_rows(codes, unknown, one).tolist() == [3, 1, 4, 2, 2, 2, 1, 3]
    weights = np.array([2 * weight for weight in WEIGHT]).astype(np.int64)
    assert (matching_rows(codes, unknown, weights) / 2).tolist() == [108, 45.5, 125, 56, 100, 100, 123.5, 108]
    rows = frame().with_columns(c=pl.Series([None if place in (2, 6) else text for place, text in enumerate(C)]))
    sample = risk(rows, ["a", "b", "c"], weight="w").sample
    assert sample.matching.expected < sample.rows.expected


@pytest.mark.parametrize(("rows", "persons"), [(1, 1.5), (2, 300.0), (3, 3.1), (40, 1e6), (41, 1e6), (5_000, 5_001.0)])
def test_the_risk_is_its_integral_for_any_class(rows, persons) -> None:
    share = rows / persons
    # Substituting u = v^4 tames the peak near 0; Gauss's rule has most of its nodes at both ends.
    nodes, weights = np.polynomial.legendre.leggauss(400)
    v = (nodes + 1) / 2
    u = v**4
    integral = float(weights @ (4 * v**3 * u ** (rows - 1) * share / (share + (1 - share) * u))) / 2
    assert expected_risks(np.array([rows]), np.array([persons]))[0] == pytest.approx(integral, rel=1e-7)
    assert expected_risks(np.array([rows]), np.array([float(rows)]))[0] == 1 / rows


def test_a_class_only_gets_safer_when_rows_are_merged_into_it() -> None:
    """What the searches rely on: both monotonicities, on a grid of classes."""
    sizes = np.array([1, 2, 3, 5, 10, 41, 200])
    factors = np.array([1.0, 1.01, 1.5, 3.0, 40.0, 1e4])
    rows, persons = (part.ravel() for part in np.meshgrid(sizes, factors))
    persons = rows * persons
    alone = expected_risks(rows, persons)
    for size, factor in ((1, 1.0), (1, 1e6), (3, 2.0), (50, 1.0)):
        assert (expected_risks(rows + size, persons + size * factor) <= alone * (1 + 1e-12)).all()


def test_households_share_the_risk_of_their_members() -> None:
    rows = frame(h=["1", "1", "2", "2", "2", "3", None, None])
    sample = risk(rows, ["a", "b", "c"], weight="w", household="h").sample
    one = 1 - (1 - RISKS[0]) * (1 - RISKS[1])
    two = 1 - (1 - RISKS[2]) * (1 - RISKS[3]) * (1 - RISKS[4])
    expected = 2 * one + 3 * two + RISKS[5] + RISKS[6] + RISKS[7]
    assert sample.households.highest == pytest.approx(two, abs=1e-7)
    assert sample.households.expected == pytest.approx(expected, abs=1e-7)
    assert sample.households.average == pytest.approx(expected / 8, abs=1e-7)


@pytest.mark.parametrize("weights", [["0"] * 8, ["x"] * 8, [None] * 8, ["-1"] * 8, ["0.5"] * 8])
def test_wrong_weights_are_refused(weights) -> None:
    with pytest.raises(DataError, match="weight"):
        risk(frame().with_columns(w=pl.Series(weights)), ["a", "b", "c"], weight="w")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (["51,7"], "1 row has a weight with a comma"),
        (["inf", "1e300"], "2 rows have an infinite weight, or one of more persons"),
        (["x", "7 kg"], "2 rows have a text that is no number"),
        (["-3"], "1 row has a negative weight"),
        (["nan", "NaN"], "2 rows have NaN"),
        ([None], "1 row has no weight"),
        (["0", "0.0", *["0"] * 6], "8 rows have the weight 0"),
        (["-3", "x", "0", "0"], "1 row has a text that is no number as weight; 1 row has a negative weight"),
    ],
)
def test_what_is_wrong_with_weights_is_said_with_rows_and_no_values(weights, message) -> None:
    with pytest.raises(DataError) as error:
        risk(frame().with_columns(w=pl.Series([*weights, *["20"] * (8 - len(weights))])), ["a", "b", "c"], weight="w")
    assert message in error.value.message
    assert not any(text in error.value.message + error.value.hint for text in ("51,7", "1e300", "7 kg", "-3"))


def test_a_sampling_fraction_is_taken_as_it_is() -> None:
    """Eight rows are a share of 0.03 of no whole number of persons."""
    report = risk(frame(), ["a", "b", "c"], sampling_fraction=0.03)
    unique, pairs = 3, 2
    assert report.special_uniques.dis == pytest.approx(unique * 0.03 / (unique * 0.03 + pairs * 0.97), rel=1e-12)
    assert report.uniqueness.sampling_fraction == 0.03
    rows = risk(frame(), ["a", "b", "c"], sampling_fraction=0.03, row_numbers=True).row_risks
    assert rows.risk[1] == pytest.approx(0.03 / 0.97 * np.log(1 / 0.03), rel=1e-9)


def test_special_uniques_take_the_fraction_of_weights_as_they_are() -> None:
    special = risk(frame().with_columns(w=pl.Series(["1.4715"] * 8)), ["a", "b", "c"], weight="w").special_uniques
    assert special.fraction == pytest.approx(1 / 1.4715)


def test_a_weight_is_no_quasi_identifier_and_says_how_large_the_population_is() -> None:
    with pytest.raises(PlanError, match="among the quasi-identifiers"):
        risk(frame(), ["a", "w"], weight="w")
    with pytest.raises(PlanError, match="Leave its size out"):
        risk(frame(), ["a"], weight="w", population_size=100)


def plan(*privacy, method=None, weight=None) -> dict:
    quasi = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    columns = {"a": quasi, "b": quasi, "c": quasi, "w": weight or {"role": "weight"}, "h": {"role": "household"}}
    return {
        "version": 1,
        "columns": columns,
        "privacy": list(privacy),
        "method": method or {"name": "optimal"},
        "output": {"order": "keep"},
    }


def survey(rows: int = 400) -> pl.DataFrame:
    random = np.random.default_rng(5)
    columns = {name: random.integers(0, 5, rows).astype(str).tolist() for name in "abc"}
    weights = [str(weight) for weight in (random.integers(4, 400, rows) / 4).tolist()]
    return pl.DataFrame(columns | {"w": weights, "h": (np.arange(rows) // 3).astype(str).tolist()})


INDIVIDUAL = {"model": "individual-risk", "threshold": 0.02}


@pytest.mark.parametrize("method", ["optimal", "samarati", "greedy", "local", "mondrian", "auto"])
@pytest.mark.parametrize("weight", [{"role": "weight"}, {"role": "weight", "publish": "removed"}])
def test_every_method_keeps_the_risk_of_every_row(tmp_path, method, weight) -> None:
    release = anonymize(survey(), plan(INDIVIDUAL, method={"name": method}, weight=weight))
    rows = release.data
    assert set(rows["h"]) == {"*"}
    assert (set(rows["w"]) == {"*"}) == ("publish" in weight)
    after = release.report.risk["sample"]["after"]
    assert release.report.models[0].achieved <= 0.02
    assert after["rows"]["highest"] == pytest.approx(release.report.models[0].achieved)
    assert after["households"]["highest"] >= after["rows"]["highest"]
    if "publish" not in weight:
        grouped = rows.group_by("a", "b", "c").agg(pl.len(), pl.col("w").cast(float).sum())
        risks = expected_risks(grouped["len"].to_numpy(), grouped["w"].to_numpy())
        assert risks.max() == pytest.approx(after["rows"]["highest"])
    release.save(tmp_path / "out")
    assert verify(tmp_path / "out").satisfied
    if "publish" in weight:
        verdict = verify(tmp_path / "out" / "data.csv", plan(INDIVIDUAL, weight=weight))
        assert not verdict.satisfied and "weights" in verdict.faults[0]


def test_a_release_keeps_global_risk_and_population_uniqueness() -> None:
    models = [{"model": "global-risk", "threshold": 0.004}, {"model": "population-uniqueness", "threshold": 0.0001}]
    release = anonymize(survey(), plan(*models, method={"name": "optimal", "suppression": 0.1}))
    assert all(promise.satisfied for promise in release.report.models)
    assert release.report.risk["sample"]["after"]["rows"]["average"] <= 0.004


def test_a_promise_about_the_population_needs_to_know_it() -> None:
    with pytest.raises(PlanError, match="needs to know the population"):
        anonymize(survey(), plan(INDIVIDUAL, weight={"role": "insensitive"}))
    with pytest.raises(PlanError, match="weight does not go with person"):
        columns = plan(INDIVIDUAL)["columns"] | {"h": {"role": "person"}}
        anonymize(survey(), plan(INDIVIDUAL) | {"columns": columns})


def test_classes_most_at_risk_are_given_up_for_the_global_risk() -> None:
    classes = holding_weights(EquivalenceClasses(np.array([1, 1, 2])), np.array([2, 100, 400]) * 1_000_000)
    risks = expected_risks(np.array([1, 1, 2]), np.array([2.0, 100.0, 400.0]))
    share = float(risks @ [1, 1, 2]) / 4
    assert GlobalRisk(share * 1.001).is_satisfied(classes) and not GlobalRisk(share * 0.999).is_satisfied(classes)
    assert GlobalRisk(share * 0.999).classes_to_suppress(classes).tolist() == [True, False, False]
    assert IndividualRisk(float(risks[1])).violating(classes, classes).tolist() == [True, False, False]
    assert IndividualRisk(0.001).infeasibility(classes) is not None


def test_k_map_by_estimate_asks_for_rows_that_few_smaller_classes_have() -> None:
    model = KMap(100, sampling_fraction=0.05)
    rows = model.min_class_size
    tail = [1 - sum(math.exp(-5) * 5**n / math.factorial(n) for n in range(least)) for least in (rows, rows - 1)]
    assert tail[0] <= 0.05 < tail[1]
    classes = EquivalenceClasses(np.array([rows, rows - 1]))
    assert model.violating(classes, classes).tolist() == [False, True]
    assert KMap(5, sampling_fraction=0.9).min_class_size == 5
    assert KMap(10**6, sampling_fraction=0.5).min_class_size == pytest.approx(501_165, abs=3)
    with pytest.raises(PlanError, match="table of the population"):
        KMap(5)


def test_population_uniqueness_is_not_kept_where_there_is_no_estimate() -> None:
    classes = EquivalenceClasses(np.ones(9, np.int64))
    assert not PopulationUniqueness(0.5, "pitman", population_size=1000).is_satisfied(classes)
    assert PopulationUniqueness(0.5, "pitman", population_size=1000).classes_to_suppress(classes).all()


@pytest.mark.shared
def test_a_household_survey_has_its_known_risks(shared) -> None:
    keys = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
    rows = pl.read_csv(shared / "casc" / "households4580.csv", infer_schema=False)
    rows = rows.with_columns(pl.lit("100").alias("all_100"))
    report = risk(rows, keys, weight="all_100")
    assert report.figures.uniques == 157
    assert report.sample.rows.highest == pytest.approx(0.04651687, abs=5e-9)
    assert report.sample.rows.average == pytest.approx(0.0023527347, abs=5e-11)


def test_an_office_published_the_same_risks() -> None:
    """Rows, persons and risks, with three decimals, of Statistics Sierra Leone's published reports on its surveys."""
    rows = np.array([3, 3, 3, 4, 6, 3, 4, 3, 9, 4])
    persons = np.array(
        [194.4658, 390.29, 457.3164, 575.9685, 545.1751, 833.5657, 745.5009, 1022.2921, 946.7352, 444.3309]
    )
    published = [0.008, 0.004, 0.003, 0.002, 0.002, 0.002, 0.002, 0.001, 0.001, 0.003]
    assert np.round(expected_risks(rows, persons), 3).tolist() == published


def rounded(step: float):
    columns = {name: {"role": "quasi-identifier", "hierarchy": {"type": "any"}} for name in "abc"}
    columns["w"] = {"role": "weight", "publish": {"round": step}}
    asked = [{"model": "individual-risk", "threshold": 0.05}]
    plan = {"version": 1, "columns": columns, "privacy": asked, "output": {"order": "keep"}}
    return anonymize(frame(), plan), plan


def test_rounded_weights_are_those_that_risks_are_promised_by(tmp_path) -> None:
    release, plan = rounded(10)
    assert set(release.data["w"]) <= {"10", "20", "40", "50", "90", "120"}
    assert verify(release.data, plan).satisfied
    release.save(tmp_path / "out")
    assert verify(tmp_path / "out").satisfied
    classes = release.data.group_by("a", "b", "c").agg(pl.len(), pl.col("w").cast(float).sum())
    highest = expected_risks(classes["len"].to_numpy(), classes["w"].to_numpy()).max()
    assert release.report.to_dict()["models"][0]["achieved"] == pytest.approx(highest)


def test_weights_that_would_be_rounded_to_nothing_and_other_operations_are_refused() -> None:
    with pytest.raises(DataError, match="some weights are 0"):
        rounded(100)
    columns = {"a": {"role": "quasi-identifier"}, "w": {"role": "weight", "publish": {"top": 20}}}
    with pytest.raises(PlanError, match="removed or rounded"):
        anonymize(frame(), {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]})


def weighted(**columns: dict) -> dict:
    known = {name: {"role": "quasi-identifier", "hierarchy": {"type": "any"}} for name in "abc"}
    return {"version": 1, "columns": known | columns, "privacy": [{"model": "k-anonymity", "k": 2}]}


@pytest.mark.parametrize("publish", [{"publish": "removed"}, {}])
def test_a_row_of_weight_0_is_one_person(publish) -> None:
    """As surveys write it for persons outside of their population."""
    zeros, ones = (
        anonymize(frame().with_columns(w=pl.Series([first, *["20"] * 7])), weighted(w={"role": "weight"} | publish))
        for first in "01"
    )
    assert zeros.report.risk["sample"] == ones.report.risk["sample"]
    (note,) = (note for note in zeros.report.notes if getattr(note, "code", "") == "note.zero_weights")
    assert note.values["rows"] == 1
    assert not any(getattr(note, "code", "") == "note.zero_weights" for note in ones.report.notes)


def test_weights_may_stand_in_a_file_of_persons() -> None:
    """They are those of rows: risks count persons without them."""
    rows = pl.concat([frame(), frame()]).with_columns(w=pl.Series(["20"] * 16), id=pl.Series([*range(8), *range(8)]))
    report = anonymize(rows, weighted(w={"role": "weight", "publish": "removed"}, id={"role": "person"})).report
    assert report.counts_persons and "sample" not in report.risk
    assert any(getattr(note, "code", "") == "note.weights_unused" for note in report.notes)
    needing = weighted(w={"role": "weight"}, id={"role": "person"})
    needing["privacy"] = [{"model": "individual-risk", "threshold": 0.5}]
    with pytest.raises(PlanError):
        anonymize(rows, needing)
