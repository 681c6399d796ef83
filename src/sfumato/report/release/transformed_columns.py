"""Information loss of columns that are published rounded, top- or bottom-coded or in intervals."""

from collections.abc import Iterator, Mapping
from typing import Any

from sfumato.localization.messages import Messages
from sfumato.report.page.html_page import long_table, paragraph

HEAD = ("report.column", "report.values_before", "report.values_after", "coded.change", "coded.labeled")


def coded_columns(words: Messages, figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table of coded columns, if there are some, and how to read it."""
    columns = figures.get("coded_columns") or ()
    if columns:
        rows = [
            (one["column"], one["values"], one["left"], change(words, one), words.percent(one["labeled"]))
            for one in columns
        ]
        yield paragraph(words["coded.about"]) + long_table([words[key] for key in HEAD], rows, words)


def change(words: Messages, column: Mapping[str, Any]) -> str:
    """Return the mean change of a number, relative to the standard deviation."""
    if column["mean_change"] is None:
        return words["coded.no_number"]
    share = column["mean_change"] / column["deviation"] if column["deviation"] else 0.0
    return words["coded.mean"].format(change=words.amount(column["mean_change"]), share=words.percent(share))
