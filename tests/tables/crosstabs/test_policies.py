"""Small-number policies on crosstabs of both kinds."""

import numpy as np
import pytest

from refusals import coded
from sfumato.errors import DataError, PlanError
from sfumato.pipelines.tables.protect import suppress
from sfumato.policies.policy import policies

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

GRID = {"a": [3, 12, 40, 55], "b": [20, 33, 47, 100], "c": [18, 27, 36, 81], "All": [41, 72, 123, 236]}
LABELS = ["x", "y", "z", "All"]


def table():
    return pandas.DataFrame(GRID, index=pandas.Index(LABELS, name="row"))


def test_nhs_masks_and_rounds():
    done = suppress(table(), "nhs")
    assert done["a"].tolist() == ["*", 10, 40, 55]
    assert done.loc["All"].tolist() == [55, 100, 80, 235]
    assert done.index.name == "row"


def test_eurostat_rounds_everything():
    done = suppress(table(), "eurostat")
    assert done["a"].tolist() == [5, 10, 40, 60]


@pytest.mark.parametrize(("policy", "small"), [("cms-11", 10), ("research-10", 9)])
def test_small_cells_are_neither_shown_nor_derivable(policy, small):
    done = suppress(table(), policy)
    masked = np.array([[entry == "*" for entry in row] for row in done.to_numpy().tolist()])
    values = table().to_numpy()
    assert masked[(values >= 1) & (values <= small)].all()
    assert (masked.sum(axis=0)[masked.any(axis=0)] > 1).all()
    assert (masked.sum(axis=1)[masked.any(axis=1)] > 1).all()
    assert done.loc["z", "b"] == 47


def test_polars_comes_back_as_polars():
    frame = polars.DataFrame({"row": LABELS} | GRID)
    done = suppress(frame, "nhs")
    assert isinstance(done, polars.DataFrame)
    assert done["a"].to_list() == ["*", "10", "40", "55"]
    assert done["row"].to_list() == LABELS


def test_real_crosstab():
    rng = np.random.default_rng(5)
    people = pandas.DataFrame(
        {"ward": rng.choice(list("abcd"), 300, p=[0.5, 0.3, 0.18, 0.02]), "sex": rng.choice(["m", "w"], 300)}
    )
    done = suppress(pandas.crosstab(people["ward"], people["sex"], margins=True), "cms-11")
    assert list(done.columns) == ["m", "w", "All"]
    assert (done.loc["d"] == "*").any()


def test_percentages_follow():
    frame = table().assign(share=lambda t: (100 * t["a"] / t["All"]).round(1))
    done = suppress(frame, "nhs")
    assert done["share"].tolist() == ["*", 14.3, 32.0, 23.4]


def test_named_percentages_follow():
    frame = pandas.DataFrame({"a": [5, 50], "All": [10, 100], "share": [50, 50]}, index=["x", "y"])
    done = suppress(frame, "nhs", derived={"share": ("a", "All")})
    assert done["share"].tolist() == ["*", 50]


@pytest.mark.parametrize(
    "wrong",
    [
        pandas.DataFrame({"a": [1.5, 2.0]}),
        pandas.DataFrame({"a": ["few", "many"]}),
        pandas.DataFrame({"a": [-1, 2]}),
        pandas.DataFrame({"a": [12, 3], "b": [20, 30], "All": [32, 34]}),
    ],
)
def test_what_is_no_table_of_counts_is_refused(wrong):
    with pytest.raises(DataError):
        suppress(wrong, "cms-11")


def test_unknown_policy_and_sources():
    with pytest.raises(PlanError, check=coded("plan.no-policy.is_not_a_policy")):
        suppress(table(), "cms-1")
    assert all(policy.source for policy in policies().values())


def test_caller_keeps_his_table():
    frame = table()
    suppress(frame, "nhs")
    assert frame["a"].tolist() == GRID["a"]


SQUARE = [[5, 20, 25], [40, 80, 120], [45, 100, 145]]


@pytest.mark.parametrize("name", ["Grand total", "ALL", "Summe", "Totals", "Gesamtsumme", "Σ", "every one of them"])
def test_margins_are_found_under_any_name(name):
    done = suppress(pandas.DataFrame(SQUARE, index=["x", "y", name], columns=["a", "b", name]), "cms-11")
    assert (done == "*").to_numpy().sum() == 4


def test_subtotals_are_found_by_their_numbers():
    rows = {"x": [5, 30], "y": [40, 50], "x+y": [45, 80], "z": [60, 70], "everyone": [105, 150]}
    done = suppress(pandas.DataFrame(rows, index=["a", "b"]).T, "cms-11")
    assert done.loc["x", "a"] == "*"
    assert (done["a"] == "*").sum() == 2
    assert done.loc["y", "a"] == "*" or done.loc["x+y", "a"] == "*"


def test_zeros_are_shown_so_that_a_row_of_ones_needs_its_total_masked():
    ones = pandas.DataFrame([[1] * 11, [20] * 11, [21] * 11], index=["x", "y", "All"])
    done = suppress(ones.assign(All=ones.sum(axis=1)), "cms-11")
    assert done.loc["x", "All"] == "*"


def test_whole_percentages_follow_too():
    frame = pandas.DataFrame({"cases": [5, 40], "population": [20, 80], "pct": [25.0, 50.0]}, index=["x", "y"])
    assert suppress(frame, "cms-11")["pct"].tolist() == ["*", 50]
    assert suppress(frame, "nhs")["pct"].tolist() == ["*", 50]


def test_columns_that_may_be_counts_or_not_are_refused():
    frame = pandas.DataFrame({"cases": [5, 40], "population": [20, 80], "found": [25, 50]}, index=["x", "y"])
    with pytest.raises(DataError, check=coded("data.ambiguous-column")) as caught:
        suppress(frame, "cms-11")
    assert caught.value.code == "data.ambiguous-column"
    counts = {"cases": None, "population": None, "found": None}
    assert suppress(frame, "cms-11", derived=counts)["found"].tolist() == [25, 50]
    assert suppress(frame, "cms-11", derived={"found": ("cases", "population")})["found"].tolist() == ["*", 50]


def test_shares_of_a_total_follow_it_and_never_tell_it():
    frame = pandas.DataFrame({"n": [5, 40, 80, 125]}, index=["x", "y", "z", "All"])
    done = suppress(frame.assign(share=(100 * frame["n"] / 125).round(1)), "cms-11")
    assert done["share"].tolist() == ["*", "*", 64.0, 100.0]
    bare = frame.iloc[:3]
    with pytest.raises(DataError, check=coded("data.hidden-total")):
        suppress(bare.assign(share=(100 * bare["n"] / 125).round(1)), "cms-11")


def test_unknown_margin_is_refused():
    with pytest.raises(PlanError, check=coded("plan.no-margin")):
        suppress(table(), "cms-11", margins="Everything")


def regional(wards, total="All", seed=1):
    """Four regions after their wards, one small count in the first, and an All column."""
    rng = np.random.default_rng(seed)
    rows = {}
    for region in range(4):
        own = {f"r{region}w{ward}": rng.integers(11, 90, 3) for ward in range(wards)}
        if region == 0:
            own["r0w1"][0] = 4
        rows |= own | {f"region{region}": sum(own.values())}
    if total:
        rows[total] = sum(rows[f"region{region}"] for region in range(4))
    frame = pandas.DataFrame.from_dict(rows, orient="index", columns=["x", "y", "z"])
    return frame.assign(All=frame.sum(axis=1))


def test_an_equal_line_does_not_hide_a_subtotal():
    frame = pandas.DataFrame({"n": [5, 20, 25, 25, 50]}, index=["a", "b", "north", "c", "Total"])
    done = suppress(frame, "cms-11")["n"].tolist()
    assert done[0] == "*"
    assert "*" in done[1:3]


@pytest.mark.parametrize(("wards", "total"), [(3, "All"), (15, "All"), (15, "")])
def test_subtotals_are_found_in_tables_of_any_size(wards, total):
    done = suppress(regional(wards, total), "cms-11")
    first = [*(f"r0w{ward}" for ward in range(wards)), "region0"]
    assert done.loc["r0w1", "x"] == "*"
    assert (done.loc[first, "x"] == "*").sum() > 1
    assert (done == "*").to_numpy().sum() <= 6


def test_numbers_that_show_nothing_are_refused_until_the_subtotals_are_named():
    rng = np.random.default_rng(6)
    small = pandas.DataFrame({"n": rng.integers(11, 60, 24)}, index=[f"w{ward}" for ward in range(24)])
    small.iloc[3, 0] = 5
    small.loc["east"] = small.loc[["w3", "w9", "w17"]].sum()
    with pytest.raises(DataError, check=coded("data.ambiguous-sums")) as caught:
        suppress(small, "cms-11")
    assert caught.value.code == "data.ambiguous-sums"
    done = suppress(small, "cms-11", subtotals={"east": ["w3", "w9", "w17"]})
    assert (done.loc[["w3", "w9", "w17", "east"], "n"] == "*").sum() > 1
    assert (suppress(small.iloc[:-1], "cms-11", subtotals={})["n"] == "*").sum() < 6
    large = pandas.DataFrame(rng.integers(5, 900, (300, 2)), columns=["x", "y"])
    with pytest.raises(DataError) as caught:
        suppress(large, "cms-11")
    assert caught.value.code == "data.unsearched-sums"


def test_named_subtotals_are_checked():
    frame = pandas.DataFrame({"n": [5, 20, 30, 25]}, index=["a", "b", "c", "ab"])
    with pytest.raises(DataError, check=coded("data.totals.subtotal")):
        suppress(frame, "cms-11", subtotals={"ab": ["a", "c"]})
    for wrong in ({"ab": ["a", "d"]}, {"ab": []}, {"total": ["a"]}):
        with pytest.raises(PlanError, check=coded("plan.no-subtotal")):
            suppress(frame, "cms-11", subtotals=wrong)


def test_a_plain_total_under_its_own_name_masks_no_more_than_needed():
    frame = pandas.DataFrame({"n": [8, 8, 40, 60, 116]}, index=["a", "b", "c", "d", "Total"])
    assert suppress(frame, "cms-11")["n"].tolist() == ["*", "*", 40, 60, 116]


def test_no_mask_says_what_is_untrue_of_a_cell_or_which_masks_are_secondary():
    done = suppress(table(), "omop-5")
    masks = {entry for row in done.to_numpy().tolist() for entry in row if isinstance(entry, str)}
    assert masks == {"*"}
    assert suppress(table().loc[["x", "y"], ["a"]], "omop-5")["a"].tolist() == ["<5", 12], "no sum ties these cells"


def test_percentages_of_masked_counts_are_masked_whatever_the_mask():
    counts = pandas.DataFrame({"n": [3, 50], "of": [40, 80], "percent": [7.5, 62.5]}, index=["x", "y"])
    done = suppress(counts, "cdc-wonder", derived={"percent": ("n", "of")}, subtotals={})
    assert done["percent"].tolist() == ["*", 62.5]


@pytest.mark.parametrize("name", ["rate per 100,000", "Mean age", "Anteil in %", "Median", "Geburtenrate"])
def test_whole_rates_and_means_beside_counts_are_refused_unless_they_are_said_to_be_counts(name):
    frame = pandas.DataFrame({"cases": [3, 25, 40], name: [12, 50, 61]}, index=["A", "B", "C"])
    for policy in ("cms-11", "nhs"):
        with pytest.raises(DataError, check=coded("data.not-a-count.column")) as caught:
            suppress(frame, policy)
        assert caught.value.code == "data.not-a-count"
    assert suppress(frame, "cms-11", derived={name: None})[name].tolist() == [12, 50, 61]


def test_rows_of_percentages_are_refused():
    rows = {"A": [3, 17, 20], "A in %": [15, 85, 100], "B": [47, 53, 100], "Total": [50, 70, 120]}
    frame = pandas.DataFrame(rows, index=["m", "f", "Total"]).T
    with pytest.raises(DataError, check=coded("data.not-a-count.row")):
        suppress(frame, "cms-11")
    assert suppress(frame.drop("A in %"), "cms-11").loc["A"].tolist() == ["*", "*", 20]


def test_categories_that_are_called_so_are_counts_where_they_add_up_to_a_total():
    frame = pandas.DataFrame(
        {"poor": [31, 25, 56], "average": [52, 41, 93], "good": [27, 30, 57], "Total": [110, 96, 206]},
        index=["m", "f", "Total"],
    )
    for counts in (frame, frame.T):
        assert suppress(counts, "cms-11").to_numpy().tolist() == counts.to_numpy().tolist()


@pytest.mark.parametrize(
    "names",
    [
        ("poor", "average", "good"),
        ("below average", "average", "above average"),
        ("schlecht", "durchschnittlich", "gut"),
    ],
)
def test_grades_of_a_scale_are_counts_without_any_total(names):
    frame = pandas.DataFrame([[3, 31, 25], [52, 41, 38]], index=["m", "f"], columns=[*names])
    for counts in (frame, frame.T):
        assert suppress(counts, "cms-11").to_numpy().tolist() != counts.to_numpy().tolist()


def test_means_whose_entries_add_up_to_a_total_are_counts():
    frame = pandas.DataFrame(
        {"low": [31, 25, 56], "average": [52, 41, 93], "high": [27, 30, 57]}, index=["m", "f", "All"]
    )
    for counts in (frame, frame.T):
        assert suppress(counts, "cms-11").to_numpy().tolist() == counts.to_numpy().tolist()
    means = frame.assign(average=[52, 41, 47])
    for wrong in (means, means.T, frame.drop(index="All"), frame.rename(columns={"average": "share"})):
        with pytest.raises(DataError, match=r'"(average|share)" of the crosstab is called a share'):
            suppress(wrong, "cms-11")


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ({"cases": [5, 40, 44], "All": [25, 50, 75]}, "data.totals.margin_of_crosstab"),
        ({"cases": [5, 40], "ages": [25.5, 50.1]}, "data.not-a-count.crosstab_column"),
        ({"cases": [3, 5, 42], "x": [6, 10, 84]}, "data.hidden-total"),
    ],
)
def test_refusals_name_the_line(columns, what):
    frame = pandas.DataFrame(columns, index=["a", "b", "c"][: len(columns["cases"])])
    with pytest.raises(DataError, check=coded(what)):
        suppress(frame, "cms-11")


def test_columns_without_anybody_and_with_one_here_and_there_are_counts():
    rows = [[12, 0, 0, 0], [0, 0, 19, 1], [0, 0, 21, 0], [31, 0, 0, 1]]
    frame = pandas.DataFrame(rows, index=["a", "b", "c", "d"], columns=["north", "east", "south", "west"])
    for counts in (frame, pandas.concat([frame, frame.sum().to_frame("All").T])):
        for policy in ("cms-11", "nhs"):
            assert suppress(counts, policy).loc["c"].tolist() == [0, 0, 21 if policy == "cms-11" else 20, 0]


def test_parts_of_a_total_are_no_totals_of_it_where_their_neighbors_are_empty():
    frame = pandas.DataFrame(
        {
            "group 1": [16, 0, 108, 124, 37, 26, 166],
            "one": [0, 0, 0, 0, 37, 0, 22],
            "two": [16, 0, 108, 124, 0, 26, 144],
            "group 2": [29, 60, 102, 191, 465, 0, 195],
            "three": [20, 37, 0, 57, 281, 0, 195],
            "four": [9, 23, 102, 134, 184, 0, 0],
            "All": [45, 60, 210, 315, 502, 26, 361],
        }
    ).T
    assert suppress(frame, "cms-11").loc["two"].tolist() == [16, 0, 108, 124, 0, 26, 144]


def test_shares_that_add_up_among_themselves_are_refused():
    shares = {"cases": [3, 25, 40], "% m": [40, 55, 62], "% f": [60, 45, 38], "Total": [100, 100, 100]}
    with pytest.raises(DataError, check=coded("data.not-a-count.column")):
        suppress(pandas.DataFrame(shares, index=["A", "B", "C"]), "cms-11")


def test_categories_with_such_words_in_them_are_counts():
    frame = pandas.DataFrame({"Corporate": [3, 25], "VAT 20 %": [72, 51], "illiterate": [44, 60]}, index=["50 %", "B"])
    assert suppress(frame, "cms-11").loc["50 %"].tolist() == ["*", 72, 44]


@pytest.mark.parametrize(
    "columns",
    [
        {"H": [3, 25, 40, 68], "F": [14, 29, 41, 84], "everyone": [17, 54, 82, 152]},
        {"H": [3, 25, 40, 68], "F": [14, 29, 41, 84], "other": [30, 31, 32, 94]},
    ],
    ids=["a column that is off in one cell", "a row that is off in one cell"],
)
def test_what_is_nearly_a_sum_is_refused(columns):
    frame = pandas.DataFrame(columns, index=["A", "B", "C", "everywhere"])
    with pytest.raises(DataError, check=coded("data.near-total")) as caught:
        suppress(frame, "cms-11")
    assert caught.value.code == "data.near-total"
    suppress(frame, "cms-11", subtotals={})


def test_counts_that_grow_alike_are_no_sums():
    rng = np.random.default_rng(2)
    for _ in range(60):
        base = rng.lognormal(4, 1, 8)
        grid = np.array([np.round(base * rng.lognormal(0, 0.1, 8) * 1.05**year) for year in range(5)]).T
        suppress(pandas.DataFrame(grid, columns=[str(year) for year in range(5)]), "cms-11", margins=None)


TOLD = {
    "running sums": {"n": [3, 25, 40], "up to": [3, 28, 68]},
    "running sums from the end": {"n": [25, 3, 40], "at least": [68, 43, 40]},
    "running sums with a total": {"n": [3, 25, 40, 68], "up to": [3, 28, 68, 68]},
    "another unit": {"n": [3, 25, 40], "cents": [300, 2500, 4000]},
    "another unit, rounded": {"n": [3, 25_000, 40_000], "hundreds": [0, 250, 400]},
    "another unit of one part of a sum": {
        "n": [3, 25, 40, 92, 67, 18],
        "m": [80, 13, 55, 34, 71, 42],
        "All": [83, 38, 95, 126, 138, 60],
        "x": [36, 300, 480, 1104, 804, 216],
    },
    "a multiple and a remainder": {"n": [3, 25, 40, 92, 67, 18], "rest": [997, 975, 960, 908, 933, 982]},
    "a weighted sum": {
        "n": [3, 25, 40, 92, 67, 18],
        "m": [80, 13, 55, 34, 71, 42],
        "x": [255, 164, 365, 562, 548, 216],
    },
}


@pytest.mark.parametrize("name", TOLD)
def test_columns_that_tell_masked_counts_beside_them_are_refused(name):
    rows = ["A", "B", "C", "Total"] if "total" in name else [*"ABCDEF"]
    frame = pandas.DataFrame(TOLD[name], index=rows[: len(TOLD[name]["n"])])
    with pytest.raises(DataError, match="Leave it out") as caught:
        suppress(frame, "cms-11")
    assert caught.value.code == "data.tells-another"
    if len(frame) == 3 and name.startswith("running"):
        with pytest.raises(DataError, check=coded("part.running_sum")):
            suppress(frame.T, "cms-11")
        named = dict.fromkeys(frame.columns)
        assert suppress(frame.T, "cms-11", derived=named, subtotals={}).shape == frame.T.shape


def test_counts_of_years_are_no_running_sums():
    frame = pandas.DataFrame({"2021": [3, 25, 40], "2022": [3, 27, 41], "2023": [6, 52, 90]}, index=["A", "B", "C"])
    assert suppress(frame, "cms-11").loc["A"].tolist() == ["*", "*", "*"]
