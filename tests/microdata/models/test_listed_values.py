"""Values that a model names mean what they mean in the data, and a promise about values that nobody has is refused."""

import pandas as pd
import pytest

from sfumato.errors import PlanError
from sfumato.localization.messages import Message
from sfumato.pipelines.release import anonymize

ROWS = pd.DataFrame({"zip": list("112233"), "hiv": ["yes", "yes", "no", "no", "yes", "no"]})
NUMBERS = ROWS.assign(hiv=ROWS["hiv"].map({"yes": "01", "no": "2"}))


def plan(model: dict, kind: str, **data: object) -> dict:
    columns = {
        "zip": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "hiv": {"role": "sensitive", "type": kind},
    }
    method = {"name": "optimal", "suppression": 0.5}
    return {
        "version": 1,
        "columns": columns,
        "privacy": [model],
        "method": method,
        "data": data,
        "output": {"order": "keep"},
    }


def alpha(*values: object) -> dict:
    return {"model": "alpha-k-anonymity", "alpha": 0.6, "k": 2, "column": "hiv", "values": list(values)}


def presence(value: object) -> dict:
    return {"model": "delta-presence", "lower": 0, "upper": 0.6, "subset": {"column": "hiv", "value": value}}


@pytest.mark.parametrize(
    ("rows", "kind", "value"),
    [
        (ROWS, "text", "yes"),
        (ROWS, "boolean", "yes"),
        (ROWS, "boolean", "true"),
        (ROWS, "boolean", True),
        (ROWS, "boolean", "1"),
        (NUMBERS, "integer", "01"),
        (NUMBERS, "integer", "1"),
        (NUMBERS, "integer", 1),
        (NUMBERS, "decimal", "1.00"),
    ],
)
@pytest.mark.parametrize("model", [alpha, presence])
def test_a_value_is_known_however_it_is_written(rows, kind, value, model) -> None:
    release = anonymize(rows, plan(model(value), kind))
    assert len(release.data) < 6
    for _, group in release.data.groupby("zip"):
        assert (group["hiv"].isin(["yes", "01"])).mean() <= 0.6
    if model is presence:
        assert set(release.data["hiv"]) == {"*"}
    [promise] = release.report.models
    assert promise.achieved == 0.5


def test_an_order_is_known_however_it_is_written() -> None:
    model = {"model": "t-closeness", "t": 0.5, "column": "hiv", "distance": "ordered", "order": ["1.0", "02"]}
    assert anonymize(NUMBERS, plan(model, "integer")).report.models[0].achieved == 0.5


@pytest.mark.parametrize("model", [alpha("maybe"), alpha("maybe", "perhaps"), presence("maybe")])
def test_a_promise_about_nobody_is_refused(model) -> None:
    with pytest.raises(PlanError, match=r"would be empty|marks the subset") as caught:
        anonymize(ROWS, plan(model, "text"))
    assert "maybe" not in str(caught.value)


@pytest.mark.parametrize("model", [alpha("no", "maybe"), presence("maybe")])
def test_a_value_of_another_type_is_a_fault_of_the_plan(model) -> None:
    with pytest.raises(PlanError, match="not of the type boolean"):
        anonymize(ROWS, plan(model, "boolean"))


@pytest.mark.parametrize("model", [alpha("no"), presence("no")])
def test_a_value_that_means_missing_is_a_fault_of_the_plan(model) -> None:
    with pytest.raises(PlanError, match="means missing"):
        anonymize(ROWS, plan(model, "text", missing=["no"]))


def test_values_that_some_data_lack_are_told() -> None:
    release = anonymize(ROWS, plan(alpha("yes", "maybe"), "text"))
    assert Message("note.values_lacking", count=1, model="alpha-k-anonymity", column="hiv") in release.report.notes
