"""The page after a release: files for publication, internal files, approval, and commands that repeat the release.

All documents of a release are in the language of its plan, whatever the language of the page is.
"""

import asyncio
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nicegui import ui

from sfumato.formats import PUBLISHED
from sfumato.localization.messages import from_json
from sfumato.pipelines.report_folder import read_annex
from sfumato.report.annex import ANNEX, markdown
from sfumato.report.checks import beside, verdict
from sfumato.schema.files import written
from sfumato.web import components
from sfumato.web.components import annex_buttons
from sfumato.web.forms import approval_fields
from sfumato.web.microdata.result.risk_view import RESULT
from sfumato.web.page_layout import LANGUAGE_NAMES, Area
from sfumato.web.projects.workspace import Run

PYTHON = """import sfumato as sf

release = sf.anonymize(None, "plan.yaml")
release.save("release")"""


class ReleaseStep:
    """The page that offers the files of a release, and asks who approves it and for which purpose."""

    def __init__(self, area: Area) -> None:
        self.area, self.workspace, self.words = area, area.workspace, area.workspace.words

    def build(self) -> None:
        words, run = self.words, self.workspace.run
        with components.head(words["release"], words["release_about"]):
            self.area.ways("result", None)
        if run is None or not (run.folder / "report.json").exists():
            with components.card():
                ui.label(words["no_result"])
                components.button(words["result"], lambda: self.area.go("result")).classes("self-start")
            return
        if self.workspace.outdated:
            components.notice(words["earlier"], good=None)
        self._attacked(run)
        with ui.element("div").classes("sf-halves"):
            self._outside(run)
            self._inside(run)
        self._sign_off()
        self._code(run)

    def _attacked(self, run: Run) -> None:
        """Warn before the download if an attack on this release was successful."""
        kept = run.folder / RESULT
        figures = from_json(kept.read_text(encoding="utf-8")) if kept.exists() else None
        if figures is not None and (figures["found"] or beside(figures)):
            components.notice(verdict(figures, self.words), good=False if figures["found"] else None)

    def _outside(self, run: Run) -> None:
        words = self.words
        data = next(path for path in run.folder.iterdir() if path.name in PUBLISHED)
        with components.card(words["box_out"], "sf-box-out"):
            ui.label(words["box_out_hint"]).classes("sf-soft sf-small")
            with ui.row():
                self._file("download_data", data)
                self._file("download_external", run.folder / "report-external.html")

    def _inside(self, run: Run) -> None:
        words = self.words
        with components.card(words["box_in"], "sf-box-in"):
            ui.label(words["box_in_hint"]).classes("sf-small")
            with ui.row():
                components.button(words["see_report"], lambda: self._read(run)).props("outline")
                self._file("download_report", run.folder / "report.html", "outline")
                annex_buttons(run.folder, words)
                self._button("download_plan", lambda: self._plan_file(run)).props("outline")
                self._button("download_all", lambda: self._everything(run)).props("outline")
                for name, path in self.workspace.files(run.plan).items():
                    if name in self.workspace.extra:
                        components.button(name, lambda path=path: ui.download.file(path)).props("outline")

    def _file(self, key: str, path: Path, look: str = "") -> None:
        self._button(key, lambda: ui.download.file(path)).props(look)

    def _button(self, key: str, run: Callable[[], Any]) -> Any:
        return components.with_tooltip(components.button(self.words[key], run), self.words[f"tip.{key}"])

    def _plan_file(self, run: Run) -> None:
        ui.download.content(written(run.plan), "plan.yaml")

    async def _everything(self, run: Run) -> None:
        """Download all files of the release with the annex, which is not part of its folder."""
        annex = markdown(read_annex(run.folder))
        packed = await asyncio.to_thread(with_annex, run.folder.parent / "result.zip", annex)
        ui.download.file(packed)

    def _read(self, run: Run) -> None:
        """Show the report in a frame that can neither run scripts nor load anything."""
        with ui.dialog().props("maximized") as dialog, ui.card().classes("w-full"):
            components.button(self.words["close"], dialog.close).props("flat")
            frame = ui.element("iframe").classes("sf-report").props('sandbox=""')
            frame.props["title"] = self.words["see_report"]
            frame.props["srcdoc"] = (run.folder / "report.html").read_text(encoding="utf-8")
        dialog.open()

    def _sign_off(self) -> None:
        """Build the fields for the approval; the reports of the next run show it."""
        words, plan = self.words, self.workspace.plan

        def note(stated: dict[str, str]) -> None:
            plan.pop("release", None)
            if stated:
                plan["release"] = stated
            self.workspace.touch()

        def speak(language: str) -> None:
            plan["language"] = language
            self.workspace.touch()

        with components.card(words["sign_off"]):
            ui.label(words["sign_off_hint"]).classes("sf-soft sf-small")
            with ui.element("div").classes("sf-fields"):
                approval_fields(words, plan.get("release") or {}, note)
                ui.select(
                    LANGUAGE_NAMES,
                    label=words["report_language"],
                    value=plan.get("language", "en"),
                    on_change=lambda event: speak(event.value),
                )
            components.button(words["sign_off_run"], self._again).props("outline").classes("self-start")

    def _again(self) -> None:
        self.workspace.touch()
        self.area.go("result")

    def _code(self, run: Run) -> None:
        words = self.words
        with components.card(words["same"]):
            components.code("sfumato anonymize plan.yaml --out release", words)
            ui.label(words["same_python"]).classes("sf-title")
            components.code(PYTHON, words)
            components.code(written(run.plan), words)


def with_annex(archive: Path, annex: str) -> Path:
    """Return a copy of an archive that includes the annex, next to the archive."""
    copy = archive.with_name("everything.zip")
    shutil.copyfile(archive, copy)
    with zipfile.ZipFile(copy, "a", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(ANNEX, annex)
    return copy
