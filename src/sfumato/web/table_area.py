"""The area of tables: paste or upload cells, say what is unsafe, and see what is masked, why, and that it holds."""

import asyncio
import csv
import io
import json
from pathlib import Path
from typing import Any

from nicegui import events, ui

from sfumato.errors import SfumatoError
from sfumato.service.jobs_store import Job
from sfumato.service.problems import RefusedError
from sfumato.web import looks
from sfumato.web.following import follow
from sfumato.web.visit import Visit

EXAMPLE = """area,sex,count
Total,Total,104
Total,m,50
Total,f,54
north,Total,26
north,m,2
north,f,24
south,Total,41
south,m,18
south,f,23
west,Total,37
west,m,30
west,f,7
"""
SHOWN_ROWS = 500
MOST_BYTES = 5_000_000
CELLS = "cells.csv"


def build(visit: Visit) -> None:
    """The area for a visit."""
    _TableArea(visit).build()


class _TableArea:
    def __init__(self, visit: Visit) -> None:
        self.visit = visit

    def build(self) -> None:
        words = self.visit.words
        ui.label(words["tables_intro"]).classes("sf-soft")
        self._text = ui.textarea(words["paste"], value=EXAMPLE, on_change=lambda _: self._read())
        self._text.props("outlined rows=10 debounce=300").classes("w-full font-mono")
        ui.upload(
            label=words["upload_table"],
            auto_upload=True,
            max_files=1,
            max_file_size=5_000_000,
            on_upload=self._uploaded,
        )
        self._value = ui.select([], label=words["value_column"]).classes("w-full")
        self._dimensions = ui.select([], multiple=True, label=words["dimension_columns"]).classes("w-full")
        self._levels = ui.select([], multiple=True, label=words["level_columns"]).classes("w-full")
        self._most = ui.number(f"{words['rule']}: {words['rule_range']}", value=3, min=1, precision=0)
        ui.label(words["rule_hint"]).classes("sf-soft")
        looks.button(words["protect"], self._run)
        self._room = ui.column().classes("w-full")
        self._read()

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        self._text.value = (await event.file.read()).decode("utf-8-sig", "replace")

    def _separator(self) -> str:
        head = str(self._text.value or "").partition("\n")[0]
        return max(",;\t|", key=head.count)

    def _read(self) -> None:
        """Offer the columns of the table at hand."""
        self.visit.touch()
        head = next(csv.reader(io.StringIO(str(self._text.value or "")), delimiter=self._separator()), [])
        names = [name for name in head if name]
        for field, value in ((self._value, names[-1] if names else None), (self._dimensions, names[:-1])):
            field.set_options(names, value=value)
        self._levels.set_options(names, value=[])

    def _plan(self) -> dict[str, Any]:
        levels = list(self._levels.value or [])
        single = [name for name in self._dimensions.value or [] if name not in levels]
        dimensions: dict[str, Any] = {name: {"column": name} for name in single}
        if levels:
            dimensions["levels"] = {"levels": levels}
        return {
            "version": 1,
            "table": {"source": CELLS, "value": self._value.value, "separator": self._separator()},
            "dimensions": dimensions,
            "primary": [{"rule": "range", "min": 1, "max": int(self._most.value or 1)}],
            "method": {"name": "optimal"},
        }

    async def _run(self) -> None:
        self.visit.touch()
        self._room.clear()
        path = self.visit.place(CELLS)
        path.write_text(str(self._text.value or "").strip() + "\n", encoding="utf-8")
        await asyncio.to_thread(self.visit.drop_jobs)
        try:
            job = await asyncio.to_thread(self.visit.submit, "protect", self._plan(), {CELLS: path})
        except (SfumatoError, RefusedError) as error:
            looks.alarm(looks.told(error))
            return
        with self._room:
            follow(self.visit, job, self._done)

    async def _done(self, job: Job) -> None:
        words = self.visit.words
        folder = self.visit.output(job) / "result"
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        audit = report["audit"]
        with ui.card().classes("sf-card"):
            text = words["masked"].format(masked=f"{report['masked']:,}", cells=f"{report['cells']:,}")
            ui.label(text).classes("text-lg font-bold").props('role="status"')
            ui.label(words["audit"].format(checked=audit["checked"], exact=audit["exact"], narrow=audit["too_narrow"]))
            _show_cells(folder / "published.csv")
            with ui.row():
                looks.button(words["download_data"], lambda: ui.download.file(folder / "published.csv"))
                looks.button(words["download_report"], lambda: ui.download.file(folder / "report.html"))


def _show_cells(path: Path) -> None:
    """The published table, masked cells marked with why."""
    with path.open(encoding="utf-8", newline="") as stream:
        lines = list(csv.reader(stream))
    head = lines[0]
    case = next(place for place, name in enumerate(head) if name.endswith("_case"))
    rows = ([(text, "masked" if line[case] else "") for text in line] for line in lines[1 : SHOWN_ROWS + 1])
    looks.table(head, rows)
