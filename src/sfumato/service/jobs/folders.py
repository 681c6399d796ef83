"""Folders for the files of jobs and visitors: their owners, the disk space they may use, and when they are erased."""

import errno
import fcntl
import os
import re
import shutil
import stat
import time
import uuid
from collections.abc import Container, Mapping
from contextlib import suppress
from pathlib import Path

from sfumato.localization.messages import Message
from sfumato.service.jobs.store import Job
from sfumato.service.problems import RefusedError
from sfumato.service.settings import JobSettings

JOB = re.compile(r"[0-9a-f]{32}")
PRIVATE = re.compile(r"[a-z]+-[0-9a-f]{32}-([0-9a-f]{32})")


class Folders:
    """The folder of a server, or of several that share it.

    Attributes:
        root: The folder itself.
        lease: The server that owns private folders.
    """

    def __init__(self, root: Path, lease: str) -> None:
        self.root, self.lease = root, lease
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        root.chmod(0o700)

    def of(self, job_id: str) -> Path:
        """Return the folder of a job's files."""
        return self.root / job_id

    def output(self, job: Job) -> Path:
        """Return the folder of the result of a job's last attempt, which appears when it is complete."""
        return self.of(job.id) / f"output-{job.attempts}"

    def scratch(self, job: Job) -> Path:
        """Create and return the folder for temporary files of a job's process, which is deleted with the job."""
        scratch = self.of(job.id) / f"scratch-{job.attempts}"
        scratch.mkdir(mode=0o700, exist_ok=True)
        return scratch

    def opened_by(self, job: Job) -> list[Path]:
        """Return all that the job's process may open: its own folder, and files that the server linked there."""
        inputs = self.of(job.id) / "input"
        linked = [path.resolve() for path in inputs.iterdir() if path.is_symlink()] if inputs.is_dir() else []
        return [self.of(job.id).resolve(), *linked]

    def half_done(self, job: Job) -> list[Path]:
        """Return what an ended attempt leaves next to its result."""
        return [self.of(job.id) / f"draft-{job.attempts}", self.of(job.id) / f"scratch-{job.attempts}"]

    def private(self, purpose: str) -> Path:
        """Create a folder that is deleted when this server is gone."""
        folder = self.root / f"{purpose}-{uuid.uuid4().hex}-{self.lease}"
        folder.mkdir(mode=0o700)
        return folder

    def abandoned(self, live: Container[str]) -> list[Path]:
        """Return private folders of servers that are gone."""
        matches = [(path, PRIVATE.fullmatch(path.name)) for path in self.root.iterdir()]
        return [path for path, match in matches if match and match[1] not in live]

    def unknown(self, ids: Container[str]) -> set[str]:
        """Return the names of job folders that are not among some jobs."""
        return {path.name for path in self.root.iterdir() if JOB.fullmatch(path.name) and path.name not in ids}

    def keep_output(self, job: Job) -> None:
        """Delete all files of a job except its result."""
        output = self.output(job)
        erase(*(path for path in self.of(job.id).iterdir() if path != output))


def size_of(folder: Path) -> int:
    """Return the size of the files in a folder in bytes, without targets of links and files that have just vanished."""
    return sum(map(_size, folder.rglob("*")))


def _size(path: Path) -> int:
    with suppress(OSError):
        status = path.lstat()
        return 0 if stat.S_ISDIR(status.st_mode) else status.st_size
    return 0


def left_half_done(root: Path) -> list[Path]:
    """Return what no server continues: unfinished attempts, uploads and visitors' files."""
    jobs = [path for path in root.iterdir() if JOB.fullmatch(path.name)]
    attempts = [path for job in jobs for name in ("draft-*", "scratch-*") for path in job.glob(name)]
    return attempts + [path for path in root.iterdir() if PRIVATE.fullmatch(path.name)]


def erase(*paths: Path) -> None:
    """Delete files and folders, if they exist."""
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink(missing_ok=True)


PRESENCE = ".servers"
# Free space that a store in a file needs to record how a job ended.
LEAST_BYTES = 1_000_000
# A running job is ended if free space falls below this proportion of the minimum for new jobs.
ENDING_SHARE = 0.5


def no_space() -> OSError:
    """Return the error that the system raises for a full disk."""
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def no_room() -> RefusedError:
    """Return the error of a job that was ended for lack of disk space."""
    return RefusedError("limit.disk", Message("request.disk_full"))


class DiskSpace:
    """The free space on the disk with the folder of jobs."""

    def __init__(self, settings: JobSettings) -> None:
        self._folder, self._least = settings.folder, settings.free_bytes

    @property
    def free(self) -> int:
        """The number of free bytes."""
        return shutil.disk_usage(self._folder).free

    def takes_jobs(self) -> bool:
        """Return whether there is enough space for another job."""
        return self.free >= self._least

    def keeps_jobs(self) -> bool:
        """Return whether running jobs may continue."""
        return self.free >= self._least * ENDING_SHARE

    def is_used_up_by(self, output: Path) -> bool:
        """Return whether a result has used up the space for recording its end."""
        return self.free < LEAST_BYTES < size_of(output)


class ServerLock:
    """A lock that shows other servers of this machine that one is running; the first deletes unfinished work.

    This happens before anything is written, because a full disk may be why earlier servers ended.
    """

    def __init__(self, folder: Path) -> None:
        self._lock = -1
        with suppress(OSError):  # on a disk without space for an empty file, no lock is taken
            self._lock = os.open(folder / PRESENCE, os.O_RDWR | os.O_CREAT, 0o600)
            self._enter(folder)

    def _enter(self, folder: Path) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            erase(*left_half_done(folder))
        except BlockingIOError:
            pass
        fcntl.flock(self._lock, fcntl.LOCK_SH)

    def leave(self) -> None:
        """Release the lock."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


# Minimum retention of anything seen for the first time, such as by a new server, because clocks may be wrong.
GRACE_SECONDS = 600.0


class Deadlines:
    """Names with their end times, measured from when a name is first seen."""

    def __init__(self) -> None:
        self._ends: dict[str, float] = {}

    def over(self, remaining: Mapping[str, float]) -> list[str]:
        """Return the names whose time is over, given the remaining seconds of each when it is first seen."""
        now = time.monotonic()
        self._ends = {name: self._ends.get(name, now + seconds) for name, seconds in remaining.items()}
        return [name for name, end in self._ends.items() if now >= end]


def bounded(remaining: float, keep_seconds: float) -> float:
    """Limit the remaining time by a clock to plausible values.

    >>> bounded(-86400, 7200), bounded(864000, 7200), bounded(3600, 7200)
    (600.0, 7200, 3600)
    """
    return min(max(remaining, GRACE_SECONDS), keep_seconds)
