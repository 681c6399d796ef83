"""Maintenance of jobs: take over jobs of servers that stopped, erase expired ones, send webhooks."""

from sfumato.service.jobs.folders import Folders, erase
from sfumato.service.jobs.retention import Deadlines, bounded
from sfumato.service.jobs.webhooks import Webhooks
from sfumato.service.settings import JobSettings
from sfumato.service.store.jobs import STATES, Ending, Job, JobStore
from sfumato.service.store.server_leases import Leases

MOST_ATTEMPTS = 2
STOPPED = "The server stopped twice while this job ran. Send it again."


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
            ending = Ending("failed", self._settings.keep_seconds, "internal.stopped", STOPPED)
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
