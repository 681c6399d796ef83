"""Limits of detection among measured numbers: what is proposed, and that no limit is published as a number."""

import polars as pl
import pytest

import sfumato as sf
from sfumato.localization.messages import words_in
from sfumato.pipelines.plan_suggestion.plan_draft import SuggestedPlan
from sfumato.pipelines.suggest import suggest_for_file, suggest_for_frame

ROWS = 800
AGES = [18 + row * 7 % 60 for row in range(ROWS)]
SEXES = [("m", "f")[row // 3 % 2] for row in range(ROWS)]
TENTHS = [row * row * 37 % 397 / 10 for row in range(ROWS)]
CRP = [f"<{5:.1f}" if number < 5 else ">30" if number > 30 else str(number) for number in TENTHS]
# The same where nothing was measured.
MEASURED = [None if text.startswith(("<", ">")) else text for text in CRP]


def _rows(**columns: list[str | None]) -> pl.DataFrame:
    return pl.DataFrame({"age": AGES, "sex": SEXES, **columns})


def _column(proposal: SuggestedPlan, name: str) -> dict[str, object]:
    return {key: entry for key, entry in proposal.plan["columns"][name].items() if key != "missing"}


@pytest.mark.parametrize("name", ["CRP", "TSH", "column"])
def test_a_column_is_what_its_numbers_are(name: str) -> None:
    proposal, measured = (suggest_for_frame(_rows(**{name: texts})) for texts in (CRP, MEASURED))
    assert _column(proposal, name) == _column(measured, name)
    assert proposal.plan["columns"][name]["missing"] == ["<5.0", ">30"]
    assert proposal.plan["privacy"] == measured.plan["privacy"]


def test_what_is_left_out_is_said() -> None:
    reason = suggest_for_frame(_rows(CRP=CRP)).reasons["CRP"]
    assert "Taken for missing, since they say where a number was not measured, not which it is: <5.0, >30." in reason
    german = words_in("de").text(reason)
    assert "wo eine Zahl nicht gemessen wurde, nicht welche es ist: <5.0, >30." in german


def test_words_beside_limits_are_missing_there() -> None:
    texts = ["NS" if row % 20 == 0 else "n.d." if row % 20 == 1 else text for row, text in enumerate(CRP)]
    proposal = suggest_for_frame(_rows(CRP=texts, region=[("NS", "BC", "ON")[row % 3] for row in range(ROWS)]))
    assert proposal.plan["columns"]["CRP"]["missing"] == ["<5.0", ">30", "NS"]
    assert proposal.plan["data"]["missing"] == ["n.d."]
    assert "missing" not in proposal.plan["columns"]["region"]
    assert "Words among its numbers, which are taken for missing, too, and are lost: NS." in proposal.reasons["CRP"]


def test_results_in_words_are_said_to_be_lost() -> None:
    """They were called codes for a missing value, which "positive" is not."""
    texts = [("positive", "negative")[row % 2] if row % 9 == 0 else text for row, text in enumerate(CRP)]
    reason = suggest_for_frame(_rows(result=texts)).reasons["result"]
    assert "and are lost: negative, positive. Who needs what they say gives them in a column of their own." in reason
    assert "Codes for a missing value" not in reason
    assert "und gehen verloren: negative, positive." in words_in("de").text(reason)


def test_ranges_stay_categories() -> None:
    doses = [("<5", "5-10", ">10")[row % 3] for row in range(ROWS)]
    steps = [("<5", "5", "6", "7", "≥8")[row % 5] for row in range(ROWS)]
    proposal = suggest_for_frame(_rows(dose=doses, steps=steps))
    assert "missing" not in proposal.plan["columns"]["dose"]
    assert "missing" not in proposal.plan["columns"]["steps"]


def test_no_limit_is_published_as_a_number() -> None:
    rows = _rows(CRP=CRP)
    release = sf.anonymize(rows, suggest_for_frame(rows).plan)
    published = release.data["CRP"]
    assert published.null_count() == MEASURED.count(None) == ROWS - published.count()
    assert not {"<5.0", "<5", ">30", "5.0", "30"} & {*published}
    assert "Codes were read as missing values, in these columns alone: CRP (<5.0, >30)." in release.report.notes
    assert sf.verify(release).satisfied


def test_decimal_commas_among_many_limits(tmp_path) -> None:
    texts = [text.replace(".", ",") for text in CRP]
    _rows(CRP=["<5,0" if row % 3 else text for row, text in enumerate(texts)]).write_csv(
        tmp_path / "lab.csv", separator=";"
    )
    proposal = suggest_for_file(tmp_path / "lab.csv")
    assert proposal.plan["data"]["decimal"] == ","
    assert proposal.plan["columns"]["CRP"]["missing"] == ["<5,0", ">30"]
    assert "publish" in proposal.plan["columns"]["CRP"]
