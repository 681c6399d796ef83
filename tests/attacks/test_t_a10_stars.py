"""A star is a missing value in every measure: figures are those that a plain count of the two files gives."""

import math
import random
from collections import Counter
from typing import Any

import polars as pl
import pytest

from sfumato import anonymize

AREAS = ["north", "south", "west"]


def frame(rows: int = 300) -> pl.DataFrame:
    """Two columns that are not associated, numbers, rare values, missing ones, and a sensitive column."""
    draw = random.Random(7)
    values = {
        "area": [draw.choice([*AREAS, *AREAS, None, f"rare{place % 40}"]) for place in range(rows)],
        "job": [draw.choice(["clerk", "smith", "nurse", f"only{place % 30}"]) for place in range(rows)],
        "age": [str(draw.choice([20, 30, 40, 50 + place % 25])) for place in range(rows)],
        "ill": [draw.choice(["flu", "cold", "gout", None]) for _ in range(rows)],
    }
    return pl.DataFrame(values)


def plan(method: dict[str, Any], suppressed: str) -> dict[str, Any]:
    diverse = {"model": "l-diversity", "variant": "distinct", "l": 2, "column": "ill"}
    any_value = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    age = {"type": "integer", "hierarchy": {"type": "intervals", "start": 20, "end": 79, "widths": [10, 20]}}
    return {
        "version": 1,
        "seed": 3,
        "columns": {"area": any_value, "job": any_value, "age": any_value | age, "ill": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 4}, *([] if method["name"] == "local-suppression" else [diverse])],
        "method": method,
        "output": {"order": "keep", "suppressed": suppressed},
    }


def told(text: Any) -> bool:
    return text not in (None, "", "*")


def cramers_v(pairs: list[tuple[Any, Any]]) -> float:
    """By the definition, over the pairs of which both are there."""
    there = [pair for pair in pairs if told(pair[0]) and told(pair[1])]
    cells, ones, others = Counter(there), Counter(one for one, _ in there), Counter(other for _, other in there)
    if min(len(ones), len(others)) < 2:
        return 0.0
    expected = {(one, other): ones[one] * others[other] / len(there) for one in ones for other in others}
    chi = sum((cells[cell] - count) ** 2 / count for cell, count in expected.items())
    return math.sqrt(chi / len(there) / (min(len(ones), len(others)) - 1))


def total_variation(raw: list[Any], published: list[Any]) -> float:
    """Of a column whose labels are its values or stars."""
    before, after = Counter(filter(told, raw)), Counter(filter(told, published))
    shares = [abs(before[value] / before.total() - after[value] / after.total()) for value in before]
    return sum(shares) / 2


METHODS = [
    {"name": "local-suppression"},
    {"name": "local", "suppression": 0.3},
    {"name": "optimal", "suppression": 0.4},
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method["name"])
@pytest.mark.parametrize("suppressed", ["drop", "star"])
def test_associations_and_distributions_are_those_of_a_plain_count(method: dict[str, Any], suppressed: str) -> None:
    rows = frame()
    release = anonymize(rows, plan(method, suppressed))
    published = pl.DataFrame(release.data)
    utility = release.report.utility
    for pair in utility["association_pairs"]:
        names = [pair["first"], pair["second"]]
        assert pair["cramers_v_before"] == pytest.approx(cramers_v(rows.select(names).rows()))
        assert pair["cramers_v"] == pytest.approx(cramers_v(published.select(names).rows())), names
    drifts = [abs(pair["cramers_v"] - pair["cramers_v_before"]) for pair in utility["association_pairs"]]
    assert utility["association"]["mean_drift"] == pytest.approx(sum(drifts) / len(drifts))
    for name in ("area", "job"):
        raw, labels = rows[name].to_list(), published[name].to_list()
        if {*labels} <= {*raw, "*", None} and any(map(told, labels)):
            found = utility["distributions"][name]["total_variation"]
            assert found == pytest.approx(total_variation(raw, labels))


def test_a_column_of_stars_has_no_distribution_and_no_association() -> None:
    rows = pl.DataFrame({"a": ["x", "y"] * 4, "b": [str(place) for place in range(8)]})
    columns = {name: {"role": "quasi-identifier", "hierarchy": {"type": "any"}} for name in ("a", "b")}
    whole = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 4}]}
    utility = anonymize(rows, whole).report.utility
    assert utility["distributions"]["b"]["total_variation"] is None
    assert utility["distributions"]["a"]["total_variation"] == 0
    assert utility["association_pairs"][0]["cramers_v"] == 0


def test_stars_of_sensitive_columns_are_no_value_of_their_own() -> None:
    kinds = [("north", "clerk", "20", ill) for ill in ("flu", "cold", "flu", "cold", "flu", "cold")]
    rows = pl.DataFrame([*kinds, ("south", "smith", "30", "gout")], schema=["area", "job", "age", "ill"], orient="row")
    release = anonymize(rows, plan({"name": "optimal", "suppression": 0.4}, "star"))
    assert "*" in pl.DataFrame(release.data)["ill"].to_list()
    shares = release.report.to_dict()["sensitive_shares"]["ill"]["shares"]
    assert "*" not in [value for value, _, _ in shares]
