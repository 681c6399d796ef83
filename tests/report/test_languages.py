"""Comparison, risk and tables are told in the language of their plan, and no English is left on a German page."""

import re

import pytest

from sfumato.localization.messages import Message
from sfumato.microdata.release_report import ComparisonRun, Runs
from sfumato.pipelines.risk import risk
from sfumato.pipelines.tables.protect import protect
from sfumato.report import compare
from sfumato.report.risk import page_of
from sfumato.report.tables import comparison as table_comparison
from sfumato.tables.table_result import TableRun, TableRuns

ENGLISH = re.compile(r"\b(the|rows|with|which|of|is|are|and)\b")
ROWS = {"sex": ["m", "f", "f", "f"], "age": ["30", "40", "40", "50"]}
TABLE = {"area": ["Total", "a", "b", "c"], "n": [24, 2, 9, 13]}


def shown(page: str) -> str:
    """What a reader sees of a page."""
    return re.sub(r"<style.*?</style>|<svg.*?</svg>|<[^>]+>", " ", page, flags=re.S)


def compared(language: str) -> str:
    cells = (
        ComparisonRun("local", 5, 0.0, 0.2, 0, 4, 5, 9, 0.2, 0.1, False, 0.1),
        ComparisonRun("optimal", 5, 0.0, error="x", code="y"),
    )
    return compare.html(Runs(20, ("age",), ("local", "optimal"), (5,), (0.0,), cells, language))


def surveyed(language: str) -> str:
    return page_of(risk(_frame(), ["sex", "age"], population_size=100), language)


def table(language: str) -> str:
    dimensions = {"area": {"column": "area", "total": "Total"}}
    primary = [{"rule": "range", "min": 1, "max": 3}]
    return str(
        protect(_frame(TABLE), value="n", dimensions=dimensions, primary=primary, language=language)._repr_html_()
    )


def changed(language: str) -> str:
    dimensions = {"area": {"column": "area", "total": "Total"}}
    method = {"name": "rounding", "base": 3}
    return str(protect(_frame(TABLE), value="n", dimensions=dimensions, method=method, language=language)._repr_html_())


def ways(language: str) -> str:
    runs = (
        TableRun("optimal", masked=4, value_lost=0.2),
        TableRun("controlled rounding to 3", changed=7, mean_change=0.8),
        TableRun("cell-key", error=Message("verbatim", text="x")),
    )
    merge = Message("reason.redesign_merge", dimension="size", one="3", other="4")
    close = Message("reason.redesign_close", dimension="area", one="b")
    proposals = (
        Message("reason.redesign", change=merge, masked=1200, before=2000),
        Message("reason.redesign", change=close, masked=1, before=2),
    )
    return table_comparison.html(TableRuns(20, 3, runs, proposals, language))


def _frame(columns=ROWS):
    polars = pytest.importorskip("polars")
    return polars.DataFrame(columns)


@pytest.mark.parametrize(
    ("made", "english", "german"),
    [
        (compared, "Method comparison", "Verfahrensvergleich"),
        (surveyed, "Re-identification risk", "Re-Identifikationsrisiko"),
        (table, "Protected table", "Geschützte Tabelle"),
        (changed, "Perturbed table", "Veränderte Tabelle"),
        (ways, "Methods to protect a table", "Verfahren zum Schutz einer Tabelle"),
    ],
)
def test_pages_speak_the_language_of_the_plan(made, english, german) -> None:
    assert english in made("en")
    page = made("de")
    assert german in page
    assert 'lang="de"' in page
    assert not ENGLISH.search(shown(page))
