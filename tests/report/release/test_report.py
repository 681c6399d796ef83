"""The release report: complete without a network, honest, and silent about persons when handed out."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest
from dossiers import files

from sfumato.cli.documents import schemas
from sfumato.datasets import patients
from sfumato.localization.messages import words_in
from sfumato.localization.number_format import percent
from sfumato.microdata.methods.full_domain.search import alternatives
from sfumato.pipelines.release import anonymize
from sfumato.report.html_page import folded, style
from sfumato.report.plots import Pair, histogram
from sfumato.report.release import external
from sfumato.report.release.column_evidence import ReportData, class_sizes, gather
from sfumato.report.release.measures import trade_off_sentences
from sfumato.report.release.report import fragment, html, line, text
from sfumato.values import replace

LOADING = ("src", "href", "srcset", "data", "action", "poster", "background", "formaction", "xlink:href")
VOID = {"meta", "br", "link", "img", "input", "hr"}


class Reader(HTMLParser):
    """Collects what would be loaded, what would run, and whether tags are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded, self.tags, self.open, self.words = [], [], [], []

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append(tag)
        self.loaded += [value for name, value in attrs if name in LOADING]
        self.loaded += [value for name, value in attrs if name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs) -> None:
        self.tags.append(tag)

    def handle_data(self, data) -> None:
        if self.open[-1:] != ["style"]:
            self.words.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def written(release):
    return files(release)


@pytest.mark.parametrize("name", ["report.html", "report-external.html"])
def test_a_page_loads_and_runs_nothing(written, name) -> None:
    reader = read(written[name])
    assert reader.loaded == []
    assert not {"script", "link", "img", "iframe", "object", "embed", "base"} & set(reader.tags)
    assert not re.search(r"url\(|@import|https?://(?!doi)", written[name])


def test_the_verdict_comes_first_and_says_how_it_was_checked(written) -> None:
    words = " ".join(read(written["report.html"]).words)
    order = [
        "All guarantees are satisfied in the written file (rows, not persons).",
        "read back, recounted",
        "What is not guaranteed",
        "Columns",
        "Risk",
        "Information loss",
        "Trade-off",
    ]
    places = [words.index(part) for part in [*order, "Signatures", "Method and run"]]
    assert places == sorted(places)


def test_the_promises_are_told_with_what_was_reached(written, release) -> None:
    reached = release.report.models[0].achieved
    assert f"at least 4 rows (the smallest class has {reached:g})" in written["report.html"]
    assert "In every class illness has at least 2" in written["report.html"]


def test_a_broken_promise_is_told_as_one(release) -> None:
    from sfumato.values import replace

    broken = replace(release.report.models[0], satisfied=False)
    report = replace(release.report, models=(broken,))
    for page in (html(ReportData(report, release.plan)), external.html(ReportData(report, release.plan))):
        assert "verdict bad" in page
        assert "Not satisfied." in page
        assert "All guarantees are satisfied" not in page
    assert "DOES NOT HOLD" in text(report)


def test_examples_are_what_the_rows_show(release) -> None:
    """Each example says what the published rows of that value really have."""
    evidence = gather(release.plan, release.table, release.recoding)
    published = release.data.read_text(encoding="utf-8").splitlines()
    place = published[0].split(";").index("zip")
    labels = {line.split(";")[place] for line in published[1:]}
    for before, after in evidence.columns["zip"].examples:
        assert after in labels
        assert re.fullmatch(r"\d{5}", before)
        assert all(shown in ("*", digit) for shown, digit in zip(after, before, strict=True))


def test_shares_add_up(release, by_classes) -> None:
    for made in (release, by_classes):
        evidence = gather(made.plan, made.table, made.recoding)
        found = [evidence.sizes, *evidence.sensitive.values()]
        found += [column.shares for column in evidence.columns.values() if column.shares]
        for pairs in found:
            assert sum(pair.before for pair in pairs) == pytest.approx(1)
            assert sum(pair.after for pair in pairs) == pytest.approx(1)


def test_rows_are_binned_by_the_size_of_their_class() -> None:
    import numpy as np

    pairs = class_sizes(np.array([1, 1, 2, 6]), np.array([10]))
    assert [(pair.name, pair.before, pair.after) for pair in pairs] == [
        ("1", 0.2, 0.0),
        ("2", 0.2, 0.0),
        ("3–4", 0.0, 0.0),
        ("5–9", 0.6, 0.0),
        ("10–19", 0.0, 1.0),
    ]


def test_the_trade_off_is_what_the_search_would_find(release, patient_plan) -> None:
    found = [
        entry for entry in alternatives(release.plan, release.table, release.recoding) if entry.suppression_limit == 0.1
    ]
    again = anonymize(None, patient_plan | {"method": {"name": "optimal", "suppression": 0.1}})
    try:
        assert found[0].loss == pytest.approx(again.report.loss.value)
        assert found[0].suppressed_rows == again.report.suppressed_rows
    finally:
        again.close()


def test_finer_neighbors_cost_more_rows_than_the_plan_allows(release) -> None:
    """The release is the best node: a neighbor of less loss must exceed the budget."""
    limit = release.plan.method.suppression.limit(release.report.rows)
    neighbors = [e for e in alternatives(release.plan, release.table, release.recoding) if e.changed is not None]
    assert neighbors
    assert all(entry.suppressed_rows > limit or entry.loss >= release.report.loss.value for entry in neighbors)
    said = trade_off_sentences(words_in(), tuple(neighbors), release.report, limit)
    assert len(said) == len(neighbors)


def test_methods_without_levels_have_no_trade_off(by_classes) -> None:
    pages = files(by_classes)
    assert "Trade-off" not in pages["report.html"]
    assert words_in()["report.by_class"] in pages["report.html"]
    assert words_in()["external.by_class"] in pages["report-external.html"]


def test_one_word_and_one_scale_of_loss(release, by_classes) -> None:
    """The mean loss of a value stands in the terminal, on the page and among the trade-offs; what is minimized is an
    objective."""
    for made in (release, by_classes):
        report, mean = made.report, made.report.mean_loss
        assert mean == pytest.approx(sum(report.loss.per_column.values()) / len(report.loss.per_column))
        assert report.to_dict()["mean_loss"] == mean
        assert f"mean loss     {mean:.4g}" in text(report)
        assert f"mean loss {mean:.3g}" in line(report)
        assert "\n  loss " not in text(report)
        assert words_in().percent(mean).replace(" ", "\xa0") in read(files(made)["report.html"]).words
    report = release.report
    assert report.loss.value == pytest.approx(len(report.loss.per_column) * report.mean_loss)
    assert f"objective     {report.loss.value:.6g} (loss-metric)" in text(report)
    page = " ".join(read(files(release)["report.html"]).words)
    assert f"instead of {100 * report.mean_loss:.4g} %" in page
    assert f"instead of {report.loss.value:.4g}" not in page
    other = replace(report, loss=replace(report.loss, name="discernibility", per_column={}))
    assert other.mean_loss == pytest.approx(report.mean_loss)
    assert other.mean_of(other.loss.value) is None


def test_the_page_to_hand_out_tells_nothing_of_single_persons(written, release) -> None:
    """No raw value of any column, no hash, no seed, no counts of rows or classes."""
    twin = json.loads(written["report-external.json"])
    words = " ".join(read(written["report-external.html"]).words) + json.dumps(twin, ensure_ascii=False)
    dataset = patients()
    for column in ("name", "date_of_birth", "zip", "illness"):
        for value in set(map(str, dataset.columns()[column])):
            assert not re.search(rf"\b{re.escape(value)}\b", words)
    report = release.report
    secret = [report.input_sha256, f"{report.rows:,}", f"{report.classes.count:,}", f"{report.loss.value:.4g}", "seed"]
    secret += ["proved", "→", "smallest", "largest", "reached", "before"]
    for word in secret:
        assert not re.search(rf"(?<!\d){re.escape(word)}(?!\d)", words)


def test_report_json_fits_its_published_schema(release, by_classes) -> None:
    schema = schemas()["report.schema.json"]
    jsonschema.Draft202012Validator.check_schema(schema)
    for made in (release, by_classes):
        report = json.loads(files(made)["report.json"])
        jsonschema.validate(report, schema)
        del report["risk"]
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(report, schema)


@pytest.mark.parametrize("name", ["report.schema.json", "report-external.schema.json"])
def test_the_schemas_in_the_documentation_are_current(name) -> None:
    published = Path(__file__).resolve().parents[3] / "docs" / name
    assert json.loads(published.read_text(encoding="utf-8")) == schemas()[name]


def test_the_twin_to_hand_out_fits_its_schema_which_lets_nothing_else_in(release, by_classes, by_sets) -> None:
    schema = schemas()["report-external.schema.json"]
    jsonschema.Draft202012Validator.check_schema(schema)
    for made in (release, by_classes, *by_sets):
        report = json.loads(files(made)["report-external.json"])
        jsonschema.validate(report, schema)
        for more in ({"rows": 300}, {"seed": 1}, {"max_suppressed": 0.0123}):
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(report | more, schema)


def test_the_twin_to_hand_out_says_what_its_page_says(written) -> None:
    twin = json.loads(written["report-external.json"])
    words = " ".join(read(written["report-external.html"]).words)
    said = [*(promise["statement"] for promise in twin["models"]), *twin["limits"], twin["checked"]]
    said += [column["what"] for column in twin["columns"].values()]
    assert all(sentence in words for sentence in said)
    assert f"At most {100 * twin['max_suppressed']:.0f} % of the rows" in words


def test_a_proved_answer_is_told_as_one(by_sets) -> None:
    proved = by_sets[0]
    assert proved.report.proved_optimal
    words = " ".join(read(files(proved)["report.html"]).words)
    assert "proven optimal for its method" in words
    assert words_in()["report.loss_gap"] not in words


def test_an_answer_without_proof_tells_how_far_the_best_may_be(by_sets) -> None:
    report = by_sets[1].report
    assert not report.proved_optimal
    words = " ".join(read(files(by_sets[1])["report.html"]).words)
    assert "The time limit of the search was reached before optimality was proven" in words
    assert f"{report.details['bound']:,.6g}" in words
    assert f"at most {percent(1 - report.details['bound'] / report.loss.value)} lower" in words


def test_what_a_column_is_published_as_is_told(by_sets) -> None:
    for made in by_sets:
        pages = files(made)
        words = read(pages["report.html"]).words
        for labels in made.report.details["published"].values():
            assert labels == ["*"] or set(labels[:30]) <= set(words)
        assert "class by class" not in pages["report.html"] + pages["report-external.html"]


def test_reports_stay_small(written, large) -> None:
    for pages in (written, files(large)):
        assert all(len(page.encode()) < 300_000 for page in pages.values())
    assert json.loads(files(large)["report.json"])["rows"] >= 100_000


def test_values_cannot_break_out_of_the_page() -> None:
    """A hostile value stays text."""
    rows = {"zip": ["<script>alert(1)</script>", "<b>&'\""] * 3, "illness": ["flu"] * 6}
    plan = {
        "version": 1,
        "columns": {
            "zip": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "illness": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 1, "column": "illness"}],
        "output": {"order": "keep"},
    }
    import pandas

    release = anonymize(pandas.DataFrame(rows), plan)
    for page in files(release).values():
        assert "<script" not in page or page.startswith("{")
    assert "&lt;script&gt;alert" in files(release)["report.html"]


def test_a_notebook_gets_a_fragment_without_a_style_of_its_own(release) -> None:
    shown = release._repr_html_()
    assert shown == fragment(release.report)
    assert "<style" not in shown
    assert "holds" in shown
    read(shown)


def test_a_notebook_shows_a_plan(release) -> None:
    shown = release.plan._repr_html_()
    assert "k-anonymity 4, l-diversity 2 of illness" in shown.replace("</b>", "")
    assert "digits: length 5" in shown
    read(shown)


def test_plots_say_in_words_what_they_show() -> None:
    drawn = histogram(words_in(), [Pair("1", 0.5, 0.0), Pair("2", 0.5, 1.0)], "size", "Half were alone.")
    assert 'aria-label="Half were alone."' in drawn
    assert drawn.count("<rect") == 3
    assert percent(0.00001) == "< 0.01 %"


@pytest.fixture(scope="module")
def starred(patient_plan):
    plan = json.loads(json.dumps(patient_plan)) | {"output": {"suppressed": "star", "order": "shuffle"}}
    return anonymize(None, plan)


def test_starred_rows_are_told_as_published_in_both_editions(starred) -> None:
    assert starred.report.suppressed_rows > 0
    pages = files(starred)
    for name in ("report.html", "report-external.html"):
        words = " ".join(read(pages[name]).words)
        assert "were dropped" not in words
        assert words_in()["promise.published_save_stars"] in words
        assert "Suppressed rows are published with *" in words
    figures = json.loads(pages["report-external.json"])
    assert words_in()["promise.published_save_stars"] in figures["models"][0]["statement"]
    assert starred.report.published_rows == starred.report.rows
    assert f"{starred.report.rows:,} published, {starred.report.suppressed_rows:,} of them as *" in text(starred.report)


def test_dropped_rows_are_told_as_left_out(release, written) -> None:
    assert words_in()["promise.published_save_stars"] not in written["report.html"] + written["report-external.html"]
    assert "were dropped, because" in written["report-external.html"]


def test_the_report_says_which_files_stay_in_the_house(starred, written) -> None:
    assert "This report is internal" in written["report.html"]
    assert "internal" not in written["report-external.html"]
    assert words_in()["report.shuffled"] in files(starred)["report.html"]


def test_figures_are_keys_and_attributes(release) -> None:
    report = release.report
    assert report.risk.after.highest == report.risk["after"]["highest"]
    assert report.utility.losses.loss_metric == report.utility["losses"]["loss-metric"]
    with pytest.raises(AttributeError):
        _ = report.risk.nothing
    json.dumps(report.to_dict())


def test_of_many_cards_and_lines_the_rest_is_folded_and_printed() -> None:
    """A file of sixty columns had a wall of cards, and a table of risks 32 lines."""
    shown = folded(words_in("de"), list(range(30)), lambda part: f"<p>{len(part)}</p>")
    assert shown == '<p>12</p><details class="fold"><summary>18 weitere zeigen</summary><p>18</p></details>'
    assert folded(words_in(), list(range(13)), lambda part: f"<p>{len(part)}</p>") == "<p>13</p>"
    assert ".fold:not([open])::details-content { display: contents" in style("colors")
