"""The page on a table: its figures are written as the language does, its codes as the file does."""

import pytest

import sfumato as sf
from sfumato.localization.messages import Message, words_in
from sfumato.report.tables.annex import outcome_sentences
from sfumato.report.tables.page import published
from sfumato.report.tables.report import metrics
from sfumato.tables.cells.columns import TextColumns
from sfumato.values import replace

LEFT_OUT = Message("note.cross_left_out", names="a × b × c")


def test_figures_have_the_decimal_mark_of_the_language_and_codes_have_not() -> None:
    table = TextColumns({"Branche": ("1.1", "1.2"), "Wert": ("1104.5", "x"), "von": ("", "0.1"), "bis": ("", "26.4")})
    german, english = (
        "".join(published(words_in(language), table, ["Wert", "von", "bis"])) for language in ("de", "en")
    )
    assert all(f">{text}<" in german for text in ("1.1", "1.2", "1104,5", "0,1", "26,4", "x"))
    assert all(f">{text}<" in english for text in ("1.1", "1104.5", "0.1"))


def test_the_page_names_the_rules_and_what_they_promise_without_their_limits() -> None:
    """It said that nobody computes a cell back, and not which cells are meant."""
    frame = pytest.importorskip("polars").DataFrame({"area": ["Total", "a", "b", "c"], "n": [24, 2, 9, 13]})
    for language, rule, promise in (
        ("en", "too few respondents", "Guarantee:"),
        ("de", "Auskunftgebende", "Garantie:"),
    ):
        done = sf.protect(
            frame,
            value="n",
            dimensions={"area": {"column": "area"}},
            primary=[{"rule": "frequency", "min": 7}],
            output={"language": language},
        )
        page = done._repr_html_()
        assert rule in page
        assert promise in page
        assert "min" not in page.partition("<h1>")[2].partition("<section")[0]


@pytest.mark.parametrize("least", [2, 9])
def test_what_nobody_attacked_is_told_of_a_linked_table_with_masks_and_of_one_without(least) -> None:
    frame = pytest.importorskip("polars").DataFrame({"area": ["Total", "a", "b", "c"], "n": [24, 3, 9, 12]})
    primary = [{"rule": "frequency", "min": least}]
    done = sf.protect(
        frame, value="n", dimensions={"area": {"column": "area"}}, primary=primary, output={"language": "de"}
    )
    parts = tuple(replace(own, part=replace(own.part, not_audited=(LEFT_OUT,))) for own in done.parts)
    linked = replace(done, parts=parts)
    assert bool(sum(part.suppressed.sum() for part in parts)) == (least > 2)
    assert linked.page(metrics(linked)).count("Nicht geprüft") == 1


def test_the_page_of_the_work_says_that_nothing_is_promised_of_what_nobody_attacked() -> None:
    frame = pytest.importorskip("polars").DataFrame({"area": ["Total", "a", "b", "c"], "n": [24, 3, 9, 12]})
    done = sf.protect(
        frame, value="n", dimensions={"area": {"column": "area"}}, primary=[{"rule": "frequency", "min": 9}]
    )
    words = words_in("de")
    assert outcome_sentences(done.report, words)[0] == (words["table_holds"], True)
    parts = tuple(replace(own, part=replace(own.part, not_audited=(LEFT_OUT,))) for own in done.parts)
    said = outcome_sentences(metrics(replace(done, parts=parts)), words)
    assert said[0] == (words["tabled.unattacked"], False)
    assert sum(text.startswith("Nicht geprüft") for text, _ in said) == 1
