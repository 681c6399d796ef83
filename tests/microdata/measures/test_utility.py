"""Utility of a release, measures of perturbed numbers, and estimated population uniques."""

import numpy as np
import polars as pl
import pytest

from refusals import refused
from sfumato.errors import PlanError
from sfumato.microdata.keyed_random import uniforms
from sfumato.microdata.measures.association import correlation, cramers_v
from sfumato.microdata.measures.perturbed import NEAR_DEVIATION, figures_of
from sfumato.microdata.measures.population import pitman, snb, uniqueness, zayatz
from sfumato.microdata.perturbation.microaggregation import groups_of, means_of
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.risk import risk

# Utility: measures worked by hand, and that doing nothing loses nothing.

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
    with pytest.raises(PlanError, check=refused("plan.faults", "column_role")):
        anonymize(FRAME, plan() | {"utility": {"target": "age"}})
    with pytest.raises(PlanError, check=refused("plan.faults", "no_such_column")):
        anonymize(FRAME, plan() | {"utility": {"target": "il"}})


# Record linkage of perturbed numbers: before, after, and for persons who are not in the file.

NAMES = ("a", "b")


def figures(before, after):
    return figures_of(NAMES, before, after, "key:")


def brute_force(raw, published, left_out):
    """The share of values near those of the nearest published row, one row after the other."""
    spread, mean = raw.std(axis=0), raw.mean(axis=0)
    raw, published = (raw - mean) / spread, (published - mean) / spread
    near = 0
    for row, person in enumerate(raw):
        gaps = ((published - person) ** 2).sum(axis=1)
        if left_out:
            gaps[(published == published[row]).all(axis=1)] = np.inf
        if np.isfinite(gaps).any():
            near += int((np.abs(person - published[gaps.argmin()]) <= NEAR_DEVIATION).sum())
    return near / raw.size


@pytest.mark.parametrize("k", [1, 4, 60])
def test_what_is_learned_equals_brute_force(k):
    raw = np.random.default_rng(3).normal(size=(60, 2))
    after = raw.copy() if k == 1 else means_of(raw, groups_of(raw, k))
    shown = figures(raw, after)
    assert shown["learned_by_linkage"] == brute_force(raw, after, left_out=False)
    assert shown["learned_of_others"] == brute_force(raw, after, left_out=True)
    assert shown["linked_by_distance_before"] == 1.0


def test_raw_rows_tell_all_and_equal_rows_are_told_apart_by_nobody():
    raw = np.repeat(np.random.default_rng(4).normal(size=(20, 2)), 2, axis=0)
    shown = figures(raw, raw)
    assert (shown["linked_by_distance_before"], shown["learned_by_linkage"]) == (0.5, 1.0)
    assert shown["learned_of_others"] < 0.5


def brute_force_by_weight(raw, published, left_out):
    """The probability of taking the own row, and the share of values learned, by weights of agreement."""
    spread, mean = raw.std(axis=0), raw.mean(axis=0)
    raw, published = (raw - mean) / spread, (published - mean) / spread
    reach = np.maximum(np.abs(raw - published).mean(axis=0), 1e-12)
    others = (uniforms("key:others:", len(raw)) * len(raw)).astype(int)
    own = np.clip((np.abs(raw - published) <= reach).mean(axis=0), 1e-6, 1 - 1e-6)
    chance = np.clip((np.abs(raw - published[others]) <= reach).mean(axis=0), 1e-6, 1 - 1e-6)
    linked, near = 0.0, 0
    for row, person in enumerate(raw):
        agrees = np.abs(published - person) <= reach
        weights = np.where(agrees, np.log(own / chance), np.log((1 - own) / (1 - chance))).sum(axis=1)
        if left_out:
            weights[(published == published[row]).all(axis=1)] = -np.inf
        best = np.flatnonzero(weights >= weights.max() - 1e-12)
        if np.isfinite(weights.max()):
            linked += (row in best) / len(best)
            near += int((np.abs(person - published[best[0]]) <= NEAR_DEVIATION).sum())
    return linked / len(raw), near / raw.size


@pytest.mark.parametrize("k", [1, 4, 60])
def test_linkage_by_probability_equals_brute_force(k):
    raw = np.random.default_rng(5).normal(size=(60, 2))
    after = raw.copy() if k == 1 else means_of(raw, groups_of(raw, k))
    shown = figures(raw, after)
    linked, learned = brute_force_by_weight(raw, after, left_out=False)
    assert shown["linked_by_probability"] == pytest.approx(linked)
    assert shown["learned_by_probability"] == pytest.approx(learned)
    assert shown["learned_of_others_by_probability"] == pytest.approx(brute_force_by_weight(raw, after, True)[1])
    assert shown["linked_by_probability_before"] == 1.0


def test_figures_of_a_column_are_about_all_rows_that_have_its_number():
    raw = np.column_stack([np.arange(100.0), np.arange(100.0)])
    raw[:20, 0] = np.nan
    after = raw.copy()
    after[:, 1] = np.roll(raw[:, 1], 7)
    shown = figures(raw, after)
    assert (shown["rows"], shown["incomplete_rows"]) == (80, 20)
    assert all(before == now for before, now in shown["quantiles"]["b"].values())
    assert shown["quantiles"]["b"]["0.5"][0] == 49.5 and shown["quantiles"]["a"]["0.5"][0] == 59.5
    gaps = np.abs(raw[:, 1] - after[:, 1]) / raw[:, 1].std()
    assert shown["near_in_deviation"] == {"a": 1.0, "b": (gaps <= NEAR_DEVIATION).mean()}
    assert shown["il1s"] == pytest.approx(gaps.sum() / np.sqrt(2) / 180)


def test_columns_that_no_row_has_together_are_measured_one_by_one():
    raw = np.full((10, 2), np.nan)
    raw[:5, 0] = raw[5:, 1] = np.arange(5.0)
    shown = figures(raw, raw)
    assert shown["near_in_rank"] == {"a": 1.0, "b": 1.0} and "linked_by_distance" not in shown
    nothing = np.full((3, 2), np.nan)
    assert figures(nothing, nothing) == {"rows": 0, "incomplete_rows": 3}


# Population uniqueness: each estimator finds the truth of a population made by its own model.


def sampled(persons, fraction, seed=1):
    """The classes that a random sample of a population shows."""
    sizes = np.random.default_rng(seed).binomial(persons, fraction)
    return sizes[sizes > 0]


def pitman_population(rows, theta, alpha, seed=1):
    """Sizes of classes drawn one person at a time by Pitman's formula."""
    random = np.random.default_rng(seed)
    sizes, seats = [1], [0]
    for row in range(1, rows):
        if random.random() < (theta + alpha * len(sizes)) / (theta + row):
            seats.append(len(sizes))
            sizes.append(1)
            continue
        while True:
            place = seats[int(random.integers(row))]
            if random.random() < (sizes[place] - alpha) / sizes[place]:
                break
        seats.append(place)
        sizes[place] += 1
    return np.array(sizes)


@pytest.mark.parametrize("fraction", [0.05, 0.2])
def test_pitman_finds_the_uniques_of_its_own_population(fraction):
    persons = pitman_population(60_000, 40, 0.6)
    found = pitman(sampled(persons, fraction), int(persons.sum()))
    assert found.share == pytest.approx((persons == 1).sum() / persons.sum(), rel=0.15)


@pytest.mark.parametrize("fraction", [0.1, 0.3, 0.6])
def test_snb_finds_the_uniques_of_its_own_population(fraction):
    persons = 1 + np.random.default_rng(2).negative_binomial(0.5, 0.1, 80_000)
    found = snb(sampled(persons, fraction), int(persons.sum()))
    assert found.share == pytest.approx((persons == 1).sum() / persons.sum(), rel=0.1)


def test_zayatz_worked_by_hand():
    # Sample of 4 of 8, classes 1, 1, 2: shares of classes 2/3 and 1/3. One row of a class of F persons is drawn with
    # F C(8-F, 3) / C(8, 4): 35/70 for F = 1, 40/70 for F = 2. So 2/3 35 / (2/3 35 + 1/3 40) = 7/11 of the two unique
    # rows are unique among the persons, and in all 2 7/11 / (4/8).
    found = zayatz(np.array([1, 1, 2]), 8)
    assert found.uniques == pytest.approx(2 * (7 / 11) * 2)


def test_dankars_rule_chooses():
    persons = pitman_population(30_000, 40, 0.6)
    small, large = uniqueness(sampled(persons, 0.05), 30_000), uniqueness(sampled(persons, 0.4), 30_000)
    assert small.dankar.uniques == small.pitman.uniques and "pitman" in small.dankar.reason
    assert large.dankar.uniques == min(large.snb.uniques or np.inf, large.zayatz.uniques)


@pytest.mark.parametrize(
    ("sizes", "size", "expected"),
    [([1, 1, 3], 5, 2), ([2, 3, 4], 1000, 0)],
    ids=["the data are the population", "no unique row"],
)
def test_cases_that_need_no_estimate(sizes, size, expected):
    found = uniqueness(np.array(sizes), size)
    for estimate in (found.pitman, found.zayatz, found.snb, found.dankar):
        assert estimate.uniques == expected and estimate.reason


def test_undefined_cases_say_so():
    every = uniqueness(np.ones(50, np.int64), 5000)
    assert every.pitman.uniques is None and "every row is unique" in every.pitman.reason
    assert every.dankar.uniques is not None
    assert pitman(np.array([5]), 50).reason == "there is one class only: the likelihood has no maximum"
    assert "does not converge" in snb(np.array([1] * 50 + [400]), 100_000).reason


@pytest.mark.parametrize("population_size", [10**6, 10**9, 10**12])
def test_huge_populations_have_estimates(population_size):
    found = uniqueness(np.repeat([1, 2, 3], [200, 50, 20]), population_size)
    for estimate in (found.pitman, found.zayatz, found.snb, found.dankar):
        assert estimate.uniques is None or 0 <= estimate.uniques <= population_size
    assert found.zayatz.share == pytest.approx(0.3086, rel=0.01)  # what it tends to as the population grows


@pytest.mark.parametrize("population_size", [10**12 + 1, 10**40, 10**400])
def test_a_population_larger_than_any_is_refused(population_size):
    with pytest.raises(PlanError, check=refused("plan.population", "error.part.most")):
        uniqueness(np.array([1, 1, 2]), population_size)
