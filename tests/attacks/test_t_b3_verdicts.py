"""Texts say what was tested: no sentence allows to publish, and none speaks for every attacker there may be."""

import re

import polars as pl
import pytest

from sfumato import anonymize
from sfumato.localization.messages import words_in
from sfumato.report.release.column_evidence import ReportData
from sfumato.report.release.report import html

# What no sentence of a page or report says as a verdict of its own; what a plan or a policy says is quoted as theirs.
VERDICTS = {
    "en": r"[Yy]ou may publish|[Nn]obody can (compute|find|be (singled|found))|\b(is|are|made) safe\b|anonymous",
    "de": r"[Ss]ie dürfen\b.*veröffentlichen|[Nn]iemand kann|\bist sicher\b|\bsind .*sicher$|konform|\banonym\b",
}
# They deny a verdict, quote the plan, or say what a term means.
DENIALS = ("your decision", "entscheiden Sie", "the plan says", "dem Plan nach", "unless", "legal assessment")


@pytest.mark.parametrize("language", VERDICTS)
def test_no_sentence_is_a_legal_or_absolute_verdict(language: str) -> None:
    found = {
        key: text
        for key, text in words_in(language).items()
        if not key.startswith(("said.fault_", "rule.")) and re.search(VERDICTS[language], text)
        if not any(denial in text for denial in DENIALS)
    }
    assert found == {}


def test_removed_columns_are_not_said_to_name_persons() -> None:
    rows = pl.DataFrame({"zip": ["1", "1"], "shoe": ["40", "41"]})
    columns = {"zip": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "shoe": {"role": "identifier"}}
    plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]}
    release = anonymize(rows, plan)
    report = html(ReportData(release.report, release.plan))
    assert "They name a person" not in report
    assert "whether or not they identify a person" in report
