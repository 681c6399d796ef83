"""Mondrian: the example both ways, what every release of it must satisfy, and that all ways of cutting agree."""

import csv
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import PlanError, UnattainableError
from sfumato.microdata.methods.mondrian import cutting as mondrian_cutting
from sfumato.microdata.methods.mondrian import search as mondrian
from sfumato.microdata.methods.mondrian.axes import axes_of
from sfumato.microdata.methods.mondrian.cutting import CutRule, compiled, cut_by_levels, cut_in_place, whole
from sfumato.microdata.methods.mondrian.division_kernels import propose, sides
from sfumato.microdata.methods.mondrian.kernels import LOSS, RANDOM, RELAXED, STRICT, WIDEST
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release import anonymize
from sizes import size

TREE = {"type": "tree", "parents": {"a": "vowel", "e": "vowel", "i": "vowel", "b": "consonant", "c": "consonant"}}


def plan_of(columns, k=2, models=(), missing="category", **method):
    return {
        "version": 1,
        "data": {"on_missing": missing},
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": k}, *models],
        "method": {"name": "mondrian", **method},
        "output": {"order": "keep"},
    }


def number(**more):
    return {"role": "quasi-identifier", "type": "integer", **more}


def published(values, k=2, **method):
    release = anonymize(pl.DataFrame({"x": values}), plan_of({"x": number()}, k, **method))
    return release.data["x"].to_list()


def first_cut(values, mode):
    """Rows of each value left of the first cut, and right of it."""
    counts = Counter(values)
    places = np.array([[place] for place in range(len(counts))], np.int32)
    rows = np.array([counts[value] for value in sorted(counts)], np.int64)
    plan = read_plan(plan_of({"x": number()}))
    table = table_of(pl.DataFrame({"x": values}), plan)
    axes = compiled(axes_of(table, plan, by_cuts=False))
    cuts, lefts = np.empty((1, 3), np.int64), np.empty(len(rows), np.int64)
    ends = np.array([len(rows)])
    begins, tried = np.zeros(1, np.int64), np.zeros(1, np.int64)
    room = mondrian_cutting.scratch(len(rows), axes)
    how = (2, axes, WIDEST, mode, np.uint64(0), room)
    propose(places, rows, begins, ends, np.ones(1, np.uint64), tried, *how, cuts, np.zeros(1, np.int64))
    sides(places, rows, begins, ends, cuts, lefts)
    return lefts.tolist(), (rows - lefts).tolist()


def table_of(frame, plan):
    from sfumato.engines.opening import open_engine
    from sfumato.pipelines.release_stages.counting import frequency_table

    return frequency_table(plan, open_engine(frame, plan))


class TestTheExample:
    """`[1,2,3,3,4,5]` with k = 2, ranges ending at their own values."""

    def test_strict_keeps_rows_of_the_median_together(self):
        assert first_cut([1, 2, 3, 3, 4, 5], STRICT) == ([1, 1, 2, 0, 0], [0, 0, 0, 1, 1])

    def test_relaxed_divides_rows_of_the_median(self):
        assert first_cut([1, 2, 3, 3, 4, 5], RELAXED) == ([1, 1, 1, 0, 0], [0, 0, 1, 1, 1])

    def test_strict_release(self):
        # The left part [1,2,3,3] has four rows: its lower median is 2, so it is cut once more.
        assert published([1, 2, 3, 3, 4, 5], bounds="own") == ["[1–2]", "[1–2]", "3", "3", "[4–5]", "[4–5]"]

    def test_strict_release_where_the_left_part_cannot_be_cut(self):
        assert published([3, 3, 3, 3, 4, 5], bounds="own") == ["3", "3", "3", "3", "[4–5]", "[4–5]"]

    def test_relaxed_release(self):
        found = Counter(published([1, 2, 3, 3, 4, 5], mode="relaxed", bounds="own"))
        assert found == {"[1–3]": 3, "[3–5]": 3}

    def test_lower_median_goes_left(self):
        assert published([1, 2, 3, 4, 5, 6, 7], k=3, bounds="own")[:4] == ["[1–4]"] * 4


@st.composite
def tables(draw, sensitive=0):
    rows = draw(st.integers(4, 60))
    columns = {
        "age": draw(st.lists(st.integers(0, 12), min_size=rows, max_size=rows)),
        "letter": draw(st.lists(st.sampled_from("aeibc"), min_size=rows, max_size=rows)),
        "town": draw(st.lists(st.sampled_from(["x", "y", "z, w", None]), min_size=rows, max_size=rows)),
    }
    for place in range(sensitive):
        columns[f"ill{place}"] = draw(st.lists(st.sampled_from("ABCD"), min_size=rows, max_size=rows))
    return pl.DataFrame(columns, schema={name: pl.Int64 if name == "age" else pl.String for name in columns})


COLUMNS = {
    "age": number(),
    "letter": {"role": "quasi-identifier", "hierarchy": TREE},
    "town": {"role": "quasi-identifier"},
}
METHODS = [
    {},
    {"mode": "relaxed"},
    {"cut": "loss"},
    {"choice": "random"},
    {"bounds": "cut"},
    {"mode": "relaxed", "bounds": "cut"},
    {"mode": "relaxed", "choice": "random"},
]


def covers(label, value):
    """Whether a published label stands for a value, read as a reader of the release would."""
    label = None if label is None else str(label)
    if label == "*" or label == value:
        return True
    if label is None or value is None:
        return False
    if label.startswith("["):
        low, high = label[1:-1].split("–")
        return int(low) <= int(value) <= int(high)
    if label.startswith("{"):
        return f", {value}," in f", {label[1:-1]},"
    return TREE["parents"].get(value) == label


@pytest.mark.parametrize("method", METHODS, ids=str)
class TestEveryRelease:
    @settings(max_examples=size(7, 25))
    @given(frame=tables(), k=st.integers(1, 5))
    def test_covers_all_rows_in_classes_of_k(self, method, frame, k):
        k = min(k, len(frame))
        release = anonymize(frame, plan_of(COLUMNS, k, **method))
        assert len(release.data) == len(frame)
        assert min(Counter(release.data.rows()).values()) >= k
        for raw, shown in zip(frame.rows(), release.data.rows(), strict=True):
            texts = [None if value is None else str(value) for value in raw]
            assert all(covers(label, value) for label, value in zip(shown, texts, strict=True))

    @settings(max_examples=size(6, 15))
    @given(frame=tables(sensitive=1), k=st.integers(1, 4))
    def test_keeps_a_promise_about_one_sensitive_column(self, method, frame, k):
        columns = COLUMNS | {"ill0": {"role": "sensitive"}}
        models = [{"model": "l-diversity", "l": 2, "column": "ill0"}]
        if frame["ill0"].n_unique() < 2:
            return
        release = anonymize(frame, plan_of(columns, k, models, **method))
        held = {}
        for *labels, ill in release.data.rows():
            held.setdefault(tuple(labels), set()).add(ill)
        assert min(map(len, held.values())) >= 2
        assert release.report.satisfied
        assert Counter(release.data["ill0"]) == Counter(frame["ill0"])

    @settings(max_examples=size(5, 15))
    @given(frame=tables(sensitive=2))
    def test_keeps_promises_about_two_sensitive_columns(self, method, frame):
        columns = COLUMNS | {name: {"role": "sensitive"} for name in ("ill0", "ill1")}
        models = [
            {"model": "l-diversity", "l": 1.2, "variant": "entropy", "column": "ill0"},
            {"model": "t-closeness", "t": 0.4, "column": "ill1"},
        ]
        try:
            release = anonymize(frame, plan_of(columns, 2, models, **method))
        except UnattainableError:
            return
        assert release.report.satisfied


@settings(max_examples=size(15, 60))
@given(values=st.sets(st.integers(-500, 500), min_size=2, max_size=120), k=st.integers(1, 6))
def test_relaxed_classes_of_distinct_values_have_fewer_than_2k_rows(values, k):
    k = min(k, len(values))
    sizes = Counter(published(list(values), k, mode="relaxed")).values()
    assert k <= min(sizes) and max(sizes) <= 2 * k - 1


@settings(max_examples=size(12, 40))
@given(frame=tables(), k=st.integers(1, 4), choice=st.sampled_from([WIDEST, RANDOM, LOSS]), boxed=st.booleans())
def test_cutting_in_place_and_level_by_level_is_the_same(frame, k, choice, boxed):
    plan = read_plan(plan_of(COLUMNS))
    table = table_of(frame, plan)
    axes = axes_of(table, plan, by_cuts=False)
    places = np.column_stack([axis.places[table.codes[:, place]] for place, axis in enumerate(axes)])
    rule = CutRule(k, compiled(axes), choice, STRICT, 7, boxed)
    fast = cut_in_place(whole(places, table.counts, rule), rule)
    slow = cut_by_levels(whole(places, table.counts, rule), rule, lambda _i, _r, _o, number: np.ones(number, bool))
    assert fast.starts.tolist() == slow.starts.tolist()
    assert fast.ids.tolist() == slow.ids.tolist()
    assert fast.boxes.tolist() == slow.boxes.tolist()


def test_the_number_of_threads_changes_nothing(monkeypatch):
    random = np.random.default_rng(3)
    frame = pl.DataFrame({name: random.integers(0, 60, 9000) for name in ("a", "b", "c")})
    plan = read_plan(plan_of({name: number() for name in ("a", "b", "c")}, k=3))
    table = table_of(frame, plan)
    owners = []
    for threads, least in ((1, 10**9), (2, 10), (5, 10)):
        monkeypatch.setattr(mondrian_cutting, "THREADS", threads)
        monkeypatch.setattr(mondrian_cutting, "LEAST_ITEMS", least)
        owners.append(mondrian.search(plan, plan.method, table).recoding.owners.tolist())
    assert owners[0] == owners[1] == owners[2]


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_files_and_frames_get_the_same_release(method, tmp_path):
    random = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "age": random.integers(0, 9, 400),
            "letter": random.choice(list("aeibc"), 400),
            "town": random.choice(["x", "y", None], 400),
            "ill": random.choice(list("ABC"), 400),
        }
    )
    columns = COLUMNS | {"ill": {"role": "sensitive"}}
    plan = plan_of(columns, 3, [{"model": "l-diversity", "l": 2, "column": "ill"}], **method) | {"seed": 1}
    frame.write_csv(tmp_path / "rows.csv")
    of_frame = anonymize(frame, plan).data.with_columns(pl.all().cast(pl.String))
    release = anonymize(tmp_path / "rows.csv", plan)
    with release.data.open(encoding="utf-8", newline="") as file:
        rows = [tuple(cell or None for cell in row) for row in csv.reader(file)][1:]
    assert rows == of_frame.rows()


def test_rows_without_sensitive_columns_are_divided_alike_on_every_engine(tmp_path):
    frame = pl.DataFrame({"x": [1] * 3 + [2] * 13 + [3] * 30})
    plan = plan_of({"x": number()}, 4, mode="relaxed") | {"seed": 1}
    frame.write_csv(tmp_path / "rows.csv")
    release = anonymize(tmp_path / "rows.csv", plan)
    shown = release.data.read_text(encoding="utf-8").split()[1:]
    assert shown == anonymize(frame, plan).data["x"].to_list()
    # 46 rows in halves: 23 | 23, 12 | 11, 6 | 6 | 6 | 5.
    assert Counter(shown) == {"[1–2]": 6, "2": 6, "[2–3]": 6, "3": 28}


@pytest.mark.parametrize(("method", "values", "k"), [({"mode": "relaxed"}, 4, 40), ({"choice": "random"}, 30, 4)])
def test_other_seeds_divide_and_choose_otherwise(method, values, k):
    random = np.random.default_rng(1)
    frame = pl.DataFrame({name: random.integers(0, values, 300) for name in ("a", "b")})
    plan = plan_of({"a": number(), "b": number()}, k, **method)
    one, again, other = (anonymize(frame, plan | {"seed": seed}).data.rows() for seed in (1, 1, 2))
    assert one == again != other


def test_dates_are_ranges():
    days = ["2001-01-01", "2001-01-05", "2002-03-01", "2002-04-01"]
    plan = plan_of({"born": {"role": "quasi-identifier", "type": "date"}})
    shown = anonymize(pl.DataFrame({"born": days}), plan).data["born"].to_list()
    assert shown == ["[2000-12-01–2001-12-31]"] * 2 + ["[2002-01-01–2002-04-30]"] * 2
    own = plan_of({"born": {"role": "quasi-identifier", "type": "date"}}, bounds="own")
    shown = anonymize(pl.DataFrame({"born": days}), own).data["born"].to_list()
    assert shown == ["[2001-01-01–2001-01-05]"] * 2 + ["[2002-03-01–2002-04-01]"] * 2


def test_a_hierarchy_is_cut_between_its_branches():
    plan = plan_of({"letter": {"role": "quasi-identifier", "hierarchy": TREE}})
    shown = anonymize(pl.DataFrame({"letter": list("aebcaic")}), plan).data["letter"].to_list()
    assert shown == ["a", "vowel", "consonant", "consonant", "a", "vowel", "consonant"]


def test_sets_of_more_than_64_values():
    values = [f"v{place:03}" for place in range(200)]
    plan = plan_of({"v": {"role": "quasi-identifier"}}, k=100)
    shown = anonymize(pl.DataFrame({"v": values}), plan).data["v"].to_list()
    assert [label.count(",") + 1 for label in sorted(set(shown))] == [100, 100]
    assert all(value in label for value, label in zip(values, shown, strict=True))


def test_missing_values_beside_others_hide_the_column():
    plan = plan_of({"x": number()}, k=3)
    assert anonymize(pl.DataFrame({"x": [1, 2, None]}), plan).data["x"].to_list() == ["*"] * 3
    apart = anonymize(pl.DataFrame({"x": [1, 2, 2, None, None, None]}), plan).data["x"].to_list()
    assert apart == ["[0–2]"] * 3 + [None] * 3


def test_loss_is_what_the_classes_cover():
    # Ages 0..10: [0-4] and [6-10] cover 0.4 each; of four towns a class has two.
    frame = pl.DataFrame({"age": [0, 4, 6, 10], "town": ["x", "y", "z", "w"]})
    plan = plan_of({"age": number(), "town": {"role": "quasi-identifier"}}, k=2, aggregate="mean", bounds="own")
    report = anonymize(frame, plan).report
    # The town is as wide as the age, and the age stands first.
    assert dict(report.loss.per_column) == {"age": pytest.approx(0.4), "town": pytest.approx(1 / 3)}
    assert report.loss.value == pytest.approx((0.4 + 1 / 3) / 2)
    assert report.details["normalized_certainty_penalty"] == pytest.approx((0.4 + 0.5) / 2)


def test_one_level_for_each_column_is_taken_where_it_loses_less():
    frame = pl.DataFrame({"age": [0, 4, 6, 10], "town": ["x", "y", "x", "y"]})
    plan = plan_of({"age": number(), "town": {"role": "quasi-identifier"}}, k=2, aggregate="mean", bounds="own")
    report = anonymize(frame, plan).report
    assert (report.loss.value, dict(report.loss.per_column)) == (0.5, {"age": 1.0, "town": 0.0})
    assert any("less than the classes of Mondrian" in remark for remark in report.notes)


def test_cut_bounds_leave_no_gap():
    frame = pl.DataFrame({"x": [1, 2, 8, 9]})
    hierarchy = {"type": "intervals", "start": 0, "end": 10, "widths": [10]}
    own = anonymize(frame, plan_of({"x": number(hierarchy=hierarchy)}, bounds="own")).data["x"].to_list()
    cut = anonymize(frame, plan_of({"x": number(hierarchy=hierarchy)})).data["x"].to_list()
    assert own == ["[1–2]"] * 2 + ["[8–9]"] * 2
    # The ends that lie between are nobody's own.
    assert cut == ["[0–3]"] * 2 + ["[4–10]"] * 2


class TestRefusals:
    def test_more_rows_than_there_are(self):
        with pytest.raises(UnattainableError, match="k = 9"):
            published([1, 2, 3], k=9)

    def test_levels(self):
        with pytest.raises(PlanError, match="max_level"):
            read_plan(plan_of({"x": number(hierarchy={"type": "order", "size": 2}, max_level=1)}))

    def test_cuts_by_loss_that_divide(self):
        with pytest.raises(PlanError, match="mode: strict"):
            read_plan(plan_of({"x": number()}, mode="relaxed", cut="loss"))


ADULT = "age work_class weight education education_num marital occupation relation race sex gain loss hours country"


def adult_plan(k, **method):
    asked = {"age", "work_class", "education_num", "marital", "occupation", "race", "sex", "country"}
    columns = {name: {"role": "quasi-identifier" if name in asked else "insensitive"} for name in ADULT.split()}
    columns["class"] = {"role": "insensitive"}
    columns["age"]["type"] = columns["education_num"]["type"] = "integer"
    data = {"separator": ",", "header": False, "strip": True, "missing": ["?"], "on_missing": "drop"}
    return read_plan(plan_of(columns, k, bounds="own", **method) | {"data": data})


@pytest.fixture(scope="module")
def adult(shared):
    """The count of Adult, which is the same whatever is searched in it."""
    return table_of(shared / "adult.data", adult_plan(5))


@pytest.mark.shared
@pytest.mark.parametrize(
    ("k", "method", "most"),
    [
        (5, {}, 0.083),
        (10, {}, 0.112),
        (5, {"mode": "relaxed"}, 0.106),
        (10, {"mode": "relaxed"}, 0.158),
        (5, {"cut": "loss"}, 0.045),
        (10, {"cut": "loss"}, 0.070),
    ],
)
def test_quality_on_adult(adult, k, method, most):
    assert adult.rows == 30162
    plan = adult_plan(k, **method)
    found = mondrian.search(plan, plan.method, adult)
    assert found.details["normalized_certainty_penalty"] <= most


TOWNS = {"town": {"type": "any"}, "sex": {"type": "any"}}


@pytest.mark.parametrize(
    "method",
    [{"name": "mondrian"} | more for more in METHODS if more.get("bounds") is None]
    + [{"name": name} for name in ("local", "optimal", "greedy", "samarati", "exhaustive", "auto")],
    ids=str,
)
def test_a_column_of_many_values_does_not_cost_another(method):
    """1,000 towns, few with k inhabitants, and sex: only sex can be told of everybody."""
    random = np.random.default_rng(1)
    frame = pl.DataFrame(
        {"town": [f"t{place}" for place in random.integers(0, 1000, 3000)], "sex": random.choice(["f", "m"], 3000)}
    )
    columns = {name: {"role": "quasi-identifier", "hierarchy": ladder} for name, ladder in TOWNS.items()}
    shown = anonymize(frame, plan_of(columns, k=5) | {"method": method}).data["sex"].to_list()
    assert "*" not in shown


@settings(max_examples=size(8, 25))
@given(frame=tables(), k=st.integers(2, 4), method=st.sampled_from(METHODS))
def test_no_node_of_a_greedy_search_loses_less(frame, k, method):
    k = min(k, len(frame))
    columns = COLUMNS | {"town": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}}
    own = anonymize(frame, plan_of(columns, k, **method)).report.loss.value
    node = anonymize(frame, plan_of(columns | {"age": AGES}, k) | {"method": {"name": "greedy"}}).report.loss.value
    assert own <= node + 1e-9


AGES = number(hierarchy={"type": "any"})
