"""Suppression that depends on an outcome is found, suppression by chance is not; auto prefers a method without it."""

import numpy as np
import pytest
from tests.microdata.questions.test_verdict import counted

from sfumato.hierarchies.hierarchy import make_hierarchy
from sfumato.microdata.questions.star_bias import complete_rows, star_bias

ROWS = 3000


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(7)
    return {
        "age": random.choice(["18-29", "30-44", "45-60", ">60"], ROWS).tolist(),
        "postcode": [str(code) for code in random.integers(10_000, 99_999, ROWS)],
        "apart": random.choice(["never", "often", "daily"], ROWS, p=[0.5, 0.3, 0.2]).tolist(),
        "hours": [str(hours) for hours in random.integers(1, 60, ROWS)],
    }


def suppressed(table, name, rate):
    """Stars in a column: the rate is a function of age, outcome and hours."""
    random = np.random.default_rng(8)
    cells = zip(table[name], table["age"], table["apart"], table["hours"])
    return table | {name: ["*" if random.random() < rate(a, y, int(h)) else cell for cell, a, y, h in cells]}


def found(table, changed, outcome="apart"):
    names = ["age", "postcode", outcome]
    ladders = {name: make_hierarchy([*dict.fromkeys(table[name])], []) for name in names[:2]}
    raw, published = (counted({name: one[name] for name in names}) for one in (table, changed))
    return star_bias({outcome: (raw, published)}, ladders)


CASES = [
    ("age", lambda a, y, h: 0.3, "apart", None),
    ("age", lambda a, y, h: 0.6 if a == "18-29" else 0.1, "apart", None),
    ("age", lambda a, y, h: 0.6 if (a, y) == ("18-29", "daily") else 0.2, "apart", "age"),
    ("age", lambda a, y, h: 0.7 if y == "daily" else 0.1, "apart", "age"),
    ("postcode", lambda a, y, h: 0.7 if y == "daily" else 0.1, "apart", "postcode"),
    ("postcode", lambda a, y, h: 0.8 if h > 45 else 0.2, "hours", "postcode"),
    ("postcode", lambda a, y, h: 0.5, "hours", None),
]


@pytest.mark.parametrize("name, rate, outcome, column", CASES)
def test_only_suppression_that_depends_on_the_outcome_is_found(table, name, rate, outcome, column) -> None:
    told = found(table, suppressed(table, name, rate), outcome)
    assert [one.outcome for one in told] == ([] if column is None else [outcome])
    assert {one.column for one in told} <= {column, None}


def test_unchanged_rows_have_no_bias_and_are_complete(table) -> None:
    assert found(table, table) == ()
    assert complete_rows(counted(table), ["age"]) == (ROWS, ROWS)
    half = suppressed(table, "age", lambda a, y, h: 0.5)
    complete, rows = complete_rows(counted(half), ["age", "postcode"])
    assert 0.4 < complete / rows < 0.6


def test_dropped_rows_count_as_suppressed(table) -> None:
    kept = [place for place, answer in enumerate(table["apart"]) if answer != "daily" or place % 5 == 0]
    told = found(table, {name: [cells[place] for place in kept] for name, cells in table.items()})
    assert [one.outcome for one in told] == ["apart"]
