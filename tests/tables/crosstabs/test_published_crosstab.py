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
