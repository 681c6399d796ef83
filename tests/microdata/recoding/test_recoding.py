"""Recodings: divided combinations rank their rows, and columns that stay as they are are known."""

import numpy as np
import pytest

from sfumato.hierarchies.lists import SuppressAll
from sfumato.microdata.counts.frequency_table import code_column
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.microdata.plan.model import ColumnPlan, Plan
from sfumato.microdata.recoding.mapping import Division, LevelRecoding, SuppressionHandling

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
