"""Folders for the files of jobs and visitors: private to the server's user, each with a known owner."""

import re
import shutil
import stat
import uuid
from collections.abc import Container
from contextlib import suppress
from pathlib import Path

from sfumato.service.store.jobs import Job

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
