"""Dates and times: any year, leap days, zones, fractions; and what is none."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.attributes.operations.scales import SECOND, NotADateError, days, iso_dates, iso_times, micros

NO_DATES = [
    "1999-02-29",
    "1900-02-29",
    "1999-13-01",
    "1999-00-10",
    "99-01-01",
    "1999-1-1",
    "0000-01-01",
    "today",
    "NaT",
]
NO_DATES += ["", "19990101", "1999-W01-1", "1999-01-01x", "１９９９-01-01", "1999/01/01", "1999-01-01T25:00:0"]
NO_TIMES = ["1999-01-01T24:00:00", "1999-01-01T10:60:00", "1999-01-01T10:00", "1999-01-01T10:00:00+15:00", "now"]
NO_TIMES += ["1999-01-01T10:00:00+2", "1999-01-01T10:00:00.", "1999-01-01t10:00:00", 5, None]


@pytest.mark.parametrize("text", ["2000-02-29", "1600-02-29", "0001-01-01", "9999-12-31", "1899-12-31", "1582-10-10"])
def test_dates_come_back(text):
    assert iso_dates(days([text])) == [text]
    assert days([text])[0] == (date.fromisoformat(text) - date(1970, 1, 1)).days


@pytest.mark.parametrize("text", NO_DATES)
def test_no_date(text):
    with pytest.raises(NotADateError) as refusal:
        days(["2000-01-01", text])
    assert refusal.value.place == 1


@pytest.mark.parametrize("text", NO_TIMES)
def test_no_time(text):
    with pytest.raises(NotADateError) as refusal:
        micros(["2000-01-01T00:00:00", text])
    assert refusal.value.place == 1


def test_zones():
    same = ["2020-03-01T00:30:00+01:00", "2020-02-29T23:30:00Z", "2020-02-29T18:30:00-05:00", "2020-02-29T23:30:00"]
    numbers, zoned = micros(same)
    assert zoned
    assert len(set(numbers.tolist())) == 1
    assert iso_times(numbers[:1], zoned=True) == ["2020-02-29T23:30:00Z"]


def test_dates_with_zone_or_time_and_objects():
    values = ["2020-02-29Z", "2020-02-29+02:00", "2020-02-29T13:00:00Z", date(2020, 2, 29), datetime(2020, 2, 29, 5)]
    assert iso_dates(days(values)) == ["2020-02-29"] * 5
    later, earlier = micros([datetime(2020, 2, 29, 5, tzinfo=UTC), "2020-02-29"])[0]
    assert later - earlier == 5 * 3600 * SECOND


def test_fractions():
    numbers, zoned = micros(["2020-01-01T00:00:00.25", "2020-01-01T00:00:00.123456789"])
    assert not zoned
    assert iso_times(numbers, zoned=False) == ["2020-01-01T00:00:00.250000", "2020-01-01T00:00:00.123456"]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.datetimes(timezones=st.just(UTC)), min_size=1, max_size=20))
def test_as_python_has_it(moments):
    numbers, _ = micros([moment.isoformat() for moment in moments])
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    assert numbers.tolist() == [(moment - epoch) // timedelta(microseconds=1) for moment in moments]
