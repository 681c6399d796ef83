"""The reader's view: promises about distributions hold against the raw table and against what is published."""

import random

import polars as pl
import pytest

import sfumato as sf
from refusals import coded
from sfumato.errors import PlanError, UnattainableError

TREE = {"type": "tree", "parents": {"flu": "mild", "asthma": "mild", "hiv": "grave", "cancer": "grave"}}
MODELS = {
    "beta": {"model": "beta-likeness", "beta": 1.2, "variant": "basic"},
    "t": {"model": "t-closeness", "t": 0.25},
    "t by a tree": {"model": "t-closeness", "t": 0.2, "distance": "hierarchical", "hierarchy": TREE},
    "delta": {"model": "delta-disclosure", "delta": 1.6},
}
METHODS = {
    "optimal": {"name": "optimal", "suppression": 0.4},
    "samarati": {"name": "samarati", "suppression": 0.4},
    "exhaustive": {"name": "exhaustive", "loss": "loss-metric", "suppression": 0.4},
    "greedy": {"name": "greedy", "suppression": 0.4},
    "local": {"name": "local", "suppression": 0.4},
    "mondrian": {"name": "mondrian"},
}


def rows(seed: int = 1, many: int = 240) -> pl.DataFrame:
    """Illnesses that depend on the area, so that some classes are unlike the others."""
    draw = random.Random(seed)
    areas = [draw.choice("abcdefgh") + draw.choice("123") for _ in range(many)]
    grave = {"a": 0.9, "b": 0.6}
    illnesses = [
        draw.choice(["hiv", "cancer"]) if draw.random() < grave.get(area[0], 0.2) else draw.choice(["flu", "asthma"])
        for area in areas
    ]
    return pl.DataFrame({"area": areas, "illness": illnesses})


def plan(model: str, method: str, against: str | None = None, **output) -> dict:
    asked = {"column": "illness"} | MODELS[model] | ({} if against is None else {"reference": against})
    return {
        "version": 1,
        "columns": {
            "area": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 2}},
            "illness": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}, asked],
        "method": METHODS[method],
        "output": {"order": "keep"} | output,
    }


@pytest.mark.parametrize("suppressed", ["drop", "star"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("method", METHODS)
def test_both_ways_of_verifying_agree(tmp_path, model, method, suppressed) -> None:
    asked = plan(model, method, suppressed=suppressed)
    try:
        release = sf.anonymize(rows(), asked)
    except UnattainableError:
        pytest.skip("nothing keeps it")
    release.save(tmp_path / "out")
    assert release.report.models[1].parameters["reference"] == "both"
    folder, file = sf.verify(tmp_path / "out"), sf.verify(tmp_path / "out" / "data.csv", asked)
    assert folder.satisfied
    assert file.satisfied
    assert (folder.promises[1].parameters["reference"], file.promises[1].parameters["reference"]) == (
        "both",
        "published",
    )
    assert file.promises[1].achieved <= folder.promises[1].achieved + 1e-9


def test_against_the_raw_table_alone_a_reader_sees_more() -> None:
    """The literature's definition: it holds against the raw table, and not for who has the published rows alone."""
    raw = sf.anonymize(rows(), plan("beta", "optimal", "raw"))
    assert raw.report.models[1].parameters["reference"] == "raw"
    assert raw.report.suppressed_rows > 0
    assert not sf.verify(raw.data, plan("beta", "optimal", "both")).satisfied
    both = sf.anonymize(rows(), plan("beta", "optimal"))
    assert both.report.loss.value >= raw.report.loss.value
    assert both.report.proved_optimal is (both.report.loss.value <= raw.report.loss.value + 1e-9)
    if not both.report.proved_optimal:
        assert both.report.details["bound"] == pytest.approx(raw.report.loss.value)


def test_a_file_alone_cannot_tell_what_is_promised_against_the_raw_table() -> None:
    asked = plan("t", "optimal", "raw")
    verdict = sf.verify(sf.anonymize(rows(), asked).data, asked)
    assert not verdict.satisfied
    assert "verify the release folder" in verdict.faults[0]


def test_without_suppression_both_are_one() -> None:
    frame = rows().with_columns(area=pl.Series(["a1", "a2", "b1"] * 80))
    method = {"name": "optimal"}
    releases = [sf.anonymize(frame, plan("t", "optimal", against) | {"method": method}) for against in ("raw", "both")]
    assert releases[0].data.equals(releases[1].data)
    assert releases[1].report.proved_optimal


def test_another_word_is_refused() -> None:
    with pytest.raises(PlanError, check=coded("part.choice")):
        sf.anonymize(rows(), plan("t", "optimal", "published"))
