"""The pool: start a process for each job, enforce its time limit, and record how every job ended."""

import json
import logging
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from sfumato.attributes.remote.fetching import Fetcher
from sfumato.errors import EngineError, InternalError, SfumatoError
from sfumato.service.access.audit_log import AuditLog
from sfumato.service.http.problems import RefusedError
from sfumato.service.jobs.disk_space import Presence, Room, no_room
from sfumato.service.jobs.folders import Folders, erase, size_of
from sfumato.service.jobs.maintenance import Upkeep
from sfumato.service.jobs.webhooks import Webhooks
from sfumato.service.settings import JobSettings
from sfumato.service.store.database import StoreUnavailableError
from sfumato.service.store.jobs import Ending, Job, JobStore
from sfumato.service.store.opening import open_database
from sfumato.service.store.server_leases import Leases
from sfumato.service.workers.fork_server import Worker, shared_template
from sfumato.service.workers.messages import Call, CrashedError, Progress, WorkerEndedError
from sfumato.service.workers.process import WorkerLimits

LOG = logging.getLogger("sfumato.service")
POLL_SECONDS = 0.5
RETRY_SECONDS = 1.0
CLEANING_SECONDS = 2.0
ROOM_SECONDS = 0.2
ENDING_SECONDS = 5.0
OPEN_FILES = 1024
# So many beats may be missed before the store counts as one that cannot be written.
SILENT_BEATS = 2.5
# What may come of a full disk, whatever its text says.
ROOM_FAULTS = (CrashedError, WorkerEndedError, EngineError, InternalError)
STORE_FAULTS = (StoreUnavailableError, OSError)
WORK, REHEARSAL = "sfumato.service.jobs.worker:run_job", "sfumato.service.jobs.worker:rehearse"


class Pool:
    """Runs jobs; one thread a slot, one process a job."""

    def __init__(self, settings: JobSettings, fetcher: Fetcher | None = None, audit: AuditLog | None = None) -> None:
        self.settings = settings
        self.audit = audit or AuditLog(None)
        settings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._presence = Presence(settings.folder)
        self.room = Room(settings)
        self._database = open_database(settings.folder, settings.store, settings.busy_seconds)
        self.store = JobStore(self._database)
        self.leases = Leases(self._database, settings.lease_seconds)
        self.folders = Folders(settings.folder, self.leases.id)
        self.webhooks = Webhooks(settings.folder / "webhooks", fetcher or Fetcher())
        self.upkeep = Upkeep(settings, self.store, self.leases, self.folders, self.webhooks)
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._running: dict[tuple[str, int], Worker] = {}
        self._without_room: set[tuple[str, int]] = set()
        self._template = shared_template()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Take up what an earlier server left, and begin."""
        self._template.rehearse(Call(REHEARSAL))
        self.leases.renew()
        self.upkeep.take_over()
        self.upkeep.tidy()
        works = [self._serve] * self.settings.slots + [self._beat, self._clean, self._tell, self._watch_room]
        self._threads = [threading.Thread(target=self._keep, args=(work,), daemon=True, name="jobs") for work in works]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Stop; a job that runs waits again, for the next server."""
        self._stopping.set()
        self._wake.set()
        self._end_workers(lambda _: True)
        for thread in self._threads:
            thread.join(10)
        with suppress(*STORE_FAULTS):
            self.leases.drop()
        self._database.close()
        self._presence.leave()

    def folder(self, job_id: str) -> Path:
        """Where a job's files lie."""
        return self.folders.of(job_id)

    def running(self) -> int:
        """How many processes do jobs now."""
        with self._lock:
            return len(self._running)

    def threads_alive(self) -> int:
        """How many of the threads that care for jobs are there."""
        return sum(thread.is_alive() for thread in self._threads)

    def writes_store(self) -> bool:
        """Whether the store takes what this server says, as its beats do."""
        return self.leases.silent_seconds <= SILENT_BEATS * self.leases.beat_seconds

    def fault(self) -> str | None:
        """What keeps this server from doing jobs, if anything does."""
        if self.threads_alive() < len(self._threads):
            return "a thread that cares for jobs has ended"
        # A full disk first: it is why a store in a file cannot be written.
        if not self.room.takes_jobs():
            return "the disk of jobs is nearly full"
        if not self.writes_store():
            return "the store of jobs cannot be written"
        return self.audit.fault

    def wake(self) -> None:
        """Look for a new job at once."""
        self._wake.set()

    def release_of(self, owner: str, job_id: str) -> Path | None:
        """The release folder of a table that a job of somebody wrote, as long as it is there."""
        job = self.store.find(job_id)
        if job is None or (job.owner, job.kind, job.state) != (owner, "protect", "done"):
            return None
        folder = self.folders.output(job) / "result"
        return folder if folder.is_dir() else None

    def cancel(self, job: Job) -> None:
        """Stop a job and erase its files; one that had ended is forgotten."""
        if not self.store.cancel(job.id, self.settings.keep_seconds):
            self.store.forget(job.id)
        self._end_workers(lambda run: run[0] == job.id)
        erase(self.folder(job.id))

    def _end_workers(self, chosen: Callable[[tuple[str, int]], bool]) -> None:
        with self._lock:
            for run, worker in self._running.items():
                if chosen(run):
                    worker.kill()

    def _keep(self, work: Callable[[], None]) -> None:
        """Do some work again and again: a locked store or a full disk delays it and never ends it."""
        while not self._stopping.is_set():
            try:
                work()
            except Exception as error:  # its text may quote data: only its kind is told
                LOG.error(json.dumps({"jobs": work.__name__, "error": type(error).__name__}))
                self._stopping.wait(RETRY_SECONDS)

    def _insist(self, work: Callable[[], object]) -> None:
        """Do what a job's end needs until the store takes it; a server that stops leaves it to the next."""
        while True:
            try:
                work()
                return
            except STORE_FAULTS as error:
                LOG.error(json.dumps({"store": type(error).__name__}))
                if self._stopping.wait(RETRY_SECONDS):
                    return

    def _beat(self) -> None:
        """Say that this server is there, and look for others that are not any more."""
        if self.leases.renew():
            self.leases.end_silent()
        else:
            LOG.error(json.dumps({"lease": "was lost: this server had been silent for too long"}))
        self.upkeep.take_over()
        self._stopping.wait(self.leases.beat_seconds)

    def _clean(self) -> None:
        """Erase what is over, and end what another server has cancelled or taken over."""
        self._stopping.wait(CLEANING_SECONDS)
        with self._lock:
            running = set(self._running)
        if running:
            lost = running - self.store.running_on(self.leases.id)
            self._end_workers(lost.__contains__)
        self.upkeep.clean()

    def _watch_room(self) -> None:
        """End the job that takes most before the disk is full: then not even its end could be noted."""
        self._stopping.wait(ROOM_SECONDS)
        with self._lock:
            running = set(self._running)
        if not running or running & self._without_room or self.room.keeps_jobs():
            return
        largest = max(running, key=lambda run: size_of(self.folder(run[0])))
        self._without_room.add(largest)
        LOG.error(json.dumps({"job": largest[0], "disk": "nearly full: the job is ended"}))
        self._end_workers(lambda run: run == largest)

    def _tell(self) -> None:
        self._stopping.wait(POLL_SECONDS)
        self.upkeep.tell()

    def _serve(self) -> None:
        job = self.store.claim(self.leases.id)
        if job is None:
            self._wake.wait(POLL_SECONDS)
            self._wake.clear()
            return
        try:
            self._run(job)
        except STORE_FAULTS as error:  # no fault of the job: it waits again
            LOG.error(json.dumps({"job": job.id, "store": type(error).__name__}))
            self._insist(partial(self.store.requeue, job))
        except Exception as error:  # a fault of one job must not end the thread
            LOG.error(json.dumps({"job": job.id, "error": type(error).__name__}))
            self._insist(partial(self._fail, job, "internal", "An internal error; nothing was published."))

    def _run(self, job: Job) -> None:
        try:
            worker = self._started(job)
        except EngineError:  # no process can be started: no fault of the job, which waits again
            LOG.error(json.dumps({"job": job.id, "workers": "no process can be started"}))
            self._insist(partial(self.store.requeue, job))
            self._stopping.wait(RETRY_SECONDS)
            return
        if worker is None:
            return
        overtime = threading.Timer(self.settings.seconds, worker.kill)
        overtime.start()
        begun = time.monotonic()
        fault: BaseException | None = None
        try:
            with worker:
                call = Call(WORK, (self.folder(job.id).resolve(), job.attempts, self.settings.spark), reports=True)
                worker.run(call, partial(self._advance, job))
        except (SfumatoError, RefusedError, CrashedError, WorkerEndedError) as error:
            fault = error
        overtime.cancel()
        if isinstance(fault, WorkerEndedError):
            worker.ended.wait(ENDING_SECONDS)
        fault = self._room_fault(job, fault)
        erase(*self.folders.half_done(job))  # first of all: noting the end may need the room
        with self._lock:
            self._running.pop((job.id, job.attempts), None)
        self._insist(partial(self._conclude, job, worker, fault, time.monotonic() - begun))

    def _room_fault(self, job: Job, fault: BaseException | None) -> BaseException | None:
        """The fault of a job, or that there was no room for it; a result that leaves none is erased."""
        run, output = (job.id, job.attempts), self.folders.output(job)
        if fault is None and self.room.is_used_up_by(output):
            erase(output)
            return no_room()
        cut = run in self._without_room
        self._without_room.discard(run)
        return no_room() if isinstance(fault, ROOM_FAULTS) and (cut or not self.room.keeps_jobs()) else fault

    def _advance(self, job: Job, progress: Progress) -> None:
        with suppress(*STORE_FAULTS):  # how far it is will be told again
            self.store.advance(job, progress.stage, progress.done, progress.whole)

    def _started(self, job: Job) -> Worker | None:
        with self._lock:
            if self._stopping.is_set():
                self.store.requeue(job)
                return None
            now = self.store.find(job.id)
            if now is None or now.state == "cancelled":
                erase(self.folder(job.id))
                return None
            limits = WorkerLimits(self.settings.memory_bytes, OPEN_FILES, watched=True)
            worker = self._template.start(
                limits, self.folders.scratch(job).resolve(), confined=self.folders.opened_by(job)
            )
            self._running[job.id, job.attempts] = worker
        return worker

    def _conclude(self, job: Job, worker: Worker, fault: BaseException | None, seconds: float) -> None:
        """Bring a job to its end by how its process ended."""
        now = self.store.find(job.id)
        output = self.folders.output(job)
        if now is None or now.state == "cancelled":
            erase(self.folder(job.id))
        elif fault is None and output.is_dir():
            ending = Ending("done", self.settings.keep_seconds, bytes=size_of(output))
            if self.store.conclude(job, ending, lambda: self.folders.keep_output(job)):
                self.audit.note(job.owner, "job done", job=job.id)
        elif self._stopping.is_set():
            self.store.requeue(job)
        elif isinstance(fault, SfumatoError | RefusedError):
            self._fail(job, fault.code, str(fault))
        elif isinstance(fault, CrashedError):
            LOG.error(json.dumps({"job": job.id, "error": fault.kind, "at": fault.place}))
            self._fail(job, "internal", "An internal error; nothing was published.")
        else:
            self._fail(job, *self._why(worker.status or 0, seconds))

    def _why(self, status: int, seconds: float) -> tuple[str, str]:
        if seconds >= self.settings.seconds:
            return "limit.time", f"The job took longer than {self.settings.seconds:g} seconds."
        if status < 0:
            name = signal.Signals(-status).name
            return "internal.worker", f"The process of this job was ended ({name}), perhaps for lack of memory."
        return "internal.worker", "The process of this job ended without a result, perhaps for lack of memory."

    def _fail(self, job: Job, code: str, message: str) -> None:
        """A job has failed: nothing of it stays but why."""
        ending = Ending("failed", self.settings.keep_seconds, code, message)
        if self.store.conclude(job, ending, lambda: erase(self.folder(job.id))):
            self.audit.note(job.owner, "job failed", job=job.id, code=code)
