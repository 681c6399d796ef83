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
# What a store in a file needs in order to note how a job ended.
LEAST_BYTES = 1_000_000
# A job that runs is ended when this share is left of the room below which none is taken.
ENDING_SHARE = 0.5
NO_ROOM = (
    "The disk of jobs was nearly full, and this job was ended; nothing was published. Try again when there is room."
)


def no_space() -> OSError:
    """The error that the system itself gives when a disk is full."""
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def no_room() -> RefusedError:
    """Why a job was ended that the disk had no room for."""
    return RefusedError(HTTPStatus.INSUFFICIENT_STORAGE, "limit.disk", NO_ROOM)


class Room:
    """The room on the disk where the folder of jobs lies."""

    def __init__(self, settings: JobSettings) -> None:
        self._folder, self._least = settings.folder, settings.free_bytes

    @property
    def free(self) -> int:
        """Bytes that are free."""
        return shutil.disk_usage(self._folder).free

    def takes_jobs(self) -> bool:
        """Whether there is room for another job."""
        return self.free >= self._least

    def keeps_jobs(self) -> bool:
        """Whether jobs that run may go on."""
        return self.free >= self._least * ENDING_SHARE

    def is_used_up_by(self, output: Path) -> bool:
        """Whether a result has taken the room in which its end would be noted."""
        return self.free < LEAST_BYTES < size_of(output)


class Presence:
    """Says to other servers of this machine that one is here; the first erases what earlier ones left half done.

    That comes before anything is written, since a full disk may be why they ended.
    """

    def __init__(self, folder: Path) -> None:
        self._lock = -1
        with suppress(OSError):  # a disk without room for even an empty file: nobody said to be here
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
        """Say that this server goes."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
