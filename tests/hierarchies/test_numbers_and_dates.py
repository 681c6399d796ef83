"""Hierarchies of numbers and dates."""

from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import PlanError
from sfumato.hierarchies.dates import LEVELS, Dates, read_moments
from sfumato.hierarchies.intervals import Intervals

# Intervals: whole and decimal numbers, widths and bounds, top and bottom coding.

AGE = Intervals(16, 95, widths=(5, 10, 20))


def test_the_ages_of_the_specification():
    ladder = AGE.fit(["39", "16"]).hierarchy
    assert (ladder.size, ladder.height) == (80, 5)
    assert ladder.labels[1][:2] == ("16-20", "21-25")
    assert [ladder.published("39", level) for level in range(5)] == ["39", "36-40", "36-45", "36-55", "*"]
    assert ladder.penalties[1].tolist() == [4 / 79] * 16
    assert ladder.numbers.tolist() == [float(age) for age in range(16, 96)]


@pytest.mark.parametrize("text", ["15", "96", "39.5", "x", "", "nan", "inf", "1e400", "3_9", " 39", "３９"])
def test_what_is_no_whole_number_of_the_range_is_rejected(text):
    assert AGE.fit([text]).rejected == (text,)


def test_other_texts_of_a_whole_number_keep_their_text():
    ladder = AGE.fit(["039"]).hierarchy
    assert ladder.size == 81
    assert ladder.published("039", 1) == ladder.published("39", 1) == "36-40"


# Intervals, the values of a column, and the labels of a level.
LABELS = {
    "negative bounds are in brackets": (Intervals(-5, 9, widths=(5,)), [], 1, ("[-5, -1]", "0-4", "5-9")),
    "one number is itself": (Intervals(0, 10, widths=(5,)), [], 1, ("0-4", "5-9", "10")),
    "bounds": (
        Intervals(0, 120, bounds=((18, 30, 50, 65), (30, 65))),
        [],
        1,
        ("0-17", "18-29", "30-49", "50-64", "65-120"),
    ),
    "bounds above": (
        Intervals(0, 120, bounds=((18, 30, 50, 65), (30, 65))),
        [],
        2,
        ("0-29", "30-64", "65-120"),
    ),
    "coding alone sets the range": (
        Intervals(widths=(10,), bottom=20, top=39),
        ["5", "99"],
        1,
        ("<20", "20-29", "30-39", ">39"),
    ),
    "decimals on request": (
        Intervals(0, 10, widths=(5,), numbers="decimal"),
        ["2.5", "10"],
        1,
        ("[0, 5)", "[5, 10]"),
    ),
    "coded decimals": (
        Intervals(0.5, 9.5, widths=(3,), bottom=0.5, top=9),
        ["0.4", "9", "9.2", "8.9"],
        1,
        ("<0.5", "[6.5, 9]", ">9"),
    ),
    "a wide range has the values of the data": (
        Intervals(0, 999_999, widths=(1000, 100_000)),
        ["5", "999999", "1500"],
        1,
        ("0-999", "1000-1999", "999000-999999"),
    ),
    "a width that covers all is no multiple": (Intervals(0, 9, widths=(3, 100)), [], 2, ("0-9",)),
}


@pytest.mark.parametrize(("builder", "column", "level", "labels"), LABELS.values(), ids=LABELS)
def test_known_labels(builder, column, level, labels):
    binding = builder.fit(column)
    assert (binding.hierarchy.labels[level], binding.rejected) == (labels, ())


def test_decimals_of_whole_intervals_are_rejected():
    assert Intervals(0, 10, widths=(5,)).fit(["2.5"]).rejected == ("2.5",)


def test_coding_publishes_the_tails_at_every_level_but_the_root():
    binding = Intervals(16, 95, widths=(5, 20), bottom=18, top=80).fit(["3", "16", "18", "81", "107", "x"])
    ladder = binding.hierarchy
    assert binding.rejected == ("x",)
    assert [ladder.published("3", level) for level in range(4)] == ["3", "<18", "<18", "*"]
    assert [ladder.published("107", level) for level in range(4)] == ["107", ">80", ">80", "*"]
    assert ladder.published("16", 1) == "<18"
    assert ladder.published("18", 1) == "18-20"
    assert ladder.published("80", 2) == "76-80"
    assert ladder.size == 82


def test_decimal_intervals_are_exact_and_closed_at_the_end():
    ladder = Intervals(0, 1, widths=(0.1, 0.5)).fit(["0.3", "0.7", "0.69", "1", "0"]).hierarchy
    assert ladder.rows() == [
        ("0", "[0, 0.1)", "[0, 0.5)", "*"),
        ("0.3", "[0.3, 0.4)", "[0, 0.5)", "*"),
        ("0.69", "[0.6, 0.7)", "[0.5, 1]", "*"),
        ("0.7", "[0.7, 0.8)", "[0.5, 1]", "*"),
        ("1", "[0.9, 1]", "[0.5, 1]", "*"),
    ]


@pytest.mark.parametrize(
    ("builder", "parameters", "code"),
    [
        (Intervals, {"start": 0, "end": 10, "widths": (2, 3)}, "loose"),
        (Intervals, {"start": 0, "end": 10, "widths": (0,)}, "widths"),
        (Intervals, {"start": 0, "end": 10, "widths": (2.5,), "numbers": "whole"}, "whole_parameters"),
        (Intervals, {"start": 0, "end": 10}, "widths_or_bounds"),
        (Intervals, {"start": 0, "end": 10, "widths": (2,), "bounds": ((2,),)}, "widths_or_bounds"),
        (Intervals, {"start": 10, "end": 10, "widths": (2,)}, "start_below"),
        (Intervals, {"start": 0, "end": 10, "widths": (2,), "bottom": 8, "top": 4}, "start_below"),
        (Intervals, {"start": 0, "bounds": ((2,),)}, "start_end"),
        (Intervals, {"widths": (5, 12)}, "multiple"),
        (Intervals, {"widths": (1e-300, 1e300)}, "multiple"),
        (Intervals, {"widths": (0,)}, "widths"),
        (Intervals, {"start": 0, "end": 10, "bounds": ((5, 4),)}, "ascend"),
        (Intervals, {"start": 0, "end": 10, "bounds": ((5, 40),)}, "between"),
        (Intervals, {"start": 0, "end": 10, "bounds": ((5,), (6,))}, "loose"),
        (Intervals, {"start": 0, "end": 1e12, "widths": (1,)}, "many_intervals"),
        (Intervals, {"start": 0, "end": 1e17, "widths": (1e16,)}, "start_zero"),
        (Dates, {"format": "%d.%m."}, "no_format"),
        (Dates, {"format": "%Y-%Q"}, "no_format"),
        (Dates, {"format": "%Y%m%d", "levels": ("year", "month")}, "fine_to_coarse"),
        (Dates, {"format": "%Y%m%d", "levels": ("year", "year")}, "fine_to_coarse"),
        (Dates, {"format": "%Y", "levels": ("month",)}, "too_coarse"),
    ],
)
def test_faults_of_parameters(builder, parameters, code):
    with pytest.raises(ValueError) as caught:
        builder(**parameters)
    assert getattr(caught.value.args[0], "code", None) == (code and f"error.value.{code}")


@pytest.mark.parametrize(
    ("values", "level", "labels"),
    [
        (["37", "41", "18"], 1, {"15-19", "35-39", "40-44"}),
        (["37", "41", "18"], 2, {"10-19", "30-39", "40-49"}),
        (["-3", "12"], 2, {"[-10, -1]", "10-19"}),
        (["0.5", "12.25"], 1, {"[0, 5)", "[10, 15)"}),
        ([], 1, set()),
    ],
)
def test_ends_left_open_are_multiples_of_the_widest_width_and_do_not_tell_the_data(values, level, labels):
    ladder = Intervals(widths=(5, 10)).fit(values).hierarchy
    assert {ladder.published(value, level) for value in values} == labels


def test_an_end_that_is_named_stays():
    ladder = Intervals(start=18, widths=(5, 10)).fit(["18", "40"]).hierarchy
    assert (ladder.published("18", 1), ladder.published("40", 2)) == ("18-22", "38-47")
    assert not Intervals(widths=(5,)).is_rule_based
    assert Intervals(0, 99, widths=(5,)).is_rule_based


@pytest.mark.parametrize(
    "hierarchy",
    [
        AGE,
        Intervals(0, 90_000, widths=(5, 10)),
        Intervals(widths=(10, 20)),
        Intervals(bottom=20, top=60, widths=(20, 40)),
        Intervals(0, 100, widths=(2.5, 5), numbers="decimal"),
    ],
)
def test_values_alone_fit_as_they_do_in_the_whole_range(hierarchy):
    values = ["39", "16", "039", "12.5", "95", "x", "20"]
    whole, alone = hierarchy.fit(values), hierarchy.bind_alone(values)
    assert alone.rejected == whole.rejected
    kept = [value for value in values if value not in whole.rejected]
    assert sorted(alone.hierarchy.values) == sorted(kept)
    for level in range(whole.hierarchy.height):
        labels = [ladder.published(value, level) for ladder in (whole.hierarchy, alone.hierarchy) for value in kept]
        assert labels[: len(kept)] == labels[len(kept) :]


@pytest.mark.parametrize("widths", [(1e-300,), (1e-6,), (1e308,)])
def test_widths_that_make_no_intervals_of_the_data_are_a_fault_of_the_plan(widths):
    with pytest.raises(PlanError) as caught:
        Intervals(widths=widths).fit(["20", "59"])
    assert caught.value.code == "plan.hierarchy"


# Dates: the ten rungs of the specification, subsets of them, and nothing that is no date.

ALL = Dates("%Y%m%d", LEVELS)


def test_the_ten_rungs_of_a_date():
    rungs = ("20170110", "201701H1", "201701**", "2017Q1", "2017H1", "2017", "201*", "20**", "2***", "****")
    assert ALL.fit(["20170110"]).hierarchy.rows() == [rungs]
    assert Dates("%Y%m%d").fit(["20170110"]).hierarchy.rows() == [rungs]


@pytest.mark.parametrize(
    ("day", "level", "label"),
    [
        ("20170115", "half-month", "201701H1"),
        ("20170116", "half-month", "201701H2"),
        ("20171231", "quarter", "2017Q4"),
        ("20170401", "quarter", "2017Q2"),
        ("20170630", "half-year", "2017H1"),
        ("20170701", "half-year", "2017H2"),
        ("19991231", "decade", "199*"),
        ("08000101", "century", "08**"),
    ],
)
def test_limits_of_the_rungs(day, level, label):
    assert ALL.fit([day]).hierarchy.published(day, LEVELS.index(level)) == label


@pytest.mark.parametrize(
    ("format_", "text"),
    [
        ("%d.%m.%Y", "10.01.2017"),
        ("%d %b %Y", "10 Jan 2017"),
        ("%m/%d/%y", "01/10/17"),
        ("%Y-%j", "2017-010"),
        ("%d/%m/%Y", "10/1/2017"),
        ("%Y-%m-%dT%H:%M:%S", "2017-01-10T23:59:59"),
    ],
)
def test_labels_do_not_depend_on_the_format(format_, text):
    ladder = Dates(format_, ("half-month", "quarter", "year")).fit([text]).hierarchy
    assert ladder.rows() == [(text, "201701H1", "2017Q1", "2017", "****")]
    assert int(ladder.numbers[0]) == datetime(2017, 1, 10).toordinal()


@pytest.mark.parametrize(
    "text",
    [
        "19911520",
        "19912002",
        "20170230",
        "20170229",
        "1991102",
        "199101010",
        "",
        "1991 101",
        "1991-1-1",
        "２０１７0101",
    ],
)
def test_what_is_no_date_is_rejected(text):
    binding = ALL.fit([text, "20160229"])
    assert binding.rejected == (text,)
    assert binding.hierarchy.values == ("20160229",)


def test_missing_zeros_are_accepted_only_where_signs_part_the_numbers():
    assert Dates("%d/%m/%Y").fit(["1/2/1991", "1/2/19911", "31/2/1991", "/2/1991"]).rejected == (
        "1/2/19911",
        "31/2/1991",
        "/2/1991",
    )


def test_values_are_in_order_of_time_whatever_their_texts():
    ladder = Dates("%d.%m.%Y").fit(["02.01.2000", "01.02.2000", "31.12.1999"]).hierarchy
    assert ladder.values == ("31.12.1999", "02.01.2000", "01.02.2000")
    assert np.diff(ladder.numbers).tolist() == [2, 30]


def test_a_time_of_day_makes_the_day_a_level_of_its_own():
    ladder = Dates("%Y-%m-%d %H:%M", ("day", "year")).fit(["2017-01-10 12:00", "2017-01-10 06:00"]).hierarchy
    assert ladder.labels[1:] == (("20170110",), ("2017",), ("****",))
    assert ladder.numbers.tolist() == [736339.25, 736339.5]


def test_a_format_of_years_has_no_finer_rungs():
    assert Dates("%Y").fit(["1991"]).hierarchy.rows() == [("1991", "199*", "19**", "1***", "****")]


def test_no_values_still_make_all_rungs():
    assert ALL.fit([]).hierarchy.height == 10


@settings(max_examples=60, deadline=None)
@given(st.datetimes(min_value=datetime(1000, 1, 1)))
def test_quick_and_slow_readers_agree(moment):
    quick = read_moments([moment.strftime("%Y%m%d%H%M%S")], "%Y%m%d%H%M%S")
    slow = read_moments([moment.strftime("%Y %B %d %H %M %S")], "%Y %B %d %H %M %S")
    for part in ("valid", "years", "months", "days", "ordinals"):
        assert getattr(quick, part).tolist() == getattr(slow, part).tolist()
    assert quick.ordinals[0] == pytest.approx(moment.toordinal() + (moment.hour * 60 + moment.minute) / 1440, abs=1e-3)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 99999999))
def test_eight_digits_are_a_date_exactly_when_python_says_so(number):
    text = f"{number:08d}"
    try:
        datetime(int(text[:4]), int(text[4:6]), int(text[6:]))
        valid = True
    except ValueError:
        valid = False
    assert read_moments([text], "%Y%m%d").valid.tolist() == [valid]


@pytest.mark.parametrize(("format_", "written"), [("%d.%m.%y", "03.02.{}"), ("%d-%b-%y", "03-Feb-{}")])
def test_two_digits_stand_for_years_up_to_the_latest(format_, written):
    texts = [written.format(year) for year in ("26", "27", "55", "68", "99")]
    assert read_moments(texts, format_, 2026).years.tolist() == [2026, 1927, 1955, 1968, 1999]
    assert read_moments(texts, format_).years.tolist() == [2026, 2027, 2055, 2068, 1999]
    ladder = Dates(format_, ("year",), latest_year=2026).fit(texts).hierarchy
    assert ladder.published(texts[2], 1) == "1955"
    # The order is that of the years meant.
    assert ladder.values == (*texts[1:], texts[0])
