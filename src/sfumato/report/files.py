"""The report of a release of several files: what is promised of persons with all their rows, and what it cost."""

from collections.abc import Mapping
from html import escape
from typing import Any

from sfumato.microdata.plan.model import Plan
from sfumato.report.page.html_parts import page, paragraph, section, table, tiles
from sfumato.texts.words import words_in


def html(plan: Plan, figures: Mapping[str, Any]) -> str:
    """The report as a page."""
    words = words_in(plan.language)
    persons = figures["persons"] - figures["withheld_persons"]
    heads = [
        (words["files.persons"], f"{persons:,}"),
        (words["files.withheld"], f"{figures['withheld_persons']:,}"),
        (words["files.smallest"], f"{figures['classes']['smallest']:,}"),
        (words["files.loss"], f"{figures['loss']['value']:.3f}"),
    ]
    promises = [
        (entry["model"], f"{entry['asked']:g}", f"{entry['reached']:g}") for entry in figures["models"]
    ]
    files = [
        (name, f"{entry['rows']:,}", f"{entry['published_rows']:,}") for name, entry in figures["files"].items()
    ]
    levels = [
        (name, str(level), f"{figures['loss']['per_column'][name]:.3f}") for name, level in figures["levels"].items()
    ]
    parts = [
        paragraph(escape(words["files.says"])),
        tiles(heads),
        section(words["files.promises"], table((words["files.model"], words["files.asked"], words["files.reached"]), promises)),
        section(words["files.files"], table((words["files.file"], words["files.rows"], words["files.published"]), files)),
        section(words["files.columns"], table((words["files.column"], words["files.level"], words["files.lost"]), levels)),
        paragraph(escape(words["files.house"])),
    ]
    return page(words["files.title"], "".join(parts))


def text(figures: Mapping[str, Any]) -> str:
    """The figures in plain text."""
    lines = [
        f"{figures['persons'] - figures['withheld_persons']:,} of {figures['persons']:,} persons published, "
        f"{figures['classes']['count']:,} groups of at least {figures['classes']['smallest']:,}",
        *(
            f"  {entry['model']}: asked {entry['asked']:g}, reached {entry['reached']:g}, with all rows together"
            for entry in figures["models"]
        ),
        *(f"  {name}: {entry['published_rows']:,} of {entry['rows']:,} rows" for name, entry in figures["files"].items()),
        *(f"  {name}: level {level}" for name, level in figures["levels"].items()),
    ]
    return "\n".join(lines) + "\n"
