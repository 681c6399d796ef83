"""The outcome for tables on the page: audit result, suppressed or changed cells with reasons, files to publish."""

import json
from pathlib import Path

from nicegui import ui

from sfumato.delimited.records import plain_cell, read_lines
from sfumato.localization.messages import Messages
from sfumato.report.tables.annex import outcome_sentences
from sfumato.service.jobs.plans import read_plan_text
from sfumato.web import components
from sfumato.web.annex_download import annex_buttons
from sfumato.web.tables.crosstab import crosswise

SHOWN_ROWS = 500
ENDINGS = ("published", "lower", "upper", "case", "reason")


def show_outcome(folder: Path, words: Messages) -> None:
    """Show the result of a job, with each of its tables."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    verdict, *further = outcome_sentences(report, words)
    components.notice(*verdict)
    for text, good in further:
        components.notice(text, good) if good is not None else ui.label(text)
    for own in table_folders(folder):
        if own != folder:
            ui.label(own.name).classes("font-bold mt-2")
        show_cells(own, words)
        _show_files(own, words, folder if own == folder else None)
    if not (folder / "table.csv").exists():
        with components.card(words["tables_documents"], "sf-box-in"), ui.row():
            _show_documents(folder, words)


def table_folders(folder: Path) -> list[Path]:
    """Return the folders of the tables of a release: itself, or one for each."""
    if (folder / "table.csv").exists():
        return [folder]
    return sorted(path.parent for path in folder.glob("*/table.csv"))


def _show_files(folder: Path, words: Messages, release: Path | None) -> None:
    """Show the files for publication and the internal files in two separate boxes.

    Args:
        release: The folder of its release; None if it is one of several tables, which are signed jointly.
    """
    external = folder / "table-external.csv"  # it exists only if the audit passed
    with ui.element("div").classes("sf-halves"):
        with components.card(words["box_out"], "sf-box-out"):
            ui.label(words["hand_out"]).classes("sf-soft sf-small")
            with ui.row():
                if external.exists():
                    components.button(words["download_data"], lambda: ui.download.file(external))
                    page = folder / "report-external.html"
                    components.button(words["download_external"], lambda: ui.download.file(page))
        with components.card(words["box_in"], "sf-box-in"):
            ui.label(words["table_stays"]).classes("sf-small")
            with ui.row():
                if release is not None:
                    _show_documents(release, words)
                table = components.button(words["download_table"], lambda: ui.download.file(folder / "table.csv"))
                table.props("outline")


def _show_documents(release: Path, words: Messages) -> None:
    """Show the documents of a release: the report to sign, the annex, and the plan."""
    house = components.button(words["download_table_house"], lambda: ui.download.file(release / "report.html"))
    components.with_tooltip(house.props("outline"), words["tip.download_table_house"])
    annex_buttons(release, words)
    components.button(words["download_plan"], lambda: ui.download.file(release / "plan.yaml")).props("outline")


def show_cells(folder: Path, words: Messages) -> None:
    """Show the published table; suppressed or changed cells are marked with the reason."""
    masked = folder / "published.csv"
    lines = _plain_lines(masked) if masked.exists() else changed_lines(folder, words)
    first = len(lines[0]) - len(ENDINGS)
    head = [*lines[0][:first], *(words[f"cell.{ending}"] for ending in ENDINGS)]
    case = first + ENDINGS.index("case")
    shown = [[*line[:first], *map(words.value, line[first:case]), *line[case:]] for line in lines[1 : SHOWN_ROWS + 1]]
    crossed = crosswise(head, shown, case, case + 1)
    if crossed is not None:
        ui.label(words["crosstab_view"]).classes("sf-soft sf-small")
        ui.html(crossed, sanitize=False).classes("sf-table sf-crosstab").props('tabindex="0"')
    cells = [[*line[:case], words.get(f"case.{line[case]}", line[case]), *line[case + 1 :]] for line in shown]
    room = ui.column().classes("w-full") if crossed is None else ui.expansion(words["cells_list"]).classes("w-full")
    with room:
        components.table(head, ([(text, "masked" if line[case] else "") for text in line] for line in cells))
        if len(lines) - 1 > SHOWN_ROWS:
            ui.label(words["more_cells"].format(count=words.count(len(lines) - 1 - SHOWN_ROWS)))


def _plain_lines(path: Path) -> list[list[str]]:
    """Return the lines of one of our files, without the quotes for spreadsheets."""
    return [[*map(plain_cell, line.fields)] for line in read_lines(path)]


def changed_lines(folder: Path, words: Messages) -> list[list[str]]:
    """Return a perturbed table in the layout of one with suppressed cells: changed cells have a case and a reason."""
    head, *rows = _plain_lines(folder / "table.csv")
    codes = _plain_lines(folder / "table-external.csv")[0][:-1]
    value = str(read_plan_text((folder / "plan.yaml").read_text(encoding="utf-8"))["table"]["value"])
    lines = [[*codes, *ENDINGS]]
    for row in rows:
        true, (published, low, high) = row[head.index(value)], row[-3:]
        why = ["changed", words["cell.changed_from"].format(value=words.value(true))] if published != true else ["", ""]
        lines.append([*(row[head.index(code)] for code in codes), published, low, high, *why])
    return lines
