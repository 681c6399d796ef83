"""Auto: the best of three methods by the loss of the rows as published, repeated by the plan that names the winner."""

import numpy as np
import polars as pl
import pytest

from sfumato.errors import UnattainableError
from sfumato.localization.messages import words_in
from sfumato.microdata.methods import auto
from sfumato.microdata.plan.methods import Local, Mondrian
from sfumato.microdata.plan.write import plan_dict
from sfumato.microdata.questions.star_bias import StarBias
from sfumato.pipelines.release import anonymize

AGE = {"type": "intervals", "start": 0, "end": 100, "widths": [5, 20]}
COLUMNS = {
    "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": AGE},
    "town": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
}


def plan(columns=COLUMNS, **method):
    return {
        "version": 1,
        "seed": 5,
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "method": {"name": "auto"} | method,
        "output": {"order": "keep"},
    }


def rows(number=300):
    random = np.random.default_rng(2)
    return pl.DataFrame({"age": random.integers(20, 60, number), "town": random.choice(["x", "y", "z"], number)})


def test_the_least_loss_wins_and_all_are_shown() -> None:
    report = anonymize(rows(), plan(suppression=0.02)).report
    tried = {entry["method"]: entry["loss"] for entry in report.details["methods_tried"]}
    assert set(tried) == {"local", "mondrian", "optimal"}
    assert report.loss.value == pytest.approx(min(tried.values()))
    assert tried[report.method] == min(tried.values())
    assert any(report.method in remark and "loses least" in remark for remark in report.notes)


def test_the_resolved_plan_names_the_winner_and_repeats() -> None:
    first = anonymize(rows(), plan(suppression=0.02))
    resolved = plan_dict(first.plan)
    assert resolved["method"]["name"] == first.report.method != "auto"
    assert anonymize(rows(), resolved).data.rows() == first.data.rows()
    assert anonymize(rows(), plan(suppression=0.02)).data.rows() == first.data.rows()


def test_an_outlier_does_not_cost_the_column() -> None:
    frame = pl.concat([rows(), pl.DataFrame({"age": [99], "town": ["w"]})])
    report = anonymize(frame, plan()).report
    assert report.method != "optimal"
    assert report.loss.value < 0.2
    assert "heavily_generalized_columns" not in report.details


def test_a_bound_on_levels_leaves_mondrian_out() -> None:
    columns = COLUMNS | {"age": COLUMNS["age"] | {"min_level": 1}}
    tried = anonymize(rows(), plan(columns)).report.details["methods_tried"]
    assert {entry["method"] for entry in tried} == {"local", "optimal"}


def test_where_nothing_can_be_released_that_is_said() -> None:
    with pytest.raises(UnattainableError) as caught:
        anonymize(rows(3), plan())
    assert str(caught.value).count("Ask for less") == 1


class TestLostColumns:
    def test_a_lost_column_is_told(self) -> None:
        frame = pl.DataFrame({"age": [30] * 20 + [50] * 20 + [70, 71], "town": ["x"] * 42})
        columns = {"age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"type": "any"}}}
        asked = plan(columns | {"town": COLUMNS["town"]}, name="optimal")
        report = anonymize(frame, asked).report
        (lost,) = report.details["heavily_generalized_columns"]
        assert (lost["column"], lost["share_lost"], lost["labels"], lost["values"]) == ("age", 1.0, 0, 4)
        kept = anonymize(frame, plan(asked["columns"], name="optimal", suppression={"rows": 2})).report
        assert "heavily_generalized_columns" not in kept.details

    def test_it_is_said_on_the_terminal(self) -> None:
        from sfumato.report.release.report import text

        frame = pl.DataFrame({"age": [30] * 20 + [50] * 20 + [70, 71], "town": ["x"] * 42})
        columns = {"age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"type": "any"}}}
        report = anonymize(frame, plan(columns | {"town": COLUMNS["town"]}, name="optimal")).report
        assert "LOST          age: 100 % lost, none of 4 values has a label left." in text(report)

    @pytest.mark.parametrize(
        ("language", "sentence"),
        [
            ("en", "age: 100 % lost, none of 4 values"),
            ("de", "age: 100 % verloren"),
        ],
    )
    def test_it_stands_beside_the_verdict_of_the_report(self, tmp_path, language, sentence) -> None:
        frame = pl.DataFrame({"age": [30] * 20 + [50] * 20 + [70, 71], "town": ["x"] * 42})
        columns = {"age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"type": "any"}}}
        asked = plan(columns | {"town": COLUMNS["town"]}, name="optimal") | {"language": language}
        anonymize(frame, asked).save(tmp_path / "out")
        page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
        red = page.partition('<div class="verdict bad">')[2].partition("</div>")[0]
        assert sentence in red


@pytest.mark.parametrize("name", ["optimal", "local", "mondrian", "auto"])
def test_a_hidden_minimum_is_drawn_from_the_seed_and_tells_its_cost(name: str) -> None:
    asked = plan(name=name, hide_minimality=True)
    release = anonymize(rows(), asked)
    hidden = release.report.details["minimality"]
    assert release.report.satisfied and not release.report.proved_optimal
    assert release.report.loss.value == pytest.approx(hidden["least_loss"] + hidden["cost"])
    assert anonymize(rows(), asked).data.rows() == release.data.rows()
    others = [anonymize(rows(), asked | {"seed": seed}).data.rows() for seed in range(6)]
    assert any(other != release.data.rows() for other in others)


class TestACollapse:
    """What a mean over the domain hides is told."""

    def test_a_range_that_typing_errors_stretch_is_a_lost_column(self) -> None:
        years = [1950 + place % 60 for place in range(300)] + [11, 9999] * 5
        column = {"role": "quasi-identifier", "type": "integer"}
        column["hierarchy"] = {"type": "intervals", "start": 0, "end": 9999, "bounds": [[0, 1900, 2100]]}  # type: ignore[assignment]
        asked = plan({"year": column | {"min_level": 1}}, name="optimal")
        report = anonymize(pl.DataFrame({"year": years}), asked).report
        assert report.mean_loss < 0.1
        (lost,) = report.details["heavily_generalized_columns"]
        assert lost["column"] == "year" and lost["share_lost"] > 0.9

    def test_a_column_of_few_common_values_that_is_kept_is_not_lost(self) -> None:
        frame = pl.DataFrame({"age": [30] * 95 + [50] * 5, "town": ["x"] * 50 + ["y"] * 50})
        report = anonymize(frame, plan(name="local")).report
        assert "heavily_generalized_columns" not in report.details

    def test_dates_of_which_none_is_left_are_lost_however_many_rows_are_blank(self) -> None:
        dates = [f"2024-{1 + place % 12:02d}-{1 + place:02d}" for place in range(24)]
        column = {"role": "quasi-identifier", "hierarchy": {"type": "date", "levels": ["day", "millennium", "any"]}}
        frame = pl.DataFrame({"left": [*dates, *[None] * 200], "town": ["x"] * 224})
        report = anonymize(frame, plan({"left": column, "town": COLUMNS["town"]}, name="optimal")).report
        assert report.mean_loss < 0.2
        (lost,) = report.details["heavily_generalized_columns"]
        assert (lost["column"], lost["labels"], lost["values"]) == ("left", 1, 24) and lost["share_lost"] > 0.9

    def test_more_labels_than_values_are_said_as_such(self) -> None:
        from sfumato.report.release.findings import lost_column

        entry = {"column": "zip", "share_lost": 0.622, "labels": 13, "values": 10}
        assert "10 values, 13 labels" in lost_column(words_in(), entry)


class TestTheWinner:
    def test_the_least_loss_wins_unless_it_leaves_nothing_of_a_column(self) -> None:
        job = frozenset({"job"})
        kept = auto.Trial(Local(), 0.0, loss=0.40)
        scarce = auto.Trial(Mondrian(), 0.0, loss=0.39, lost=job, gone=job)
        void = auto.Trial(Mondrian(), 0.0, loss=0.30, lost=job, gone=job, void=job)
        assert auto._least([kept, scarce]) is scarce
        assert auto._least([kept, void]) is kept
        said = auto._why(kept, [kept, void])
        assert "preserves some of job, of which mondrian (0.3000) preserves nothing" in said
        assert "of which mondrian" not in words_in("de").text(said)

    def test_a_trace_of_a_column_is_no_reason(self) -> None:
        """Of which all leave hardly anything, by that none is better, and none is said to keep it."""
        height, both = frozenset({"height"}), frozenset({"height", "age"})
        trace = auto.Trial(Local(), 0.0, loss=0.67, lost=height, gone=height)
        none = auto.Trial(Mondrian(), 0.0, loss=0.64, lost=height, gone=height, void=height)
        assert auto._least([trace, none]) is none
        worse = auto.Trial(Mondrian(), 0.0, loss=0.64, lost=both, gone=both, void=both)
        assert auto._least([trace, worse]) is trace
        assert "preserves some of age, of which mondrian" in auto._why(trace, [trace, worse])

    def test_columns_that_are_lost_altogether_are_shown_for_each_method(self) -> None:
        frame = pl.DataFrame({"age": [30, 31, 32, 33, 34, 35] * 10, "town": [f"t{place}" for place in range(60)]})
        report = anonymize(frame, plan()).report
        tried = {entry["method"]: entry["columns_lost"] for entry in report.details["methods_tried"]}
        assert tried["optimal"] == ["town"] and set(tried) == {"local", "optimal", "mondrian"}

    def test_stars_and_missing_values_are_counted_nowhere(self) -> None:
        """Sentences, the table of values left and the page have one count."""
        from sfumato.report.release.column_evidence import gather

        codes = ["10115"] * 4 + ["20095"] * 2 + [None] * 4
        frame = pl.DataFrame({"zip": codes, "town": ["x"] * 10})
        ladder = {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 5}}
        asked = plan({"zip": ladder, "town": COLUMNS["town"]}, name="local")
        release = anonymize(frame, asked)
        evidence = gather(release.plan, release.table, release.recoding).columns["zip"]
        left = release.report.utility.values_left["zip"]
        labels = {label for label in release.data["zip"] if label is not None and label.strip("*")}
        assert evidence.before == left["before"] == 2
        assert evidence.after == left["after"] == len(labels)
        for lost in release.report.details.get("heavily_generalized_columns", ()):
            assert (lost["values"], lost["labels"]) == (2, len(labels))


def test_a_method_whose_suppression_depends_on_no_outcome_is_preferred(monkeypatch) -> None:
    least = anonymize(rows(), plan(suppression=0.02)).report.method

    def biased(plan, _table, _recoding):
        return (StarBias("illness", None, 0.2),) if plan.method.name == least else ()

    monkeypatch.setattr(auto, "predicted_bias", biased)
    report = anonymize(rows(), plan(suppression=0.02)).report
    tried = {entry["method"]: entry for entry in report.details["methods_tried"]}
    assert tried[least]["suppression_depends_on"] == ["illness"]
    assert report.method != least and report.loss.value > tried[least]["loss"]
    assert any("illness" in note for note in report.notes)
    monkeypatch.setattr(auto, "predicted_bias", lambda *_: (StarBias("illness", None, 0.2),))
    assert anonymize(rows(), plan(suppression=0.02)).report.method == least
