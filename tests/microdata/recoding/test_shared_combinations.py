"""Pools: columns that a division does not look at are recounted for the classes that share a combination."""

from collections import Counter

import numpy as np
import polars as pl
import pytest

from sfumato.engines.engine import MissingRules
from sfumato.microdata.counts.combinations import CountDifference
from sfumato.microdata.counts.frequency_table import ValueCounts, tabulate
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.recoding.expected_counts import NOWHERE, expected_counts, pools_of
from sfumato.microdata.recoding.mapping import Division, SuppressionHandling, class_recoding
from sfumato.pipelines.release import anonymize

DRAW = np.random.default_rng(8)
FRAME = pl.DataFrame(
    {
        "age": ["77", *DRAW.choice(["20", "20", "20", "30", "41"], 59)],
        "area": DRAW.choice(["1", "2", "3"], 60),
        "income": DRAW.integers(0, 99, 60).astype(str),
        "illness": DRAW.choice(["flu", "cold", "none"], 60),
    }
)
NUMBERS = {"role": "quasi-identifier", "type": "integer"}
TOGETHER = {"role": "quasi-identifier", "publish": {"microaggregate": {"k": 3, "group": "keys"}}}
WAYS = {
    "cells": {"method": {"name": "local-suppression"}},
    "relaxed": {"keys": NUMBERS, "method": {"name": "mondrian", "mode": "relaxed"}},
    "relaxed beside a promise": {
        "keys": NUMBERS,
        "method": {"name": "mondrian", "mode": "relaxed"},
        "more": [{"model": "l-diversity", "l": 2, "column": "illness"}],
    },
    "microaggregation": {"keys": TOGETHER},
}


def release_of(way: str, operation: dict):
    asked = WAYS[way]
    keys = asked.get("keys", {"role": "quasi-identifier"})
    plan = {
        "version": 1,
        "columns": {
            "age": keys,
            "area": keys,
            "income": {"role": "insensitive", "publish": operation},
            "illness": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 4}, *asked.get("more", [])],
        "seed": 4,
        "output": {"order": "keep"},
    }
    return anonymize(FRAME, plan | ({"method": asked["method"]} if "method" in asked else {}))


@pytest.mark.parametrize("operation", [{"round": 5}, {"bin": 20}, {"top": 50}], ids=lambda value: next(iter(value)))
@pytest.mark.parametrize("way", WAYS)
def test_numbers_published_coarser_go_with_divided_combinations(way, operation) -> None:
    assert release_of(way, operation).data.height == 60


@pytest.mark.parametrize("way", ["cells", "relaxed", "microaggregation"])
def test_a_value_that_changes_its_pool_or_appears_is_seen(way) -> None:
    release = release_of(way, {"round": 5})
    counted = release.published.count((*release.prediction.columns, *release.prediction.sensitive), MissingRules())
    assert release.prediction.pools is not None
    assert release.prediction.difference(counted) == ""
    place = counted.columns.index("income")
    codes = counted.codes.copy()
    codes[0, place] = (codes[0, place] + 1) % len(counted.values[place])
    assert "with income" in release.prediction.difference(
        type(counted)(counted.columns, counted.values, codes, counted.counts, counted.rows)
    )


def test_pools_are_what_divided_combinations_connect_and_leak_where_rows_are_hidden() -> None:
    combinations, classes = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 2, 4, 5])
    nothing = np.zeros(6, np.int64)
    division = Division("key", None, (None,), {}, combinations, nothing, classes, nothing + 1)
    labels = [("a",), ("b",), ("c",), ("d",), ("e",), ("*",)]
    pools = pools_of(division, labels, np.array([True] * 5 + [False]))
    assert pools.classes.tolist() == [0, 0, 0, NOWHERE, 1, 1]
    assert pools.leaky.tolist() == [False, True]
    texts = (("0", "1"), ("x", "y", "*"))
    foretold = CountDifference(texts, np.array([[0, 0], [1, 0], [1, 1]]), np.array([4, 2, 2]))
    fewer = CountDifference(texts, np.array([[0, 0], [1, 0], [1, 2]]), np.array([4, 2, 2]))
    more = CountDifference(texts, np.array([[0, 0], [1, 0]]), np.array([4, 3]))
    assert (pools.differing(foretold, fewer), pools.differing(foretold, more)) == (0, 1)
    assert pools.differing(foretold, CountDifference(texts, np.array([[0, 0]]), np.array([3]))) == 1


# Two areas are divided by illness: the rows of the first between a class that is shown and one that is suppressed,
# those of the second between two that are shown. Where their jobs stand is drawn row by row.
COLUMNS = ("area", "illness", "job")
ROWS = [("a", "flu", "cook"), ("a", "flu", "maid"), ("a", "cold", "cook"), ("a", "cold", "judge")]
ROWS += [("b", "flu", "maid"), ("b", "cold", "judge"), ("b", "cold", "cook"), ("c", "flu", "cook")]
SHOWN = [("A", "flu", "cook"), ("A", "cold", "cook"), ("A", "cold", "judge")]
SHOWN += [("B", "flu", "maid"), ("B2", "cold", "judge"), ("B2", "cold", "cook"), ("C", "flu", "cook")]
WITHHELD = {
    "drop": (SuppressionHandling(), []),
    "star": (SuppressionHandling("star"), [("*", "flu", "maid")]),
    "veil": (SuppressionHandling("star", suppressed_sensitive_columns=("illness", "job")), [("*", "*", "*")]),
}


def counted(rows) -> ValueCounts:
    """Rows as an engine counts them."""
    values = [tuple(dict.fromkeys(texts)) for texts in zip(*rows)]
    tally = Counter(tuple(texts.index(text) for texts, text in zip(values, row)) for row in rows)
    return ValueCounts(COLUMNS, tuple(values), np.array(list(tally), np.int32), np.array([*tally.values()]), len(rows))


def prediction_of(handling):
    """Of rows whose classes are set by hand: A; one that is suppressed; B and B2; C."""
    promises = [{"model": "l-diversity", "l": 1, "column": column} for column in ("illness", "job")]
    roles = {"area": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}}
    roles |= {"illness": {"role": "sensitive"}, "job": {"role": "sensitive"}}
    plan = read_plan({"version": 1, "columns": roles, "privacy": promises})
    table, _ = tabulate(counted(ROWS), plan)
    place = {text: code for code, text in enumerate(table.sensitive_values["illness"])}
    shares = [(0, "flu", 0, 1), (0, "flu", 1, 1), (0, "cold", 0, 2), (1, "flu", 2, 1), (1, "cold", 3, 2)]
    parts = [np.array(part) for part in zip(*((one, place[text], owner, rows) for one, text, owner, rows in shares))]
    division = Division("key", "illness", table.sensitive_values["illness"], place, *parts)
    codes, sizes, suppressed = np.arange(5, dtype=np.int32)[:, None], np.array([3, 1, 1, 2, 1]), np.arange(5) == 1
    labels = [("A", "withheld", "B", "B2", "C")]
    recoding = class_recoding(table, np.array([0, 2, 4]), labels, codes, sizes, suppressed, division)
    return expected_counts(table, recoding, handling, plan)


@pytest.mark.parametrize("way", WITHHELD)
def test_a_second_sensitive_column_is_foretold_for_pools(way) -> None:
    handling, withheld = WITHHELD[way]
    prediction = prediction_of(handling)
    assert prediction.difference(counted([*SHOWN, *withheld])) == ""
    # Jobs may change places between the classes of a pool.
    drawn = [SHOWN[0], *SHOWN[1:3], ("B", "flu", "judge"), ("B2", "cold", "maid"), *SHOWN[5:]]
    assert prediction.difference(counted([*drawn, *withheld])) == ""


CHANGES = {
    "a job of the pool that is shown": (3, "cook", {"drop", "star", "veil"}),
    "a job of no pool": (6, "maid", {"drop", "star", "veil"}),
    "more of a job than there are": (0, "judge", {"drop", "star", "veil"}),
    # Where a row of the pool does not show its job, any of its jobs may be the one.
    "a job that may be withheld": (0, "maid", {"star"}),
}


@pytest.mark.parametrize("way", WITHHELD)
@pytest.mark.parametrize("change", CHANGES)
def test_other_jobs_are_seen_where_all_rows_are_shown(way, change) -> None:
    handling, withheld = WITHHELD[way]
    place, job, seen = CHANGES[change]
    rows = [*SHOWN, *withheld]
    rows[place] = (*rows[place][:2], job)
    difference = prediction_of(handling).difference(counted(rows))
    assert ("with job" in difference) == (way in seen), difference
