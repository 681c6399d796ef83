"""The data step: upload a file or choose an example, choose how it is read; show its first rows."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

from nicegui import events, ui

from sfumato.engines.workbooks.sheets import sheet_names
from sfumato.errors import SfumatoError
from sfumato.formats import EXCEL, UPLOADS, format_named
from sfumato.localization.messages import DEFAULT, Messages
from sfumato.microdata.data_plan import DataPlan
from sfumato.pipelines.plan_suggestion.file_checks import likely_encoding
from sfumato.service.problems import RefusedError
from sfumato.service.workers.messages import CancelledWorkError
from sfumato.web import components
from sfumato.web.job_progress import watched
from sfumato.web.microdata.columns_table import ColumnsTable
from sfumato.web.microdata.project_card import ProjectCard
from sfumato.web.page_layout import Area
from sfumato.web.projects.loaded_data import READING, Loaded, is_text, load

# The most frequent encodings of texts that are not UTF-8; number of characters examined.
ENCODINGS = ("cp1252", "latin-1", "cp1250", "iso8859-2", "cp1251", "cp1253", "cp1254")
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
DECIMALS = {".": "point", ",": "comma"}
Reading = dict[str, Any]


def reading_fields(words: Messages, loaded: Loaded, take: Callable[[Reading], Any]) -> None:
    """Build the fields for a loaded file; `take` gets the settings with each change."""
    form, read = format_named(loaded.path), loaded.read
    said = said_of(read)

    def change(key: str, value: Any) -> Any:
        return take({name: entry for name, entry in {**said, key: value}.items() if entry not in (None, "")})

    with ui.element("div").classes("sf-reading"):
        if len(loaded.sheets) > 1:
            choose_sheet(words, loaded.sheets, read.table, take)
        if form is not None and form.delimited:
            _choice(words, "separator", SEPARATORS, read.separator or "", change, detects=True)
            _choice(words, "decimal_mark", DECIMALS, read.decimal, lambda _, sign: change("decimal", sign))
            names = {name: name for name in ("utf-8", "utf-16", *ENCODINGS)}
            _choice(words, "encoding", names, read.encoding, change)
        if form is not None and form.headed:
            switch = components.held(ui.switch(words["header.data"], value=read.header is False)).props("dense")
            components.with_tooltip(switch, words["tip.header"])
            switch.on_value_change(lambda event: change("header", False if event.value else None))


def said_of(read: DataPlan) -> Reading:
    """Return the settings for reading a file that differ from the defaults."""
    usual = DataPlan()
    entries = {key: getattr(read, key) for key in READING}
    return {key: value for key, value in entries.items() if value != getattr(usual, key)}


def choose_sheet(words: Messages, names: Sequence[str], own: str | None, take: Callable[[Reading], Any]) -> None:
    """Build the field for the sheet of a workbook; the settings of another sheet do not apply to it."""
    field = ui.select([*names], label=words["sheet"], value=own)
    field.on_value_change(lambda event: take({"table": event.value}))
    components.with_tooltip(field.props("dense outlined options-dense"), words["tip.sheet"])


def _choice(
    words: Messages,
    key: str,
    names: dict[str, str],
    value: str,
    change: Callable[[str, str], Any],
    detects: bool = False,
) -> None:
    options = {"": words["found_out"]} if detects else {}
    options |= {sign: words[f"{key}.{name}"] for sign, name in names.items()}
    field = ui.select(options, label=words[key], value=value if value in options else None)
    field.on_value_change(lambda event: change(key, event.value)).props("dense outlined options-dense")
    components.with_tooltip(field, words[f"tip.{key}"])


EXAMPLES = {"patients": "patients.csv", "census": "census.csv", "stroke": "stroke.csv", "eight-rows": "eight-rows.csv"}
# Limits of the preview: columns shown in all, and those drawn first.
MOST_COLUMNS, FIRST_COLUMNS = 80, 16


class DataStep:
    """The step in which data is uploaded, chosen and displayed."""

    def __init__(self, area: Area) -> None:
        self.area, self.workspace = area, area.workspace
        self._preview: Any = None

    def build(self) -> None:
        words = self.workspace.words
        with components.head(words["data"], words["data_about"]):
            self.area.ways(None, "columns" if self.workspace.loaded else None)
        with components.card():
            most = self.workspace.pool.settings.upload_bytes
            components.upload(words["drop"], self._uploaded, most, words, UPLOADS)
            with ui.row().classes("items-center"):
                ui.label(words["example"]).classes("sf-soft")
                for name in EXAMPLES:
                    components.button(name, lambda name=name: self._example(name)).props("outline dense")
        self._shown = ui.column().classes("w-full")
        if self.workspace.loaded:
            self._show(self.workspace.loaded, FIRST_COLUMNS)
        self._below = ui.column().classes("w-full")
        if self.workspace.loaded:
            components.when_seen(self._below, self._complete)
        else:
            self._build_project()

    async def _complete(self) -> None:
        """Add what was not visible at first, and prepare the drawings of the next step."""
        self._build_project()
        loaded = self.workspace.loaded
        if loaded is None or self._preview is None:
            return
        if len(loaded.columns) > FIRST_COLUMNS and not self._preview.is_deleted:
            self._preview.set_content(self._first_rows(loaded, MOST_COLUMNS))
        await asyncio.to_thread(ColumnsTable(self.workspace).draw_ahead)

    def _build_project(self) -> None:
        with self._below:
            ProjectCard(self.area).build()

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        with self.workspace.working():
            target = await asyncio.to_thread(self.workspace.waiting_place, event.file.name)
            await event.file.save(target)
            await self._load(target, {})

    async def _example(self, name: str) -> None:
        from sfumato.datasets import DATASETS

        with self.workspace.working():
            target = await asyncio.to_thread(self.workspace.waiting_place, EXAMPLES[name])
            dataset = DATASETS[name]()
            await asyncio.to_thread(dataset.write, target)
            await self._load(target, {}, dataset.plan(target.name, min(5, dataset.rows // 2)))

    async def _load(self, path: Path, reading: Reading, example: dict[str, Any] | None = None) -> None:
        self.workspace.touch()
        self._shown.clear()
        try:
            with self._shown:
                loaded = await watched(self.workspace, self.workspace.words["reading"], load, path, reading)
        except CancelledWorkError:
            ui.notify(self.workspace.words["reading_cancelled"].format(name=path.name))
            await self._keep()
            return
        except (SfumatoError, RefusedError) as error:
            if error.code == "data.encoding" and is_text(path):
                self._ask_for_encoding(path, reading)
                return
            if error.code == "plan.header":
                self._ask_for_header(path, reading)
                return
            why = components.error_text(error, self.workspace.words)
            if path.parent == self.workspace.waiting and len(sheets := await self._sheets(path)) > 1:
                words, sheet = self.workspace.words, reading.get("table")
                # The other sheets are offered; the file waits for the choice.
                self._refuse(
                    path.name, why, lambda: choose_sheet(words, sheets, sheet, lambda own: self._load(path, own))
                )
                return
            await asyncio.to_thread(self.workspace.drop_waiting)
            self._refuse(path.name, why)
            return
        plan = example_plan(loaded.suggested, example) if example else loaded.suggested
        language = self.workspace.words.language  # of the reports, too
        spoken = plan if language == DEFAULT else {**plan, "language": language}
        if self.workspace.has_work and path.parent == self.workspace.waiting:
            self._ask_for_consent(loaded, spoken)
        else:
            await self._take(loaded, spoken)

    async def _take(self, loaded: Loaded, plan: dict[str, Any]) -> None:
        with self.workspace.working():
            await asyncio.to_thread(self.workspace.take, loaded, plan)
        self.area.refresh()

    async def _keep(self) -> None:
        await asyncio.to_thread(self.workspace.drop_waiting)
        self.area.refresh()

    async def _sheets(self, path: Path) -> tuple[str, ...]:
        """Return the sheets of a workbook; empty for another file."""
        if format_named(path) is not EXCEL:
            return ()
        try:
            return await self.workspace.aside(sheet_names, path)
        except (SfumatoError, RefusedError):
            return ()

    @contextmanager
    def _alert(self) -> Iterator[None]:
        """Show a question or an error in place of the data."""
        with components.refilled(self._shown), ui.element("div").classes("sf-card").props('role="alert"'):
            yield

    def _refuse(self, name: str, why: str, offer: Callable[[], None] | None = None) -> None:
        """Show what is wrong with a file, with a remedy if there is one, above the current data, which stays."""
        words, loaded = self.workspace.words, self.workspace.loaded
        with self._alert():
            ui.label(f"{words['failed']}: {name}").classes("font-bold text-negative")
            ui.label(why)
            if offer is not None:
                offer()
            if loaded is not None:
                ui.label(words["data_stay"].format(name=loaded.path.name))
        if loaded is not None:
            self._show(loaded)

    def _ask_for_consent(self, loaded: Loaded, plan: dict[str, Any]) -> None:
        """Keep the data waiting until the visitor agrees to discard the current work."""
        words = self.workspace.words
        with self._alert():
            ui.label(words["replace.asked"].format(name=loaded.path.name))
            with ui.row():
                components.button(words["replace.keep"], self._keep)
                components.button(words["replace.take"], lambda: self._take(loaded, plan)).props("outline")

    def _ask_for_encoding(self, path: Path, reading: Reading) -> None:
        """Keep the file waiting until the visitor has chosen its encoding."""
        words, tried, likely = self.workspace.words, reading.get("encoding"), likely_encoding(path)
        first = () if likely is None else (likely,)
        names = {name: words.get(f"encoding.{name}", name.upper()) for name in dict.fromkeys((*first, *ENCODINGS))}
        with self._alert():
            ui.label(words["wrong_encoding"].format(tried=words.get(f"encoding.{tried}", "UTF-8")))
            if likely in names and likely != tried:
                ui.label(words["likely_encoding"].format(name=names[likely]))
            ui.select(
                names,
                label=words["encoding"],
                on_change=lambda event: self._load(path, {**reading, "encoding": event.value}),
            ).classes("w-full")

    def _ask_for_header(self, path: Path, reading: Reading) -> None:
        """Keep the file waiting until the visitor has said whether its first line has names or data."""
        words = self.workspace.words
        with self._alert():
            ui.label(words["header.asked"])
            with ui.row():
                for key, there, look in (("header.data", False, ""), ("header.names", True, "outline")):
                    told = {**reading, "header": there}
                    components.button(words[key], lambda told=told: self._load(path, told)).props(look)

    def _show(self, loaded: Loaded, most: int = MOST_COLUMNS) -> None:
        words = self.workspace.words
        size = words["loaded"].format(rows=words.count(loaded.rows), columns=len(loaded.columns))
        with self._shown, components.card(f"{loaded.path.name}: {size}"):
            for note in loaded.notes:
                components.notice(words.text(note), good=None)
            reading_fields(words, loaded, lambda reading: self._load(loaded.path, reading))
            ui.label(words["preview"]).classes("sf-soft sf-small")
            self._preview = components.framed_table(self._first_rows(loaded, most))
            if (more := len(loaded.columns) - MOST_COLUMNS) > 0:
                ui.label(words["more_columns"].format(count=words.count(more))).classes("sf-soft sf-small")

    def _first_rows(self, loaded: Loaded, most: int) -> str:
        """Return the first rows of the data with some of their columns."""
        names, words = [column.name for column in loaded.columns[:most]], self.workspace.words
        lines = ([(loaded.shown(name, row[name] or "", words), "") for name in names] for row in loaded.preview)
        return components.table_content([(name, None) for name in names], lines)


def example_plan(suggested: dict[str, Any], example: dict[str, Any]) -> dict[str, Any]:
    """Return the suggestion for an example, with the hierarchies that come with it and a feasible k."""
    plan = deepcopy(suggested)
    for name, column in plan["columns"].items():
        own = example["columns"][name].get("hierarchy", {})
        if column["role"] == "quasi-identifier" and own.get("type") == "tree":
            column["hierarchy"] = own
    for entry in plan["privacy"]:
        if "k" in entry:
            entry["k"] = min(entry["k"], example["privacy"][0]["k"])
    return plan
