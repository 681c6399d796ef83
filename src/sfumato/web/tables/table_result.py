"""The result of a table on the page: made by a job, restored when the page is reopened, marked when outdated."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from nicegui import ui

from sfumato.dataclass import dataclass
from sfumato.service.store.jobs import Job, Kind
from sfumato.web import components
from sfumato.web.job_progress import Then, follow, start_job
from sfumato.web.projects.workspace import Workspace
from sfumato.web.tables import method_comparison
from sfumato.web.tables.result_summary import show_outcome

AREA = "tables"


@dataclass(frozen=True, slots=True)
class TableJob:
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
        self._room = ui.column().classes("w-full")

    async def start(self, kind: Kind, plan: dict[str, Any], files: dict[str, Path]) -> None:
        """Start a job in place of the previous one."""
        self._workspace.touch()
        self._room.clear()
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
        with self._room:
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
        method_comparison.show(self._workspace.output(job) / "result", self._words)
