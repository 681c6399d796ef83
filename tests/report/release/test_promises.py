"""Promises in words: true of what is judged, with every bound; what was reached is told in the house alone."""

import json

import polars as pl
import pytest
from dossiers import files

from sfumato.localization.messages import languages, words_in
from sfumato.microdata.models.registry import SHAPES
from sfumato.pipelines.release import anonymize
from sfumato.report.release.column_evidence import ReportData
from sfumato.report.release.report import html

ROWS = pl.DataFrame(
    {
        "zip": ["1", "1", "1", "1", "2", "2", "2", "2"],
        "ill": ["flu", "flu", "flu", "hiv", "flu", "flu", "flu", "cold"],
    }
)


def released(model):
    plan = {
        "version": 1,
        "columns": {
            "zip": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "ill": {"role": "sensitive"},
        },
        "privacy": [model],
        "output": {"order": "keep"},
    }
    return anonymize(ROWS, plan)


def said(model):
    """What the two pages say, which is also in the figures to hand out."""
    release = released(model)
    pages = files(release)
    [entry] = json.loads(pages["report-external.json"])["models"]
    assert entry["statement"] in pages["report-external.html"]
    return entry["statement"], pages["report.html"], release


def test_named_values_are_not_told_as_all():
    # Three of four rows have the flu: a share of 0.5 holds for the value named alone.
    model = {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 3, "column": "ill", "values": ["hiv"]}
    says, page, release = said(model)
    told = "Every class has at least 3 rows, and none of the values of ill that the plan names exceeds a proportion"
    assert says == f"{told} of 0.5 of a class."
    named = told.replace("that the plan names", "that the plan names (hiv)")
    assert f"{named} of 0.5 of a class (highest: 0.25)." in page
    assert "no value of ill that the plan limits exceeds" in html(ReportData(release.report))
    assert "hiv" not in says


def test_values_that_are_not_named_are_all_limited():
    says, _, _ = said({"model": "alpha-k-anonymity", "alpha": 0.75, "k": 4, "column": "ill"})
    assert says == "Every class has at least 4 rows, and no value of ill exceeds a proportion of 0.75 of a class."


@pytest.mark.parametrize("variant", ["basic", "enhanced"])
def test_beta_is_how_much_is_added_and_no_factor(variant):
    # One of four with hiv where one of eight has it overall: twice the share, which β = 1 allows.
    says, page, _ = said({"model": "beta-likeness", "beta": 1, "column": "ill", "variant": variant})
    told = words_in()["promise.beta-likeness.says"].format(column="ill", asked=1, found="").removesuffix(".")
    assert "by more than β = 1 times" in told
    assert says == f"{told}."
    assert f"{told} (achieved: 1)." in page
    assert "factor" not in says


def test_both_bounds_of_presence_are_handed_out():
    subset = {"column": "ill", "value": "flu"}
    says, page, _ = said({"model": "delta-presence", "lower": 0.125, "upper": 0.875, "subset": subset})
    told = "Of the listed persons who match a class, the proportion in it is at least 0.125 and at most 0.875"
    assert says.startswith(f"{told}. ")
    assert f"{told} (highest: 0.75). " in page
    equal, _, _ = said({"model": "delta-presence", "lower": 0.75, "upper": 0.75, "subset": subset})
    assert "at least 0.75 and at most 0.75" in equal


@pytest.mark.parametrize("language", languages())
def test_what_was_reached_is_never_in_what_is_handed_out(language):
    words = words_in(language)
    models = [key.removesuffix(".limit") for key in words if key.startswith("promise.") and key.endswith(".limit")]
    assert len(models) == len(SHAPES) + 1, "and what single rows disclose"
    assert all("{asked}" in words[f"{key}.says"] and "{reached}" not in words[f"{key}.says"] for key in models)
    assert all("{found}" in words[f"{key}.says"] and "{reached}" in words[f"{key}.reached"] for key in models)
