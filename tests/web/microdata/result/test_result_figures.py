"""What the result step shows is what the release folder holds."""

import csv
import re

import pytest

from sfumato.datasets import patients
from sfumato.localization.messages import words_in
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.publish_plan import PublishPlan
from sfumato.pipelines.release import anonymize
from sfumato.web.microdata.result import result_figures
from sfumato.web.microdata.result.result_figures import published_pairs
from sfumato.web.projects.loaded_data import class_sizes, load


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
    ladder = {"type": "intervals", "widths": [5, 10, 20, 40], "start": 0, "end": 100}
    plan = {
        "version": 1,
        "columns": {
            "age": {"role": "quasi-identifier", "hierarchy": ladder},
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
