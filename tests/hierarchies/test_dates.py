"""Dates: the ten rungs of the specification, subsets of them, and nothing that is no date."""

from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.hierarchies.dates import LEVELS, Dates, read_moments

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


@pytest.mark.parametrize(
    ("format_", "levels", "words"),
    [
        ("%d.%m.", (), "year"),
        ("%Y-%Q", (), "strptime"),
        ("%Y%m%d", ("year", "month"), "fine to coarse"),
        ("%Y%m%d", ("year", "year"), "fine to coarse"),
        ("%Y", ("month",), "too coarse"),
    ],
)
def test_faults_of_the_parameters(format_, levels, words):
    with pytest.raises(ValueError, match=words):
        Dates(format_, levels)


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
