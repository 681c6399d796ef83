"""The pool: starts a process for each job, watches its time, and brings every job to an end that is told."""

import json
import logging
import os
import re
import shutil
import signal
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from sfumato.attributes.remote.fetching import Fetcher
from sfumato.errors import SfumatoError
from sfumato.service.http.problems import RefusedError
from sfumato.service.jobs.store import FINAL, Job, JobStore
from sfumato.service.jobs.webhooks import Webhooks
from sfumato.service.settings import JobSettings
from sfumato.service.workers.frames import Call, CrashedError, Progress, WorkerEndedError
from sfumato.service.workers.process import WorkerLimits
from sfumato.service.workers.template import Worker, shared_template

LOG = logging.getLogger("sfumato.service")
POLL_SECONDS = 0.5
RETRY_SECONDS = 1.0
CLEANING_SECONDS = 2.0
SETTLING_SECONDS = 0.5
ENDING_SECONDS = 5.0
MOST_ATTEMPTS = 2
OPEN_FILES = 1024
STORE_FAULTS = (sqlite3.Error, OSError)
WORK, REHEARSAL = "sfumato.service.jobs.worker:run_job", "sfumato.service.jobs.worker:rehearse"
JOB = re.compile(r"[0-9a-f]{32}")
PRIVATE = re.compile(r"[a-z]+-[0-9a-f]{32}-(\d+)-(\d*)")


def own_name() -> str:
    """This process, told apart from another that gets the same number later."""
    return f"{os.getpid()}:{_birth(os.getpid())}"


def _birth(pid: int) -> str:
    """When a process began, where the system tells; empty where there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[19]
    except (OSError, IndexError):
        return ""


def lives(name: str | None) -> bool:
    """Whether a process is still there."""
    pid, _, birth = (name or "").partition(":")
    if not pid.isdecimal() or _birth(int(pid)) != birth:
        return False
    try:
        os.kill(int(pid), 0)
    except OSError:
        return False
    return True


class Pool:
    """Runs jobs; one thread a slot, one process a job."""

    def __init__(self, settings: JobSettings, fetcher: Fetcher | None = None) -> None:
        self.settings = settings
        settings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        settings.folder.chmod(0o700)
        self.store = JobStore(settings.folder / "jobs.sqlite")
        self.webhooks = Webhooks(settings.folder / "webhooks", fetcher or Fetcher())
        self._server = own_name()
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._running: dict[str, Worker] = {}
        self._template = shared_template()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._ends: dict[str, float] = {}

    def start(self) -> None:
        """Take up what an earlier server left, and begin."""
        self._template.rehearse(Call(REHEARSAL))
        self.recover()
        works = [self._serve] * self.settings.slots + [self._clean, self._tell]
        self._threads = [threading.Thread(target=self._keep, args=(work,), daemon=True, name="jobs") for work in works]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Stop; a job that runs waits again, for the next server."""
        self._stopping.set()
        self._wake.set()
        with self._lock:
            for worker in self._running.values():
                worker.kill()
        for thread in self._threads:
            thread.join(10)

    def folder(self, job_id: str) -> Path:
        """Where a job's files lie."""
        return self.settings.folder / job_id

    def wake(self) -> None:
        """Look for a new job at once."""
        self._wake.set()

    def cancel(self, job: Job) -> None:
        """Stop a job and erase its files; one that had ended is forgotten."""
        if not self.store.end(job.id, "cancelled", self.settings.keep_seconds):
            self.store.forget(job.id)
        with self._lock:
            worker = self._running.get(job.id)
            if worker is not None:
                worker.kill()
        erase(self.folder(job.id))

    def recover(self) -> None:
        """Jobs of a server that is gone wait again, unless that happened before; what belongs to nobody is erased."""
        for job in self.store.listed("running"):
            if not lives(job.server):
                self._take_back(job)
        erase(*(path for path in self.settings.folder.iterdir() if _abandoned(path)))
        unknown = self._unknown()
        if unknown:
            time.sleep(SETTLING_SECONDS)  # another server may be about to note a job whose folder is there already
            erase(*(unknown & self._unknown()))

    def _unknown(self) -> set[Path]:
        """Folders of jobs that the store does not know."""
        ids = {job.id for job in self.store.listed("queued", "running", *FINAL)}
        return {path for path in self.settings.folder.iterdir() if JOB.fullmatch(path.name) and path.name not in ids}

    def _take_back(self, job: Job) -> None:
        if job.attempts < MOST_ATTEMPTS:
            erase(self.folder(job.id) / "draft", self.folder(job.id) / "output")
            self.store.requeue(job.id)
        else:
            self._end(job, "internal.stopped", "The server stopped twice while this job ran. Send it again.")

    def _keep(self, work: Callable[[], None]) -> None:
        """Do some work again and again: a locked store or a full disk delays it and never ends it."""
        while not self._stopping.is_set():
            try:
                work()
            except Exception as error:  # its text may quote data: only its kind is told
                LOG.error(json.dumps({"jobs": work.__name__, "error": type(error).__name__}))
                self._stopping.wait(RETRY_SECONDS)

    def _insist(self, work: Callable[[], None]) -> None:
        """Do what a job's end needs until the store takes it; a server that stops leaves it to the next."""
        while True:
            try:
                work()
                return
            except STORE_FAULTS as error:
                LOG.error(json.dumps({"store": type(error).__name__}))
                if self._stopping.wait(RETRY_SECONDS):
                    return

    def _serve(self) -> None:
        job = self.store.claim(self._server)
        if job is None:
            self._wake.wait(POLL_SECONDS)
            self._wake.clear()
            return
        try:
            self._run(job)
        except STORE_FAULTS as error:  # no fault of the job: it waits again
            LOG.error(json.dumps({"job": job.id, "store": type(error).__name__}))
            self._insist(partial(self.store.requeue, job.id))
        except Exception as error:  # a fault of one job must not end the thread
            LOG.error(json.dumps({"job": job.id, "error": type(error).__name__}))
            self._insist(partial(self._end, job, "internal", "An internal error; nothing was published."))

    def _run(self, job: Job) -> None:
        worker = self._started(job)
        if worker is None:
            return
        overtime = threading.Timer(self.settings.seconds, worker.kill)
        overtime.start()
        begun = time.monotonic()
        fault: BaseException | None = None
        try:
            with worker:
                worker.run(Call(WORK, (self.folder(job.id).resolve(),), reports=True), partial(self._advance, job))
        except (SfumatoError, RefusedError, CrashedError, WorkerEndedError) as error:
            fault = error
        overtime.cancel()
        with self._lock:
            self._running.pop(job.id, None)
        self._insist(partial(self._conclude, job, worker, fault, time.monotonic() - begun))

    def _advance(self, job: Job, progress: Progress) -> None:
        with suppress(*STORE_FAULTS):  # how far it is will be told again
            self.store.advance(job.id, progress.stage, progress.done, progress.whole)

    def _started(self, job: Job) -> Worker | None:
        with self._lock:
            if self._stopping.is_set():
                self.store.requeue(job.id)
                return None
            now = self.store.find(job.id)
            if now is None or now.state != "running":
                erase(self.folder(job.id))
                return None
            limits = WorkerLimits(self.settings.memory_bytes, OPEN_FILES, watched=True)
            worker = self._template.start(limits, _scratch(self.folder(job.id)).resolve())
            self._running[job.id] = worker
        return worker

    def _conclude(self, job: Job, worker: Worker, fault: BaseException | None, seconds: float) -> None:
        """Bring a job to its end by how its process ended."""
        now = self.store.find(job.id)
        if now is None or now.state == "cancelled":
            erase(self.folder(job.id))
        elif fault is None and (self.folder(job.id) / "output").is_dir():
            self._erase_input(job)
            self.store.end(job.id, "done", self.settings.keep_seconds)
        elif self._stopping.is_set():
            self.store.requeue(job.id)
        elif isinstance(fault, SfumatoError | RefusedError):
            self._end(job, fault.code, str(fault))
        elif isinstance(fault, CrashedError):
            LOG.error(json.dumps({"job": job.id, "error": fault.kind, "at": fault.place}))
            self._end(job, "internal", "An internal error; nothing was published.")
        else:
            worker.ended.wait(ENDING_SECONDS)
            self._end(job, *self._why(worker.status or 0, seconds))

    def _why(self, status: int, seconds: float) -> tuple[str, str]:
        if seconds >= self.settings.seconds:
            return "limit.time", f"The job took longer than {self.settings.seconds:g} seconds."
        if status < 0:
            name = signal.Signals(-status).name
            return "internal.worker", f"The process of this job was ended ({name}), perhaps for lack of memory."
        return "internal.worker", "The process of this job ended without a result, perhaps for lack of memory."

    def _end(self, job: Job, code: str, message: str) -> None:
        """A job has failed: nothing of it stays but why."""
        erase(self.folder(job.id))
        self.store.end(job.id, "failed", self.settings.keep_seconds, code, message)

    def _erase_input(self, job: Job) -> None:
        folder = self.folder(job.id)
        erase(folder / "input", folder / "request.json", folder / "scratch")

    def _clean(self) -> None:
        """Erase results whose time is over; once it is known, it runs by a clock that nobody sets."""
        self._stopping.wait(CLEANING_SECONDS)
        now = time.monotonic()
        ended = self.store.listed(*FINAL)
        self._ends = {job.id: self._ends.get(job.id, now + self._remaining(job)) for job in ended}
        for job in ended:
            if now >= self._ends[job.id]:
                erase(self.folder(job.id))
                self.store.forget(job.id)

    def _tell(self) -> None:
        """Tell whoever asked for it that a job has ended."""
        self._stopping.wait(POLL_SECONDS)
        for job_id in self.webhooks.waiting():
            job = self.store.find(job_id)
            if job is not None and job.ended:
                self.webhooks.tell(job_id, {"job": job.id, "kind": job.kind, "state": job.state, "code": job.code})
            elif job is None and not self.folder(job_id).exists():
                self.webhooks.drop(job_id)

    def _remaining(self, job: Job) -> float:
        return max(0.0, min((job.expires or 0.0) - time.time(), self.settings.keep_seconds))


def private_folder(root: Path, purpose: str) -> Path:
    """A new folder that only this user can read, and that the next server erases when this one is gone."""
    folder = root / f"{purpose}-{uuid.uuid4().hex}-{own_name().replace(':', '-')}"
    folder.mkdir(mode=0o700)
    return folder


def _abandoned(path: Path) -> bool:
    """Whether a private folder is one of a server that is gone."""
    match = PRIVATE.fullmatch(path.name)
    return match is not None and not lives(f"{match[1]}:{match[2]}")


def _scratch(folder: Path) -> Path:
    """Where the job's process puts temporary files: they vanish with the job."""
    scratch = folder / "scratch"
    scratch.mkdir(mode=0o700, exist_ok=True)
    return scratch


def erase(*paths: Path) -> None:
    """Remove files and folders, whether or not they are there."""
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink(missing_ok=True)
