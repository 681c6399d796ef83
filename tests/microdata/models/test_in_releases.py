"""Models in whole releases: several sensitive columns, the population, and what is unattainable."""

import random

import polars as pl
import pytest

from refusals import refused
from sfumato.errors import PlanError, UnattainableError
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.verify import verify

ROWS = 300


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    chance = random.Random(1)
    return pl.DataFrame(
        {
            "zip": [f"72{chance.randrange(1000):03d}" for _ in range(ROWS)],
            "sex": [chance.choice("mf") for _ in range(ROWS)],
            "ill": [chance.choice(["flu", "flu", "cold", "cancer", "hiv"]) for _ in range(ROWS)],
            "wage": [str(chance.randrange(20, 60)) for _ in range(ROWS)],
            "study": [chance.choice(["yes", "no", "no"]) for _ in range(ROWS)],
        }
    )


def plan(*privacy, suppression=0.1, method="optimal", output=None, **zip_column):
    ways = {"suppression": suppression} if method not in ("mondrian",) else {}
    return {
        "version": 1,
        "columns": {
            "zip": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 5}, **zip_column},
            "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "ill": {"role": "sensitive"},
            "wage": {"role": "sensitive"},
            "study": {"role": "sensitive"},
        },
        "privacy": list(privacy),
        "method": {"name": method, **ways},
        "output": {"order": "keep"} | (output or {}),
    }


MODELS = {
    "k": {"model": "k-anonymity", "k": 4},
    "distinct": {"model": "l-diversity", "l": 3, "column": "ill"},
    "entropy": {"model": "l-diversity", "l": 2.5, "column": "ill", "variant": "entropy"},
    "equal": {"model": "t-closeness", "t": 0.25, "column": "ill"},
    "ordered": {"model": "t-closeness", "t": 0.1, "column": "wage", "distance": "ordered"},
    "presence": {
        "model": "delta-presence",
        "lower": 0.1,
        "upper": 0.6,
        "subset": {"column": "study", "value": "yes"},
    },
    "average": {"model": "average-risk", "threshold": 0.1},
}


def test_a_method_that_cannot_hold_a_model_says_so_before_it_starts(frame):
    with pytest.raises(PlanError, match="does not go with k-optimize"):
        anonymize(frame, plan(MODELS["equal"]) | {"method": {"name": "k-optimize"}})


def test_any_combination_with_several_sensitive_columns(frame):
    wanted = [MODELS[name] for name in ("k", "entropy", "ordered", "presence", "average")]
    report = anonymize(frame, plan(*wanted)).report
    assert report.satisfied
    assert [promise.column for promise in report.models] == [None, "ill", "wage", None, None]
    written = report.models[1].to_dict()
    assert written["parameters"] == {"variant": "entropy"}


def test_a_release_with_starred_rows_is_judged_against_the_whole_table(frame, tmp_path):
    rare = frame.with_columns(zip=pl.when(pl.int_range(ROWS) < 4).then(pl.lit("10000")).otherwise(pl.col("zip")))
    release = anonymize(rare, plan(MODELS["k"], MODELS["equal"], output={"suppressed": "star", "order": "keep"}))
    assert release.report.satisfied
    folder = release.save(tmp_path / "out")
    assert verify(folder).satisfied


def test_a_published_file_that_breaks_a_promise_is_caught(frame):
    released = anonymize(frame, plan(MODELS["equal"], MODELS["distinct"])).data
    spoiled = released.with_columns(
        ill=pl.when(pl.int_range(len(released)) < 200).then(pl.lit("flu")).otherwise(pl.lit("hiv"))
    )
    assert not verify(spoiled, plan(MODELS["equal"], MODELS["distinct"])).satisfied


def test_k_map_counts_the_population_in_a_file_beside_the_plan(frame, tmp_path):
    import yaml

    pl.concat([frame, frame, frame]).select("zip", "sex").write_csv(tmp_path / "population.csv")
    wanted = plan({"model": "k-map", "k": 9, "population": "population.csv"}, suppression=0.02)
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(wanted))
    mapped = anonymize(frame, tmp_path / "plan.yaml").report
    alone = anonymize(frame, plan({"model": "k-anonymity", "k": 9}, suppression=0.02)).report
    tripled = anonymize(frame, plan({"model": "k-anonymity", "k": 3}, suppression=0.02)).report
    # Every person stands three times in the population: 9 there is 3 here.
    assert mapped.levels == tripled.levels
    assert mapped.loss.value <= alone.loss.value
    assert mapped.models[0].achieved == 3 * tripled.models[0].achieved
    assert mapped.risk["after"]["journalist"]["highest"] == 1 / mapped.models[0].achieved


@pytest.mark.parametrize(
    ("method", "k", "towns", "reached"),
    [("optimal", 20, {"x", "y"}, 50), ("samarati", 20, {"x", "y"}, 50), ("optimal", 51, {"*"}, 100)],
)
def test_k_map_counts_the_population_of_persons_with_several_rows(tmp_path, method, k, towns, reached):
    """Two persons a town, two rows each, stand for fifty persons: by themselves they would never be enough."""
    pl.DataFrame({"town": ["x", "y"] * 50}).write_csv(tmp_path / "all.csv")
    rows = pl.DataFrame({"person": list("aabbccdd"), "town": list("xxxxyyyy")})
    wanted = {
        "version": 1,
        "columns": {
            "person": {"role": "person"},
            "town": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        },
        "privacy": [{"model": "k-map", "k": k, "population": str(tmp_path / "all.csv")}],
        "method": {"name": method, "suppression": 0},
    }
    release = anonymize(rows, wanted)
    assert set(release.data["town"]) == towns
    assert release.report.models[0].achieved == reached
    release.save(tmp_path / "release")
    verdict = verify(tmp_path / "release")
    assert verdict.satisfied
    assert verdict.promises[0].achieved == reached


def test_k_map_counts_persons_whose_values_the_data_lack(tmp_path):
    rows = pl.DataFrame(
        {"zip": ["72021", "72022"], "sex": ["m", "m"], "ill": ["flu"] * 2, "wage": ["1"] * 2, "study": ["no"] * 2}
    )
    pl.DataFrame({"zip": ["72021", "72023", "72022", "72029"], "sex": ["m"] * 4}).write_csv(tmp_path / "all.csv")
    model = {"model": "k-map", "k": 4, "population": {"source": str(tmp_path / "all.csv"), "separator": ","}}
    report = anonymize(rows, plan(model, suppression=0)).report
    assert report.levels == {"zip": 1, "sex": 0}
    assert report.models[0].achieved == 4


def test_a_population_that_lacks_a_column_is_refused(frame, tmp_path):
    frame.select("zip").write_csv(tmp_path / "all.csv")
    with pytest.raises(PlanError, match='lacks "sex"'):
        anonymize(frame, plan({"model": "k-map", "k": 2, "population": str(tmp_path / "all.csv")}))


def test_more_values_than_there_are(frame):
    with pytest.raises(UnattainableError, check=refused("reason.l_values", l="5", column="ill", count="4")):
        anonymize(frame, plan(MODELS["distinct"] | {"l": 5}))


def skewed(rows: int = 200) -> pl.DataFrame:
    """Two villages with two illnesses; one row of the wrong kind in each."""
    half = rows // 2
    return pl.DataFrame(
        {
            "zip": ["72021"] * half + ["91000"] * half,
            "sex": ["m"] * rows,
            "ill": ["flu"] * (half - 1) + ["cold"] + ["cold"] * (half - 1) + ["flu"],
            "wage": ["1"] * rows,
            "study": ["no"] * rows,
        }
    )


def test_nothing_below_the_top(frame):
    # Each village has one illness in 99 of 100 rows: 0.49 from the whole. Only `*` everywhere keeps t = 0.1.
    with pytest.raises(UnattainableError) as caught:
        anonymize(skewed(), plan({"model": "t-closeness", "t": 0.1, "column": "ill"}, suppression=0))
    assert caught.value.message == (
        "With 0 % suppression nothing below the top satisfies t = 0.1 (t-closeness of ill)."
    )
    assert caught.value.status.exit == 4


def test_what_suppression_would_do():
    # A hundred rows with even illnesses, and two of a place with one: without them t = 0.02 holds at the raw values.
    rows = skewed(100).with_columns(
        zip=pl.when(pl.int_range(100) < 2).then(pl.lit("10000")).otherwise(pl.lit("72021")),
        ill=pl.Series(["flu", "cold"] * 50),
    )
    rows = rows.with_columns(ill=pl.when(pl.int_range(100) == 1).then(pl.lit("flu")).otherwise(pl.col("ill")))
    with pytest.raises(UnattainableError) as caught:
        anonymize(rows, plan({"model": "t-closeness", "t": 0.02, "column": "ill"}, suppression=0))
    assert caught.value.message == (
        "With 0 % suppression nothing below the top satisfies t = 0.02 (t-closeness of ill); 2 % would."
    )
    assert "Allow 2 rows to be suppressed" in caught.value.hint
    report = anonymize(rows, plan({"model": "t-closeness", "t": 0.02, "column": "ill"}, suppression=0.02)).report
    assert report.suppressed_rows == 2


def test_levels_that_may_not_be_reached(frame):
    import re

    with pytest.raises(UnattainableError) as caught:
        anonymize(frame, plan({"model": "k-anonymity", "k": 30}, suppression=0, max_level=2))
    said = re.search(r"nothing satisfies k = 30 \(k-anonymity\); (\d+) % would", caught.value.message)
    reached = re.search(r"\(k = (\d+) needs no suppression\)", caught.value.hint)
    assert said and reached
    # Both ways out are ways out.
    anonymize(frame, plan({"model": "k-anonymity", "k": 30}, suppression=int(said[1]) / 100, max_level=2))
    anonymize(frame, plan({"model": "k-anonymity", "k": int(reached[1])}, suppression=0, max_level=2))


def test_what_is_said_to_be_attainable_is(frame):
    """Also for models that suppression does not make easier step by step."""
    import re

    wanted = {"model": "t-closeness", "t": 0.02, "column": "ill"}
    with pytest.raises(UnattainableError) as caught:
        anonymize(frame, plan(wanted, suppression=0, max_level=3))
    reached = re.search(r"\(t = ([\d.]+) needs no suppression\)", caught.value.hint)
    assert reached
    report = anonymize(frame, plan(wanted | {"t": float(reached[1])}, suppression=0, max_level=3)).report
    assert report.satisfied


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"model": "t-closeness", "t": 2, "column": "ill"}, "at most 1"),
        ({"model": "t-closeness", "t": 0.2, "column": "il"}, 'Did you mean "ill"'),
        ({"model": "t-closeness", "t": 0.2, "column": "ill", "distance": "hierarchical"}, "it needs one"),
        ({"model": "t-closeness", "t": 0.2, "column": "ill", "order": ["a", "b"]}, "belongs to the distance ordered"),
        ({"model": "t-closeness", "t": 0.2, "column": "ill", "distance": "ordered"}, "neither numbers nor dates"),
        (
            {"model": "delta-presence", "lower": 0.5, "upper": 0.1, "subset": {"column": "study", "value": "yes"}},
            "above",
        ),
        ({"model": "delta-disclosure", "delta": 0, "column": "ill"}, "greater than 0"),
        ({"model": "average-risk", "threshold": 0}, "greater than 0"),
        ({"model": "beta-likeness", "beta": 1, "column": "zip"}, "Give it the role sensitive"),
        ({"model": "k-mapp", "k": 2}, 'Did you mean "k-map"'),
    ],
)
def test_wrong_models_are_refused(frame, model, message):
    with pytest.raises(PlanError, match=message):
        anonymize(frame, plan(model))
