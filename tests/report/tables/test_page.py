"""The page on a table: its figures are written as the language does, its codes as the file does."""

from sfumato.report.tables.page import published
from sfumato.tables.cells.columns import Columns
from sfumato.texts.words import words_in


def test_figures_have_the_decimal_mark_of_the_language_and_codes_have_not() -> None:
    table = Columns({"Branche": ("1.1", "1.2"), "Wert": ("1104.5", "x"), "von": ("", "0.1"), "bis": ("", "26.4")})
    german, english = (
        "".join(published(words_in(language), table, ["Wert", "von", "bis"])) for language in ("de", "en")
    )
    assert all(f">{text}<" in german for text in ("1.1", "1.2", "1104,5", "0,1", "26,4", "x"))
    assert all(f">{text}<" in english for text in ("1.1", "1104.5", "0.1"))
