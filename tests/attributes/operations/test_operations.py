"""The operations, one by one: known answers, properties, and the weak spots of the original."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.attributes.anonymize import anonymize_records
from sfumato.attributes.configuration import AttributeRule, Configuration
from sfumato.attributes.operations.generalization import Interval, NumericGeneralization
from sfumato.attributes.operations.operation import (
    DataType,
    OperationResult,
    Task,
    ValueRefusedError,
    find,
    operation,
    type_named,
)
from sfumato.attributes.operations.randomization import Randomization, mirror, neighbor_distances
from sfumato.errors import DataError, PlanError

ADDRESS = "Long Row {}, 10{} {}, {}, Land"


def anonymize(values, kind, what, form="label", buckets="sqrt", seed=1):
    data_type = kind if isinstance(kind, DataType) else type_named(kind)
    rules = (AttributeRule("a", what, data_type),)
    records = [{"a": value} for value in values]
    return anonymize_records(records, Configuration(rules, form, buckets), seed)


def published(values, kind, what, **more):
    return [next(iter(record.values())) for record in anonymize(values, kind, what, **more).data]


@pytest.mark.parametrize("kind", ["Numeric", "Integer", "Double", "Date", "DateTime", "String", "Boolean", "Address"])
def test_masking_is_for_every_type(kind):
    values = ["x", 1, True, {"a": 1}, [2], None]
    assert published(values, kind, "Masking") == ["*****"] * 5 + [None]


@pytest.mark.parametrize("what", ["Generalization", "Randomization"])
@pytest.mark.parametrize("kind", ["String", "Boolean", DataType("gYear", "other")])
def test_no_operation_for_a_type_is_refused(what, kind):
    with pytest.raises(PlanError, match=f"{what} is not implemented for the data type"):
        anonymize(["1"], kind, what)
    if what == "Randomization":
        with pytest.raises(PlanError):
            anonymize([{"x": 1}], DataType("Home", "object", ("x",)), what)


def test_labels():
    values = [10000, 100000, 40000, 45000, 12000, 10000, 30000, 20000]
    low, high = "<= 25000.0", ">= 25000.0"
    assert published(values, "Numeric", "Generalization") == [low, high, high, high, low, low, high, low]
    assert Interval(25000.0, 40000.0, first=False, last=False).as_label() == "25000.0 - 40000.0"


def test_all_equal():
    assert published([7, 7, 7, 7], "Integer", "Generalization", form="range") == [{"min": 7.0, "max": 7.0}] * 4
    assert published([7, 7, 7, 7], "Integer", "Randomization") == [7, 7, 7, 7]


def test_all_missing_stays_missing():
    for what in ("Masking", "Generalization", "Randomization"):
        answer = anonymize([None, None, float("nan")], "Numeric", what)
        assert answer.data[:2] == [{"a": None}] * 2
        assert answer.kpis == {"kAnonymity": 1}


@pytest.mark.parametrize(("kind", "value"), [("Numeric", 51234.5), ("Date", "1980-02-29"), ("DateTime", "1980-02-29")])
@pytest.mark.parametrize("what", ["Generalization", "Randomization"])
def test_a_value_alone_in_its_column_is_masked(kind, value, what):
    assert published([None, value, None], kind, what, form="range") == [None, "*****", None]


@pytest.mark.parametrize("what", ["Generalization", "Randomization"])
@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("many", "is not numeric"),
        ("1_000", "is not numeric"),
        ("nan", "is not numeric"),
        ("", "is not numeric"),
        (True, "is not numeric"),
        ([1], "is not numeric"),
        ({"x": 1}, "is not numeric"),
        (float("inf"), "is not a finite number"),
        ("-1e999", "is not a finite number"),
        (10**400, "is not a finite number"),
    ],
)
def test_no_number(value, complaint, what):
    with pytest.raises(
        ValueRefusedError, match=f"attribute a: Numeric {what} was requested but the input {complaint}"
    ) as refusal:
        anonymize([1, None, value, 3], "Numeric", what)
    assert refusal.value.rows == (3,)
    assert refusal.value.column == "a"
    if isinstance(value, str) and value:
        assert value not in str(refusal.value)
        assert f"the input {value} {complaint}" in refusal.value.text_for_sender()


def test_numbers_as_text_and_huge_integers():
    assert published(["1", " 2.5", "3e0", "4"], "Numeric", "Generalization") == ["<= 2.75"] * 2 + [">= 2.75"] * 2
    huge = [10**30, 10**30 + 1, 2 * 10**30, 3 * 10**30]
    noisy = published(huge, "Integer", "Randomization")
    assert all(isinstance(value, int) and min(huge) <= value <= max(huge) for value in noisy)


def test_dates_before_1900_and_leap_days():
    values = ["1804-02-29", "1852-07-01", "1896-02-29", "2000-02-29"]
    assert published(values, "Date", "Generalization", form="range")[0] == {"min": "1804-02-29", "max": "1874-05-01"}
    assert published(values, "Date", "Generalization") == ["<= 1874-05-01"] * 2 + [">= 1874-05-01"] * 2
    noisy = published(values * 20, "Date", "Randomization")
    assert all("1804-02-29" <= value <= "2000-02-29" for value in noisy)


def test_midpoint_of_dates_still_covers_the_earlier():
    first, last = published(["2000-01-01", "2000-01-02"], "Date", "Generalization", form="range", buckets=2)
    assert first == {"min": "2000-01-01", "max": "2000-01-01"}
    assert last == {"min": "2000-01-01", "max": "2000-01-02"}


def test_times_of_several_zones():
    values = ["2020-01-01T00:00:00+02:00", "2020-01-01T00:00:00Z", "2020-01-01T00:00:00-02:00"]
    noisy = published(values * 5, "DateTime", "Randomization")
    assert all("2019-12-31T22:00:00Z" <= value <= "2020-01-01T02:00:00Z" for value in noisy)


def test_addresses_as_text():
    values = [ADDRESS.format(1, 1, "Aven", "North")] * 2 + [ADDRESS.format(1, 1, "Belt", "North")]
    values += [ADDRESS.format(1, 1, "Crail", "South")] * 4
    assert published(values, "Address", "Generalization") == ["North"] * 3 + ["South"] * 4
    assert published(values[:2] * 2, "Address", "Generalization") == ["Long Row 1"] * 4
    assert published(values[:3], "Address", "Generalization") == ["North"] * 3
    assert published(values[1:4], "Address", "Generalization") == ["Land"] * 3
    assert published(values[1:3], "Address", "Generalization") == ["*****"] * 2


def test_addresses_as_objects_and_what_is_none():
    values = [{"Street": "a", "City": "Aven"}, {"detail": "b", "city": "Aven"}, {"city": "Aven", "zip": 1}]
    assert published(values, "Address", "Generalization") == ["Aven"] * 3
    for wrong in ("Long Row 1", 5, "a, b, c", "a, , c, d"):
        with pytest.raises(ValueRefusedError, check=lambda error: error.code == "data.value"):
            anonymize([wrong], "Address", "Generalization")


def test_objects():
    home = DataType("Home", "object", ("street", "zip", "town"))
    values = [{"street": str(n), "zip": 1010 + n // 3, "town": "T", "more": "dropped"} for n in range(6)]
    assert published(values, home, "Generalization") == [1010] * 3 + [1011] * 3
    mixed = [{"zip": True}] * 3 + [{"zip": 1}] * 2
    assert published(mixed, home, "Generalization") == ["*****"] * 5
    partly = [{"zip": 5}] * 3 + [{"street": "x"}] * 3
    assert published(partly, home, "Generalization") == ["*****"] * 3 + ["x"] * 3
    for wrong in ("text", 5, [], {"other": 1}, {"street": {"deep": 1}}):
        with pytest.raises(ValueRefusedError, check=lambda error: error.code == "data.value"):
            anonymize([wrong], home, "Generalization")


def test_smallest_group_is_a_parameter():
    home = DataType("Home", "object", ("street", "town"))
    records = [{"a": {"street": street, "town": "T"}} for street in ("x", "x", "y", "y")]
    answer = anonymize_records(records, Configuration((AttributeRule("a", "Generalization", home),), smallest_group=2))
    assert [record["a"] for record in answer.data] == ["x", "x", "y", "y"]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50), st.integers(0, 5), st.integers(1, 9))
def test_noise_stays_within_the_data(values, seed, buckets):
    noisy = published(values, "Numeric", "Randomization", seed=seed, buckets=buckets)
    assert all(min(values) <= value <= max(values) for value in noisy)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 30).map(float), min_size=2, max_size=30), st.integers(1, 35))
def test_neighbor_distances_by_brute_force(values, rank):
    array = np.array(values)
    for place, found in enumerate(neighbor_distances(array, rank)):
        others = sorted(abs(array[place] - np.delete(array, place)))
        expected = others[min(rank, len(others)) - 1] or next((one for one in others if one), 0)
        assert found == expected


def test_noise_has_the_width_that_is_said():
    """Evenly spaced values: the i-th nearest is i/2 steps away, so noise in the middle has that deviation."""
    values = [float(number) for number in range(20_001)]
    noisy = np.array(published(values, "Numeric", "Randomization", buckets=200))
    middle = slice(5_000, 15_000)
    assert np.std(noisy[middle] - np.array(values)[middle]) == pytest.approx(50, rel=0.05)


def test_equal_values_get_noise():
    values = [5.0] * 30 + [9.0]
    assert len(set(published(values, "Numeric", "Randomization"))) > 20


def test_seed_repeats_and_entropy_does_not():
    values = list(range(50))
    assert published(values, "Numeric", "Randomization") == published(values, "Numeric", "Randomization")
    assert published(values, "Numeric", "Randomization", seed=None) != published(
        values, "Numeric", "Randomization", seed=None
    )


def test_mirrored_often():
    assert mirror(np.array([31.0, -29.0, 1e9]), 0.0, 10.0).tolist() == [9.0, 9.0, 0.0]
    assert mirror(np.array([3.0]), 5.0, 5.0).tolist() == [5.0]


@pytest.fixture
def registry(monkeypatch):
    """A copy of the registry, so that what a test registers is gone after it."""
    from sfumato.attributes.operations import operation as home

    home.load_all()
    monkeypatch.setattr(home, "_REGISTRY", dict(home._REGISTRY))


@pytest.mark.usefixtures("registry")
def test_an_operation_of_ones_own():
    @operation("rounding-to-tens", "integer")
    class Rounding:
        range_suffix = ""
        graph_suffix = "_rounded"

        def apply(self, values, task):
            return OperationResult.of([value // 10 * 10 for value in values])

    assert published([11, None, 19, 25], "Integer", "rounding-to-tens") == [10, None, 10, 20]
    assert isinstance(find("Rounding-To-Tens", type_named("Integer"), "a"), Rounding)
    with pytest.raises(PlanError):
        find("rounding-to-tens", type_named("Date"), "a")


@pytest.mark.usefixtures("registry")
def test_an_operation_that_loses_a_value_publishes_nothing():
    @operation("losing", "string")
    class Losing:
        range_suffix = graph_suffix = ""

        def apply(self, values, task):
            return OperationResult.of(values[1:])

    with pytest.raises(DataError, check=lambda error: error.code == "data.operation-length"):
        anonymize(["a", "b"], "String", "losing")


@pytest.mark.parametrize("made", [NumericGeneralization, Randomization])
def test_a_million_values_in_about_a_second(made):
    values = np.random.default_rng(1).normal(size=1_000_000).tolist()
    task = Task("a", type_named("Numeric"), 1000, np.random.default_rng(2))
    started = time.process_time()
    assert len(made().apply(values, task).codes) == 1_000_000
    assert time.process_time() - started < 3
