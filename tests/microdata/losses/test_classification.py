"""The classification metric: known answers, brute force, and the full-domain search with it."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.microdata.losses.class_sizes import most_frequent
from sfumato.microdata.models.equivalence_classes import histogram
from sfumato.pipelines.release import anonymize
from sizes import size

TREE = {"type": "tree", "parents": {"a": "ab", "b": "ab", "c": "cd", "d": "cd"}}


def plan(k: int, name: str = "optimal", suppression: float = 0.0, role: str = "sensitive") -> dict:
    return {
        "version": 1,
        "columns": {
            "one": {"role": "quasi-identifier", "hierarchy": TREE},
            "two": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "label": {"role": role},
        },
        "privacy": [{"model": "k-anonymity", "k": k}],
        "method": {"name": name, "loss": "classification", "class": "label", "suppression": suppression},
        "output": {"order": "keep"},
    }


def test_rows_of_the_most_frequent_label() -> None:
    entries = np.array([0, 0, 2]), np.array([1, 2, 0], np.int32), np.array([5, 4, 3])
    assert most_frequent(histogram(*entries, classes=3, size=3)).tolist() == [5, 0, 3]


def test_counts_rows_that_differ_from_their_class() -> None:
    frame = pl.DataFrame(
        {"one": ["a", "a", "b", "b", "c", "d"], "two": ["x"] * 6, "label": ["1", "1", "0", "1", "0", "0"]}
    )
    report = anonymize(frame, plan(4)).report
    assert report.levels == {"one": 2, "two": 0}
    assert report.loss.value == 3
    report = anonymize(frame, plan(2)).report
    assert report.levels == {"one": 1, "two": 0}
    assert report.loss.value == 1


def test_the_class_column_may_be_insensitive() -> None:
    frame = pl.DataFrame({"one": ["a", "a", "b", "b"], "two": ["x"] * 4, "label": ["1", "1", "0", "0"]})
    release = anonymize(frame, plan(2, role="insensitive"))
    assert release.report.loss.value == 0
    assert release.data["label"].to_list() == ["1", "1", "0", "0"]


ROWS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("xy"), st.sampled_from("012")), min_size=3, max_size=20
)


@settings(max_examples=size(12, 30))
@given(ROWS, st.integers(1, 3), st.sampled_from([0.0, 0.3, 1.0]))
def test_optimal_equals_exhaustive(rows, k, suppression) -> None:
    one, two, label = zip(*rows, strict=True)
    frame = pl.DataFrame({"one": one, "two": two, "label": label})
    fast = anonymize(frame, plan(k, "optimal", suppression)).report
    slow = anonymize(frame, plan(k, "exhaustive", suppression)).report
    assert fast.loss.value == slow.loss.value == pytest.approx(min(n.loss for n in slow.candidates if n.satisfied))
