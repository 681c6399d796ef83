"""Comparing methods: one count for all runs, the same figures as single releases, and no run stops the rest."""

import csv
import json
import re
import sys

import polars as pl
import pytest

from refusals import coded
from sfumato import datasets
from sfumato.errors import PlanError
from sfumato.pipelines import compare as module
from sfumato.pipelines.compare import compare
from sfumato.pipelines.release import anonymize
from sfumato.report.compare import html, text, unbeaten, verdict
from sfumato.values import replace

METHODS = ("samarati", "optimal", "local", "mondrian", "mondrian-relaxed", "mondrian-loss")
ROWS = 600


@pytest.fixture(scope="module")
def frame():
    return pl.DataFrame(datasets.census(ROWS).columns())


@pytest.fixture(scope="module")
def plan():
    return datasets.census(ROWS).plan("census.csv", 3)


@pytest.fixture(scope="module")
def found(frame, plan):
    return compare(frame, plan, methods=METHODS, k=(2, 5), suppression=(0.0, 0.05))


def test_every_run_has_its_figures(found):
    assert [(cell.method, cell.k, cell.suppression) for cell in found.cells] == [
        (method, k, share) for method in METHODS for k in (2, 5) for share in (0.0, 0.05)
    ]
    for cell in found.cells:
        assert cell.error is None and 0 < cell.loss < 1
        assert cell.smallest >= cell.k and cell.highest_risk == 1 / cell.smallest
        assert cell.suppressed_rows <= cell.suppression * ROWS


def test_local_and_optimal_are_in_order(found):
    losses = {(cell.method, cell.k, cell.suppression): cell.loss for cell in found.cells}
    for k in (2, 5):
        for share in (0.0, 0.05):
            assert losses["local", k, share] <= losses["optimal", k, share] <= losses["samarati", k, share]


@pytest.mark.parametrize("name", ["optimal", "local", "mondrian"])
def test_a_run_loses_what_the_release_loses(found, frame, plan, name):
    method = {"name": name, "aggregate": "mean"} | ({} if name == "mondrian" else {"suppression": 0.05})
    report = anonymize(frame, plan | {"method": method, "privacy": [{"model": "k-anonymity", "k": 5}]}).report
    cell = next(c for c in found.cells if (c.method, c.k, c.suppression) == (name, 5, 0.05))
    assert cell.loss == pytest.approx(report.loss.value)
    assert (cell.classes, cell.suppressed_rows) == (report.classes.count, report.suppressed_rows)


@pytest.fixture(scope="module")
def one_alone():
    """Nine rows, one of them alone, and the plan that may suppress a number of them."""

    def asked(suppression):
        column = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
        method = {"name": "optimal", "suppression": suppression}
        return {
            "version": 1,
            "columns": {"q": column},
            "privacy": [{"model": "k-anonymity", "k": 2}],
            "method": method,
            "output": {"order": "keep"},
        }

    return pl.DataFrame({"q": list("aaaabbbbc")}), asked


@pytest.mark.parametrize(
    ("budget", "share", "loss"),
    [({"rows": 1}, 1 / 9, 1 / 9), ({"rows": 0}, 0.0, 1.0), ({"rows": 20}, 1.0, 1 / 9), (0.2, 0.2, 1 / 9)],
)
def test_the_budget_is_the_plans_own_unless_given(one_alone, budget, share, loss):
    rows, asked = one_alone
    found = compare(rows, asked(budget), methods=("samarati", "optimal", "mondrian"))
    assert found.suppression == (share,)
    assert [cell.suppression for cell in found.cells] == [share] * 3
    assert found.cells[1].loss == pytest.approx(loss) == anonymize(rows, asked(budget)).report.loss.value
    assert found.best(2, share) is not None and text(found)
    given = compare(rows, asked(budget), methods=("optimal",), suppression=(0.0,))
    assert (given.suppression, given.cells[0].loss) == ((0.0,), 1.0)


def test_risks_of_rows_whose_missing_values_match_anything(one_alone):
    rows, asked = one_alone
    rows = rows.with_columns(q=pl.Series([None, *"aabbbbbb"]))
    matching = asked(0.0) | {"data": {"on_missing": "any"}}
    cell = compare(rows, matching, methods=("optimal",)).cells[0]
    after = anonymize(rows, matching).report.risk["after"]
    assert (cell.highest_risk, cell.average_risk) == (after["highest"], after["average"])
    # A missing value is a value of its own: that row stands alone, beside classes of two and six.
    assert (cell.highest_risk, cell.average_risk) == (1.0, pytest.approx(3 / 9))


def test_the_rows_are_counted_once(frame, plan, monkeypatch):
    counted, original = [], module.frequency_table

    def counting(*given):
        counted.append(1)
        return original(*given)

    monkeypatch.setattr(module, "frequency_table", counting)
    compare(frame, plan, methods=("optimal", "mondrian"), k=(2, 3))
    assert counted == [1]


def test_a_run_without_an_answer_does_not_stop_the_rest(frame, plan):
    found = compare(frame, plan, methods=("samarati", "mondrian"), k=(2, ROWS + 1))
    assert [cell.code for cell in found.cells] == [None, "unattainable.k-anonymity"] * 2
    assert found.best(ROWS + 1, found.suppression[0]) is None
    page = html(found)
    assert "Runs without a result" in page and "no answer in 1 runs" in text(found)


def test_a_plan_that_does_not_fit_a_method_fails_in_its_cells_alone(frame, plan):
    columns = {
        name: {key: value for key, value in column.items() if key != "hierarchy"}
        for name, column in plan["columns"].items()
    }
    bare = plan | {"columns": columns, "method": {"name": "mondrian"}}
    found = compare(frame, bare, methods=("optimal", "mondrian"), k=(5,))
    assert [cell.code for cell in found.cells] == ["plan.faults", None]


def test_other_promises_stay(frame, plan):
    models = [{"model": "k-anonymity", "k": 3}, {"model": "l-diversity", "l": 2, "column": "salary-class"}]
    with_l = compare(frame, plan | {"privacy": models}, methods=("optimal", "mondrian"), k=(3,))
    without = compare(frame, plan, methods=("optimal", "mondrian"), k=(3,))
    for one, other in zip(with_l.cells, without.cells, strict=True):
        assert one.loss > other.loss


def test_options_of_the_plans_own_method_stay(frame, plan):
    method = {"name": "local", "rounds": 6}
    rounds = compare(frame, plan | {"method": method}, methods=("local",), k=(4,)).cells[0]
    once = compare(frame, plan, methods=("local",), k=(4,), suppression=(0.0,)).cells[0]
    assert rounds.loss <= once.loss and rounds != once


def test_progress_tells_the_runs_left(frame, plan):
    told = []
    compare(frame, plan, methods=("optimal", "mondrian"), k=(2, 3), progress=lambda *given: told.append(given))
    assert [done for _, done, _ in told] == [0, 1, 2, 3, 4]
    assert told[1][0] == "optimal, k = 3, suppression 0.02: 3 runs left" and told[-1][1:] == (4, 4)


def test_files(found, tmp_path):
    folder = found.save(tmp_path / "out")
    with (folder / "compare.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    runs = json.loads((folder / "compare.json").read_text(encoding="utf-8"))["runs"]
    assert len(rows) == len(runs) == len(found.cells)
    assert float(rows[0]["loss"]) == runs[0]["loss"] == found.cells[0].loss
    with pytest.raises(PlanError, check=coded("plan.output-exists.exists_already")):
        found.save(tmp_path / "out")


def test_the_page_says_at_once_which_to_choose(found):
    page = html(found)
    best = found.best(2, 0.0)
    assert f"Choose {best.method}" in page.split("<h2>")[0]
    assert (
        page.count("<svg") == 4 and "<script" not in page and "http://" not in re.sub(r'xmlns(:\w+)?="[^"]+"', "", page)
    )
    names = re.findall(r'\bid="([^"]+)"', page)
    assert len(names) == len(set(names))


def test_charts_and_frame_for_a_notebook(found):
    assert set(found.charts) == {"loss_by_k", "loss_by_suppression", "frontier", "seconds"}
    assert list(found.data["method"]) == [cell.method for cell in found.cells]
    assert found._repr_html_().startswith('<div class="sfumato-part" lang="en"><style>')


def test_charts_are_methods_as_those_of_a_release(found):
    assert found.plot.frontier().svg.startswith("<svg")
    alone = replace(found, suppression=found.suppression[:1])
    with pytest.raises(PlanError, check=coded("plan.plot.these_runs_give_nothing")):
        alone.plot.loss_by_suppression()


@pytest.mark.parametrize("package", ["altair", "vl_convert"])
def test_without_the_extra_the_page_has_tables_and_a_hint(found, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    page = html(found)
    assert "pip install &quot;sfumato[charts]&quot;" in page and "<svg" not in page
    assert f"<strong>{found.best(2, 0.0).loss:.4f}</strong>" in page


def test_the_verdict_where_methods_share_the_settings(found):
    first, second = verdict(found)
    winner = first.split()[1].rstrip(":")
    assert winner in METHODS and "On average over the same settings" in second
    assert winner in ("samarati", "optimal") or "choose optimal." in second


def test_runs_that_none_beats():
    runs = [{"average_risk": risk, "loss": loss} for risk, loss in ((0.5, 0.1), (0.1, 0.9), (0.3, 0.95), (0.5, 0.3))]
    assert [(run["average_risk"], run["loss"]) for run in unbeaten(runs)] == [(0.1, 0.9), (0.5, 0.1)]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"methods": ("mondrain",)}, "Did you mean"),
        ({"methods": ()}, "no method"),
        ({"k": (0,)}, "at least 1"),
        ({"suppression": (1.5,)}, "from 0 to 1"),
    ],
)
def test_refusals(frame, plan, asked, words):
    with pytest.raises(PlanError, match=words):
        compare(frame, plan, **asked)
