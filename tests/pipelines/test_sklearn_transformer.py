"""The transformer for scikit-learn."""

from importlib.util import find_spec

import pandas as pd
import pytest

import sfumato as sf
from refusals import coded

# Every worker reads this file, and one runs it: scikit-learn is loaded there alone.
pytestmark = pytest.mark.skipif(find_spec("sklearn") is None, reason="scikit-learn is not installed")
PLAN = (
    sf.Plan(sf.KAnonymity(3), other="insensitive", seed=1)
    .identifiers("name")
    .quasi("sex", age=sf.intervals(5, 10, 30, start=20, end=49))
    .column("age", "quasi-identifier", hierarchy=sf.intervals(5, 10, 30, start=20, end=49), min_level=1)
)


def rows(count: int, start: int = 0) -> pd.DataFrame:
    numbers = range(start, start + count)
    return pd.DataFrame(
        {
            "name": [f"p{row}" for row in numbers],
            "age": [20 + row % 30 for row in numbers],
            "sex": ["m" if row % 2 else "f" for row in numbers],
            "score": [row / 2 for row in numbers],
        }
    )


@pytest.fixture(scope="module")
def transformer():
    return sf.Anonymizer(PLAN).fit(rows(90))


def test_new_rows_are_published_as_those_that_were_fitted(transformer):
    new = transformer.transform(rows(120, start=3000))
    assert list(new.columns) == ["name", "age", "sex", "score"]
    assert new["score"].tolist() == rows(120, start=3000)["score"].tolist()
    assert set(new["name"]) == {"*"}
    assert set(new["age"]) <= set(transformer.release_.data["age"].astype(str))
    assert new.groupby(["age", "sex"]).size().min() >= 3


def test_rows_that_break_a_promise_or_hold_something_new_are_refused(transformer):
    with pytest.raises(sf.ViolationError):
        transformer.transform(rows(2))
    with pytest.raises(sf.DataError):
        transformer.transform(rows(120).assign(age=99))
    with pytest.raises(sf.DataError, check=coded("data.columns.other_than_fitted")):
        transformer.transform(rows(120).drop(columns="score"))


def test_it_stands_in_a_pipeline():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    pipeline = make_pipeline(sf.Anonymizer(PLAN), FunctionTransformer(lambda frame: frame[["age", "sex"]]))
    assert pipeline.fit_transform(rows(90)).shape == (90, 2)
