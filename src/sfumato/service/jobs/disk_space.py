"""Disk space of jobs: what is available, when a running job is ended, and what is erased at the start."""

import errno
import fcntl
import os
import shutil
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path

from sfumato.service.http.problems import RefusedError
from sfumato.service.jobs.folders import erase, left_half_done, size_of
from sfumato.service.settings import JobSettings

PRESENCE = ".servers"
# Free space that a store in a file needs to record how a job ended.
LEAST_BYTES = 1_000_000
# A running job is ended if free space falls below this proportion of the minimum for new jobs.
ENDING_SHARE = 0.5
NO_ROOM = (
    "The disk of jobs was nearly full, and this job was ended; nothing was published. Try again when there is room."
)


def no_space() -> OSError:
    """Return the error that the system raises for a full disk."""
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def no_room() -> RefusedError:
    """Return the error of a job that was ended for lack of disk space."""
    return RefusedError(HTTPStatus.INSUFFICIENT_STORAGE, "limit.disk", NO_ROOM)


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
