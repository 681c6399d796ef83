"""Published tables as their reader takes them: what is a count, and what totals give away."""

import pytest

from refusals import coded
from sfumato.errors import DataError
from sfumato.tables.crosstabs.published_crosstab import (
    county_rates,
    derivable,
    rates_of_masked_counts,
    read_crosstab,
    shown_zeros,
    smallest_count,
    unmarked_rates,
    unrounded,
)

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


RATES = ["county", "deaths", "deaths rate", "cases", "share"]
ROWS = [["a", "15", "3.1", "0", "0 %"], ["b", "*", "2.9*", "30", "7 %"], ["c", "25", "3.4", "4", "*"]]


def test_rates_belong_to_the_counts_in_their_name_or_to_any() -> None:
    table = read_crosstab(RATES, ROWS)
    assert (table.columns, table.owners) == (("deaths", "cases"), ((0,), (0, 1)))
    assert rates_of_masked_counts(table) == 2
    assert (unmarked_rates(table, 20), county_rates(table, 20)) == (2, 4)
    assert (county_rates(table, 10), shown_zeros(table)) == (3, 1)


def test_a_small_count_is_shown_or_possible_in_a_range() -> None:
    table = read_crosstab(["ward", "n"], [["a", "12"], ["b", "1-3"], ["c", "0"], ["d", "*"]])
    assert smallest_count(table, 1, 10) == 1
    assert smallest_count(table, 1, 3) == 12, "the range holds every small count"
    assert smallest_count(read_crosstab(["ward", "n"], [["a", "0"], ["b", "<11"]]), 1, 10) == float("inf")


@pytest.mark.parametrize(("small", "many"), [("*", 2), (3, 1)])
def test_counts_that_are_not_rounded_are_counted_but_for_what_small_ones_become(small, many) -> None:
    table = read_crosstab(["ward", "n"], [["a", "10"], ["b", "12"], ["c", "3"], ["d", "*"], ["e", "0"]])
    assert unrounded(table, 1, 4, small, 5) == many


def test_a_table_without_numbers_is_refused() -> None:
    with pytest.raises(DataError, check=coded("data.counts.no_counts")):
        read_crosstab(["ward", "name"], [["a", "north"], ["b", "south"]])


@pytest.mark.parametrize("name", ["Ensemble", "Totale", "everyone"])
def test_totals_under_any_name_give_masked_counts_away(name):
    rows = [["A", "*", "14", "17"], ["B", "25", "29", "54"], ["C", "40", "41", "81"], [name, "68", "84", "152"]]
    assert derivable(read_crosstab(["region", "H", "F", name], rows), 1, 10) == ("A, H",)


def test_counts_that_add_up_nowhere_are_not_attacked():
    rows = [["A", "*", "14", "17"], ["B", "25", "29", "51"], ["C", "40", "41", "80"]]
    assert derivable(read_crosstab(["region", "H", "F", "D"], rows), 1, 10) == ()


NORTH = [["w1", "*", "12", "15"], ["w2", "11", "12", "23"]]
SOUTH = [["w3", "18", "14", "32"], ["w4", "12", "16", "28"]]
BELOW = [*NORTH, ["North", "14", "24", "38"], *SOUTH, ["South", "30", "30", "60"]]
ABOVE = [["North", "14", "24", "38"], *NORTH, ["South", "30", "30", "60"], *SOUTH]


@pytest.mark.parametrize("rows", [BELOW, ABOVE], ids=["below", "above"])
@pytest.mark.parametrize("width", [3, 4], ids=["without a column of totals", "with one"])
def test_subtotals_under_a_total_give_masked_counts_away(rows, width):
    rows = [row[:width] for row in [*rows, ["Total", "44", "54", "98"]]]
    assert derivable(read_crosstab(["ward", "f", "m", "Total"][:width], rows), 1, 10) == ("w1, f",)


def test_subtotals_without_any_total_give_masked_counts_away():
    header, more = ["ward", "f", "m", "x", "y"], ((30, 70), (41, 22), (71, 92), (50, 39), (44, 18), (94, 57))
    rows = [[*row[:3], *map(str, counts)] for row, counts in zip(BELOW, more, strict=True)]
    assert derivable(read_crosstab(header, rows), 1, 10) == ("w1, f",)
    rows[2][4] = "93"
    assert derivable(read_crosstab(header, rows), 1, 10) == ()


def test_a_total_that_adds_up_in_no_way_is_told():
    rows = [["A", "*", "14"], ["B", "25", "29"], ["C", "40", "41"], ["Total", "60", "84"]]
    with pytest.raises(DataError, check=coded("data.contradiction.the_published_cells_contradict")):
        derivable(read_crosstab(["region", "f", "m"], rows), 1, 10)
