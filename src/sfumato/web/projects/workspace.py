"""A workspace: the project of one browser with its data, plan, earlier plans and runs."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import field
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar, cast

from sfumato.dataclass import dataclass
from sfumato.localization.messages import Words, words_in
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.plan.model import Plan as ResolvedPlan
from sfumato.service.jobs.folders import erase
from sfumato.service.jobs.plans import check_paths, with_quoted_formulas
from sfumato.service.jobs.pool import Pool
from sfumato.service.jobs.requests import NAME, JobRequest
from sfumato.service.jobs.submission import submit
from sfumato.service.store.jobs import Job, Kind, new_id
from sfumato.service.workers.fork_server import Watch, run_once
from sfumato.service.workers.messages import Call
from sfumato.service.workers.process import WorkerLimits
from sfumato.web.projects.archive_extraction import Room
from sfumato.web.projects.loaded_data import KINDS, Loaded
from sfumato.web.projects.run_archives import RunRecord, archives, unpacked
from sfumato.web.projects.tabs import Tabs
from sfumato.web.projects.undo import Undo

MOST_RUNS = 6
Plan = dict[str, Any]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Run:
    """A release that was made: its number, the plan that made it, and where it lies."""

    number: int
    plan: Plan
    folder: Path
    job: str


# What a plan says for its reports alone.
ABOUT_REPORTS = ("release", "language")


@dataclass
class Workspace:
    """What one browser has on the server.

    Attributes:
        plan: The plan as far as it is made, in plain values.
        loaded: The data and what is known of them.
        step: The step at hand, to which a page that is opened again returns.
        extra: Further files that the plan names, by name; none is ever overwritten, so that earlier plans stay true.
        owner: The user to whom it belongs; empty where nobody signs in. user: What pages call them.
        jobs: Names of the jobs that were started; runs: releases that were made, the last one last.
        shown: The number of the run that is looked at; pending: the run that is being made, and its plan.
        drafts: What was entered in other areas, by their names, so that a page that is opened again shows it.
        draft_tabs: The tabs that show each of these areas; asked: what was asked there last, and what it is of.
        counted: The last count behind an estimate, what was counted, for which plan; estimated: goals' costs by plans.
        estimating: Held while an estimate is made.
        drawings: Of columns, by what they show.
        waiting: Where a file lies that may become the data of another project.
        column: The column that is looked at; sought: what the names of those shown hold; filtered: their role.
        tabs: Those of the browser, which hear of each other's changes.
        seen: When somebody did something last; at_work: how much is being done for them, however long it takes.
        asleep: Whether it was put away, and its pages are of no use any more.
    """

    pool: Pool
    words: Words = field(default_factory=words_in)
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
        """Somebody did something; what was changed so far can be undone."""
        self.seen = time.monotonic()
        if self.undo.record(self.plan):
            self.tabs.changed()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Something is done for the visitor: until it has ended, nothing is put away."""
        with self._lock:
            self.at_work += 1
        try:
            yield
        finally:
            with self._lock:
                self.at_work -= 1
                self.seen = time.monotonic()
                left = self.asleep and not self.at_work
            if left:  # it came too late: what lies encrypted counts, and nothing else may lie here
                self.close()

    def fall_asleep(self, seconds: float) -> bool:
        """Whether nobody used it for so long, nor is anything done for them; then it is used no more."""
        with self._lock:
            self.asleep = self.asleep or self.is_idle(seconds)
            return self.asleep

    def is_idle(self, seconds: float) -> bool:
        """Whether nobody used it for so long, and neither work nor a job is under way."""
        if self.at_work or time.monotonic() - self.seen < seconds:
            return False
        jobs = map(self.pool.store.find, list(self.jobs))
        return all(job is None or job.ended for job in jobs)

    def draft(self, area: str) -> dict[str, Any]:
        """What was entered in another area; what is done to it there changes nothing here."""
        return deepcopy(self.drafts.get(area, {}))

    def keep_draft(self, area: str, entered: Mapping[str, Any], example: Mapping[str, Any] | None = None) -> None:
        """Remember what was entered in another area; the tabs that show it are told where it changed.

        Args:
            example: What the area shows by itself: untouched it is nobody's draft.
        """
        if self.drafts.get(area, example) == entered:
            return
        self.drafts[area] = deepcopy(dict(entered))
        if entered == example:
            del self.drafts[area]
        self.draft_tabs[area].changed()

    def place(self, name: str) -> Path:
        """Where a file beside the data is put: never in their place. A name that is no plain one is replaced."""
        if self.folder is None:
            self.folder = self.pool.folders.private("session")
        path = self.folder / plain_name(name)
        return path.with_name(f"other-{path.name}") if self.loaded and path == self.loaded.path else path

    def waiting_place(self, name: str) -> Path:
        """Where a file is put that may become the data of another project: the one at hand stays until it is taken."""
        self.drop_waiting()
        self.waiting = self.pool.folders.private("session")
        return self.waiting / plain_name(name)

    def drop_waiting(self) -> None:
        """Erase the file that waits, where there is one."""
        if self.waiting is not None:
            erase(self.waiting)
        self.waiting = None

    @property
    def has_work(self) -> bool:
        """Whether somebody decided or released something in the project at hand."""
        return self.loaded is not None and (bool(self.runs) or len(self.undo.past) > 1)

    def take(self, loaded: Loaded, plan: Plan) -> None:
        """Take data that wait as another project, or those at hand as they are read now."""
        if loaded.path.parent == self.waiting:
            self.waiting, folder = None, self.waiting
            self.close()
            self.folder = folder
        self.adopt(loaded, plan)

    def keep_text(self, prefix: str, text: str, ending: str = ".csv") -> Path:
        """Put a text beside the data, under a name that follows from what it says."""
        path = self.place(f"{prefix}-{sha256(text.encode()).hexdigest()[:10]}{ending}")
        path.write_text(text, encoding="utf-8")
        self.extra[path.name] = path
        return path

    def adopt(self, loaded: Loaded, plan: Plan | None = None) -> None:
        """Take loaded data, and a plan for them: what is suggested unless one is given."""
        self.pool.audit.note(self.owner, "page data")
        self.loaded, self.counted, self.estimated, self.drawings = loaded, None, {}, {}
        self.plan = dict(with_quoted_formulas(deepcopy(plan or loaded.suggested)))  # as the service runs it
        self.undo = Undo()
        self.undo.record(self.plan)
        self.tabs.changed()

    def bring_back(self, plan: Plan) -> None:
        """A plan that was, or that was taken back."""
        self.plan = plan
        self.tabs.changed()

    def change_plan(self, plan: Plan) -> None:
        """Another plan for the same data; the one at hand can be brought back."""
        self.undo.record(self.plan)
        self.plan = dict(with_quoted_formulas(plan))
        self.touch()

    def submit(self, kind: Kind, plan: Mapping[str, Any], files: Mapping[str, Path]) -> Job:
        """Start a job with the pipeline that the command line runs, too."""
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
        self, function: Callable[..., Result], *arguments: Any, watch: Watch | None = None, reruns: bool = False
    ) -> Result:
        """The result of a function, worked out in a process of its own: what a visitor sends can end that alone.

        Args:
            watch: Who waits sees how far it is, which the function tells its last argument, and can end it.
            reruns: Whether a plan is run again, which may take the memory and the time of a job.

        Raises:
            RefusedError: It took too long without being any further, or too much memory.
            CancelledWorkError: Who watched ended it.
        """
        call = Call(f"{function.__module__}:{function.__qualname__}", arguments, reports=watch is not None)
        settings = self.pool.settings
        of_job, of_page = (settings.memory_bytes, settings.seconds), (settings.page_memory_bytes, settings.page_seconds)
        memory, seconds = of_job if reruns else of_page
        with self.working():
            folder = self.waiting or self.folder
            limits = WorkerLimits(memory, watched=True)
            work = asyncio.to_thread(run_once, call, limits, seconds, folder, watch)
            return cast("Result", await work)

    def files(self, plan: Plan | None = None) -> dict[str, Path]:
        """The files that a plan of the rows names."""
        assert self.loaded is not None
        text = repr(self.plan if plan is None else plan)
        return {self.loaded.path.name: self.loaded.path} | {n: p for n, p in self.extra.items() if n in text}

    def output(self, job: Job) -> Path:
        """Where the result of a job lies."""
        return self.pool.folders.output(job)

    def add_run(self, plan: Plan, job: Job) -> Run:
        """A release that was made; of many, the first ones are erased."""
        number = self.runs[-1].number + 1 if self.runs else 1
        self.runs.append(Run(number, plan, self.output(job) / "result", job.id))
        for old in self.runs[:-MOST_RUNS]:
            self.drop_job(old.job) if old.job else erase(old.folder.parent)
        del self.runs[:-MOST_RUNS]
        self.shown = number
        return self.runs[-1]

    def settle(self) -> None:
        """Take the release that was made while nobody looked as a run."""
        job = self.pool.store.find(self.pending[0].id) if self.pending else None
        if self.pending and job is not None and job.state == "done":
            (_, plan), self.pending = self.pending, None
            self.add_run(plan, job)

    @property
    def run(self) -> Run | None:
        """The run that is looked at."""
        return next((run for run in self.runs if run.number == self.shown), self.runs[-1] if self.runs else None)

    @property
    def outdated(self) -> bool:
        """Whether the run at hand was made of other columns or for another goal than those that stand now."""
        return self.run is not None and _decisions(self.run.plan) != _decisions(self.plan)

    def drop_job(self, name: str) -> None:
        """Cancel a job, or erase what it made."""
        job = self.pool.store.find(name)
        if job is not None:
            self.pool.cancel(job)
        self.jobs = [other for other in self.jobs if other != name]

    def drop_jobs(self) -> None:
        """Cancel and erase what was started."""
        for name in list(self.jobs):
            self.drop_job(name)
        self.runs, self.shown, self.pending, self.asked = [], 0, None, {}

    def close(self) -> None:
        """Erase everything of the project from the server."""
        self.drop_jobs()
        self.drop_waiting()
        if self.folder is not None:
            erase(self.folder)
        self.folder, self.loaded, self.counted, self.estimated = None, None, None, {}
        self.plan, self.extra, self.step, self.column, self.undo = {}, {}, "data", "", Undo()
        self.sought = self.filtered = ""

    def record(self) -> dict[str, Any]:
        """What is known of the project besides its files."""
        data = self.loaded.path.name if self.loaded else None
        runs: list[RunRecord] = [{"number": run.number, "plan": run.plan} for run in self.runs]
        known = {"step": self.step, "column": self.column, "runs": runs, "shown": self.shown}
        return {"version": 1, "plan": self.plan, "data": data} | known

    def parts(self) -> dict[str, Path]:
        """The files of the project by their names in an archive: data, what plans name, and its runs."""
        own = sorted(self.folder.iterdir()) if self.folder else []
        files = {path.name: path for path in own if path.is_file()}
        return files | archives({run.number: run.folder.parent for run in self.runs})

    def restore(self, record: Mapping[str, Any], loaded: Loaded, room: Room | None = None) -> None:
        """Take a project, its data loaded.

        Raises:
            NoRoomError: Its runs are too large; the project is not taken.
        """
        folder = loaded.path.parent
        runs = [Run(number, plan, place, "") for number, plan, place in unpacked(folder, _runs_of(record), room)]
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
    """The name under which a file is kept; one that is no plain name is replaced.

    >>> plain_name("C:\\\\rows.csv"), plain_name("plan.yaml"), plain_name("..")
    ('rows.csv', 'data.yaml', 'data')
    """
    plain = Path(name.replace("\\", "/")).name
    fits = NAME.fullmatch(plain) and plain not in ("plan.yaml", "project.json")
    return plain if fits else f"data{Path(plain).suffix.lower()}"


def data_of(record: Mapping[str, Any], folder: Path) -> Path:
    """Where the data of a project lie, whose files are in a folder already; they are of a kind that can be sent.

    Raises:
        ValueError: They are not there.
    """
    data = record.get("data")
    fits = isinstance(data, str) and NAME.fullmatch(data) and data.lower().endswith(KINDS)
    if not fits or not (folder / str(data)).is_file():
        raise ValueError("no data")
    return folder / str(data)


def _runs_of(record: Mapping[str, Any]) -> list[Any]:
    runs = record.get("runs")
    return runs[-MOST_RUNS:] if isinstance(runs, list) else []


def _decisions(plan: Plan) -> Plan:
    """What of a plan decides the rows published: not who signs, nor the language of the reports."""
    return {key: said for key, said in plan.items() if key not in ABOUT_REPORTS}
