"""Ties of loss: what tells nothing at all is released only where nothing else may be."""

import csv

import polars as pl
import pytest

from sfumato.errors import UnattainableError
from sfumato.pipelines.release import anonymize

FULL_DOMAIN = ["optimal", "exhaustive", "greedy", "samarati"]
ANY = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
DIVERSE = [{"model": "l-diversity", "l": 2, "column": "s"}]


def plan(columns: dict, privacy: list, **method: object) -> dict:
    return {"version": 1, "columns": columns, "privacy": privacy, "method": method, "output": {"order": "keep"}}


@pytest.mark.parametrize("name", [*FULL_DOMAIN, "local"])
def test_a_loss_that_does_not_see_generalization_does_not_lead_to_the_top(name) -> None:
    rows = pl.DataFrame({"a": ["1", "1", "2", "2"], "s": ["p", "q", "p", "q"], "c": ["x"] * 4})
    columns = {"a": ANY, "s": {"role": "sensitive"}, "c": {"role": "insensitive"}}
    release = anonymize(rows, plan(columns, DIVERSE, name=name, loss="classification", **{"class": "c"}))
    assert (release.report.loss.value, release.data["a"].to_list()) == (0.0, ["1", "1", "2", "2"])


@pytest.mark.parametrize("name", FULL_DOMAIN)
@pytest.mark.parametrize("privacy", [DIVERSE, [{"model": "k-anonymity", "k": 2}]])
def test_columns_without_weight_are_not_all_withheld(name, privacy) -> None:
    rows = pl.DataFrame({"a": ["1", "1", "2", "2"], "b": ["1", "2", "1", "2"], "s": ["p", "q", "p", "q"]})
    columns = {"a": ANY | {"weight": 0}, "b": ANY | {"weight": 0}, "s": {"role": "sensitive"}}
    levels = anonymize(rows, plan(columns, privacy, name=name)).report.levels
    assert levels in ({"a": 0, "b": 1}, {"a": 1, "b": 0})


@pytest.mark.parametrize("name", [*FULL_DOMAIN, "local"])
def test_the_top_does_not_win_by_a_smaller_loss_either(name) -> None:
    """Withholding the one column that differs loses 1, suppressing four rows of six 4/3; only that tells something."""
    rows = pl.DataFrame({"a": ["1", "1", *"2222"], "b": ["1"] * 6, "s": ["p", "q", *"pppp"]})
    columns = {"a": ANY, "b": ANY, "s": {"role": "sensitive"}}
    report = anonymize(rows, plan(columns, DIVERSE, name=name, suppression=0.8, loss="loss-metric")).report
    if name == "local":
        assert report.loss.value <= 4 / 3
        return
    assert (report.levels, report.suppressed_rows) == ({"a": 0, "b": 0}, 4)
    assert report.loss.value == pytest.approx(4 / 3)


@pytest.mark.parametrize("name", FULL_DOMAIN)
def test_where_only_the_top_holds_that_is_said(name) -> None:
    rows = pl.DataFrame({"a": ["1", "1", "2", "2"], "s": ["p", "p", "q", "q"]})
    with pytest.raises(UnattainableError, match="nothing below the top"):
        anonymize(rows, plan({"a": ANY, "s": {"role": "sensitive"}}, DIVERSE, name=name))


@pytest.mark.parametrize("loss", ["score", "classification"])
def test_the_table_of_nodes_tells_the_k_that_each_reaches(tmp_path, loss) -> None:
    rows = pl.DataFrame({'a "b"': ["1", "1", "1", "2"], "s": ["p", "q", "p", "q"]})
    columns = {'a "b"': ANY, "s": {"role": "sensitive"}}
    method = {"loss": loss} | ({"class": "s"} if loss == "classification" else {})
    release = anonymize(rows, plan(columns, [{"model": "k-anonymity", "k": 2}], name="exhaustive", **method))
    with (release.save(tmp_path / "out") / "nodes.csv").open(encoding="utf-8", newline="") as stream:
        nodes = list(csv.DictReader(stream, delimiter=";"))
    figures = ("classes", "k", "largest", "suppressed_rows", "kept_classes", "kept_k", "satisfied")
    assert [[node[name] for name in ('a "b"', *figures)] for node in nodes] == [
        ["0", "2", "1", "3", "1", "1", "3", "false"],
        ["1", "1", "4", "4", "0", "1", "4", "true"],
    ]
