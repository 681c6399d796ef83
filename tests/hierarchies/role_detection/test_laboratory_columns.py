"""Columns of laboratories that are written as something else: places on plates, principal components, times."""

import random
from collections import Counter

import pytest

from sfumato.hierarchies.dates import read_moments
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.roles import suggest

DICE = random.Random(3)
WELLS = [f"{DICE.choice('ABCDEFGH')}{DICE.randint(1, 12):02}" for _ in range(600)]
TIMES = [(DICE.randint(1, 12), DICE.randint(1, 28), DICE.randint(0, 23), DICE.randint(0, 59)) for _ in range(600)]


def judged(name, values):
    return suggest(Profile(name, Counter(values), len(values)))


@pytest.mark.parametrize("name", ["well", "Well_ID", "position", "wellPos"])
def test_a_place_on_a_plate_is_no_illness(name):
    one = judged(name, WELLS)
    assert one.concept != "health"
    assert one.role != "sensitive"


@pytest.mark.parametrize("name", ["column", "ICD", "wells"])
def test_illnesses_stay_such_whatever_they_are_called(name):
    illnesses = [f"{DICE.choice('EIJ')}{DICE.randint(10, 49)}" for _ in range(600)]
    assert judged(name, illnesses).concept == "health"


@pytest.mark.parametrize("name", ["PC4", "PC6"])
def test_principal_components_are_no_postcodes(name):
    assert judged(name, [f"{DICE.gauss(0, 0.02):.4f}" for _ in range(600)]).concept is None


@pytest.mark.parametrize(("name", "code"), [("PC4", "{}"), ("PC6", "{}AB"), ("pc6", "{} AB")])
def test_dutch_postcodes_stay_such(name, code):
    assert judged(name, [code.format(DICE.randint(3500, 3530)) for _ in range(600)]).concept == "place"


@pytest.mark.parametrize(
    ("form", "read_as"),
    [
        ("{0:02}/{1:02}/23 {2:02}{3:02}", "%m/%d/%y %H%M"),
        ("{1:02}.{0:02}.2023 {2:02}{3:02}", "%d.%m.%Y %H%M"),
        ("2023-{0:02}-{1:02} {2:02}:{3:02}:00+01", "%Y-%m-%d %H:%M:%S%z"),
        ("2023-{0:02}-{1:02} {2:02}:{3:02}:00.250000-05", "%Y-%m-%d %H:%M:%S.%f%z"),
        ("2023-{0:02}-{1:02}T{2:02}:{3:02}+05:30", "%Y-%m-%dT%H:%M%z"),
        ("2023-{0:02}-{1:02} {2:02}:{3:02}:00+00", "%Y-%m-%d %H:%M:%S+00"),
    ],
)
def test_days_with_times_are_dates(form, read_as):
    values = [form.format(*time) for time in TIMES]
    one = judged("x", values)
    assert (one.role, one.hierarchy["type"], one.hierarchy["format"]) == ("quasi-identifier", "date", read_as)
    moments = read_moments(values, read_as)
    assert moments.valid.all()
    assert [*zip(moments.months.tolist(), moments.days.tolist(), strict=True)] == [time[:2] for time in TIMES]


@pytest.mark.parametrize("zone", ["+01", "+05:30", "Z", ""])
def test_times_with_an_offset_are_times_of_a_day(zone):
    one = judged("x", [f"{hour:02}:{minute // 20:02}:{day:02}{zone}" for _, day, hour, minute in TIMES])
    assert one.hierarchy == {"type": "digits", "length": 8 + len(zone), "shown": [5, 2]}


def test_telephone_numbers_stay_such():
    assert judged("x", [f"0{month}{day:02}/{hour:02}{minute:02}11" for month, day, hour, minute in TIMES]).role == (
        "identifier"
    )


def test_results_of_tests_are_private_though_some_are_invalid():
    """Beside "inv", positive and negative were what others know, with no promise about them."""
    call = Profile("call", {"pos": 300, "neg": 310, "inv": 290}, rows=900)
    assert (suggest(call).role, suggest(call).concept) == ("sensitive", "health")
