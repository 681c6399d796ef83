"""The prediction of a release: right for the rows as they must be published, wrong for any other rows."""

from collections import Counter

import numpy as np
import pytest

from sfumato.microdata.counts.frequency_table import ValueCounts, tabulate
from sfumato.microdata.methods.search import search
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.recoding.expected_counts import classes_of, expected_counts, hides_sensitive
from sfumato.microdata.recoding.mapping import SuppressionHandling, numbered, published_labels
from sfumato.values import replace

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
