"""Goal and result: estimates, attacks, alternatives, figures, and how a run starts."""

import csv
import random
import re
import threading
import time
from contextlib import closing
from copy import deepcopy
from types import SimpleNamespace

import pytest
from walking import WORDS, answer_late, button, k_field, load_example, step

from sfumato import datasets
from sfumato.datasets import patients
from sfumato.errors import PlanError
from sfumato.localization.messages import words_in
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.publish_plan import PublishPlan
from sfumato.pipelines.release import anonymize
from sfumato.service.jobs.pool import Pool
from sfumato.service.settings import JobSettings
from sfumato.web.microdata import estimate as module
from sfumato.web.microdata.estimate import Estimates
from sfumato.web.microdata.goal_step import GoalStep
from sfumato.web.microdata.method_choice import fixed_levels, free_columns
from sfumato.web.microdata.result import result_figures
from sfumato.web.microdata.result.alternatives import HERE_SERIES, frontier_chart, frontier_legend, short_reason
from sfumato.web.microdata.result.result_figures import Point, attacked, published_pairs
from sfumato.web.projects.loaded_data import class_sizes, load, policy_models
from sfumato.web.projects.workspace import Workspace

PINNED = {
    name: {"role": "quasi-identifier", "hierarchy": {"type": "any"}, "min_level": 1, "max_level": 1} for name in "abc"
}


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_release_at_hand_is_one_of_the_points(language) -> None:
    words = words_in(language)
    points = [Point({"age": 2}, 0.5, 0, best=True), Point({"age": 1}, 0.6, 3)]
    drawn = frontier_chart(points, 100, words, Point({}, 0.2, 1))
    here = drawn["series"][HERE_SERIES]
    assert (here["name"], here["data"][0]["value"]) == (words["node_here"], [1.0, 20.0])
    assert words["node_here"] in frontier_legend(words)
    assert words.percent(0.2) in here["data"][0]["name"]


def test_chosen_levels_are_no_part_of_the_goal() -> None:
    plan = {"columns": PINNED | {"d": {"max_level": 2}}}
    assert fixed_levels(plan) == {"a": 1, "b": 1, "c": 1}
    free = free_columns(plan)
    assert free["d"] == {"max_level": 2}
    goal = {"version": 1, "privacy": [{"model": "k-anonymity", "k": 2}], "method": {"name": "mondrian"}}
    assert read_plan(goal | {"columns": {name: free[name] for name in "abc"}})


def test_why_a_method_was_not_run_is_one_sentence_without_places() -> None:
    plan = {"version": 1, "columns": PINNED, "privacy": [{"model": "k-anonymity", "k": 2}]}
    with pytest.raises(PlanError) as refused:
        read_plan(plan | {"method": {"name": "mondrian"}})
    said = short_reason(words_in(), str(refused.value))
    assert said in str(refused.value)
    assert ("columns." in said, said.count(".")) == (False, 1)


def test_the_files_of_the_plan_lie_beside_the_data(tmp_path) -> None:
    """A run that was brought back with its project lay elsewhere, and its hierarchies were not found."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "towns.csv").write_text("a,north,*\nb,north,*\nc,south,*\nd,south,*\n", encoding="utf-8")
    rows = ["town,illness", *(f"{'abcd'[place % 4]},{'xyz'[place % 3]}" for place in range(48))]
    (home / "rows.csv").write_text("\n".join(rows), encoding="utf-8")
    plan = {
        "version": 1,
        "data": {"source": "rows.csv"},
        "columns": {
            "town": {"role": "quasi-identifier", "hierarchy": {"type": "file", "path": "towns.csv", "separator": ","}},
            "illness": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 15}],
        "method": {"name": "optimal"},
    }
    folder = tmp_path / "jobs" / "output" / "result"
    folder.parent.mkdir(parents=True)
    with closing(anonymize(None, read_plan(plan, home))) as release:
        release.save(folder, home)
    assert "path: towns.csv" in (folder / "plan.yaml").read_text(encoding="utf-8")
    assert attacked(folder, home / "rows.csv", None)["attacks"]
    assert folder.with_suffix(".zip").exists()


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "patients.csv"
    patients().write(path)
    return path


def released(source, folder, **method):
    plan = patients().plan(str(source), 5) | {"method": method, "output": {"format": "csv", "order": "keep"}}
    release = anonymize(None, plan)
    try:
        return plan, release.save(folder)
    finally:
        release.close()


@pytest.mark.parametrize(
    "method", [{"name": "optimal", "suppression": 0.05}, {"name": "mondrian"}, {"name": "k-optimize", "time_limit": 1}]
)
def test_rows_are_shown_as_they_are_published(source, tmp_path, method) -> None:
    """With the order kept, the shown rows that are not withheld are the first of the published file."""
    plan, folder = released(source, tmp_path / "out", **method)
    shown = result_figures.published_rows(result_figures.recoding_of(folder), load(source).preview, plan)
    expected = [after for _, after in shown if after is not None]
    with (folder / "data.csv").open(encoding="utf-8", newline="") as stream:
        published = list(csv.DictReader(stream, delimiter=";"))
    assert expected
    assert published[: len(expected)] == expected


def test_persons_and_numbers_are_shown_as_they_are_published(tmp_path) -> None:
    rows = tmp_path / "visits.csv"
    rows.write_text("person,sex,pay\n" + "".join(f"p{place},f,{place}234\n" for place in range(1, 7)))
    plan = {
        "version": 1,
        "data": {"source": str(rows)},
        "columns": {
            "person": {"role": "person"},
            "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "pay": {"role": "insensitive", "publish": {"top": 4000, "round": 100}},
        },
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "method": {"name": "optimal"},
        "output": {"order": "keep"},
    }
    release = anonymize(None, plan)
    try:
        folder = release.save(tmp_path / "out")
    finally:
        release.close()
    shown = [
        after
        for _, after in result_figures.published_rows(result_figures.recoding_of(folder), load(rows).preview, plan)
    ]
    with (folder / "data.csv").open(encoding="utf-8", newline="") as stream:
        assert shown == list(csv.DictReader(stream))
    assert {row["person"] for row in shown} == {"*"}


def test_a_text_is_published_once_however_many_rows_have_it(tmp_path, monkeypatch) -> None:
    """Of 2,000 rows with 60 columns every cell was worked out by itself, for 17 seconds."""
    rows = tmp_path / "pay.csv"
    rows.write_text("sex,pay\n" + "f,1234\nf,2234\n" * 20)
    plan = {
        "version": 1,
        "data": {"source": str(rows)},
        "columns": {
            "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "pay": {"role": "insensitive", "publish": {"round": 100}},
        },
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "method": {"name": "optimal"},
    }
    release = anonymize(None, plan)
    try:
        folder = release.save(tmp_path / "out")
    finally:
        release.close()
    asked, publish = [], PublishPlan.publish
    monkeypatch.setattr(PublishPlan, "publish", lambda own, texts: asked.extend(texts) or publish(own, texts))
    pairs, divided = published_pairs(rows, DataPlan(header=True), folder, plan, 30)
    assert (len(pairs), divided, {after["pay"] for _, after in pairs}) == (30, False, {"1200", "2200"})
    assert sorted(asked) == ["1234", "2234"]


def test_the_column_that_marks_a_subset_is_shown_as_it_is_published(tmp_path) -> None:
    rows = tmp_path / "list.csv"
    rows.write_text("sex,studied\n" + "".join(f"f,{'yes' if place % 3 else 'no'}\n" for place in range(12)))
    plan = {
        "version": 1,
        "data": {"source": str(rows)},
        "columns": {
            "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "studied": {"role": "sensitive"},
        },
        "privacy": [
            {"model": "delta-presence", "lower": 0, "upper": 0.9, "subset": {"column": "studied", "value": "yes"}}
        ],
        "method": {"name": "optimal"},
        "output": {"order": "keep"},
    }
    release = anonymize(None, plan)
    try:
        folder = release.save(tmp_path / "out")
    finally:
        release.close()
    pairs = result_figures.published_rows(result_figures.recoding_of(folder), load(rows).preview, plan)
    assert [after for before, after in pairs if before["studied"] == "no"] == [None] * 3
    assert [after["studied"] for before, after in pairs if before["studied"] == "yes"] == ["*"] * 5


def test_rows_with_a_code_for_missing_are_shown_with_a_blank(tmp_path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("sex,age,hours\n" + "f,99,99\nf,40,99\n" * 6)
    columns = {
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "age": {"role": "quasi-identifier", "hierarchy": {"type": "any"}, "missing": [99]},
        "hours": {"role": "insensitive", "missing": ["99.0"]},
    }
    plan = {
        "version": 1,
        "data": {"source": str(rows)},
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"order": "keep"},
    }
    release = anonymize(None, plan)
    try:
        folder = release.save(tmp_path / "out")
    finally:
        release.close()
    pairs = result_figures.published_rows(result_figures.recoding_of(folder), load(rows).preview, plan)
    assert [(before["age"], after["age"], after["hours"]) for before, after in pairs[:2]] == [
        ("99", None, None),
        ("40", "40", None),
    ]


def test_points_that_none_beats_are_marked(source, tmp_path) -> None:
    _, folder = released(source, tmp_path / "out", name="exhaustive", loss="loss-metric", suppression=0.05)
    found = result_figures.points(folder, 300)
    for point in found:
        beaten = [o for o in found if o.suppressed_rows <= point.suppressed_rows and o.loss < point.loss - 1e-9]
        assert point.best is False or not beaten
    marked = [(point.suppressed_rows, point.loss) for point in found if point.best]
    assert marked == sorted(marked)
    assert len(marked) >= 2


def test_rows_at_risk_are_counted(source) -> None:
    loaded = load(source)
    for names, expected in ((("date_of_birth", "zip", "sex"), 300), (("sex",), 0)):
        loaded.sizes[names] = class_sizes(loaded.path, loaded.read, names)
        assert loaded.at_risk(names, 2) == expected
    assert loaded.at_risk((), 5) == 0


@pytest.mark.parametrize(("mode", "expected"), [("relaxed", True), ("strict", False)])
def test_it_is_known_whether_like_rows_were_divided(tmp_path, mode, expected) -> None:
    rows = tmp_path / "ages.csv"
    rows.write_text("age\n" + "\n".join(("10", "20", "30", "30", "40", "50")))
    plan = {
        "version": 1,
        "data": {"source": str(rows)},
        "columns": {"age": {"role": "quasi-identifier", "type": "integer"}},
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "method": {"name": "mondrian", "mode": mode},
        "output": {"order": "keep"},
    }
    release = anonymize(None, plan)
    try:
        assert ("division" in result_figures.recoding_of(release.save(tmp_path / "out"))) == expected
    finally:
        release.close()


def test_a_lost_column_kept_what_its_sentence_leaves(tmp_path) -> None:
    rows = tmp_path / "rows.csv"
    lines = [f"{18 + (number * 37) % 70},{number % 9},{'mf'[number % 2]}" for number in range(120)]
    rows.write_text("\n".join(["age,region,sex", *lines]), encoding="utf-8")
    hierarchy = {"type": "intervals", "widths": [5, 10, 20, 40], "start": 0, "end": 100}
    plan = {
        "version": 1,
        "columns": {
            "age": {"role": "quasi-identifier", "hierarchy": hierarchy},
            "region": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        },
        "privacy": [{"model": "k-anonymity", "k": 11}],
        "method": {"name": "local", "suppression": 0.1},
    }
    release = anonymize(rows, plan)
    release.save(tmp_path / "out")
    report = result_figures.report_of(tmp_path / "out")
    kept = {column.name: column for column in result_figures.kept_columns(report)}
    assert report["suppressed_rows"]
    assert report["heavily_generalized_columns"]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    mean = words_in().amount(report["mean_loss"])
    assert re.search(rf"<td>loss metric[^<]*</td><td[^>]*>{re.escape(mean)}<", page)
    for lost in report["heavily_generalized_columns"]:
        column = kept[lost["column"]]
        said = f"{lost['share_lost']:.1%}".removesuffix("%")
        assert page.count(said) >= 2, "the verdict and the chart say the same"
        assert column.share == pytest.approx(1 - lost["share_lost"])
        assert (column.before, column.after) == (lost["values"], lost["labels"])


def jobs_in(folder):
    return {place.name for place in folder.iterdir() if re.fullmatch("[0-9a-f]{32}", place.name)}


def test_a_button_that_is_clicked_again_starts_no_second_run(base, open_page, folder) -> None:
    """Until the first was known to be under way another began, which nobody saw, could end, or got the result of."""
    page = open_page(f"{base}/app")
    load_example(page, "eight-rows", "8")
    step(page, "Result")
    answer_late(page, 1)
    for name, seen in (
        ("Anonymize", page.get_by_text("Run 1", exact=True)),
        ("Compare methods", page.locator(".sf-table").first),
    ):
        before = jobs_in(folder)
        button(page, name).wait_for()
        for _ in range(3):
            button(page, name).click()
        seen.wait_for()
        assert len(jobs_in(folder) - before) == 1
        if name == "Anonymize":
            page.get_by_role("tab", name="Alternatives").click()


def test_a_run_of_another_plan_ends_the_one_under_way(base, open_page, folder, no_new_workers) -> None:
    page = open_page(f"{base}/app")
    load_example(page)
    step(page, "Result")
    before = jobs_in(folder)
    with no_new_workers():
        button(page, "Anonymize").click()
        page.get_by_text("Waiting …").wait_for()
        step(page, "Goal")
        k_field(page).fill("7")
        page.get_by_text(WORDS["can_run"], exact=False).wait_for()
        step(page, "Result")
        button(page, "Anonymize").click()
        page.wait_for_timeout(2000)
    page.get_by_text("Run 1", exact=True).wait_for()
    page.get_by_text("is shared by at least 7 rows").wait_for()
    assert len(jobs_in(folder) - before) == 1


@pytest.fixture
def workspace(tmp_path):
    pool = Pool(JobSettings(tmp_path / "jobs", pages=False))
    made = Workspace(pool)
    target = made.waiting_place("people.csv")
    rows = "".join(f"{20 + place % 40},{'mf'[place % 2]},{'ab'[place % 2]}\n" for place in range(120))
    target.write_text("age,sex,illness\n" + rows)
    loaded = load(target, {})
    made.take(loaded, loaded.suggested)
    yield made
    made.close()
    pool.close()


@pytest.fixture
def searches(monkeypatch):
    """The goals that were searched."""
    asked, search = [], module.search
    monkeypatch.setattr(module, "search", lambda plan, table: asked.append(plan) or search(plan, table))
    return asked


def test_a_plan_is_estimated_once(workspace, searches) -> None:
    estimates = Estimates(workspace)
    assert estimates.known(workspace.plan) is None
    estimates.prepare(workspace.plan)
    prepared = estimates.known(workspace.plan)
    assert prepared is not None
    assert Estimates(workspace).of(deepcopy(workspace.plan)) is prepared
    assert [plan.method.name for plan in searches] == ["greedy", "auto"]


def test_the_estimate_is_about_what_the_run_keeps(workspace) -> None:
    """It was that of the quickest method: 60 % of the detail, of which the run kept 80 %."""
    draw = random.Random(1)
    target = workspace.waiting_place("towns.csv")
    rows = [
        f"{draw.randint(20, 79)},{draw.randint(80000, 80099)},{draw.choice('mf')},{draw.choice('abc')}"
        for _ in range(400)
    ]
    target.write_text("age,zip,sex,illness\n" + "\n".join(rows) + "\n")
    loaded = load(target, {})
    workspace.take(loaded, loaded.suggested)
    assert workspace.plan["method"]["name"] == "auto"
    estimate = Estimates(workspace).of(workspace.plan)
    with closing(anonymize(None, deepcopy(workspace.plan) | {"data": {"source": str(target)}})) as release:
        assert estimate.detail == pytest.approx(1 - release.report.mean_loss, abs=0.03)


def test_a_moment_that_is_too_short_leaves_the_quickest_method(workspace, monkeypatch) -> None:
    monkeypatch.setattr(module, "MOMENT_SECONDS", 1e-9)
    assert Estimates(workspace).of(workspace.plan).detail > 0


def test_codes_of_a_column_are_missing_in_what_is_counted(workspace) -> None:
    coded = deepcopy(workspace.plan)
    coded["columns"]["sex"] = {"role": "quasi-identifier", "hierarchy": {"type": "any"}, "missing": ["m"]}
    table = Estimates(workspace).count(coded)
    assert {*table.ladders[table.columns.index("sex")].values} == {"f", None}


def test_another_goal_or_ladder_is_estimated_anew(workspace, searches) -> None:
    estimates = Estimates(workspace)
    stricter, coarser = deepcopy(workspace.plan), deepcopy(workspace.plan)
    stricter["privacy"][0]["k"] = 60
    coarser["columns"]["age"]["hierarchy"] = {"type": "any"}
    for plan in (workspace.plan, stricter, coarser):
        estimates.prepare(plan)
    assert len(searches) == 6  # each by the quickest method and by its own
    assert estimates.known(stricter).detail < estimates.known(workspace.plan).detail


def promising(plan, least):
    """A plan with two promises: about the sizes of groups, and about the illnesses in each."""
    plan = deepcopy(plan)
    plan["columns"]["illness"] = {"role": "sensitive"}
    diverse = {"model": "l-diversity", "l": least, "column": "illness", "variant": "distinct"}
    return plan | {"privacy": [{"model": "k-anonymity", "k": 5}, diverse]}


@pytest.fixture
def counts(monkeypatch):
    """The plans whose rows were counted, which takes a moment."""
    asked, count = [], module.frequency_table

    def counted(plan, engine):
        asked.append(plan)
        time.sleep(0.05)
        return count(plan, engine)

    monkeypatch.setattr(module, "frequency_table", counted)
    return asked


def test_a_goal_that_promises_fewer_columns_is_judged_on_the_same_count(workspace, counts) -> None:
    """Each purpose that was chosen counted a million rows again."""
    estimates = Estimates(workspace)
    both = promising(workspace.plan, 2)
    sizes = both | {"privacy": both["privacy"][:1]}
    for plan in (both, sizes, both | {"privacy": [*reversed(both["privacy"])]}):
        estimates.of(plan)
    assert len(counts) == 1
    other = workspace.counted[2]
    workspace.counted = None
    assert estimates.count(both).sensitive.keys() == other.sensitive.keys()
    assert estimates.count(sizes).sensitive.keys() == set()


def test_a_promise_about_a_column_that_was_not_counted_is_counted(workspace, counts) -> None:
    estimates = Estimates(workspace)
    both = promising(workspace.plan, 2)
    sizes = both | {"privacy": both["privacy"][:1]}
    assert [estimates.count(plan).sensitive.keys() for plan in (sizes, both)] == [set(), {"illness"}]
    assert len(counts) == 2


def test_who_asks_while_rows_are_counted_waits_for_that_count(workspace, counts) -> None:
    """The goal was opened while its estimate was made ahead, and the rows were counted twice at the same time."""
    ahead = threading.Thread(target=Estimates(workspace).prepare, args=(workspace.plan,))
    ahead.start()
    Estimates(workspace).count(workspace.plan)
    ahead.join()
    assert len(counts) == 1


@pytest.mark.parametrize("least", [2, 3])
def test_a_long_table_is_searched_by_sizes_and_keeps_every_promise(workspace, searches, monkeypatch, least) -> None:
    """Three values of two cannot be: then nothing is left, as the search by all promises says."""
    monkeypatch.setattr(module, "FEW_COMBINATIONS", 0)
    plan = promising(workspace.plan, least)
    estimate = Estimates(workspace).of(plan)
    resolved = read_plan(plan | {"method": {"name": "greedy", "suppression": plan["method"]["suppression"]}})
    if least == 3:
        assert estimate.detail == 0
        assert len(searches) == 3  # by sizes, at the levels found, and by all promises
        return
    whole = module.search(resolved, Estimates(workspace).count(plan))
    assert estimate.detail == pytest.approx(1 - sum(whole.per_column.values()) / len(whole.per_column))


def test_a_plan_that_cannot_be_run_is_told_to_who_asks_alone(workspace) -> None:
    workspace.plan["privacy"][0]["k"] = -3
    Estimates(workspace).prepare(workspace.plan)
    assert Estimates(workspace).known(workspace.plan) is None
    with pytest.raises(module.SfumatoError):
        Estimates(workspace).of(workspace.plan)


def test_other_data_are_not_told_what_the_first_cost(workspace) -> None:
    Estimates(workspace).prepare(workspace.plan)
    target = workspace.waiting_place("people.csv")
    target.write_text("age,sex,illness\n" + "30,m,a\n40,f,b\n" * 30)
    workspace.take(load(target, {}), deepcopy(workspace.plan))
    assert Estimates(workspace).known(workspace.plan) is None


QI = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}


@pytest.fixture
def goal(tmp_path):
    """The step for ten visits of four persons, three of whom came to the same ward."""
    pool = Pool(JobSettings(tmp_path / "jobs", pages=False))
    workspace = Workspace(pool)
    target = workspace.waiting_place("visits.csv")
    rows = [("ann", "a")] * 5 + [("bob", "b"), ("cem", "b"), ("dan", "b"), ("dan", "b"), ("dan", "b")]
    target.write_text("who,ward\n" + "".join(f"{who},{ward}\n" for who, ward in rows))
    workspace.take(load(target, {}), {
        "version": 1,
        "columns": {"who": {"role": "person"}, "ward": QI},
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "method": {"name": "optimal", "suppression": 0},
    })  # fmt: skip
    yield GoalStep(SimpleNamespace(workspace=workspace))
    workspace.close()
    pool.close()


@pytest.mark.parametrize(("k", "rows"), [(3, "5 of 10 rows (50.0 %)"), (4, "10 of 10 rows (100 %)")])
def test_groups_are_of_persons_where_a_column_names_them(goal, complete, k: int, rows: str) -> None:
    goal.workspace.plan["privacy"][0]["k"] = k
    told = complete(goal._at_risk(goal.workspace.plan))
    assert told == f"Currently {rows} are in an equivalence class of fewer than {k} persons."
    assert goal.words["k-anonymity.k"] == WORDS["k-map.k"]


def test_groups_are_of_rows_where_none_does(goal, complete) -> None:
    goal.workspace.plan["columns"]["who"] = {"role": "identifier"}
    told = complete(goal._at_risk(goal.workspace.plan))
    assert told == "Currently 0 of 10 rows (0 %) are in an equivalence class smaller than 3."
    assert goal.words["k-anonymity.k"] == WORDS["k-anonymity.k"]


@pytest.mark.parametrize("key", ["at_risk", "model.k-anonymity.says", "k-anonymity.k", "tip.k"])
def test_german_speaks_of_persons_too(key: str) -> None:
    assert "Person" in words_in("de")[f"{key}.of_persons"]


def test_choosing_a_policy_tells_how_far_it_is(tmp_path) -> None:
    """Without a word of it, a million rows were refused as taking too long."""
    path = tmp_path / "patients.csv"
    datasets.patients(60).write(path)
    loaded, told = load(path), []
    plan = {**loaded.suggested, "policy": {"name": "gdpr-wp216"}}
    asked = policy_models(path, loaded.read, plan, lambda *progress: told.append(progress))
    assert asked and all("model" in one for one in asked)
    assert [*dict.fromkeys(stage for stage, _, _ in told)] == ["count", "look", "compare-columns"]
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
