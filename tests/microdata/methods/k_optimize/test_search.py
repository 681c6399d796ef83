"""K-Optimize: the known answer, what is released and told, and how a search ends before its time."""

import json
import random
import re
import signal
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from sfumato.datasets import stroke
from sfumato.engines.dataframes.engine import FrameEngine
from sfumato.errors import PlanError, UnattainableError
from sfumato.microdata.methods.k_optimize import problem_arrays as at
from sfumato.microdata.methods.k_optimize import search as k_optimize
from sfumato.microdata.methods.k_optimize.cut_features import joined, published, space_of
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.release_stages.counting import frequency_table
from sizes import size

LOSSES = ("discernibility", "classification", "loss-metric")


def plan_for(columns: int, k: int, **method: object) -> dict:
    named = {f"c{place}": {"role": "quasi-identifier"} for place in range(columns)}
    privacy = [{"model": "k-anonymity", "k": k}]
    return {
        "version": 1,
        "columns": named,
        "privacy": privacy,
        "method": {"name": "k-optimize", **method},
        "output": {"order": "keep"},
    }


def space_for(rows: list[tuple[int, ...]], plan: dict):
    frame = pl.DataFrame({f"c{place}": [str(row[place]) for row in rows] for place in range(len(plan["columns"]))})
    read = read_plan(plan)
    return space_of(read, read.method, frequency_table(read, FrameEngine(frame)))


ANY = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}


def ranges(start: float, end: float, begins: list[float], **more: object) -> dict:
    hierarchy = {"type": "intervals", "start": start, "end": end, "bounds": [begins], **more}
    return {"role": "quasi-identifier", "min_level": 1, "hierarchy": hierarchy}


STROKE = {
    "version": 1,
    "columns": {
        "id": {"role": "identifier"},
        "gender": ANY,
        "age": ranges(0, 82, [28, 56]),
        "hypertension": ANY,
        "heart_disease": ANY,
        "ever_married": ANY,
        "work_type": ANY,
        "residence_type": ANY,
        "avg_glucose_level": ranges(55, 272, [127.01, 199.01]),
        "bmi": ranges(10, 98, [40, 70], numbers="decimal"),
        "smoking_status": ANY,
        "stroke": ANY,
    },
    "privacy": [{"model": "k-anonymity", "k": 10}],
    "method": {"name": "k-optimize", "features": "isolate"},
    "output": {"order": "keep"},
}


def test_the_known_answer(tmp_path) -> None:
    source = tmp_path / "stroke.csv"
    stroke().write(source)
    releases = [anonymize(source, STROKE) for _ in range(3)]
    report = min((one.report for one in releases), key=lambda one: one.seconds.search)
    assert (report.loss.value, report.proved_optimal, report.suppressed_rows) == (3628, True, 0)
    assert (report.details["bound"], report.details["gap"]) == (3628, 0)
    assert report.seconds.search < 1.0
    assert report.classes.count == 12
    published = report.details["published"]
    assert published["residence_type"] == ["Rural", "Urban"]
    assert published["avg_glucose_level"] == ["[55, 127.01)", "*"]
    assert published["smoking_status"] == ["formerly smoked", "never smoked", "*"]
    assert published["age"] == published["gender"] == ["*"]
    assert sorted(releases[0].recoding.sizes.tolist()) == [10, 10, 13, 15, 15, 15, 16, 18, 19, 19, 21, 29]


def ages(count: int = 60):
    random = np.random.default_rng(7)
    years = random.integers(17, 90, count)
    towns = random.choice(["Bonn", "Köln", "Ulm", "Aalen"], count)
    ills = [None if one < 5 else str(one % 3) for one in random.integers(0, 60, count)]
    return pl.DataFrame({"age": years, "town": towns, "ill": ills})


def age_plan(**method: object) -> dict:
    tree = {"Bonn": "NRW", "Köln": "NRW", "Ulm": "BW", "Aalen": "BW"}
    hierarchy = {"type": "intervals", "start": 0, "end": 99, "widths": [5, 10]}
    columns = {
        "age": {"role": "quasi-identifier", "type": "integer", "min_level": 1, "hierarchy": hierarchy},
        "town": {"role": "quasi-identifier", "hierarchy": {"type": "tree", "parents": tree}},
        "ill": {"role": "sensitive"},
    }
    privacy = [{"model": "k-anonymity", "k": 5}]
    return {
        "version": 1,
        "columns": columns,
        "privacy": privacy,
        "method": {"name": "k-optimize", **method},
        "output": {"order": "keep"},
    }


@pytest.mark.parametrize("features", ["isolate", "ordered"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("suppressed", ["drop", "star"])
def test_releases_what_it_says(features, loss, suppressed) -> None:
    method = {"features": features, "loss": loss} | ({"class": "ill"} if loss == "classification" else {})
    frame = ages()
    release = anonymize(frame, age_plan(**method) | {"output": {"suppressed": suppressed, "order": "keep"}})
    report = release.report
    assert report.satisfied
    assert report.proved_optimal
    assert report.nodes["checked"] == report.nodes["total"]
    visible = Counter(zip(release.data["age"], release.data["town"], strict=True))
    visible.pop(("*", "*"), None) if suppressed == "star" else None
    assert min(visible.values()) >= 5
    assert {age for age, _ in visible} <= set(report.details["published"]["age"])
    assert {town for _, town in visible} <= set(report.details["published"]["town"])
    if loss == "loss-metric":
        assert sum(report.loss.per_column.values()) == pytest.approx(report.loss.value)


def test_labels_are_intervals_names_and_sets() -> None:
    frame = ages()
    plan = read_plan(age_plan())
    table = frequency_table(plan, FrameEngine(frame))
    space = space_of(plan, plan.method, table)
    state = space.empty()
    assert published(space, state) == (("*",), ("*",))
    state[[3, 14]] = at.HEAD
    assert published(space, state)[0] == ("15-34", "35-89")
    assert published(space, state)[1] == ("Bonn", "{Köln, Ulm, Aalen}")
    state[14], state[15] = at.OUT, at.HEAD
    assert published(space, state)[1] == ("NRW", "BW")


@pytest.mark.parametrize(
    ("first", "last", "label"),
    [
        ("20-24", "30-34", "20-34"),
        ("17", "19", "17-19"),
        ("[55, 127)", "[199, 272]", "[55, 272]"),
        ("<20", "20-39", "<20..20-39"),
        ("2017-01-01", "2017-03-05", "2017-01-01..2017-03-05"),
    ],
)
def test_joined_labels(first, last, label) -> None:
    assert joined(first, last) == label


@pytest.mark.parametrize("scale", [1, 0.1], ids=["whole", "decimals"])
def test_ranges_of_numbers_end_between_the_values(scale) -> None:
    draw = random.Random(5)
    numbers = [draw.choice((18, 22, 37, 44, 58, 61, 73, 97)) for _ in range(200)] + [113]
    values = [f"{number * scale:g}" for number in numbers]
    plan = plan_for(1, 40, features="ordered", suppression=0)
    widths = {"type": "intervals", "start": 0, "end": 120 * scale, "widths": [60 * scale]}
    plan["columns"]["c0"] |= {"type": "decimal", "hierarchy": widths | ({} if scale == 1 else {"numbers": "decimal"})}
    release = anonymize(pl.DataFrame({"c0": values}), plan)
    labels = {*release.data["c0"]} - {*values}
    ends = {end for label in labels for end in re.split(r"-|\.\.", label)}
    assert labels and not ends & {*values}
    ranges = sorted(tuple(map(float, re.split(r"-|\.\.", label))) for label in labels)
    assert all(low <= high for low, high in ranges) and all(one[1] < next_[0] for one, next_ in pairwise(ranges))


def test_missing_values_are_a_category_of_their_own() -> None:
    frame = pl.DataFrame({"c0": ["1"] * 6 + ["2"] * 6 + [None] * 6})
    for features, expected in (("ordered", {"1", "2", None}), ("isolate", {"1", "2", None})):
        release = anonymize(frame, plan_for(1, 3, features=features))
        assert release.report.loss.value == 3 * 36
        assert set(release.data["c0"]) == expected


def test_missing_beside_others_is_published_as_nothing() -> None:
    frame = pl.DataFrame({"c0": ["1"] * 6 + ["2"] * 6 + [None] * 2})
    release = anonymize(frame, plan_for(1, 3, features="ordered", suppression=0))
    assert set(release.data["c0"]) == {"1", "*"}
    assert release.report.loss.value == 36 + 64


def hard_space(count: int = 1500, k: int = 10):
    """A problem of many rounds: many values, and no column tells much of another."""
    random = np.random.default_rng(3)
    rows = [tuple(int(one) for one in random.binomial(9, 0.4, 7)) for _ in range(count)]
    return space_for(rows, plan_for(6, k))


class Told:
    """What a search told while it ran; it is interrupted, as by Ctrl-C, when it has told something so many times.

    A search tells something after each round at least, however fast it is.
    """

    def __init__(self, times: int | None = None) -> None:
        self.bounds: list[int] = []
        self.costs: list[int] = []
        self.times = times

    def __call__(self, bound: int, cost: int) -> None:
        self.bounds.append(bound)
        self.costs.append(cost)
        if self.times is not None and len(self.costs) > self.times:
            self.times = None
            signal.raise_signal(signal.SIGINT)


def test_the_time_limit_ends_it_with_what_is_proved() -> None:
    told = Told()
    optimum = k_optimize.optimize(hard_space(6000), 0.2, told)
    assert not optimum.proved
    assert not optimum.interrupted
    assert 0 < optimum.bound < optimum.best.cost
    assert optimum.gap == pytest.approx(1 - optimum.bound / optimum.best.cost)
    assert int(optimum.best.cost) <= told.costs[-1]


def test_what_is_told_only_gets_better() -> None:
    told = Told()
    optimum = k_optimize.optimize(hard_space(200, 40), 60.0, told)
    assert optimum.proved
    assert told.costs == sorted(told.costs, reverse=True)
    assert told.bounds == sorted(told.bounds)
    assert all(bound <= cost for bound, cost in zip(told.bounds, told.costs, strict=True))
    assert told.bounds[-1] == told.costs[-1] == optimum.best.cost


@pytest.mark.parametrize("times", [0, 1, 3], ids=["at once", "after a first set", "in the local search"])
def test_ctrl_c_ends_it_with_the_best_told_of(times) -> None:
    told, before = Told(times), signal.getsignal(signal.SIGINT)
    optimum = k_optimize.optimize(hard_space(), 600.0, told)
    assert optimum.interrupted
    assert not optimum.proved
    assert 0 < optimum.bound <= optimum.best.cost <= min(told.costs)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_ctrl_c_ends_the_program() -> None:
    def impatient(_bound: int, _cost: int) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)  # at once: a quick search may tell nothing more after the first

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            k_optimize.optimize(hard_space(), 600.0, impatient)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_no_time_at_all_still_gives_a_release() -> None:
    frame = ages()
    report = anonymize(frame, age_plan(time_limit=0)).report
    assert report.satisfied
    assert not report.proved_optimal
    assert "time limit" in report.notes[0]
    assert 0 < report.details["bound"] <= report.loss.value


def test_the_same_answer_with_one_worker_as_with_many(monkeypatch) -> None:
    one, many = [], []
    for workers, answers in ((1, one), (4, many)):
        monkeypatch.setattr("os.cpu_count", lambda workers=workers: workers)
        optimum = k_optimize.optimize(hard_space(400, 60), 60.0)
        answers += [optimum.best.cost, optimum.best.state.tolist(), optimum.nodes, optimum.proved]
    assert one == many
    assert one[-1]


def test_too_few_rows_are_unattainable() -> None:
    with pytest.raises(UnattainableError):
        anonymize(ages(4), age_plan())


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"privacy": [{"model": "l-diversity", "variant": "distinct", "l": 2, "column": "ill"}]}, "privacy[0].model"),
        ({"data": {"on_missing": "any"}}, "data.on_missing"),
        ({"method": {"name": "k-optimize", "loss": "classification"}}, "method.class"),
        ({"method": {"name": "k-optimize", "class": "ill"}}, "method.class"),
        ({"method": {"name": "k-optimize", "loss": "classification", "class": "age"}}, "method.class"),
        ({"method": {"name": "k-optimize", "loss": "classification", "class": "nobody"}}, "method.class"),
        ({"method": {"name": "k-optimize", "features": "sorted"}}, "method.features"),
    ],
)
def test_refuses_plans_that_it_cannot_keep(change, place) -> None:
    with pytest.raises(PlanError) as error:
        read_plan(age_plan() | change)
    assert place in [fault.path for fault in error.value.issues]


ADULT = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]


def adult_plan(shared, k: int, seconds: float) -> dict:
    def column(name: str) -> dict:
        path = str(shared / "adult_hierarchies" / f"adult_hierarchy_{name}.csv")
        return {"role": "quasi-identifier", "hierarchy": {"type": "file", "path": path}}

    five_years = {"type": "intervals", "start": 0, "end": 99, "widths": [5, 10, 20]}
    columns = {name: column(name) for name in (*ADULT, "salary-class")}
    columns["age"] = {"role": "quasi-identifier", "type": "integer", "min_level": 1, "hierarchy": five_years}
    return {
        "version": 1,
        "data": {"separator": ";"},
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": k}],
        "method": {"name": "k-optimize", "features": "ordered", "time_limit": seconds},
        "output": {"order": "keep"},
    }


@pytest.mark.shared
@pytest.mark.parametrize(("k", "most"), [(5, 5_200_000), (10, 10_000_000), (50, 22_000_000)])
def test_adult_after_some_seconds(shared, k, most) -> None:
    report = anonymize(shared / "adult.csv", adult_plan(shared, k, size(2, 10))).report
    assert report.details["features"] == {"kind": "ordered", "count": 101}
    assert report.loss.value <= most
    assert 0 < report.details["bound"] <= report.loss.value


@pytest.mark.shared
def test_adult_is_proved(shared) -> None:
    report = anonymize(shared / "adult.csv", adult_plan(shared, 1000, 200)).report
    assert (report.proved_optimal, report.loss.value, report.details["gap"]) == (True, 55_344_240, 0)
    assert report.details["bound"] == report.loss.value


MEASURED = """
import json, re, resource, sys
from pathlib import Path
from sfumato.pipelines.release import anonymize
source, plan = json.load(sys.stdin)
anonymize(source, plan)
status = Path("/proc/self/status")
if status.exists():  # the resource module's figure is never less than that of the process that started this one
    print(int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1]) * 1024)
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.shared
def test_adult_needs_less_than_a_gigabyte(shared) -> None:
    asked = json.dumps([str(shared / "adult.csv"), adult_plan(shared, 5, size(2, 5))])
    ran = subprocess.run([sys.executable, "-c", MEASURED], input=asked, capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 10**9
