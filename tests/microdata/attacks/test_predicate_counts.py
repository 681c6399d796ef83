"""Predicates hold for as many rows as looking at each row counts."""

from itertools import product

import numpy as np
import pytest

from sfumato.microdata.attacks.coded_rows import AttackRows, coded_rows
from sfumato.microdata.attacks.singling_out import AT_ONCE, Condition, PredicateCounts

ROWS = 60
LIMITS = {">=": np.greater_equal, "<=": np.less_equal}


@pytest.fixture
def rows() -> AttackRows:
    random = np.random.default_rng(1)

    def drawn() -> dict[str, list[str | None]]:
        return {
            "age": [str(number) for number in random.integers(0, 30, ROWS)],
            "wage": [None if number < 3 else str(number) for number in random.integers(0, 20, ROWS).tolist()],
            "ward": random.choice(["x", "y", None], ROWS).tolist(),
        }

    published = drawn()
    published["ward"][::5] = ["*"] * (ROWS // 5)
    return coded_rows(published, drawn(), drawn(), ["age"], ["wage"])


def holds(rows: AttackRows, one: Condition, which: str) -> np.ndarray:
    column = rows.columns[one.column]
    codes = getattr(column, which)
    if one.op != "=":
        numbers = column.numbers[int(which != "published")]
        return LIMITS[one.op](numbers[codes], column.numbers[int(one.guessed)][one.label])
    if which == "published" or one.guessed:
        return codes == one.label
    return column.covers[one.label, codes]


def drawn(rows: AttackRows, guessed: bool) -> list[tuple[Condition, ...]]:
    conditions = [
        [
            Condition(place, label, op, guessed)
            for label, op in product(range(0, len(column.values if guessed else column.labels), 4), ("=", ">=", "<="))
            if op == "=" or column.numbers is not None
        ]
        for place, column in enumerate(rows.columns)
    ]
    return [*((one,) for part in conditions for one in part), *product(*conditions)]


@pytest.mark.parametrize(
    ("which", "guessed"), [("published", False), ("raw", False), ("control", False), ("raw", True)]
)
def test_counts(rows, which, guessed) -> None:
    predicates = drawn(rows, guessed)
    assert len(predicates) > AT_ONCE, "counted in several parts"
    expected = [int(np.all([holds(rows, one, which) for one in predicate], axis=0).sum()) for predicate in predicates]
    counts, told = PredicateCounts(rows.columns, which), []
    assert counts.of(predicates, ROWS, lambda: told.append(1)).tolist() == expected
    assert counts.of(predicates, 2).tolist() == [min(number, 3) for number in expected]
    assert {0, 1, 2} <= {*expected} and len(told) == -(-len(predicates) // AT_ONCE)


def test_nothing_to_count(rows) -> None:
    assert PredicateCounts(rows.columns, "raw").of([], 1).tolist() == []
