"""Small-number policies on crosstabs of both kinds."""

import numpy as np
import pytest

from sfumato.errors import DataError, PlanError
from sfumato.tables.policies import POLICIES, suppress

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

GRID = {"a": [3, 12, 40, 55], "b": [20, 33, 47, 100], "c": [18, 27, 36, 81], "All": [41, 72, 123, 236]}
LABELS = ["x", "y", "z", "All"]


def table():
    return pandas.DataFrame(GRID, index=pandas.Index(LABELS, name="row"))


def test_nhs_masks_and_rounds():
    done = suppress(table(), "nhs")
    assert done["a"].tolist() == ["*", 10, 40, 55]
    assert done.loc["All"].tolist() == [55, 100, 80, 235]
    assert done.index.name == "row"


def test_eurostat_rounds_everything():
    done = suppress(table(), "eurostat")
    assert done["a"].tolist() == [5, 10, 40, 60]


@pytest.mark.parametrize(("policy", "small"), [("cms-11", 10), ("research-10", 9)])
def test_small_cells_are_neither_shown_nor_derivable(policy, small):
    done = suppress(table(), policy)
    masked = np.array([[entry == "*" for entry in row] for row in done.to_numpy().tolist()])
    values = table().to_numpy()
    assert masked[(values >= 1) & (values <= small)].all()
    assert (masked.sum(axis=0)[masked.any(axis=0)] > 1).all()
    assert (masked.sum(axis=1)[masked.any(axis=1)] > 1).all()
    assert done.loc["z", "b"] == 47


def test_polars_comes_back_as_polars():
    frame = polars.DataFrame({"row": LABELS} | GRID)
    done = suppress(frame, "nhs")
    assert isinstance(done, polars.DataFrame)
    assert done["a"].to_list() == ["*", "10", "40", "55"]
    assert done["row"].to_list() == LABELS


def test_real_crosstab():
    rng = np.random.default_rng(5)
    people = pandas.DataFrame(
        {"ward": rng.choice(list("abcd"), 300, p=[0.5, 0.3, 0.18, 0.02]), "sex": rng.choice(["m", "w"], 300)}
    )
    done = suppress(pandas.crosstab(people["ward"], people["sex"], margins=True), "cms-11")
    assert list(done.columns) == ["m", "w", "All"]
    assert (done.loc["d"] == "*").any()


def test_percentages_follow():
    frame = table().assign(share=lambda t: (100 * t["a"] / t["All"]).round(1))
    done = suppress(frame, "nhs")
    assert done["share"].tolist() == ["*", 14.3, 32.0, 23.4]


def test_named_percentages_follow():
    frame = pandas.DataFrame({"a": [5, 50], "All": [10, 100], "share": [50, 50]}, index=["x", "y"])
    done = suppress(frame, "nhs", derived={"share": ("a", "All")})
    assert done["share"].tolist() == ["*", 50]


@pytest.mark.parametrize(
    "wrong",
    [
        pandas.DataFrame({"a": [1.5, 2.0]}),
        pandas.DataFrame({"a": ["few", "many"]}),
        pandas.DataFrame({"a": [-1, 2]}),
        pandas.DataFrame({"a": [12, 3], "b": [20, 30], "All": [32, 34]}),
    ],
)
def test_what_is_no_table_of_counts_is_refused(wrong):
    with pytest.raises(DataError):
        suppress(wrong, "cms-11")


def test_unknown_policy_and_sources():
    with pytest.raises(PlanError, match='Did you mean "cms-11"'):
        suppress(table(), "cms-1")
    assert all(policy.source for policy in POLICIES.values())


def test_caller_keeps_his_table():
    frame = table()
    suppress(frame, "nhs")
    assert frame["a"].tolist() == GRID["a"]
