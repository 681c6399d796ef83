"""A visit: what one open page holds on the server, in a private folder that is erased when the visitor leaves."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from sfumato.service.jobs.plans import check_paths
from sfumato.service.jobs.pool import Pool, erase, private_folder
from sfumato.service.jobs.requests import NAME, JobRequest
from sfumato.service.jobs.routes import submit
from sfumato.service.jobs.store import Job, Kind, new_id
from sfumato.service.workers.frames import Call
from sfumato.service.workers.process import WorkerLimits
from sfumato.service.workers.template import run_once
from sfumato.texts.words import Words
from sfumato.web.loaded_data import Loaded

Result = TypeVar("Result")


@dataclass
class Visit:
    """One open page.

    Attributes:
        plan: The plan as far as it is made, in plain values.
        loaded: The data and what is known of them.
        jobs: Names of the jobs that the visitor started.
        extra: Further files that the plan names, by name.
        result: Where the release lies, once there is one; released: the plan that made it.
        released_files: When the further files were made that it was made with.
    """

    pool: Pool
    words: Words
    id: str = field(default_factory=new_id)
    folder: Path | None = None
    loaded: Loaded | None = None
    plan: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Path] = field(default_factory=dict)
    jobs: list[str] = field(default_factory=list)
    result: Path | None = None
    released: dict[str, Any] = field(default_factory=dict)
    released_files: dict[str, int] = field(default_factory=dict)
    seen: float = field(default_factory=time.monotonic)

    def touch(self) -> None:
        """The visitor did something."""
        self.seen = time.monotonic()

    @property
    def expired(self) -> bool:
        return time.monotonic() - self.seen > self.pool.settings.session_seconds

    def place(self, name: str) -> Path:
        """Where a file of the visitor's is put; a name that is no plain one is replaced."""
        if self.folder is None:
            self.folder = private_folder(self.pool.settings.folder, "session")
        plain = Path(name.replace("\\", "/")).name
        fits = NAME.fullmatch(plain) and plain != "plan.yaml"
        return self.folder / (plain if fits else f"data{Path(plain).suffix.lower()}")

    async def aside(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """The result of a function, worked out in a process of its own: what a visitor sends can end that alone.

        Raises:
            RefusedError: It took too long or too much memory.
        """
        call = Call(f"{function.__module__}:{function.__qualname__}", arguments)
        settings = self.pool.settings
        limits = WorkerLimits(settings.page_memory_bytes, watched=True)
        return cast("Result", await asyncio.to_thread(run_once, call, limits, settings.page_seconds, self.folder))

    def submit(self, kind: Kind, plan: Mapping[str, Any], files: Mapping[str, Path]) -> Job:
        """Start a job with the pipeline that the command line runs, too."""
        check_paths(plan, files)
        opened = {name: path.open("rb") for name, path in files.items()}
        try:
            job = submit(self.pool, JobRequest(kind, plan, opened), f"session:{self.id}")
        finally:
            for file in opened.values():
                file.close()
        self.jobs.append(job.id)
        return job

    def files(self) -> dict[str, Path]:
        """The files that the plan of the rows names."""
        assert self.loaded is not None
        return {self.loaded.path.name: self.loaded.path} | self.extra

    def file_times(self) -> dict[str, int]:
        """When the further files were made."""
        return {name: path.stat().st_mtime_ns for name, path in self.extra.items()}

    @property
    def outdated(self) -> bool:
        """Whether the release was made by another plan than the one that stands now, or by other files."""
        return self.plan != self.released or self.file_times() != self.released_files

    def output(self, job: Job) -> Path:
        """Where the result of a job lies."""
        return self.pool.folder(job.id) / "output"

    def drop_jobs(self) -> None:
        """Cancel and erase what was started."""
        for name in self.jobs:
            job = self.pool.store.find(name)
            if job is not None:
                self.pool.cancel(job)
        self.jobs.clear()
        self.result = None

    def end(self) -> None:
        """Erase everything of the visit."""
        self.drop_jobs()
        if self.folder is not None:
            erase(self.folder)
        self.folder, self.loaded = None, None
        self.plan, self.extra, self.released, self.released_files = {}, {}, {}, {}
