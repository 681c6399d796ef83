"""The rules that protect people, each with a test that tries to break it."""

import json
import logging
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from refusals import coded, refused
from sfumato.datasets import patients
from sfumato.engines.dataframes.engine import FrameEngine
from sfumato.pipelines import release as release_module

QI = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}


def plan_for(columns: dict, k: int = 2, **more: object) -> dict:
    output = {"order": "keep"} | more.pop("output", {})
    return {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": k}], "output": output, **more}


def test_fail_closed_on_a_column_that_the_plan_does_not_mention() -> None:
    frame = pl.DataFrame({"a": ["x", "x"], "diary": ["private", "thoughts"]})
    with pytest.raises(sf.PlanError, check=refused("plan.columns", "the_column_of_the_data")) as caught:
        sf.anonymize(frame, plan_for({"a": QI}))
    assert "private" not in str(caught.value)


def test_fail_closed_on_a_value_outside_its_hierarchy() -> None:
    frame = pl.DataFrame({"a": ["x", "y", "secret"]})
    tree = {"role": "quasi-identifier", "hierarchy": {"type": "tree", "parents": {"x": "g", "y": "g"}}}
    with pytest.raises(sf.DataError, check=coded("data.invalid-value")) as caught:
        sf.anonymize(frame, plan_for({"a": tree}))
    assert "secret" not in str(caught.value)
    assert (caught.value.values, caught.value.rows, caught.value.column) == (("secret",), (3,), "a")


@pytest.mark.parametrize(
    ("on_invalid", "published"), [("missing", ["x", "x", None, None]), ("drop", ["x", "x"])], ids=["missing", "drop"]
)
def test_invalid_values_by_the_plans_choice(on_invalid, published) -> None:
    frame = pl.DataFrame({"a": ["x", "x", "1", "2"]})
    tree = {"role": "quasi-identifier", "hierarchy": {"type": "tree", "parents": {"x": "g", "y": "g"}}}
    release = sf.anonymize(frame, plan_for({"a": tree}, data={"on_invalid": on_invalid}))
    assert release.data["a"].to_list() == published


class Meddler(FrameEngine):
    """An engine that writes one row other than it was told."""

    def apply(self, *arguments, **named):
        published = super().apply(*arguments, **named).data()
        changed = published.with_row_index().with_columns(
            pl.when(pl.col("index") == 0).then(pl.lit("meddled")).otherwise(pl.col("a")).alias("a")
        )
        return FrameEngine(changed.drop("index"))


def test_never_trust_the_write(monkeypatch) -> None:
    monkeypatch.setattr(release_module, "open_engine", lambda data, *_, **__: Meddler(data))
    with pytest.raises(sf.InternalError, check=coded("internal.recount.written_differently")):
        sf.anonymize(pl.DataFrame({"a": ["x", "x", "y", "y"]}), plan_for({"a": QI}))


def test_a_file_changed_behind_the_writers_back_is_not_published(tmp_path, monkeypatch) -> None:
    patients().write(tmp_path / "rows.csv")
    plan = patients().plan("rows.csv", 5)
    original = release_module.recount

    def meddling(published, *rest):
        text = Path(published.data()).read_text(encoding="utf-8").splitlines()
        Path(published.data()).write_text(
            "\n".join([*text[:-1], text[-1].replace("*", "1", 3)]) + "\n", encoding="utf-8"
        )
        return original(published, *rest)

    monkeypatch.setattr(release_module, "recount", meddling)
    with pytest.raises(sf.InternalError):
        sf.anonymize(tmp_path / "rows.csv", plan)


def test_verify_shares_nothing_with_the_search() -> None:
    import subprocess
    import sys

    search = "[m for m in sys.modules if m.startswith('sfumato.microdata.methods')]"
    script = f"import sys, sfumato.microdata.verdict; print({search})"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_missing_values_are_a_policy() -> None:
    frame = pl.DataFrame({"a": ["x", "x", None, None, "y"], "b": ["1", "1", "1", "1", "1"]})
    columns = {"a": QI, "b": QI}
    category = sf.anonymize(frame, plan_for(columns, method={"name": "optimal", "suppression": 0.2}))
    assert category.data.rows() == [("x", "1"), ("x", "1"), (None, "1"), (None, "1")]
    dropped = sf.anonymize(
        frame, plan_for(columns, data={"on_missing": "drop"}, method={"name": "optimal", "suppression": 0.5})
    )
    assert dropped.data.rows() == [("x", "1"), ("x", "1")]
    assert (dropped.report.rows, dropped.report.dropped_rows) == (3, 2)
    anything = sf.anonymize(frame, plan_for(columns, data={"on_missing": "any"}))
    assert anything.data.rows() == frame.rows()


def test_a_word_for_missing_in_a_judged_column_is_no_value() -> None:
    frame = pl.DataFrame({"a": ["x"] * 4, "illness": ["?", None, "flu", "cough"]})
    columns = {"a": QI, "illness": {"role": "sensitive"}}
    plan = plan_for(columns, data={"missing": ["?"]})
    plan["privacy"] = [{"model": "l-diversity", "l": 2, "column": "illness"}]
    release = sf.anonymize(frame, plan)
    assert release.report.models[0].achieved == 2
    assert release.data["illness"].to_list() == [None, None, "flu", "cough"]
    plan["privacy"] = [{"model": "l-diversity", "l": 3, "column": "illness"}]
    with pytest.raises(sf.UnattainableError):
        sf.anonymize(frame, plan)


def test_same_plan_same_data_same_release_whatever_the_order_of_rows() -> None:
    frame = patients().to_polars()
    plan = patients().plan("x.csv", 5)
    one = sf.anonymize(frame, plan)
    order = np.random.default_rng(7).permutation(len(frame))
    two = sf.anonymize(frame[order.tolist()], plan)
    assert one.report.levels == two.report.levels
    assert sorted(one.data.rows()) == sorted(two.data.rows())


def test_no_personal_value_in_logs_errors_or_reports(caplog, tmp_path) -> None:
    frame = pl.DataFrame({"a": ["Zwetschge", "Zwetschge", "Apfel"], "name": ["Anna", "Bert", "Cara"]})
    columns = {"a": QI, "name": {"role": "identifier"}}
    with caplog.at_level(logging.DEBUG), pytest.raises(sf.UnattainableError) as caught:
        sf.anonymize(frame, plan_for(columns, k=9))
    assert "Zwetschge" not in caplog.text + str(caught.value)
    release = sf.anonymize(frame, plan_for(columns, k=2))
    release.save(tmp_path / "out")
    report = (tmp_path / "out" / "report.json").read_text(encoding="utf-8")
    assert "Anna" not in report + (tmp_path / "out" / "data.csv").read_text(encoding="utf-8")


def test_the_callers_data_are_never_changed() -> None:
    frame = patients().to_pandas()
    before = frame.copy(deep=True)
    sf.anonymize(frame, patients().plan("x.csv", 5))
    assert frame.equals(before)
    assert list(frame.index) == list(before.index)


def test_starred_rows_betray_no_sensitive_value() -> None:
    """One suppressed row alone: who is in no class must be that row, so its illness is starred too."""
    frame = pl.DataFrame({"a": ["x", "x", "x", "y"], "illness": ["flu", "flu", "asthma", "plague"]})
    columns = {"a": QI, "illness": {"role": "sensitive"}}
    star = {"output": {"suppressed": "star", "order": "keep"}, "method": {"name": "optimal", "suppression": 0.25}}
    lone = sf.anonymize(frame, plan_for(columns, **star))
    assert lone.data.rows()[3] == ("*", "*")
    pair = pl.concat([frame, frame[3:]])
    both = sf.anonymize(
        pair, plan_for(columns, k=3, output=star["output"], method={"name": "optimal", "suppression": 0.4})
    )
    assert both.data.rows()[3:] == [("*", "*"), ("*", "*")]
    enough = sf.anonymize(pair, plan_for(columns, k=2, **star))
    assert enough.data.rows()[3:] == [("y", "plague"), ("y", "plague")]


def test_report_numbers_are_attributes() -> None:
    release = sf.anonymize(patients().to_polars(), patients().plan("x.csv", 5))
    assert release.report.classes.smallest >= 5
    assert json.dumps(release.report.to_dict())
    assert "holds" in release.report._repr_html_()
