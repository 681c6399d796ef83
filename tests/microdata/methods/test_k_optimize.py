"""K-Optimize: the known answer, equality with brute force, and that no bound cuts the optimum."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import PlanError, UnattainableError
from sfumato.microdata.methods import k_optimize
from sfumato.microdata.methods.k_optimize_bounds_kernels import HIDES, SPLITS, WITH, WITHOUT, atom_floors, judge
from sfumato.microdata.methods.k_optimize_features import space_of
from sfumato.microdata.methods.k_optimize_kernels import HEAD, OUT, TAIL
from sfumato.microdata.methods.k_optimize_labels import joined, published
from sfumato.microdata.methods.k_optimize_search_kernels import (
    CLASS0,
    CLASS1,
    HIDDEN,
    ROW0,
    ROW1,
    SETTLED,
    head_cost,
    load,
)
from sfumato.microdata.methods.k_optimize_workers import Worker
from sfumato.microdata.release import anonymize, frequency_table
from sfumato.plan.read import read_plan

LOSSES = ("discernibility", "classification", "loss-metric")


def plan_for(columns: int, k: int, label: bool = False, **method: object) -> dict:
    named = {f"c{place}": {"role": "quasi-identifier"} for place in range(columns)}
    if label:
        named["label"] = {"role": "sensitive"}
        method["class"] = "label"
    privacy = [{"model": "k-anonymity", "k": k}]
    return {"version": 1, "columns": named, "privacy": privacy, "method": {"name": "k-optimize", **method}}


def frame_of(rows: list[tuple[int, ...]]) -> dict:
    """Rows of small numbers as a frame; the last number is the label."""
    import polars as pl

    names = [*(f"c{place}" for place in range(len(rows[0]) - 1)), "label"]
    return pl.DataFrame({name: [str(row[place]) for row in rows] for place, name in enumerate(names)})


def space_for(rows: list[tuple[int, ...]], plan: dict):
    from sfumato.engines.frames import FrameEngine

    frame = frame_of(rows)
    if "label" not in plan["columns"]:
        frame = frame.drop("label")
    read = read_plan(plan)
    table = frequency_table(read, FrameEngine(frame))
    return space_of(read, read.method, table), table


def features_of(rows: list[tuple[int, ...]], ordered: bool) -> list[tuple[int, int]]:
    """The alphabet, written down anew: (column, value), by column and value."""
    columns = range(len(rows[0]) - 1)
    held = [sorted({row[column] for row in rows}) for column in columns]
    return [(column, value) for column in columns for value in held[column][1 if ordered else 0 :]]


class Brute:
    """Every set of features priced row by row, as the specification says, with none of the code under test.

    A row is a number whose bits say which features it has; rows agree in a set when they agree in its bits.
    """

    def __init__(self, rows, ordered: bool, loss: str, k: int, limit: int) -> None:
        self.rows, self.loss, self.k, self.limit = rows, loss, k, limit
        self.features = features_of(rows, ordered)
        self.has = (lambda value, asked: value >= asked) if ordered else (lambda value, asked: value == asked)
        self.bits = [sum(self._value_bits(column, row[column]) for column in range(len(row) - 1)) for row in rows]
        self.held = [sorted({row[column] for row in rows}) for column in range(len(rows[0]) - 1)]
        self.value_bits = [{value: self._value_bits(c, value) for value in held} for c, held in enumerate(self.held)]
        self.owned = [
            sum(1 << place for place, (owner, _) in enumerate(self.features) if owner == c)
            for c in range(len(self.held))
        ]

    def _value_bits(self, column: int, value: int) -> int:
        asked = enumerate(self.features)
        return sum(1 << place for place, (owner, at) in asked if owner == column and self.has(value, at))

    def hidden(self, chosen: int) -> int:
        """Rows that a set suppresses."""
        return sum(size for size in Counter(bits & chosen for bits in self.bits).values() if size < self.k)

    def cost(self, chosen: int) -> float | None:
        """What a set costs; None when it may not be released."""
        if self.hidden(chosen) > self.limit:
            return None
        classes = Counter(bits & chosen for bits in self.bits)
        if self.loss == "discernibility":
            return sum(size * (size if size >= self.k else len(self.rows)) for size in classes.values())
        if self.loss == "classification":
            return self._misled(chosen, classes)
        return sum(
            self._row_loss(row, chosen) if classes[bits & chosen] >= self.k else len(self.held)
            for row, bits in zip(self.rows, self.bits, strict=True)
        )

    def _misled(self, chosen: int, classes: Counter) -> int:
        labels: dict[int, Counter] = {}
        for row, bits in zip(self.rows, self.bits, strict=True):
            labels.setdefault(bits & chosen, Counter())[row[-1]] += 1
        return sum(size - (max(labels[key].values()) if size >= self.k else 0) for key, size in classes.items())

    def _row_loss(self, row, chosen: int) -> float:
        total = 0.0
        for column, known in enumerate(self.value_bits):
            asked = chosen & self.owned[column]
            covered = sum(bits & asked == known[row[column]] & asked for bits in known.values())
            total += (covered - 1) / max(len(known) - 1, 1)
        return total

    def best(self, within: int | None = None, needed: int = 0) -> float:
        """The least cost of all sets that have some features and otherwise only others; infinite if there is none."""
        everything = (1 << len(self.features)) - 1 if within is None else within | needed
        free, least = everything & ~needed, float("inf")
        chosen = free
        while True:
            cost = self.cost(chosen | needed)
            least = min(least, float("inf") if cost is None else cost)
            if chosen == 0:
                return least
            chosen = (chosen - 1) & free


@st.composite
def tables(draw, most_features: int = 8, ordered: bool | None = None):
    """A small table with a label, features of one kind, a loss, k and a limit of suppressed rows."""
    kind = draw(st.booleans()) if ordered is None else ordered
    sizes, left = [], most_features
    for _ in range(draw(st.integers(1, 4))):
        size = draw(st.integers(1, max(1, min(5, left))))
        left -= size
        sizes.append(size)
        if left < 1:
            break
    row = st.tuples(*(st.integers(0, size - 1 if not kind else size) for size in sizes), st.integers(0, 2))
    rows = draw(st.lists(row, min_size=2, max_size=24))
    k = draw(st.integers(1, min(len(rows), 7)))
    limit = draw(st.sampled_from([0, 2, len(rows)]))
    return rows, kind, draw(st.sampled_from(LOSSES)), k, limit


def solved(rows, ordered: bool, loss: str, k: int, limit: int):
    kind = "ordered" if ordered else "isolate"
    plan = plan_for(
        len(rows[0]) - 1, k, loss == "classification", features=kind, loss=loss, suppression={"rows": limit}
    )
    space, table = space_for(rows, plan)
    return k_optimize.optimize(space, 60.0), space, table


@settings(max_examples=80)
@given(tables())
def test_equals_brute_force(case) -> None:
    optimum, space, _ = solved(*case)
    brute = Brute(*case)
    assert optimum.proved
    assert len(space.instance.features) == len(brute.features)
    assert optimum.best.cost == pytest.approx(brute.best(), abs=1e-9)
    assert optimum.bound == optimum.best.cost
    assert optimum.best.cost == pytest.approx(brute.cost(bits_of(optimum.best.state == HEAD)), abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("ordered", [True, False], ids=["ordered", "isolate"])
@pytest.mark.parametrize("limit", [0, 40], ids=["no suppression", "suppression"])
def test_equals_brute_force_with_fourteen_features(loss, ordered, limit) -> None:
    random = np.random.default_rng(1)
    sizes = [4, 4, 3, 3] if not ordered else [5, 5, 4, 4]
    rows = [tuple(int(random.binomial(size - 1, 0.4)) for size in (*sizes, 2)) for _ in range(40)]
    case = (rows, ordered, loss, 4, limit)
    optimum, space, _ = solved(*case)
    assert 12 <= len(space.instance.features) <= 14
    assert optimum.proved
    assert optimum.best.cost == pytest.approx(Brute(*case).best(), abs=1e-9)


def bits_of(flags) -> int:
    return sum(1 << place for place, flag in enumerate(flags) if flag)


def judged(space, state):
    """A node as the search sees it: its bound, and what it says of each feature of its tail."""
    worker = Worker(space)
    stack, out, inst = worker._stack, worker._verdicts, space.instance
    load(inst, stack, state)
    start, stop = stack.spans[ROW0, 0], stack.spans[ROW1, 0]
    atoms = (stack.keys, stack.counts, stack.held)
    atom_floors(inst, state, *atoms, start, stop, out.penalty, stack.floors)
    classes = (stack.spans[CLASS0, 0], stack.spans[CLASS1, 0])
    sums = (stack.costs[SETTLED, 0], stack.spans[HIDDEN, 0])
    bound = judge(inst, state, *atoms, stack.floors, start, stack.ends, *classes, *sums, out)
    return bound, out, head_cost(inst, stack, 0, out.penalty)


@settings(max_examples=100)
@given(tables(), st.data())
def test_no_bound_cuts_the_optimum(case, data) -> None:
    """Rules 1 to 7: at any node, whatever a bound says holds for every set below it."""
    rows, ordered, loss, k, limit = case
    kind = "ordered" if ordered else "isolate"
    wanted = {"features": kind, "loss": loss, "suppression": {"rows": limit}}
    space, _ = space_for(rows, plan_for(len(rows[0]) - 1, k, loss == "classification", **wanted))
    brute = Brute(*case)
    count = len(brute.features)
    state = np.array(data.draw(st.lists(st.sampled_from([OUT, TAIL, TAIL, HEAD]), min_size=count, max_size=count)))
    state = state.astype(np.int8)
    head, tail = bits_of(state == HEAD), bits_of(state == TAIL)
    if brute.cost(head) is None:
        return
    bound, out, cost = judged(space, state)
    slack = 1e-9 * max(1.0, bound)
    assert cost == pytest.approx(brute.cost(head), abs=1e-9)
    assert bound <= brute.best(tail, head) + slack
    for feature in np.flatnonzero(state == TAIL):
        one = 1 << int(feature)
        assert out.bounds[WITH, feature] <= brute.best(tail & ~one, head | one) + slack
        assert out.bounds[WITHOUT, feature] <= brute.best(tail & ~one, head) + slack
        assert out.counts[HIDES, feature] <= brute.hidden(head | one)
        if out.counts[SPLITS, feature] == 0 and loss != "loss-metric":
            assert brute.best(tail & ~one, head | one) == brute.best(tail & ~one, head)
        if out.counts[SPLITS, feature] == 0:
            assert brute.best(tail & ~one, head | one) <= brute.best(tail & ~one, head) + slack


def test_a_class_that_cannot_be_split_well_pays_its_square() -> None:
    """Rule 4: 12 rows of two values, 9 and 3, with k = 4: no cut keeps all, so the whole is bounded by 144 at least."""
    rows = [(0, 0)] * 9 + [(1, 0)] * 3 + [(5, 0)] * 40
    space, _ = space_for(rows, plan_for(1, 4, features="ordered"))
    state = np.array([TAIL, HEAD], np.int8)
    bound, _, _ = judged(space, state)
    assert bound == 144 + 1600


@settings(max_examples=25)
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(case, random) -> None:
    rows, *rest = case
    shuffled = list(rows)
    random.shuffle(shuffled)
    one, two = solved(rows, *rest)[0], solved(shuffled, *rest)[0]
    assert one.best.cost == two.best.cost
    assert one.best.state.tolist() == two.best.state.tolist()
    assert one.nodes == two.nodes


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
}


def test_the_known_answer(tmp_path) -> None:
    from sfumato.datasets import stroke

    source = tmp_path / "stroke.csv"
    stroke().write(source)
    reports = [anonymize(source, STROKE).report for _ in range(5)]
    report = min(reports, key=lambda one: one.seconds.search)
    assert (report.loss.value, report.proved_optimal, report.suppressed_rows) == (3628, True, 0)
    assert report.details["bound"] == 3628
    assert report.seconds.search < 1.0
    assert report.classes.count == 12
    published = report.details["published"]
    assert published["residence_type"] == ["Rural", "Urban"]
    assert published["avg_glucose_level"] == ["[55, 127.01)", "*"]
    assert published["smoking_status"] == ["formerly smoked", "never smoked", "*"]
    assert published["age"] == published["gender"] == ["*"]


def test_sizes_of_the_known_answer(tmp_path) -> None:
    from sfumato.datasets import stroke

    source = tmp_path / "stroke.csv"
    stroke().write(source)
    sizes = sorted(anonymize(source, STROKE).recoding.sizes.tolist())
    assert sizes == [10, 10, 13, 15, 15, 15, 16, 18, 19, 19, 21, 29]


def ages(count: int = 60):
    import polars as pl

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
    return {"version": 1, "columns": columns, "privacy": privacy, "method": {"name": "k-optimize", **method}}


@pytest.mark.parametrize("features", ["isolate", "ordered"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("suppressed", ["drop", "star"])
def test_releases_what_it_says(features, loss, suppressed) -> None:
    method = {"features": features, "loss": loss} | ({"class": "ill"} if loss == "classification" else {})
    frame = ages()
    release = anonymize(frame, age_plan(**method) | {"output": {"suppressed": suppressed}})
    report = release.report
    assert report.holds
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
    from sfumato.engines.frames import FrameEngine

    table = frequency_table(plan, FrameEngine(frame))
    space = space_of(plan, plan.method, table)
    state = space.empty()
    assert published(space, state) == (("*",), ("*",))
    state[[3, 14]] = HEAD
    assert published(space, state)[0] == ("15-34", "35-89")
    assert published(space, state)[1] == ("Bonn", "{Köln, Ulm, Aalen}")
    state[14], state[15] = OUT, HEAD
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


def test_missing_values_are_a_category_of_their_own() -> None:
    import polars as pl

    frame = pl.DataFrame({"c0": ["1"] * 6 + ["2"] * 6 + [None] * 6})
    for features, expected in (("ordered", {"1", "2", None}), ("isolate", {"1", "2", None})):
        release = anonymize(frame, plan_for(1, 3, features=features))
        assert release.report.loss.value == 3 * 36
        assert set(release.data["c0"]) == expected


def test_missing_beside_others_is_published_as_nothing() -> None:
    import polars as pl

    frame = pl.DataFrame({"c0": ["1"] * 6 + ["2"] * 6 + [None] * 2})
    release = anonymize(frame, plan_for(1, 3, features="ordered", suppression=0))
    assert set(release.data["c0"]) == {"1", "*"}
    assert release.report.loss.value == 36 + 64


def hard_rows(count: int = 4000) -> list[tuple[int, ...]]:
    random = np.random.default_rng(3)
    return [tuple(int(one) for one in random.binomial(9, 0.4, 7)) for _ in range(count)]


def test_the_time_limit_ends_it_with_what_is_proved() -> None:
    space, _ = space_for(hard_rows(), plan_for(6, 20))
    seen: list[tuple[int, int]] = []
    optimum = k_optimize.optimize(space, 1.0, lambda done, whole: seen.append((done, whole)))
    assert not optimum.proved
    assert 0 < optimum.bound < optimum.best.cost
    assert optimum.gap == pytest.approx(1 - optimum.bound / optimum.best.cost)
    longer = k_optimize.optimize(space, 3.0, lambda done, whole: seen.append((done, whole)))
    assert longer.best.cost <= optimum.best.cost
    assert all(done <= whole for done, whole in seen)


def test_no_time_at_all_still_gives_a_release() -> None:
    frame = ages()
    report = anonymize(frame, age_plan(time_limit=0)).report
    assert report.holds
    assert not report.proved_optimal
    assert "time limit" in report.remarks[0]
    assert 0 < report.details["bound"] <= report.loss.value


def test_ctrl_c_ends_it_with_what_is_proved() -> None:
    import signal
    import threading

    space, _ = space_for(hard_rows(), plan_for(6, 20))
    k_optimize.optimize(space, 0.0)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    optimum = k_optimize.optimize(space, 60.0)
    timer.join()
    assert optimum.interrupted
    assert not optimum.proved
    assert optimum.bound <= optimum.best.cost
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_same_answer_with_one_worker_as_with_many(monkeypatch) -> None:
    rows = hard_rows(400)
    one, many = [], []
    for workers, answers in ((1, one), (4, many)):
        monkeypatch.setattr("os.cpu_count", lambda workers=workers: workers)
        space, _ = space_for(rows, plan_for(6, 60))
        optimum = k_optimize.optimize(space, 60.0)
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
    assert place in [fault.at for fault in error.value.faults]


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
    }


@pytest.mark.shared
@pytest.mark.parametrize(("k", "most"), [(5, 5_200_000), (10, 10_000_000), (50, 22_000_000)])
def test_adult_after_ten_seconds(shared, k, most) -> None:
    report = anonymize(shared / "adult.csv", adult_plan(shared, k, 10)).report
    assert report.details["features"] == {"kind": "ordered", "count": 101}
    assert report.loss.value <= most
    assert 0 < report.details["bound"] <= report.loss.value
