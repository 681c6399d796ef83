"""Published tables as their reader takes them: what is a count, and what totals give away."""

import pytest

from sfumato.tables.crosstabs.published_crosstab import derivable, read_crosstab

HEADER = ["ort", "c0", "c1", "Total"]


@pytest.mark.parametrize("mask", ["*", "<11", "Suppressed", "--"])
def test_a_column_masked_throughout_is_no_label(mask) -> None:
    table = read_crosstab(HEADER, [["r0", mask, "20", "25"], ["r1", mask, "30", "34"], ["Total", mask, "50", "59"]])
    assert table.columns == ("c0", "c1", "Total")
    assert derivable(table, 1, 10) == ("r0, c0", "r1, c0", "Total, c0")


def test_a_row_of_masks_alone_tells_nothing() -> None:
    table = read_crosstab(HEADER, [["r0", "55", "0", "55"], ["r1", "*", "*", "*"], ["Total", "*", "*", "*"]])
    assert derivable(table, 1, 10) == ()


def test_words_before_numbers_are_labels() -> None:
    table = read_crosstab(["ort", "sex", "n"], [["a", "m", "12"], ["a", "f", "*"]])
    assert table.columns == ("n",)


@pytest.mark.parametrize("total", ["Total", "Gesamt", ""])
def test_totals_of_long_tables_give_masks_away(total) -> None:
    """One row a cell, labels in several columns: totals stand in each of them."""
    rows = [
        ["A", "f", "*"],
        ["A", "m", "20"],
        ["A", total, "23"],
        ["B", "f", "15"],
        ["B", "m", "0"],
        ["B", total, "15"],
    ]
    whole = [*rows, [total, "f", "18"], [total, "m", "20"], [total, total, "38"]]
    assert derivable(read_crosstab(["region", "sex", "n"], whole), 1, 10) == ("A f, n",)
    hidden = [[*row[:2], "*"] if row[0] != total and row[1] != total else row for row in rows]
    assert derivable(read_crosstab(["region", "sex", "n"], hidden), 1, 10) == ()
