"""The result of a table on the page: cells with reasons, files to publish, and all methods next to each other."""

import asyncio
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from nicegui import ui

from sfumato.delimited.records import plain_cell, read_lines
from sfumato.localization.messages import Messages, from_json
from sfumato.report.tables.annex import outcome_sentences
from sfumato.report.tables.comparison import HEAD, cells, failures, size, verdict, way
from sfumato.service.jobs.plans import read_plan_text
from sfumato.service.jobs.store import Job, Kind
from sfumato.tables.table_result import TableRun, TableRuns
from sfumato.values import Value
from sfumato.web import components
from sfumato.web.components import annex_buttons
from sfumato.web.job_progress import Then, follow, start_job
from sfumato.web.projects.workspace import Workspace
from sfumato.web.tables.crosstabs import crosswise

SHOWN_ROWS = 500
ENDINGS = ("published", "lower", "upper", "case", "reason")


def show_outcome(folder: Path, words: Messages) -> None:
    """Show the result of a job, with each of its tables."""
    report = from_json((folder / "report.json").read_text(encoding="utf-8"))
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
    container = (
        ui.column().classes("w-full") if crossed is None else ui.expansion(words["cells_list"]).classes("w-full")
    )
    with container:
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


def show_comparison(folder: Path, words: Messages) -> None:
    """Show the comparison of a job."""
    runs = runs_of(folder / "compare.json")
    with components.card(words["ways.title"]):
        components.notice(verdict(runs, words), any(run.passed for run in runs.runs))
        ui.label(size(runs, words)).classes("sf-soft sf-small")
        ui.html(comparison_table(runs, words), sanitize=False).classes("sf-table sf-ways").props('tabindex="0"')
        for failure in failures(runs, words):
            components.notice(failure, good=None)
        if runs.redesign:
            ui.label(words["ways.coarser"]).classes("font-bold mt-2")
            lines = "".join(f"<li>{escape(words.text(one))}</li>" for one in runs.redesign)
            ui.html(f"<ul>{lines}</ul>", sanitize=False).classes("sf-prose")
        ui.label(words["ways.says"]).classes("sf-soft sf-small")
        report = components.button(words["download_report"], lambda: ui.download.file(folder / "compare.html"))
        report.props("outline").classes("self-start")


def runs_of(path: Path) -> TableRuns:
    """Return the comparison in a file."""
    record = from_json(path.read_text(encoding="utf-8"))
    runs = []
    for entry in record["runs"]:
        entry.pop("satisfied")
        runs.append(TableRun(**entry | {"attackers": tuple(entry["attackers"])}))
    return TableRuns(record["cells"], record["unsafe"], tuple(runs), tuple(record["redesign"]))


def comparison_table(runs: TableRuns, words: Messages) -> str:
    """Return a row for each method; those that satisfy the rules are marked, and each heading has a tooltip."""
    heads = "".join(
        f'<th scope="col"{components.help_of(words[f"tip.ways.{name}"])}>{escape(words[f"ways.{name}"])}</th>'
        for name in HEAD
    )
    lines = "".join(_comparison_row(run, words) for run in runs.runs)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def _comparison_row(run: TableRun, words: Messages) -> str:
    sign = "✓" if run.passed else "✗"
    kind = "good" if run.passed else "bad"
    told = escape(words["ways.holds" if run.passed else "ways.fails"])
    first = f'<th scope="row"><span class="{kind}" title="{told}">{sign}</span> {escape(way(words, run.method))}</th>'
    figures = "".join(f'<td class="number">{escape(cell)}</td>' for cell in cells(run, words)[1:])
    return f"<tr>{first}{figures}</tr>"


AREA = "tables"


class TableJob(Value):
    """The last job of the tables area: the job, its kind, and the entries at that time."""

    job: Job
    kind: Kind
    entered: Mapping[str, Any]


class TableResult:
    """The container of the last result, with the entries for it."""

    def __init__(
        self, workspace: Workspace, entered: Callable[[], Mapping[str, Any]], keep: Callable[[Path], Any]
    ) -> None:
        self._workspace, self._words = workspace, workspace.words
        self._entered, self._keep = entered, keep

    def build(self) -> None:
        """Build the container with the result from before the page was reloaded."""
        self._earlier = ui.column().classes("w-full").props('role="status"')
        self._container = ui.column().classes("w-full")

    async def start(self, kind: Kind, plan: dict[str, Any], files: dict[str, Path]) -> None:
        """Start a job in place of the previous one."""
        self._workspace.touch()
        self._container.clear()
        if (former := self._former()) is not None:
            await asyncio.to_thread(self._workspace.drop_job, former.job.id)
            del self._workspace.asked[AREA]
        job = await start_job(self._workspace, kind, plan, files)
        if job is not None:
            self._workspace.asked[AREA] = TableJob(job, kind, self._entered())
        self.show()

    def show(self) -> None:
        """Follow the last job, or show its result."""
        former = self._former()
        self.compare()
        if former is None or self._workspace.pool.store.find(former.job.id) is None:
            return
        then: Then = self._compared if former.kind == "compare-tables" else self._done
        with self._container:
            follow(self._workspace, former.job, then)

    def compare(self) -> None:
        """Show whether the result belongs to an earlier table or rule than the current ones."""
        former = self._former()
        self._earlier.clear()
        if former is not None and former.entered != self._entered():
            with self._earlier:
                components.notice(self._words["earlier_table"], good=None)

    def _former(self) -> TableJob | None:
        former: TableJob | None = self._workspace.asked.get(AREA)
        return former

    async def _done(self, job: Job) -> None:
        folder = self._workspace.output(job)
        with components.card():
            show_outcome(folder / "result", self._words)
            if (folder / "result" / "published.csv").exists() or not (folder / "result" / "table.csv").exists():
                keep = components.button(self._words["release_keep"], lambda: self._keep(folder / "result.zip"))
                keep.props("outline").classes("self-start")

    async def _compared(self, job: Job) -> None:
        show_comparison(self._workspace.output(job) / "result", self._words)
