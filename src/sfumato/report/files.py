"""Report of a release of linked files: the guarantees for persons with all their rows, and the information loss."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from sfumato.localization.messages import Messages, words_in
from sfumato.microdata.plan.model import Plan
from sfumato.report.html_page import listing, page, paragraph, section, table, tiles


def html(plan: Plan, figures: Mapping[str, Any]) -> str:
    """Return the report as a page."""
    words = words_in(plan.language)
    persons = figures["persons"] - figures["suppressed_persons"]
    heads = [
        (f"{persons:,}", words["files.persons"]),
        (f"{figures['suppressed_persons']:,}", words["files.withheld"]),
        (f"{figures['classes']['smallest']:,}", words["files.smallest"]),
        (f"{figures['loss']['value']:.3f}", words["files.loss"]),
    ]
    promises = [(entry["model"], entry["requested"], entry["achieved"]) for entry in figures["models"]]
    files = [(name, entry["rows"], entry["published_rows"]) for name, entry in figures["files"].items()]
    lost = figures["loss"]["per_column"]
    levels = [(name, level, lost[name]) for name, level in figures["levels"].items()]
    parts = [
        f"<h1>{escape(words['files.title'])}</h1>",
        paragraph(words["files.says"]),
        paragraph(words["files.counted"].format(file=_top(figures))),
        tiles(heads),
        listing(map(words.text, figures["remarks"])) if figures["remarks"] else "",
        _section(words, "promises", ("model", "asked", "reached"), promises),
        _section(words, "files", ("file", "rows", "published"), files),
        _section(words, "columns", ("column", "level", "lost"), levels),
        paragraph(words["files.house"]),
    ]
    return page(words["files.title"], parts, plan.language)


def _section(words: Messages, title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    return section(words[f"files.{title}"], table([words[f"files.{name}"] for name in head], rows, words))


def _top(figures: Mapping[str, Any]) -> str:
    """Return the file in which each row is a person; it is the first, because parents precede their children."""
    return str(next(iter(figures["files"])))


def text(figures: Mapping[str, Any]) -> str:
    """Return the metrics in plain text."""
    lines = [
        f"{figures['persons'] - figures['suppressed_persons']:,} of {figures['persons']:,} persons published, "
        f"{figures['classes']['count']:,} groups of at least {figures['classes']['smallest']:,}",
        "  " + words_in()["files.counted"].format(file=_top(figures)),
        *(
            f"  {entry['model']}: requested {entry['requested']:g}, achieved {entry['achieved']:g}, "
            "with all rows of a person together"
            for entry in figures["models"]
        ),
        *(
            f"  {name}: {entry['published_rows']:,} of {entry['rows']:,} rows"
            for name, entry in figures["files"].items()
        ),
        *(f"  {name}: level {level}" for name, level in figures["levels"].items()),
        *(f"  Note: {remark}" for remark in figures["remarks"]),
    ]
    return "\n".join(lines) + "\n"
