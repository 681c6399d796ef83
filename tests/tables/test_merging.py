"""Coarser tables: what is added up when codes become one, and who is then the largest."""

import pytest

from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.plan.sections import TableSource
from sfumato.tables.redesign import CLOSE, MERGE, Change, added_up

# Two cells of the same codes; the same firm is in both, second in one of them and first in the other.
ROWS = TextColumns(
    {
        "region": ("n", "n", "s"),
        "value": ("100", "90.5", "7"),
        "firms": ("5", "4", "1"),
        "first": ("60", "45", "7"),
        "second": ("40", "30.5", ""),
        "who": ("A", "B", "C"),
        "who2": ("B", "D", ""),
    }
)


def test_one_firm_in_two_cells_is_the_largest_of_both_together():
    source = TableSource(frequency="firms", contributions=("first", "second"), contributors=("who", "who2"))
    merged = added_up(ROWS, ["region"], source)
    assert merged.texts == {
        "region": ("n", "s"),
        "value": ("190.5", "7"),
        "firms": ("9", "1"),
        "first": ("85", "7"),
        "second": ("60", "0"),
        "who": ("B", "C"),
        "who2": ("A", ""),
    }


def test_nobody_is_taken_for_another_where_firms_have_no_names():
    merged = added_up(ROWS, ["region"], TableSource(contributions=("first", "second")))
    assert (merged.text("first"), merged.text("second")) == (("60", "7"), ("45", "0"))


def test_rows_of_different_codes_stay_as_they_are():
    assert added_up(ROWS, ["region", "who"], TableSource()) is ROWS


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (Change(MERGE, "region", (("n", "n1"), ("n", "n2"))), "merge region n1 and n2"),
        (Change(CLOSE, "region", (("n", ""),)), "show region n without its parts"),
    ],
)
def test_a_change_is_told_in_words(change, words):
    assert change.label == words
