"""Cell suppression: proved against brute force and a known optimum, kept by every engine, refused where it must be."""

from itertools import product
from time import process_time

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import PlanError, UnattainableError
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.verify import verify
from sizes import size

KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


def plan(names, k=2, subsets=None, importance=None, **more) -> dict:
    columns = {name: {"role": "quasi-identifier"} for name in names}
    for name, value in (importance or {}).items():
        columns[name]["importance"] = value
    model = {"model": "k-anonymity", "k": k} | ({"subsets": subsets} if subsets else {})
    return {
        "version": 1,
        "columns": columns,
        "privacy": [model],
        "method": {"name": "local-suppression"},
        "seed": 1,
        "output": {"order": "keep"},
    } | more


def cells_of(rows: list[tuple[str | None, ...]], k: int, prices: list[float]) -> float:
    """The least cost by trying all partitions of the rows into groups of k or more."""

    def cost(group: list[int]) -> float:
        columns = zip(*(rows[row] for row in group), strict=True)
        blanks = [len(set(column)) > 1 for column in columns]
        return sum(
            price
            for row in group
            for value, blank, price in zip(rows[row], blanks, prices, strict=True)
            if blank and value is not None
        )

    best = [np.inf]

    def part(groups: list[list[int]], row: int, spent: float) -> None:
        if row == len(rows):
            if all(len(group) >= k for group in groups):
                best[0] = min(best[0], sum(map(cost, groups)))
            return
        for group in groups:
            group.append(row)
            part(groups, row + 1, spent)
            group.pop()
        if sum(max(k - len(group), 0) for group in groups) + k <= len(rows) - row:
            groups.append([row])
            part(groups, row + 1, spent)
            groups.pop()

    part([], 0, 0.0)
    return best[0]


@settings(max_examples=size(12, 40))
@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(st.tuples(*[st.sampled_from(["a", "b", "c", None])] * width), min_size=3, max_size=8)
    ),
    st.integers(2, 3),
    st.lists(st.sampled_from([1, 2]), min_size=4, max_size=4),
)
def test_it_costs_as_little_as_any_partition(rows, k, prices) -> None:
    names = [f"c{at}" for at in range(len(rows[0]))]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    importance = dict(zip(names, prices, strict=False))
    release = anonymize(frame, plan(names, k, importance=importance))
    assert release.report.proved_optimal
    assert release.report.loss.value == cells_of(rows, k, list(importance.values()))
    assert release.data.group_by(names).len()["len"].min() >= k
    assert (
        sum(release.data[name].null_count() for name in names)
        >= release.report.details["local_suppression"]["suppressed"]
    )


def frame_of(rows: int, width: int, seed: int = 3) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    values = {f"c{at}": random.integers(0, 3 + at, rows).astype(str).tolist() for at in range(width)}
    return pl.DataFrame(values)


def test_values_stay_or_are_missing_and_both_counts_are_reported(tmp_path) -> None:
    rows = frame_of(120, 4)
    release = anonymize(rows, plan(rows.columns, 3))
    for before, after in zip(rows.iter_rows(), release.data.iter_rows(), strict=True):
        assert all(now in (raw, None) for raw, now in zip(before, after, strict=True))
    risk = release.report.risk
    assert risk["after"]["smallest"] >= 3
    assert risk["matching"]["after"]["smallest"] >= risk["after"]["smallest"]
    release.save(tmp_path / "out")
    assert verify(tmp_path / "out").satisfied


def test_columns_that_must_not_be_touched_are_not() -> None:
    rows = frame_of(120, 3)
    release = anonymize(rows, plan(rows.columns, 2, importance={"c0": "never", "c1": 5}))
    assert release.data["c0"].to_list() == rows["c0"].to_list()
    assert release.data["c2"].null_count() > release.data["c1"].null_count()
    with pytest.raises(UnattainableError):
        anonymize(pl.DataFrame({"a": ["1", "2", "2"]}), plan(["a"], importance={"a": "never"}))


@pytest.mark.parametrize("subsets", [None, {"1": 2}])
def test_a_missing_value_that_must_not_be_touched_is_a_value_of_its_own(subsets) -> None:
    """Each region has its k, the one without a name, too; beside rows of the first code it is not one of them."""
    rows = pl.DataFrame({"region": ["n", "n", None, None, "n", None], "sex": ["m", "m", "w", "w", "x", "y"]})
    release = anonymize(rows, plan(rows.columns, 2, subsets, importance={"region": "never"}))
    assert release.data["region"].to_list() == rows["region"].to_list()
    assert release.data.group_by(rows.columns).len()["len"].min() >= 2
    with pytest.raises(UnattainableError):
        anonymize(rows[:3], plan(rows.columns, 2, subsets, importance={"region": "never"}))


def test_k_is_kept_for_all_sets_of_columns(tmp_path) -> None:
    rows = frame_of(150, 4)
    asked = plan(rows.columns, 2, {"2": 6, "1": 20})
    release = anonymize(rows, asked)
    for many, least in ((1, 20), (2, 6), (4, 2)):
        for chosen in product(rows.columns, repeat=many):
            if len(set(chosen)) == many:
                assert release.data.group_by(list(chosen)).len()["len"].min() >= least
    release.save(tmp_path / "out")
    verdict = verify(tmp_path / "out")
    assert verdict.satisfied and verdict.promises[0].parameters["subsets_achieved"]["1"] >= 20
    stricter = plan(rows.columns, 2, {"2": 60})
    assert not verify(tmp_path / "out" / "data.csv", stricter).satisfied


def test_every_engine_hides_the_same_cells(tmp_path) -> None:
    rows = frame_of(60, 4)
    rows.write_csv(tmp_path / "rows.csv")
    of_frame = anonymize(rows, plan(rows.columns, 3)).data
    release = anonymize(tmp_path / "rows.csv", plan(rows.columns, 3))
    release.save(tmp_path / "out")
    written = pl.read_csv(tmp_path / "out" / "data.csv", infer_schema=False)
    assert written.rows() == of_frame.rows()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"privacy": [{"model": "average-risk", "threshold": 0.5}]},
            "average-risk is not supported by local-suppression: it satisfies",
        ),
        ({"data": {"on_missing": "any"}}, "any is not supported by local-suppression"),
        ({"method": {"name": "mondrian"}, "privacy": [{"model": "k-anonymity", "k": 2, "subsets": {1: 3}}]}, "subsets"),
    ],
)
def test_what_it_cannot_keep_is_refused(changes, message) -> None:
    with pytest.raises(PlanError, match=message):
        anonymize(frame_of(20, 2), plan(["c0", "c1"]) | changes)
    with pytest.raises(UnattainableError, match="rows"):
        anonymize(frame_of(20, 2), plan(["c0", "c1"], 21))


@pytest.mark.shared
def test_a_household_survey_needs_115_cells(shared) -> None:
    rows = pl.read_csv(shared / "casc" / "households93.csv", infer_schema=False).select(KEYS)
    report = anonymize(rows, plan(KEYS, output={"order": "shuffle"})).report
    assert report.proved_optimal and report.loss.value == 115
    assert report.details["local_suppression"]["suppressed"] == 115


@pytest.mark.shared
def test_a_census_file_takes_less_than_a_minute_and_has_a_gap(shared) -> None:
    rows = pl.read_csv(shared / "adult.csv", infer_schema=False, separator=";", n_rows=size(6_000, None))
    names = rows.columns[:8]
    begin = process_time()
    report = anonymize(rows.select(names), plan(names, 5)).report
    assert process_time() - begin < 60
    assert 0 < report.details["local_suppression"]["gap"] < 0.5


def test_strata_are_columns_that_are_never_touched() -> None:
    """k within each stratum, at the cost of all strata by themselves."""
    dice = np.random.default_rng(5)
    rows = [(str(dice.integers(2)), *map(str, dice.integers(0, 3, 3))) for _ in range(14)]
    names = ["stratum", "a", "b", "c"]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    release = anonymize(frame, plan(names, 2, importance={"stratum": "never"}))
    parts = [[row[1:] for row in rows if row[0] == stratum] for stratum in ("0", "1")]
    assert release.report.proved_optimal
    assert release.report.loss.value == sum(cells_of(part, 2, [1.0, 1.0, 1.0]) for part in parts)
    assert release.data["stratum"].to_list() == frame["stratum"].to_list()


def sample(rows: int = 90) -> pl.DataFrame:
    draw = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "age": draw.integers(20, 40, rows).astype(str),
            "area": draw.choice(["n", "s", "w"], rows),
            "job": [None if draw.random() < 0.1 else str(draw.choice(["a", "b"])) for _ in range(rows)],
            "weight": [f"{value:.2f}" for value in draw.uniform(2, 90, rows)],
        }
    )


@pytest.mark.parametrize("withheld", [False, True])
@pytest.mark.parametrize(
    "asked",
    [
        [{"model": "individual-risk", "threshold": 0.01}],
        [{"model": "individual-risk", "threshold": 0.02}, {"model": "k-anonymity", "k": 4, "subsets": {1: 6}}],
        [{"model": "global-risk", "threshold": 0.008}],
    ],
)
def test_promises_about_risk_hold_by_a_count_of_ones_own(asked, withheld) -> None:
    frame = sample()
    weight = {"role": "weight"} | ({"publish": "removed"} if withheld else {})
    columns = {name: {"role": "quasi-identifier"} for name in ("age", "area", "job")} | {"weight": weight}
    release = anonymize(frame, plan([], columns=columns, privacy=asked))
    weights: dict[tuple, list[float]] = {}
    for row, value in zip(release.data.select("age", "area", "job").rows(), frame["weight"], strict=True):
        weights.setdefault(row, []).append(float(value))
    risks = {row: _risk(len(values), sum(values)) for row, values in weights.items()}
    for model in asked:
        if model["model"] == "individual-risk":
            assert max(risks.values()) <= model["threshold"]
        elif model["model"] == "global-risk":
            assert sum(risks[row] * len(values) for row, values in weights.items()) / 90 <= model["threshold"]
        else:
            assert min(map(len, weights.values())) >= model["k"]
    assert all(promise["satisfied"] for promise in release.report.to_dict()["models"])
    assert 0 < release.report.to_dict()["local_suppression"]["suppressed"] < 200


def _risk(rows: int, persons: float) -> float:
    """The integral of the definition, by the midpoints of many steps."""
    share, points = rows / persons, (np.arange(2_000) + 0.5) / 2_000
    return float((points ** (rows - 1) * share / (share + (1 - share) * points)).mean())


def test_a_risk_that_no_hiding_attains_is_told() -> None:
    columns = {name: {"role": "quasi-identifier"} for name in ("age", "area")}
    asked = {"privacy": [{"model": "individual-risk", "threshold": 1e-9, "sampling_fraction": 0.1}]}
    with pytest.raises(UnattainableError, match="risk of some rows"):
        anonymize(sample().select("age", "area"), plan([], columns=columns, **asked))


def test_a_late_deadline_still_keeps_the_risk() -> None:
    columns = {name: {"role": "quasi-identifier"} for name in ("age", "area")}
    asked = {"privacy": [{"model": "individual-risk", "threshold": 0.02, "sampling_fraction": 0.1}]}
    method = {"method": {"name": "local-suppression", "time_limit": 0}}
    release = anonymize(sample().select("age", "area"), plan([], columns=columns, **asked, **method))
    assert release.report.to_dict()["models"][0]["satisfied"]


def test_sets_of_more_columns_than_there_are_stand_in_the_plan() -> None:
    with pytest.raises(PlanError, match="no sets of 9 columns"):
        anonymize(sample().select("age", "area"), plan(["age", "area"], subsets={9: 3}))


def test_other_promises_say_why_and_what_to_do() -> None:
    columns = {"age": {"role": "quasi-identifier"}, "job": {"role": "sensitive"}}
    asked = {"privacy": [{"model": "l-diversity", "l": 2, "column": "job"}]}
    with pytest.raises(PlanError, match="Use local or optimal"):
        anonymize(sample().select("age", "job"), plan([], columns=columns, **asked))


@pytest.mark.parametrize("seed", range(8))
def test_the_bound_and_the_cost_for_risks_lie_around_the_least_by_brute_force(seed) -> None:
    draw = np.random.default_rng(seed)
    rows = list(
        zip(draw.choice(["a", "b"], 7), draw.choice(["x", "y", "z"], 7), draw.choice(["p", "q"], 7), strict=True)
    )
    weights, threshold = draw.integers(3, 30, 7).tolist(), 0.08
    together: dict[tuple, list[float]] = {}
    for row, weight in zip(rows, weights, strict=True):
        together.setdefault(row, []).append(weight)
    least = _least([(row, len(own), sum(own)) for row, own in together.items()], threshold)
    frame = pl.DataFrame({name: [row[at] for row in rows] for at, name in enumerate("abc")})
    columns = {name: {"role": "quasi-identifier"} for name in "abc"} | {"weight": {"role": "weight"}}
    asked = plan([], columns=columns, privacy=[{"model": "individual-risk", "threshold": threshold}])
    cells = anonymize(frame.with_columns(weight=pl.Series(weights)), asked).report.to_dict()["local_suppression"]
    assert cells["bound"] <= least <= cells["cost"] <= 2 * least + 6


def _least(entries: list[tuple], threshold: float) -> float:
    """The least number of hidden cells by trying all partitions of combinations."""

    def cost(group: list[tuple]) -> float:
        rows, persons = sum(entry[1] for entry in group), sum(entry[2] for entry in group)
        if _risk(rows, persons) > threshold * (1 + 1e-6):
            return np.inf
        return sum(rows for column in zip(*(entry[0] for entry in group), strict=True) if len(set(column)) > 1)

    def part(groups: list[list[tuple]], place: int) -> float:
        if place == len(entries):
            return sum(map(cost, groups))
        options = [
            part([*groups[:at], [*group, entries[place]], *groups[at + 1 :]], place + 1)
            for at, group in enumerate(groups)
        ]
        return min([*options, part([*groups, [entries[place]]], place + 1)])

    return part([], 0)
