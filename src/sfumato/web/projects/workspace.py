"""A workspace: the project of one browser with its data, plan, earlier plans and runs."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar, cast

from sfumato.formats import UPLOADS
from sfumato.localization.messages import Messages, words_in
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.plan.model import Plan as ResolvedPlan
from sfumato.service.jobs.folders import erase
from sfumato.service.jobs.plans import check_paths, with_quoted_formulas
from sfumato.service.jobs.pool import Pool
from sfumato.service.jobs.requests import NAME, JobRequest
from sfumato.service.jobs.routes import submit
from sfumato.service.jobs.store import Job, Kind, new_id
from sfumato.service.workers.fork_server import CallHandle, run_once
from sfumato.service.workers.messages import WorkerCall
from sfumato.service.workers.process import WorkerLimits
from sfumato.values import State, Value, field
from sfumato.web.projects.archives import ExtractionLimits, RunRecord, run_archives, unpacked_runs
from sfumato.web.projects.changes import Tabs, Undo
from sfumato.web.projects.loaded_data import Loaded

MOST_RUNS = 6
Plan = dict[str, Any]
Result = TypeVar("Result")


class Run(Value):
    """A completed release: its number, the plan that made it, and its folder."""

    number: int
    plan: Plan
    folder: Path
    job: str


# Keys of a plan that affect only the reports.
ABOUT_REPORTS = ("release", "language")


class Workspace(State):
    """The state of one browser on the server.

    Attributes:
        plan: The current plan, in plain values.
        loaded: The loaded data and its properties.
        step: The current step, to which a reloaded page returns.
        extra: Further files that the plan names, by name; none is ever overwritten, so that earlier plans stay valid.
        owner: The user to whom it belongs; empty without sign-in.
        user: The user's name on the pages.
        jobs: Names of the started jobs.
        runs: Completed releases, the latest last.
        shown: The number of the displayed run.
        pending: The run in progress, and its plan.
        drafts: Entries in other areas, by area, for reloaded pages.
        draft_tabs: The tabs that show each of these areas.
        asked: The last request in each area, and the entries it was made for.
        counted: The last counts for an estimate, with what was counted and for which plan.
        estimated: Estimated costs by plan.
        estimating: Lock held during an estimate.
        drawings: Charts of columns, by what they show.
        waiting: Path of a file that may become the data of another project.
        column: The displayed column.
        sought: The search text for column names.
        filtered: The role by which columns are filtered.
        tabs: The tabs of the browser, which are notified of each other's changes.
        seen: Time of the last action.
        at_work: Number of running operations for the visitor, whatever their duration.
        asleep: Whether the workspace was encrypted and its pages are invalid.
    """

    pool: Pool
    words: Messages = field(default_factory=words_in)
    id: str = field(default_factory=new_id)
    owner: str = ""
    user: str = ""
    folder: Path | None = None
    waiting: Path | None = None
    loaded: Loaded | None = None
    plan: Plan = field(default_factory=dict)
    step: str = "data"
    extra: dict[str, Path] = field(default_factory=dict)
    jobs: list[str] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    shown: int = 0
    language: str = ""
    dark: bool | None = None
    asleep: bool = False
    undo: Undo = field(default_factory=Undo)
    pending: tuple[Job, Plan] | None = None
    drafts: dict[str, dict[str, Any]] = field(default_factory=dict)
    draft_tabs: defaultdict[str, Tabs] = field(default_factory=lambda: defaultdict(Tabs))
    asked: dict[str, Any] = field(default_factory=dict)
    column: str = ""
    sought: str = ""
    filtered: str = ""
    counted: tuple[str, ResolvedPlan, FrequencyTable] | None = None
    estimated: dict[str, Any] = field(default_factory=dict)
    estimating: Any = field(default_factory=Lock)
    drawings: dict[tuple[str, str], str] = field(default_factory=dict)
    tabs: Tabs = field(default_factory=Tabs)
    seen: float = field(default_factory=time.monotonic)
    at_work: int = 0
    _lock: Any = field(default_factory=Lock)

    def touch(self) -> None:
        """Record an action of the visitor; the changes so far can be undone."""
        self.seen = time.monotonic()
        if self.undo.record(self.plan):
            self.tabs.changed()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Keep the workspace awake while something is done for the visitor."""
        with self._lock:
            self.at_work += 1
        try:
            yield
        finally:
            with self._lock:
                self.at_work -= 1
                self.seen = time.monotonic()
                left = self.asleep and not self.at_work
            if left:  # it came too late: the encrypted files count, and nothing else may remain here
                self.close()

    def fall_asleep(self, seconds: float) -> bool:
        """Put the workspace to sleep if it was idle for that long, and return whether it was."""
        with self._lock:
            self.asleep = self.asleep or self.is_idle(seconds)
            return self.asleep

    def is_idle(self, seconds: float) -> bool:
        """Return whether the workspace was unused for that long and no work or job is running."""
        if self.at_work or time.monotonic() - self.seen < seconds:
            return False
        jobs = map(self.pool.store.find, list(self.jobs))
        return all(job is None or job.ended for job in jobs)

    def draft(self, area: str) -> dict[str, Any]:
        """Return the entries of another area, as a copy."""
        return deepcopy(self.drafts.get(area, {}))

    def keep_draft(self, area: str, entered: Mapping[str, Any], example: Mapping[str, Any] | None = None) -> None:
        """Store the entries of another area, and notify the tabs that show it of changes.

        Args:
            example: The initial content of the area, which is not stored as a draft while unchanged.
        """
        if self.drafts.get(area, example) == entered:
            return
        self.drafts[area] = deepcopy(dict(entered))
        if entered == example:
            del self.drafts[area]
        self.draft_tabs[area].changed()

    def place(self, name: str) -> Path:
        """Return the path for a file next to the data, never that of the data; an invalid file name is replaced."""
        if self.folder is None:
            self.folder = self.pool.folders.private("session")
        path = self.folder / plain_name(name)
        return path.with_name(f"other-{path.name}") if self.loaded and path == self.loaded.path else path

    def waiting_place(self, name: str) -> Path:
        """Return the path for a file that may become the data of another project; the current one stays until then."""
        self.drop_waiting()
        self.waiting = self.pool.folders.private("session")
        return self.waiting / plain_name(name)

    def drop_waiting(self) -> None:
        """Erase the waiting file, if there is one."""
        if self.waiting is not None:
            erase(self.waiting)
        self.waiting = None

    @property
    def has_work(self) -> bool:
        """Return whether the current project contains decisions or releases."""
        return self.loaded is not None and (bool(self.runs) or len(self.undo.past) > 1)

    def take(self, loaded: Loaded, plan: Plan) -> None:
        """Use the waiting file as the data of a new project, or the current data as it is read now."""
        if loaded.path.parent == self.waiting:
            self.waiting, folder = None, self.waiting
            self.close()
            self.folder = folder
        self.adopt(loaded, plan)

    def keep_text(self, prefix: str, text: str, ending: str = ".csv") -> Path:
        """Store a text next to the data, under a name derived from its content."""
        path = self.place(f"{prefix}-{sha256(text.encode()).hexdigest()[:10]}{ending}")
        path.write_text(text, encoding="utf-8")
        self.extra[path.name] = path
        return path

    def adopt(self, loaded: Loaded, plan: Plan | None = None) -> None:
        """Use loaded data with a plan: the given or the suggested one."""
        self.pool.audit.note(self.owner, "page data")
        self.loaded, self.counted, self.estimated, self.drawings = loaded, None, {}, {}
        self.plan = dict(with_quoted_formulas(deepcopy(plan or loaded.suggested)))  # as the service runs it
        self.undo = Undo()
        self.undo.record(self.plan)
        self.tabs.changed()

    def bring_back(self, plan: Plan) -> None:
        """Restore an earlier or an undone plan."""
        self.plan = plan
        self.tabs.changed()

    def change_plan(self, plan: Plan) -> None:
        """Set another plan for the same data; the previous one can be restored."""
        self.undo.record(self.plan)
        self.plan = dict(with_quoted_formulas(plan))
        self.touch()

    def submit(self, kind: Kind, plan: Mapping[str, Any], files: Mapping[str, Path]) -> Job:
        """Start a job with the same pipeline as the command line."""
        check_paths(plan, files)
        opened = {name: path.open("rb") for name, path in files.items()}
        try:
            job = submit(self.pool, JobRequest(kind, plan, opened), self.owner or f"session:{self.id}")
        finally:
            for file in opened.values():
                file.close()
        self.pool.audit.note(self.owner, "page job", job=job.id)
        self.jobs.append(job.id)
        return job

    async def aside(
        self, function: Callable[..., Result], *arguments: Any, watch: CallHandle | None = None, reruns: bool = False
    ) -> Result:
        """Run a function in a separate process, so that the visitor's input can only end that process.

        Args:
            watch: Shows the progress, which the function reports to its last argument, and can cancel it.
            reruns: Whether a plan is run again, which may need the memory and the time of a job.

        Raises:
            RefusedError: The function made no progress for too long, or needed too much memory.
            CancelledWorkError: The watcher cancelled it.
        """
        call = WorkerCall(f"{function.__module__}:{function.__qualname__}", arguments, reports=watch is not None)
        settings = self.pool.settings
        of_job, of_page = (settings.memory_bytes, settings.seconds), (settings.page_memory_bytes, settings.page_seconds)
        memory, seconds = of_job if reruns else of_page
        with self.working():
            folder = self.waiting or self.folder
            limits = WorkerLimits(memory, watched=True)
            work = asyncio.to_thread(run_once, call, limits, seconds, folder, watch)
            return cast("Result", await work)

    def files(self, plan: Plan | None = None) -> dict[str, Path]:
        """Return the files that a plan of the rows names."""
        assert self.loaded is not None
        text = repr(self.plan if plan is None else plan)
        return {self.loaded.path.name: self.loaded.path} | {n: p for n, p in self.extra.items() if n in text}

    def output(self, job: Job) -> Path:
        """Return the folder of the result of a job."""
        return self.pool.folders.output(job)

    def add_run(self, plan: Plan, job: Job) -> Run:
        """Add a completed release; erase the oldest ones if there are many."""
        number = self.runs[-1].number + 1 if self.runs else 1
        self.runs.append(Run(number, plan, self.output(job) / "result", job.id))
        for old in self.runs[:-MOST_RUNS]:
            self.drop_job(old.job) if old.job else erase(old.folder.parent)
        del self.runs[:-MOST_RUNS]
        self.shown = number
        return self.runs[-1]

    def settle(self) -> None:
        """Add the release that was completed in the meantime as a run."""
        job = self.pool.store.find(self.pending[0].id) if self.pending else None
        if self.pending and job is not None and job.state == "done":
            (_, plan), self.pending = self.pending, None
            self.add_run(plan, job)

    @property
    def run(self) -> Run | None:
        """Return the displayed run."""
        return next((run for run in self.runs if run.number == self.shown), self.runs[-1] if self.runs else None)

    @property
    def outdated(self) -> bool:
        """Return whether the displayed run was made with other columns or for another goal than the current ones."""
        return self.run is not None and _decisions(self.run.plan) != _decisions(self.plan)

    def drop_job(self, name: str) -> None:
        """Cancel a job, or erase its result."""
        job = self.pool.store.find(name)
        if job is not None:
            self.pool.cancel(job)
        self.jobs = [other for other in self.jobs if other != name]

    def drop_jobs(self) -> None:
        """Cancel and erase the started jobs."""
        for name in list(self.jobs):
            self.drop_job(name)
        self.runs, self.shown, self.pending, self.asked = [], 0, None, {}

    def close(self) -> None:
        """Erase all data of the project from the server."""
        self.drop_jobs()
        self.drop_waiting()
        if self.folder is not None:
            erase(self.folder)
        self.folder, self.loaded, self.counted, self.estimated = None, None, None, {}
        self.plan, self.extra, self.step, self.column, self.undo = {}, {}, "data", "", Undo()
        self.sought = self.filtered = ""

    def record(self) -> dict[str, Any]:
        """Return the record of the project in addition to its files."""
        data = self.loaded.path.name if self.loaded else None
        runs: list[RunRecord] = [{"number": run.number, "plan": run.plan} for run in self.runs]
        known = {"step": self.step, "column": self.column, "runs": runs, "shown": self.shown}
        return {"version": 1, "plan": self.plan, "data": data} | known

    def parts(self) -> dict[str, Path]:
        """Return the files of the project by their names in an archive: data, files of plans, and runs."""
        own = sorted(self.folder.iterdir()) if self.folder else []
        files = {path.name: path for path in own if path.is_file()}
        return files | run_archives({run.number: run.folder.parent for run in self.runs})

    def restore(self, record: Mapping[str, Any], loaded: Loaded, limits: ExtractionLimits | None = None) -> None:
        """Restore a project whose data is loaded.

        Raises:
            NoRoomError: Its runs are too large; the project is not restored.
        """
        folder = loaded.path.parent
        runs = [Run(number, plan, place, "") for number, plan, place in unpacked_runs(folder, _runs_of(record), limits)]
        if folder != self.folder:
            self.close()
        self.folder = folder
        self.adopt(loaded, dict(record["plan"]))
        files = [path for path in folder.iterdir() if path.is_file() and path != loaded.path]
        self.runs, self.extra = runs, {path.name: path for path in files}
        self.step, self.column = str(record.get("step", "columns")), str(record.get("column", ""))
        shown = record.get("shown")
        self.shown = shown if isinstance(shown, int) else 0


def plain_name(name: str) -> str:
    """Return the name under which a file is stored; replace a name that is not a plain file name.

    >>> plain_name("C:\\\\rows.csv"), plain_name("plan.yaml"), plain_name("..")
    ('rows.csv', 'data.yaml', 'data')
    """
    plain = Path(name.replace("\\", "/")).name
    fits = NAME.fullmatch(plain) and plain not in ("plan.yaml", "project.json")
    return plain if fits else f"data{Path(plain).suffix.lower()}"


def data_of(record: Mapping[str, Any], folder: Path) -> Path:
    """Return the path of the data of a project whose files are in a folder; the data has an allowed extension.

    Raises:
        ValueError: The data is missing.
    """
    data = record.get("data")
    fits = isinstance(data, str) and NAME.fullmatch(data) and data.lower().endswith(UPLOADS)
    if not fits or not (folder / str(data)).is_file():
        raise ValueError("no data")
    return folder / str(data)


def _runs_of(record: Mapping[str, Any]) -> list[Any]:
    runs = record.get("runs")
    return runs[-MOST_RUNS:] if isinstance(runs, list) else []


def _decisions(plan: Plan) -> Plan:
    """Return the part of a plan that determines the published rows, without approval and language."""
    return {key: said for key, said in plan.items() if key not in ABOUT_REPORTS}
