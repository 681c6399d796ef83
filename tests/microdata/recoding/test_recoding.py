"""Recodings, and the counts that the published rows must have."""

from collections import Counter

import numpy as np
import polars as pl
import pytest

from sfumato.engines.engine import MissingRules
from sfumato.hierarchies.lists import SuppressAll
from sfumato.microdata.counts.combinations import CountDifference
from sfumato.microdata.counts.frequency_table import ValueCounts, code_column, tabulate
from sfumato.microdata.methods.search import search
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.microdata.plan.model import ColumnPlan, Plan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.recoding.expected_counts import NOWHERE, classes_of, expected_counts, hides_sensitive, pools_of
from sfumato.microdata.recoding.mapping import (
    Division,
    LevelRecoding,
    SuppressionHandling,
    class_recoding,
    numbered,
    published_labels,
)
from sfumato.pipelines.release import anonymize
from sfumato.values import replace

# Recodings: divided combinations rank their rows, and columns that stay as they are are known.

COLUMN = ColumnPlan("quasi-identifier", "integer", SuppressAll())
PLAN = Plan({"age": COLUMN}, (KAnonymity(1),))


def division(combinations, codes, rows) -> Division:
    numbers = [np.array(part, np.int64) for part in (combinations, codes, range(len(rows)), rows)]
    return Division(
        "key", "illness", ("flu", "cold"), {"flu": 0, "cold": 1}, numbers[0], numbers[1], numbers[2], numbers[3]
    )


def test_the_last_rank_of_each_share():
    """Two shares of flu and one of cold in the first combination, two of flu in the second."""
    shares = division([0, 0, 0, 4, 4], [0, 0, 1, 0, 0], [2, 3, 4, 1, 6])
    assert shares.ends.tolist() == [2, 5, 4, 1, 7]


def test_a_combination_whose_number_follows_is_another():
    assert division([0, 1], [1, 0], [2, 3]).ends.tolist() == [2, 3]


@pytest.mark.parametrize(("texts", "identical"), [(("7", "8"), True), (("07", "8"), False), (("7", "08"), False)])
def test_a_column_stays_as_it_is_where_its_texts_are_its_values(texts, identical):
    """`07` of an integer column is published as 7, though at level 0."""
    coding, rejected = code_column(texts, COLUMN, PLAN)
    nothing = np.zeros((0, 1), np.int32)
    recoding = LevelRecoding(
        ("age",), (coding,), (0,), nothing, np.zeros(0, bool), np.zeros(0, np.int64), nothing[:, 0]
    )
    assert (rejected, recoding.identical) == ((), (identical,))


def test_rows_are_dropped_and_nobody_is_named_unless_said():
    handling = SuppressionHandling()
    assert (handling.suppressed, handling.person, handling.person_key) == ("drop", None, "")


def test_keys_of_persons_are_a_column_where_they_are_published():
    assert SuppressionHandling(person="patient", publishes_keys=True).key_column == "patient"
    assert SuppressionHandling(person="patient").key_column is None


# The prediction of a release: right for the rows as they must be published, wrong for any other rows.

ROWS = [
    ("21", "f", "flu"),
    ("22", "f", "flu"),
    ("25", "f", "asthma"),
    ("41", "m", "flu"),
    ("43", "m", "cancer"),
    ("48", "m", ""),
    ("77", "f", "cancer"),
]
# What each row becomes where ages are published by twenty years and rows that are alone are withheld.
PUBLISHED = [("20-39", "f")] * 3 + [("40-59", "m")] * 3


def plan_of(**changes):
    plan = {
        "version": 1,
        "columns": {
            "age": {
                "role": "quasi-identifier",
                "hierarchy": {"type": "intervals", "start": 0, "end": 99, "widths": [20]},
            },
            "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "illness": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2, "column": "illness"}],
        "method": {"name": "optimal", "suppression": {"rows": 1}},
    }
    return read_plan(plan | changes)


def counted(rows, columns=("age", "sex", "illness")) -> ValueCounts:
    """Rows as an engine counts them; an empty text is missing."""
    values = [tuple(dict.fromkeys(row[place] or None for row in rows)) for place in range(len(columns))]
    places = [{text: place for place, text in enumerate(texts)} for texts in values]
    tally = Counter(tuple(code[text or None] for code, text in zip(places, row)) for row in rows)
    codes = np.array(list(tally), np.int32).reshape(len(tally), len(columns))
    return ValueCounts(tuple(columns), tuple(values), codes, np.array(list(tally.values())), len(rows))


@pytest.fixture(scope="module")
def release():
    plan = plan_of()
    table, rejected = tabulate(counted(ROWS), plan)
    assert not rejected
    return plan, table, search(plan, table).recoding


def test_the_classes_are_those_counted_by_hand(release):
    _, table, recoding = release
    labels = [published_labels(recoding, place) for place in range(len(recoding.sizes))]
    assert dict(zip(labels, recoding.sizes.tolist())) == {("20-39", "f"): 3, ("40-59", "m"): 3, ("60-79", "f"): 1}
    assert [label for label, hidden in zip(labels, recoding.suppressed) if hidden] == [("60-79", "f")]
    assert sorted(numbered(recoding).tolist()) == [0, 1, 2]
    assert recoding.identical == (False, True)
    sensitive = classes_of(table, recoding).sensitive["illness"]
    assert sensitive.counts.sum() == len(ROWS)


def test_rows_as_they_must_be_differ_in_nothing(release):
    plan, table, recoding = release
    prediction = expected_counts(table, recoding, SuppressionHandling(), plan)
    published = [(*labels, row[2]) for labels, row in zip(PUBLISHED, ROWS)]
    assert prediction.difference(counted(published)) == ""
    assert prediction.tallies[0].total == len(published)


CHANGES = {
    "a row is lost": lambda rows: rows[1:],
    "a row stands twice": lambda rows: [*rows, rows[0]],
    "a label is another": lambda rows: [("0-19", *rows[0][1:]), *rows[1:]],
    "a raw value slipped in": lambda rows: [("21", *rows[0][1:]), *rows[1:]],
    "a sex is another": lambda rows: [(rows[0][0], "m", rows[0][2]), *rows[1:]],
    "an illness is another": lambda rows: [(*rows[0][:2], "cancer"), *rows[1:]],
    "two illnesses changed classes": lambda rows: [
        (*rows[2][:2], rows[4][2]),
        (*rows[4][:2], rows[2][2]),
        *rows[:2],
        *rows[3:4],
        *rows[5:],
    ],
    "an illness is missing": lambda rows: [(*rows[0][:2], ""), *rows[1:]],
    "a withheld row is published": lambda rows: [*rows, ("60-79", "f", "cancer")],
    "a withheld row is published as *": lambda rows: [*rows, ("*", "*", "cancer")],
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_any_other_rows_are_noticed(release, change):
    plan, table, recoding = release
    prediction = expected_counts(table, recoding, SuppressionHandling(), plan)
    published = [(*labels, row[2]) for labels, row in zip(PUBLISHED, ROWS)]
    assert "have other counts" in prediction.difference(counted(change(published)))


def test_the_difference_says_how_many_rows_and_of_which_column(release):
    plan, table, recoding = release
    prediction = expected_counts(table, recoding, SuppressionHandling(), plan)
    published = [(*labels, row[2]) for labels, row in zip(PUBLISHED, ROWS)]
    assert prediction.difference(counted(published[1:])) == "1 combinations have other counts (5 rows instead of 6)"
    other = [(*published[0][:2], "cancer"), *published[1:]]
    assert prediction.difference(counted(other)).startswith("2 combinations with illness have other counts")


@pytest.mark.parametrize("veiled", [(), ("illness",)], ids=["shown", "veiled"])
def test_withheld_rows_may_be_published_as_stars(release, veiled):
    _, table, recoding = release
    plan = plan_of(output={"suppressed": "star"})
    prediction = expected_counts(
        table, recoding, SuppressionHandling(suppressed="star", suppressed_sensitive_columns=veiled), plan
    )
    rows = [(*labels, row[2]) for labels, row in zip(PUBLISHED, ROWS)]
    told, hidden = [*rows, ("*", "*", "cancer")], [*rows, ("*", "*", "*")]
    assert (prediction.difference(counted(told)) == "") == (not veiled)
    assert (prediction.difference(counted(hidden)) == "") == bool(veiled)


def test_stars_are_veiled_only_where_their_rows_alone_would_betray(release):
    _, table, recoding = release
    assert hides_sensitive(
        table, recoding, plan_of(output={"suppressed": "star"})
    )  # one row: its illness would be told
    assert not hides_sensitive(table, recoding, plan_of())  # dropped rows tell nothing
    only_k = plan_of(output={"suppressed": "star"}, privacy=[{"model": "k-anonymity", "k": 1}])
    assert not hides_sensitive(table, recoding, only_k)
    kept = replace(recoding, suppressed=np.zeros(len(recoding.sizes), bool))
    assert not hides_sensitive(table, kept, plan_of(output={"suppressed": "star"}))


def test_texts_that_mean_missing_are_one_value():
    plan = plan_of(data={"missing": ["?"]})
    rows = [
        ("21", "f", "?"),
        ("22", "f", ""),
        ("23", "f", "flu"),
        ("24", "f", "cold"),
        ("44", "m", "asthma"),
        ("45", "m", "flu"),
    ]
    table, _ = tabulate(counted(rows), plan)
    prediction = expected_counts(table, search(plan, table).recoding, SuppressionHandling(), plan)
    published = [("20-39", "f", illness) for illness in ("?", "?", "flu", "cold")]
    published += [("40-59", "m", illness) for illness in ("asthma", "flu")]
    assert prediction.difference(counted(published)) == ""


# Pools: columns that a division does not look at are recounted for the classes that share a combination.

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
SHARED_ROWS = [("a", "flu", "cook"), ("a", "flu", "maid"), ("a", "cold", "cook"), ("a", "cold", "judge")]
SHARED_ROWS += [("b", "flu", "maid"), ("b", "cold", "judge"), ("b", "cold", "cook"), ("c", "flu", "cook")]
SHOWN = [("A", "flu", "cook"), ("A", "cold", "cook"), ("A", "cold", "judge")]
SHOWN += [("B", "flu", "maid"), ("B2", "cold", "judge"), ("B2", "cold", "cook"), ("C", "flu", "cook")]
WITHHELD = {
    "drop": (SuppressionHandling(), []),
    "star": (SuppressionHandling("star"), [("*", "flu", "maid")]),
    "veil": (SuppressionHandling("star", suppressed_sensitive_columns=("illness", "job")), [("*", "*", "*")]),
}


def counted_shared(rows) -> ValueCounts:
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
    table, _ = tabulate(counted_shared(SHARED_ROWS), plan)
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
    assert prediction.difference(counted_shared([*SHOWN, *withheld])) == ""
    # Jobs may change places between the classes of a pool.
    drawn = [SHOWN[0], *SHOWN[1:3], ("B", "flu", "judge"), ("B2", "cold", "maid"), *SHOWN[5:]]
    assert prediction.difference(counted_shared([*drawn, *withheld])) == ""


SHARED_CHANGES = {
    "a job of the pool that is shown": (3, "cook", {"drop", "star", "veil"}),
    "a job of no pool": (6, "maid", {"drop", "star", "veil"}),
    "more of a job than there are": (0, "judge", {"drop", "star", "veil"}),
    # Where a row of the pool does not show its job, any of its jobs may be the one.
    "a job that may be withheld": (0, "maid", {"star"}),
}


@pytest.mark.parametrize("way", WITHHELD)
@pytest.mark.parametrize("change", SHARED_CHANGES)
def test_other_jobs_are_seen_where_all_rows_are_shown(way, change) -> None:
    handling, withheld = WITHHELD[way]
    place, job, seen = SHARED_CHANGES[change]
    rows = [*SHOWN, *withheld]
    rows[place] = (*rows[place][:2], job)
    difference = prediction_of(handling).difference(counted_shared(rows))
    assert ("with job" in difference) == (way in seen), difference
