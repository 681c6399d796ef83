"""Exact values of few persons, numbers beyond binary fractions, and stars as missing values in every measure."""

import math
import random
import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from refusals import refused
from sfumato import DataError, anonymize, protect
from sfumato.hierarchies.label_bounds import bounds_of
from sfumato.hierarchies.role_detection.robust_intervals import NumberDistribution, decimal_numbers, whole_numbers
from sfumato.microdata.models.t_closeness import ranks_of
from sfumato.microdata.recoding.range_grid import NumberGrid
from sfumato.pipelines.suggest import suggest
from sfumato.report.release.report import text

# Labels and means that show exact values of few persons are warned of, whichever method made them.


ROWS, K = 120, 5
FIXED = {"type": "intervals", "start": 0, "end": 500_000, "widths": [1000, 5000, 500_000]}


def rows(extreme: int = 9_000) -> pl.DataFrame:
    draw = random.Random(3)
    incomes = [1000 + int(9000 * draw.random() ** 3) for _ in range(ROWS)]
    incomes[5] = extreme
    return pl.DataFrame(
        {
            "place": [f"{72000 + draw.randrange(60)}" for _ in range(ROWS)],
            "income": incomes,
            "sex": [draw.choice("mf") for _ in range(ROWS)],
        }
    )


def plan(method: dict[str, object], privacy: dict[str, object] | None = None, **columns: object) -> dict[str, object]:
    known = {
        "place": {"role": "quasi-identifier"},
        "income": {"role": "quasi-identifier", "type": "integer"},
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
    }
    asked = privacy or {"model": "k-anonymity", "k": K}
    return {"version": 1, "columns": known | columns, "privacy": [asked], "method": method}


def found(release: sf.Release) -> dict[str, int]:
    entries = release.report.details.get("rare_values", ())
    return {entry["column"]: entry.get("labels") or entry["means"] for entry in entries}


def truly_named(release: sf.Release, raw: pl.DataFrame, column: str) -> int:
    """The labels of a column that show an exact value of fewer than k rows, computed another way."""
    counts = {str(value): number for value, number in raw[column].value_counts().iter_rows()}
    labels = {label for label in release.data[column] if label is not None}
    parts = {label: label.strip("[]{}").replace("–", ", ").replace("-", ", ").split(", ") for label in labels}
    return sum(any(0 < counts.get(part, 0) < K for part in each) for each in parts.values())


@pytest.mark.parametrize(
    "method", [{"name": "mondrian"}, {"name": "mondrian", "bounds": "own"}, {"name": "k-optimize"}], ids=str
)
def test_sets_and_intervals_with_values_of_few_rows_are_counted(method) -> None:
    raw = rows()
    release = sf.anonymize(raw, plan(method))
    for column in ("place", "income"):
        assert found(release).get(column, 0) == truly_named(release, raw, column)
    assert found(release)
    assert "EXACT" in text(release.report)


def test_a_hierarchy_names_nobody() -> None:
    fixed = {
        "place": {"role": "quasi-identifier", "hierarchy": {"type": "digits"}},
        "income": {"role": "quasi-identifier", "type": "integer", "hierarchy": FIXED},
    }
    assert not found(sf.anonymize(rows(), plan({"name": "local"}, **fixed)))


def test_suppressed_cells_leave_exact_values_of_single_rows() -> None:
    whole = {name: {"role": "quasi-identifier", "hierarchy": {"type": "any"}} for name in ("place", "income")}
    risk = {"model": "individual-risk", "threshold": 0.9}
    raw = rows().with_columns(weight=pl.lit(40))
    release = sf.anonymize(raw, plan({"name": "local-suppression"}, risk, weight={"role": "weight"}, **whole))
    assert found(release)["income"] == raw["income"].value_counts().filter(pl.col("count") == 1).height


@pytest.mark.parametrize("role", ["quasi-identifier", "insensitive"])
def test_means_that_reveal_an_extreme_value_are_counted(role) -> None:
    """The mean of a group with one of 400,000 among incomes of thousands says which it is, nearly."""
    method = {"name": "microaggregation"} if role == "quasi-identifier" else {"name": "mondrian"}
    column = {"role": role, "type": "integer", "publish": {"microaggregate": K}}
    place = (
        {"role": "insensitive"}
        if role == "quasi-identifier"
        else {"role": "quasi-identifier", "hierarchy": {"type": "digits"}}
    )
    used = {"income": column, "place": place}
    if role == "quasi-identifier":
        used["sex"] = {"role": "insensitive"}
    assert found(sf.anonymize(rows(400_000), plan(method, **used)))["income"] == 1
    assert "income" not in found(sf.anonymize(rows(), plan(method, **used)))


def test_the_report_to_hand_out_says_so_without_numbers(tmp_path) -> None:
    folder = sf.anonymize(rows(), plan({"name": "mondrian", "bounds": "own"})).save(tmp_path / "release")
    outside = (folder / "report-external.json").read_text()
    assert "some published labels contain exact values that few persons have" in outside
    assert '"rare_values"' in (folder / "report.json").read_text()


def test_persons_are_counted_not_their_rows() -> None:
    """Six rows of one person name one person's income."""
    raw = pl.concat(
        [
            rows().with_columns(who=pl.int_range(ROWS, dtype=pl.Int32)),
            *[rows()[7:8].with_columns(who=pl.lit(7, pl.Int32))] * 6,
        ]
    )
    release = sf.anonymize(raw, plan({"name": "mondrian", "bounds": "own"}, who={"role": "person"}))
    once = raw.unique(["who", "income"])
    assert found(release)["income"] == truly_named(release, once, "income")


# Published labels contain the values they stand for, by exact arithmetic, however large or long the numbers are.

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


def numbers_plan(column: dict[str, Any], method: dict[str, Any]) -> dict[str, Any]:
    return {
        "version": 1,
        "columns": {"n": {"role": "quasi-identifier"} | column, "s": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 4}],
        "method": method,
        "output": {"order": "keep", "format": "csv"},
    }


def published(rows: Any, column: dict[str, Any], method: dict[str, Any]) -> Iterator[tuple[str, Decimal]]:
    raw = [Decimal(str(value)) for value in rows["n"].to_list()]
    release = anonymize(rows, numbers_plan(column, method))
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
    with pytest.raises(DataError, check=refused("data.too-many-digits", column="n")):
        anonymize(
            rows,
            numbers_plan({"type": "integer", "publish": {"microaggregate": 4}}, {"name": "microaggregation"}),
        )


def test_cells_whose_sums_are_not_exact_are_refused() -> None:
    table = pl.DataFrame({"a": ["x", "y", "z", "T"], "n": [BASE + 1, BASE + 2, 3, 2 * BASE + 999]})
    plan_ = {"version": 1, "table": {"value": "n"}, "dimensions": {"a": {"column": "a", "total": "T"}}}
    with pytest.raises(DataError, check=refused("error.data.too-great.column_holds_beyond", column="n", row="1")):
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
    numbers = np.array([float(one) for one in texts])
    grid, step = NumberGrid(decimals), Decimal(1).scaleb(-decimals)
    for one, below, above in zip(texts, grid.below(numbers).tolist(), grid.above(numbers).tolist(), strict=True):
        if abs(below) < 2**62:
            assert below * step <= Decimal(repr(float(one))) < (below + 1) * step
            assert (above - 1) * step < Decimal(repr(float(one))) <= above * step


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
    asked = numbers_plan({}, {"name": "optimal"})
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
    asked = numbers_plan({"type": "integer"}, STRICT) | {"output": {"intervals": "bounds"}}
    release = anonymize(tmp_path / "rows.csv" if file else rows, asked)
    data = pl.read_csv(release.data) if file else release.data
    assert {*data["n_min"].to_list()} <= {1e30, 2e30, None}


# A star is a missing value in every measure: figures are those that a plain count of the two files gives.

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


def stars_plan(method: dict[str, Any], suppressed: str) -> dict[str, Any]:
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
    release = anonymize(rows, stars_plan(method, suppressed))
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
    release = anonymize(rows, stars_plan({"name": "optimal", "suppression": 0.4}, "star"))
    assert "*" in pl.DataFrame(release.data)["ill"].to_list()
    shares = release.report.to_dict()["sensitive_shares"]["ill"]["shares"]
    assert "*" not in [value for value, _, _ in shares]
