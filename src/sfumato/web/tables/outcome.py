"""What came of tables, on the page: whether it holds, what is masked and why, and what may be handed out."""

import json
from pathlib import Path
from typing import Any

from nicegui import ui

from sfumato.delimited.lines import read_lines
from sfumato.texts.words import Words
from sfumato.web import components
from sfumato.web.tables.crosstab import crosswise

SHOWN_ROWS = 500
ENDINGS = ("published", "lower", "upper", "case", "reason")


def show_outcome(folder: Path, words: Words) -> None:
    """The outcome of a job, with each of its tables."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    for text, good in outcome_sentences(report, words):
        components.notice(text, good) if good is not None else ui.label(text)
    for own in table_folders(folder):
        if own != folder:
            ui.label(own.name).classes("font-bold mt-2")
        show_cells(own / "published.csv", words)
        _show_files(own, words)
    ui.label(words["hand_out"]).classes("sf-soft")


def table_folders(folder: Path) -> list[Path]:
    """The folders of the tables of a release: itself, or one for each."""
    if (folder / "published.csv").exists():
        return [folder]
    return sorted(path.parent for path in folder.glob("*/published.csv"))


def _show_files(folder: Path, words: Words) -> None:
    external = folder / "table-external.csv"  # there only where the audit passed
    with ui.row():
        if external.exists():
            components.button(words["download_data"], lambda: ui.download.file(external))
        components.button(words["download_table_report"], lambda: ui.download.file(folder / "report.html"))
        components.button(words["download_plan"], lambda: ui.download.file(folder / "plan.yaml"))


def outcome_sentences(report: dict[str, Any], words: Words) -> list[tuple[str, bool | None]]:
    """What came of a table, in sentences, each good, bad or neither."""
    audit = {key: words.count(count) for key, count in report["audit"].items()}
    counts = {key: words.count(report[key]) for key in ("masked", "cells", "primary", "secondary")}
    proved = (
        "table_proved" if report["proved_optimal"] else "table_gap" if report["gap"] is not None else "table_unproved"
    )
    gap = words.figure(f"{100 * (report['gap'] or 0):.1f}")
    return [
        (words["table_holds" if report["holds"] else "table_leaks"], bool(report["holds"])),
        (words["masked"].format(**counts), None),
        (words["audit"].format(checked=audit["checked"], exact=audit["exact"], narrow=audit["too_narrow"]), None),
        (words[proved].format(gap=gap), None),
    ]


def show_cells(path: Path, words: Words) -> None:
    """The published table, masked cells marked with why."""
    lines = [line.fields for line in read_lines(path)]
    first = len(lines[0]) - len(ENDINGS)
    head = [*lines[0][:first], *(words[f"cell.{ending}"] for ending in ENDINGS)]
    case, shown = first + ENDINGS.index("case"), lines[1 : SHOWN_ROWS + 1]
    cells = [[*line[:case], words.get(f"case.{line[case]}", line[case]), *line[case + 1 :]] for line in shown]
    crossed = crosswise(head, shown, case, case + 1)
    if crossed is not None:
        ui.label(words["crosstab_view"]).classes("sf-soft sf-small")
        ui.html(crossed, sanitize=False).classes("sf-table sf-crosstab").props('tabindex="0"')
    components.table(head, ([(text, "masked" if line[case] else "") for text in line] for line in cells))
    if len(lines) - 1 > SHOWN_ROWS:
        ui.label(words["more_cells"].format(count=words.count(len(lines) - 1 - SHOWN_ROWS)))
