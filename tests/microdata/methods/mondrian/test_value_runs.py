"""Ends of published ranges: round and between the values of persons, never at those of a single one."""

import random
from collections import Counter
from datetime import date, datetime, timedelta
from typing import Any

import polars as pl
import pytest

import sfumato as sf

START = date(1950, 1, 1).toordinal()


def published(columns: dict[str, list[str]], column: dict[str, Any], k: int = 5, **method: Any) -> list[str]:
    roles: dict[str, Any] = {"x": {"role": "quasi-identifier"} | column}
    if "who" in columns:
        roles["who"] = {"role": "person"}
    plan = {"version": 1, "columns": roles, "privacy": [{"model": "k-anonymity", "k": k}]}
    plan |= {"method": {"name": "mondrian"} | method, "output": {"order": "keep"}}
    return sf.anonymize(pl.DataFrame(columns), plan).data["x"].to_list()


def ends_of(labels: list[str]) -> set[str]:
    return {end for label in labels if label[0] == "[" for end in label.strip("[]").split("–")}


def single(texts: list[str]) -> set[str]:
    return {text for text, count in Counter(texts).items() if count == 1}


def days_of(count: int, span: int, seed: int = 1) -> list[date]:
    draw = random.Random(seed)
    return [date.fromordinal(START + draw.randrange(span)) for _ in range(count)]


@pytest.mark.parametrize(("count", "span"), [(60, 20_000), (1_000, 20_000), (1_000, 2_000), (600, 600)])
@pytest.mark.parametrize("mode", ["strict", "relaxed"])
def test_dates_of_single_persons_are_no_ends(count: int, span: int, mode: str) -> None:
    days = days_of(count, span)
    labels = published({"x": [day.isoformat() for day in days]}, {"type": "date"}, mode=mode)
    pairs = [label.strip("[]").split("–") for label in labels]
    for day, pair in zip(days, pairs, strict=True):
        assert date.fromisoformat(pair[0]) <= day <= date.fromisoformat(pair[-1])
    assert not ends_of(labels) & single([day.isoformat() for day in days])
    assert len(set(labels)) > count / 25


def test_ends_are_round() -> None:
    ends = ends_of(published({"x": [day.isoformat() for day in days_of(60, 20_000)]}, {"type": "date"}))
    assert sum(end.endswith(("-01-01", "-12-31")) for end in ends) > len(ends) / 2


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%m/%Y", "%d.%m.%y", "%Y-%m-%d %H:%M"])
def test_dates_in_every_format_are_no_ends(form: str) -> None:
    days = [
        datetime(1970, 1, 1) + timedelta(days=40 * draw, hours=draw % 24)
        for draw in random.Random(2).sample(range(360), 90)
    ]
    texts = [day.strftime(form) for day in days]
    labels = published({"x": texts}, {"hierarchy": {"type": "date", "format": form}})
    assert ends_of(labels) and not ends_of(labels) & single(texts)
    assert len(set(labels)) > 5


@pytest.mark.parametrize(("kind", "decimals"), [("integer", 0), ("decimal", 2), ("decimal", 9)])
def test_sparse_numbers_are_no_ends(kind: str, decimals: int) -> None:
    draw = random.Random(3)
    texts = [f"{draw.randrange(-9_000, 90_000_000) / 10**decimals:.{decimals}f}" for _ in range(300)]
    labels = published({"x": texts}, {"type": kind})
    pairs = [label.strip("[]").split("–") for label in labels]
    assert all(float(low) <= float(text) <= float(high) for text, (low, high) in zip(texts, pairs, strict=True))
    assert not {float(end) for end in ends_of(labels)} & {float(text) for text in texts}
    assert len(set(labels)) > 20


def test_the_oldest_and_the_youngest_are_no_ends() -> None:
    ages = [str(age) for age in range(20, 61)] * 4 + ["17", "103"]
    ends = ends_of(published({"x": ages}, {"type": "integer"}))
    assert not ends & {"17", "103"} and max(map(int, ends)) >= 103 and 0 <= min(map(int, ends)) < 17


def test_values_that_many_have_stay_ends() -> None:
    ages = [str(age) for age in range(20, 60)] * 3
    labels = published({"x": ages}, {"type": "integer"})
    assert {"20", "59"} <= ends_of(labels) and len(set(labels)) > 10


def test_values_of_which_everybody_has_another_are_cut_nevertheless() -> None:
    labels = published({"x": [str(number) for number in range(20, 80)]}, {"type": "integer"})
    assert len(set(labels)) > 5 and not ends_of(labels) & {"20", "79"}


def test_who_has_several_rows_is_still_a_single_person() -> None:
    days = [day.isoformat() for day in days_of(200, 20_000)]
    visits = {"x": [day for day in days for _ in range(3)], "who": [str(place // 3) for place in range(600)]}
    labels = published(visits, {"type": "date"})
    assert len(set(labels)) > 10 and not ends_of(labels) & single(days)


def test_numbers_too_large_for_floating_ones_lie_in_their_ranges() -> None:
    texts = [str(4_000_000_000_000_000_000 + 7 * place) for place in range(40)]
    labels = published({"x": texts}, {"type": "integer"})
    pairs = [label.strip("[]").split("–") for label in labels]
    assert all(int(low) <= int(text) <= int(high) for text, (low, high) in zip(texts, pairs, strict=True))


def test_own_bounds_are_still_the_values() -> None:
    texts = ["1950-04-12", "1951-03-02", "1952-01-30", "1960-06-06", "1971-07-07", "1980-08-08"]
    assert set(published({"x": texts}, {"type": "date"}, bounds="own")) == {"[1950-04-12–1980-08-08]"}
    assert set(published({"x": texts}, {"type": "date"})) == {"[1950-01-01–1982-12-31]"}


def test_ends_are_handed_out_as_numbers() -> None:
    columns = {"x": {"role": "quasi-identifier", "type": "integer"}}
    plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]}
    plan |= {"method": {"name": "mondrian"}, "output": {"order": "keep", "intervals": "bounds"}}
    numbers = random.Random(8).sample(range(100_000), 60)
    frame = sf.anonymize(pl.DataFrame({"x": [str(number) for number in numbers]}), plan).data
    assert all(low <= number <= high for number, low, high in zip(numbers, frame["x_min"], frame["x_max"], strict=True))


CODED = {"type": "integer", "hierarchy": {"type": "intervals", "bottom": 18, "top": 69, "widths": [5, 10, 20]}}
DECIMAL = {"type": "decimal", "hierarchy": {"type": "intervals", "bottom": 1.5, "top": 9.5, "widths": [0.5, 2]}}
WAYS: list[dict[str, Any]] = [{}, {"cut": "loss"}, {"bounds": "own"}, {"mode": "relaxed"}, {"choice": "random"}]


def ages(count: int = 300) -> list[int]:
    """Ages with codes and typing errors among them."""
    draw = random.Random(7)
    return [draw.randrange(16, 75) for _ in range(count)] + [999] * 6 + [0, -4, 19_850, 10**15]


def stands_for(label: str, number: float) -> bool:
    if label == "*":
        return True
    if label[0] in "<>":
        return number < float(label[1:]) if label[0] == "<" else number > float(label[1:])
    pair = label.strip("[]").split("–")
    return float(pair[0]) <= number <= float(pair[-1])


@pytest.mark.parametrize("method", WAYS, ids=str)
def test_what_the_hierarchy_codes_is_no_end_of_a_range(method: dict[str, Any]) -> None:
    labels = published({"x": [str(age) for age in ages()]}, CODED, **method)
    assert all(stands_for(label, age) for label, age in zip(labels, ages(), strict=True))
    ends = [float(end) for label in labels for end in label.strip("<>[]").split("–") if end != "*"]
    assert min(ends) >= 16 and max(ends) <= 70
    assert len(set(labels)) > 15


@pytest.mark.parametrize("method", WAYS, ids=str)
def test_decimals_that_are_coded_are_no_ends_either(method: dict[str, Any]) -> None:
    draw = random.Random(8)
    numbers = [draw.randrange(16, 95) / 10 for _ in range(200)] + [0.25, 88.125, 9999.0]
    labels = published({"x": [str(number) for number in numbers]}, DECIMAL, **method)
    assert all(stands_for(label, number) for label, number in zip(labels, numbers, strict=True))
    assert not {"0.25", "88.125", "9999"} & {end for label in labels for end in label.strip("<>[]").split("–")}


def test_where_every_value_is_coded_no_label_tells_a_value() -> None:
    labels = published({"x": ["3", "4", "80", "81"] * 3}, CODED)
    assert set(labels) <= {"<18", ">17", ">69"} and len(set(labels)) == 2


@pytest.mark.parametrize("method", WAYS, ids=str)
def test_typing_errors_do_not_stretch_the_loss(method: dict[str, Any]) -> None:
    """A range is measured by the hierarchy's values, as every level of it is."""
    columns = {"x": {"role": "quasi-identifier"} | CODED}
    plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 150}]}
    plan |= {"method": {"name": "mondrian"} | method, "output": {"order": "keep"}}
    report = sf.anonymize(pl.DataFrame({"x": [str(age) for age in ages()]}), plan).report
    assert 0.4 < report.loss.value < 0.6


def test_a_range_loses_what_the_same_interval_of_the_hierarchy_does() -> None:
    columns = {"x": {"role": "quasi-identifier", "type": "integer"}}
    columns["x"]["hierarchy"] = {"type": "intervals", "start": 0, "end": 99, "widths": [50]}  # type: ignore[assignment]
    numbers = [str(number) for number in range(100) for _ in range(2)]
    plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 100}]}
    losses = {
        name: sf.anonymize(pl.DataFrame({"x": numbers}), plan | {"method": {"name": name}}).report.loss.value
        for name in ("mondrian", "local", "optimal")
    }
    assert list(losses.values()) == pytest.approx([49 / 99] * 3)


def test_an_open_end_is_handed_out_as_a_number() -> None:
    columns = {"x": {"role": "quasi-identifier"} | CODED}
    plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 30}]}
    plan |= {"method": {"name": "mondrian"}, "output": {"order": "keep", "intervals": "bounds"}}
    frame = sf.anonymize(pl.DataFrame({"x": [str(age) for age in ages()]}), plan).data
    assert frame["x_min"].is_null().any() and frame["x_max"].max() <= 70
