"""Published labels contain the values they stand for, by exact arithmetic, however large or long the numbers are."""

import re
from collections.abc import Iterator
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sfumato import DataError, anonymize, protect
from sfumato.hierarchies.label_bounds import bounds_of
from sfumato.hierarchies.role_detection.robust_intervals import NumberDistribution, decimal_numbers, whole_numbers
from sfumato.microdata.models.t_closeness import ranks_of
from sfumato.microdata.recoding.range_grid import NumberGrid
from sfumato.pipelines.suggest import suggest

BASE = 10**17
ANY = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
VALUES = {
    "neighbors": [BASE, BASE + 1, BASE + 2, BASE + 3],
    "negative": [-5, BASE, BASE + 1, BASE + 3],
    "below the limit": [-5, 3, 10**15, 10**15 + 7],
    "near a step": ["0.009999999", "0.5", "123456789.123456", "123456789.2"],
    "dust": [0.1 + 0.2, 0.3, 0.7, 0.1 * 3 + 1],
    "seventeen digits": ["0.29999999999999999", "0.3", "0.30000000000000001", "0.7"],
    "at 2^53": [2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2],
    "unsigned": [2**64 - 4, 2**64 - 3, 2**64 - 2, 2**64 - 1],
}
STRICT, RELAXED = ({"name": "mondrian", "mode": mode} for mode in ("strict", "relaxed"))
AUTO, LOCAL, ORDERED, OPTIMAL = ({"name": name} for name in ("auto", "local", "k-optimize", "optimal"))
NUMBER = r"-?[\d.]+(?:[eE][-+]?\d+)?"
CLOSED = [re.compile(rf"\[({NUMBER})–({NUMBER})\]"), re.compile(rf"({NUMBER})(?:\.\.|-)({NUMBER})")]
HALF_OPEN = re.compile(rf"\[({NUMBER}), ({NUMBER})([)\]])")


def contains(label: str, value: Decimal) -> bool:
    """Whether a label stands for a value, by its text alone."""
    if label == "*":
        return True
    for pattern in CLOSED:
        if match := pattern.fullmatch(label):
            return Decimal(match[1]) <= value <= Decimal(match[2])
    if match := HALF_OPEN.fullmatch(label):
        high = Decimal(match[2])
        return Decimal(match[1]) <= value and (value <= high if match[3] == "]" else value < high)
    if label[0] == "{":
        return value in map(Decimal, label[1:-1].split(", "))
    return (
        value < Decimal(label[1:])
        if label[0] == "<"
        else value > Decimal(label[1:])
        if label[0] == ">"
        else value == Decimal(label)
    )


def plan(column: dict[str, Any], method: dict[str, Any]) -> dict[str, Any]:
    return {
        "version": 1,
        "columns": {"n": {"role": "quasi-identifier"} | column, "s": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 4}],
        "method": method,
        "output": {"order": "keep", "format": "csv"},
    }


def published(rows: Any, column: dict[str, Any], method: dict[str, Any]) -> Iterator[tuple[str, Decimal]]:
    raw = [Decimal(str(value)) for value in rows["n"].to_list()]
    release = anonymize(rows, plan(column, method))
    labels = pl.DataFrame(release.data)["n"].cast(pl.String).to_list()
    assert len(labels) == len(raw)
    return zip(labels, raw, strict=True)


def columns_for(values: list[Any]) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    yield {"hierarchy": {"type": "order", "size": 2}}, [RELAXED, ORDERED]
    if all(isinstance(value, int) for value in values):
        intervals = {"type": "intervals", "bottom": 0, "top": 80, "widths": [20]}
        yield {"type": "integer"}, [STRICT, RELAXED]
    else:
        intervals = {"type": "intervals", "start": 0, "top": 2, "widths": [0.1, 1], "numbers": "decimal"}
        yield {"type": "decimal"}, [STRICT, RELAXED]
    yield {"type": "decimal", "hierarchy": intervals}, [STRICT, AUTO, LOCAL, OPTIMAL]


@pytest.mark.parametrize("case", VALUES)
def test_labels_contain_their_values(case: str) -> None:
    values = VALUES[case]
    kind = pl.UInt64 if case == "unsigned" else None
    rows = pl.DataFrame({"n": pl.Series(values * 3, dtype=kind), "s": ["x"] * len(values) * 3})
    for column, methods in columns_for(values):
        for method in methods:
            for label, value in published(rows, column, method):
                assert contains(label, value), (case, column, method, label, value)


def test_microaggregation_refuses_numbers_that_it_cannot_tell_apart() -> None:
    rows = pl.DataFrame({"n": VALUES["neighbors"] * 2, "s": ["x"] * 8})
    with pytest.raises(DataError, match="digits"):
        anonymize(rows, plan({"type": "integer", "publish": {"microaggregate": 4}}, {"name": "microaggregation"}))


def test_cells_whose_sums_are_not_exact_are_refused() -> None:
    table = pl.DataFrame({"a": ["x", "y", "z", "T"], "n": [BASE + 1, BASE + 2, 3, 2 * BASE + 999]})
    plan_ = {"version": 1, "table": {"value": "n"}, "dimensions": {"a": {"column": "a", "total": "T"}}}
    with pytest.raises(DataError, match="row 1"):
        protect(table, plan_ | {"primary": [{"rule": "frequency", "min": 5}]})


@pytest.mark.parametrize("decimals", [-6, -1, 0, 2, 10])
def test_steps_are_exact(decimals: int) -> None:
    random = np.random.default_rng(1)
    texts = [
        "-5",
        "0.009999999",
        "0.1",
        "0.30000000000000004",
        "99999999999.5",
        "-1000000000000000",
        "4611686018427387904",
    ]
    texts += [f"{number:.{place}g}" for place in (3, 9, 15) for number in random.normal(0, 10.0 ** (place - 4), 40)]
    numbers = np.array([float(text) for text in texts])
    grid, step = NumberGrid(decimals), Decimal(1).scaleb(-decimals)
    for text, below, above in zip(texts, grid.below(numbers).tolist(), grid.above(numbers).tolist(), strict=True):
        if abs(below) < 2**62:
            assert below * step <= Decimal(repr(float(text))) < (below + 1) * step
            assert (above - 1) * step < Decimal(repr(float(text))) <= above * step


def test_ranks_and_bounds_of_long_numbers_are_exact() -> None:
    texts = [str(BASE + 3), str(BASE + 1), str(BASE + 2), str(BASE)]
    assert ranks_of(tuple(texts), (), "n").tolist() == [3, 1, 2, 0]
    assert bounds_of(f"[{BASE + 1}–{BASE + 3}]") == (None, None)


@pytest.mark.parametrize("start", [2**53 - 30, BASE, 10**15])
def test_suggest_takes_numbers_close_to_each_other(start: int, tmp_path: Path) -> None:
    numbers = np.arange(start, start + 25).astype(np.float64)
    spread = NumberDistribution(np.unique(numbers), np.ones(len(np.unique(numbers))))
    assert whole_numbers(spread)["type"] == decimal_numbers(spread)["type"] == "intervals"
    path = tmp_path / "rows.csv"
    path.write_text("n,sex\n" + "".join(f"{start + place % 25},{'mf'[place % 2]}\n" for place in range(200)))
    assert suggest(path) is not None


HUGE = 10**30


@pytest.mark.parametrize("publish", [{"round": 0.5}, {"round": 10}, {"bin": 10}, {"bin": 0.3}, {"round": 2, "top": 7}])
def test_numbers_with_more_digits_than_decimals_of_python_have_are_rounded_exactly(publish: dict[str, Any]) -> None:
    values = [HUGE + 1, HUGE + 4, 7 - HUGE, -HUGE - 3]
    rows = pl.DataFrame({"n": [*map(str, values)] * 4, "s": ["x"] * 16})
    asked = plan({}, {"name": "optimal"})
    asked["columns"] = {"n": {"role": "insensitive", "publish": publish}, "s": {**ANY}}
    labels = anonymize(rows, asked).data["n"].to_list()
    for label, value in zip(labels, values * 4, strict=True):
        if "bin" in publish or label.startswith(">"):
            assert contains(label, Decimal(value)), label
        else:
            with localcontext(prec=100):
                assert abs(Decimal(label) - value) <= Decimal(str(publish["round"])) / 2, label


@pytest.mark.parametrize("file", [True, False])
def test_ends_beyond_64_bits_are_published_as_columns_of_bounds(file: bool, tmp_path: Path) -> None:
    rows = pl.DataFrame({"n": [str(HUGE + place % 2 * HUGE) for place in range(16)], "s": ["x"] * 16})
    rows.write_csv(tmp_path / "rows.csv")
    asked = plan({"type": "integer"}, STRICT) | {"output": {"intervals": "bounds"}}
    release = anonymize(tmp_path / "rows.csv" if file else rows, asked)
    data = pl.read_csv(release.data) if file else release.data
    assert {*data["n_min"].to_list()} <= {1e30, 2e30, None}
