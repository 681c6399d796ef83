"""Pools: columns that a division does not look at are recounted for the classes that share a combination."""

import numpy as np
import polars as pl
import pytest

from sfumato.engines.engine import Reading
from sfumato.microdata.counts.tallies import Tally
from sfumato.microdata.recoding.pools import NOWHERE, pools_of
from sfumato.microdata.recoding.recoding import Division
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
    "cells": {"method": {"name": "cells"}},
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
    counted = release.published.count((*release.prediction.columns, *release.prediction.sensitive), Reading())
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
    foretold = Tally(texts, np.array([[0, 0], [1, 0], [1, 1]]), np.array([4, 2, 2]))
    fewer = Tally(texts, np.array([[0, 0], [1, 0], [1, 2]]), np.array([4, 2, 2]))
    more = Tally(texts, np.array([[0, 0], [1, 0]]), np.array([4, 3]))
    assert (pools.differing(foretold, fewer), pools.differing(foretold, more)) == (0, 1)
    assert pools.differing(foretold, Tally(texts, np.array([[0, 0]]), np.array([3]))) == 1
