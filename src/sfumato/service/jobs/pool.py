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

from sfumato.attributes.fetching import Fetcher
from sfumato.errors import EngineError, InternalError, SfumatoError
from sfumato.localization.messages import Message
from sfumato.service.access.authentication import AuditLog
from sfumato.service.jobs.database import StoreUnavailableError, open_database
from sfumato.service.jobs.folders import Deadlines, DiskSpace, Folders, ServerLock, bounded, erase, no_room, size_of
from sfumato.service.jobs.store import STATES, Ending, Job, JobStore, Leases
from sfumato.service.jobs.webhooks import Webhooks
from sfumato.service.problems import RefusedError
from sfumato.service.settings import JobSettings
from sfumato.service.workers.fork_server import Worker, shared_template
from sfumato.service.workers.messages import CrashedError, ProgressMessage, WorkerCall, WorkerEndedError
from sfumato.service.workers.process import WorkerLimits

MOST_ATTEMPTS = 2
LOG = logging.getLogger("sfumato.service")
POLL_SECONDS = 0.5
RETRY_SECONDS = 1.0
CLEANING_SECONDS = 2.0
ROOM_SECONDS = 0.2
ENDING_SECONDS = 5.0
OPEN_FILES = 1024
# Number of missed beats after which the store counts as not writable.
SILENT_BEATS = 2.5
# Errors that a full disk may cause, whatever their text says.
ROOM_FAULTS = (CrashedError, WorkerEndedError, EngineError, InternalError)
STORE_FAULTS = (StoreUnavailableError, OSError)
WORK, REHEARSAL = "sfumato.service.jobs.worker:run_job", "sfumato.service.jobs.worker:warm_up_kernels"


class Pool:
    """Runs jobs with one thread per slot and one process per job."""

    def __init__(self, settings: JobSettings, fetcher: Fetcher | None = None, audit: AuditLog | None = None) -> None:
        self.settings = settings
        self.audit = audit or AuditLog(None)
        settings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._presence = ServerLock(settings.folder)
        self.room = DiskSpace(settings)
        self._database = open_database(settings.folder, settings.store, settings.busy_seconds)
        self.store = JobStore(self._database)
        self.leases = Leases(self._database, settings.lease_seconds)
        self.folders = Folders(settings.folder, self.leases.id)
        self.webhooks = Webhooks(settings.folder / "webhooks", fetcher or Fetcher())
        self.upkeep = Maintenance(settings, self.store, self.leases, self.folders, self.webhooks)
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._running: dict[tuple[str, int], Worker] = {}
        self._without_room: set[tuple[str, int]] = set()
        self._template = shared_template()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Take over jobs of an earlier server, and start."""
        self._template.rehearse(WorkerCall(REHEARSAL))
        self.leases.renew()
        self.upkeep.take_over()
        self.upkeep.tidy()
        works = [self._serve] * self.settings.slots + [self._beat, self._clean, self._tell, self._watch_room]
        self._threads = [threading.Thread(target=self._keep, args=(work,), daemon=True, name="jobs") for work in works]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Stop; a running job is queued again for the next server."""
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
        """Return the folder of a job's files."""
        return self.folders.of(job_id)

    def running(self) -> int:
        """Return how many processes are running jobs."""
        with self._lock:
            return len(self._running)

    def threads_alive(self) -> int:
        """Return how many of the job threads are alive."""
        return sum(thread.is_alive() for thread in self._threads)

    def writes_store(self) -> bool:
        """Return whether the store accepts writes of this server, judged by its beats."""
        return self.leases.silent_seconds <= SILENT_BEATS * self.leases.beat_seconds

    def fault(self) -> str | None:
        """Return what prevents this server from running jobs, or None."""
        if self.threads_alive() < len(self._threads):
            return "a thread that cares for jobs has ended"
        # A full disk is checked first, because it is the reason why a store in a file cannot be written.
        if not self.room.takes_jobs():
            return "the disk of jobs is nearly full"
        if not self.writes_store():
            return "the store of jobs cannot be written"
        return self.audit.fault

    def wake(self) -> None:
        """Look for a new job immediately."""
        self._wake.set()

    def release_of(self, owner: str, job_id: str) -> Path | None:
        """Return the release folder of a table from a job of an owner, if it still exists."""
        job = self.store.find(job_id)
        if job is None or (job.owner, job.kind, job.state) != (owner, "protect", "done"):
            return None
        folder = self.folders.output(job) / "result"
        return folder if folder.is_dir() else None

    def cancel(self, job: Job) -> None:
        """Stop a job and delete its files; one that has ended is removed from the store."""
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
        """Repeat some work; a locked store or a full disk delays it but never ends it."""
        while not self._stopping.is_set():
            try:
                work()
            except Exception as error:  # its text may contain data, so only its type is logged
                LOG.error(json.dumps({"jobs": work.__name__, "error": type(error).__name__}))
                self._stopping.wait(RETRY_SECONDS)

    def _insist(self, work: Callable[[], object]) -> None:
        """Repeat the conclusion of a job until the store accepts it; if the server stops, the next one does this."""
        while True:
            try:
                work()
                return
            except STORE_FAULTS as error:
                LOG.error(json.dumps({"store": type(error).__name__}))
                if self._stopping.wait(RETRY_SECONDS):
                    return

    def _beat(self) -> None:
        """Renew this server's lease, and end the leases of servers that have stopped."""
        if self.leases.renew():
            self.leases.end_silent()
        else:
            LOG.error(json.dumps({"lease": "was lost: this server had been silent for too long"}))
        self.upkeep.take_over()
        self._stopping.wait(self.leases.beat_seconds)

    def _clean(self) -> None:
        """Delete what has expired, and end jobs that another server has cancelled or taken over."""
        self._stopping.wait(CLEANING_SECONDS)
        with self._lock:
            running = set(self._running)
        if running:
            lost = running - self.store.running_on(self.leases.id)
            self._end_workers(lost.__contains__)
        self.upkeep.clean()

    def _watch_room(self) -> None:
        """End the job that uses most disk space before the disk is full, because then no end could be recorded."""
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
        except STORE_FAULTS as error:  # not the job's fault, so it is queued again
            LOG.error(json.dumps({"job": job.id, "store": type(error).__name__}))
            self._insist(partial(self.store.requeue, job))
        except Exception as error:  # an error in one job must not end the thread
            LOG.error(json.dumps({"job": job.id, "error": type(error).__name__}))
            self._insist(partial(self._fail, job, "internal", Message("request.internal")))

    def _run(self, job: Job) -> None:
        try:
            worker = self._started(job)
        except EngineError:  # no process can be started; not the job's fault, so it is queued again
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
                call = WorkerCall(
                    WORK, (self.folder(job.id).resolve(), job.attempts, self.settings.spark), reports=True
                )
                worker.run(call, partial(self._advance, job))
        except (SfumatoError, RefusedError, CrashedError, WorkerEndedError) as error:
            fault = error
        overtime.cancel()
        if isinstance(fault, WorkerEndedError):
            worker.ended.wait(ENDING_SECONDS)
        fault = self._room_fault(job, fault)
        erase(*self.folders.half_done(job))  # done first, because recording the end may need the space
        with self._lock:
            self._running.pop((job.id, job.attempts), None)
        self._insist(partial(self._conclude, job, worker, fault, time.monotonic() - begun))

    def _room_fault(self, job: Job, fault: BaseException | None) -> BaseException | None:
        """Return the error of a job, or that of insufficient disk space; a result that leaves no space is deleted."""
        run, output = (job.id, job.attempts), self.folders.output(job)
        if fault is None and self.room.is_used_up_by(output):
            erase(output)
            return no_room()
        cut = run in self._without_room
        self._without_room.discard(run)
        return no_room() if isinstance(fault, ROOM_FAULTS) and (cut or not self.room.keeps_jobs()) else fault

    def _advance(self, job: Job, progress: ProgressMessage) -> None:
        with suppress(*STORE_FAULTS):  # the progress will be reported again
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
        """Conclude a job by how its process ended."""
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
            self._fail(job, fault.code, fault.what if isinstance(fault, RefusedError) else fault.text)
        elif isinstance(fault, CrashedError):
            LOG.error(json.dumps({"job": job.id, "error": fault.kind, "at": fault.place}))
            self._fail(job, "internal", Message("request.internal"))
        else:
            self._fail(job, *self._why(worker.status or 0, seconds))

    def _why(self, status: int, seconds: float) -> tuple[str, Message]:
        if seconds >= self.settings.seconds:
            return "limit.time", Message("request.too_long", seconds=self.settings.seconds)
        if status < 0:
            name = signal.Signals(-status).name
            return "internal.worker", Message("request.job_ended", name=name)
        return "internal.worker", Message("request.no_result")

    def _fail(self, job: Job, code: str, message: Message) -> None:
        """Record that a job failed, and delete its files."""
        ending = Ending("failed", self.settings.keep_seconds, code, message)
        if self.store.conclude(job, ending, lambda: erase(self.folder(job.id))):
            self.audit.note(job.owner, "job failed", job=job.id, code=code)


class Maintenance:
    """Maintenance that every server does for all of them."""

    def __init__(
        self, settings: JobSettings, store: JobStore, leases: Leases, folders: Folders, webhooks: Webhooks
    ) -> None:
        self._settings, self._store, self._leases = settings, store, leases
        self._folders, self._webhooks = folders, webhooks
        self._results, self._strangers = Deadlines(), Deadlines()

    def take_over(self) -> None:
        """Requeue jobs of servers that are gone, unless done before, and delete their visitors' files."""
        for job in self._store.orphans():
            self._take_back(job)
        erase(*self._folders.abandoned(self._leases.live()))

    def _take_back(self, job: Job) -> None:
        """Recover a job of a lost server: a complete result is kept, an incomplete one is started again."""
        folder = self._folders.of(job.id)
        if self._folders.output(job).is_dir():
            self._store.conclude(
                job, Ending("done", self._settings.keep_seconds), lambda: self._folders.keep_output(job)
            )
        elif job.attempts < MOST_ATTEMPTS and (folder / "request.json").exists():
            self._store.requeue(job)
        else:
            ending = Ending("failed", self._settings.keep_seconds, "internal.stopped", Message("request.stopped_twice"))
            self._store.conclude(job, ending, lambda: erase(folder))

    def tidy(self) -> None:
        """Delete remains of jobs that have ended, in case a server was killed before deleting them."""
        for job in self._store.listed("done", "failed", "cancelled"):
            if job.state != "done":
                erase(self._folders.of(job.id))
            elif self._folders.output(job).is_dir():
                self._folders.keep_output(job)

    def clean(self) -> None:
        """Delete expired results, and folders of unknown jobs."""
        keep = self._settings.keep_seconds
        remaining = {name: bounded(seconds, keep) for name, seconds in self._store.remaining().items()}
        for job_id in self._results.over(remaining):
            erase(self._folders.of(job_id))
            self._store.forget(job_id)
        ids = {job.id for job in self._store.listed(*STATES)}
        strangers = dict.fromkeys(self._folders.unknown(ids), self._settings.lease_seconds)
        erase(*(self._folders.of(name) for name in self._strangers.over(strangers)))

    def tell(self) -> None:
        """Send the webhooks of jobs that have ended."""
        for job_id in self._webhooks.waiting():
            job = self._store.find(job_id)
            if job is not None and job.ended:
                self._webhooks.tell(job_id, {"job": job.id, "kind": job.kind, "state": job.state, "code": job.code})
            elif job is None and not self._folders.of(job_id).exists():
                self._webhooks.drop(job_id)
