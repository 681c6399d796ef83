"""Projects as archives with their runs: encrypted between visits, unpacked within limits if they come from anyone."""

import json
import os
import shutil
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, TypedDict
from uuid import uuid4

from sfumato.service.jobs.folders import Deadlines, bounded
from sfumato.service.settings import JobSettings
from sfumato.values import State

MOST_FILES = 1_000
BLOCK_BYTES = 1 << 20
# Errors of damaged, password-protected and other archives.
UNREADABLE = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError)


class TooLargeArchiveError(Exception):
    """The content of an archive exceeds the limits."""


class ExtractionLimits(State):
    """The remaining limits: bytes of all files and of each, and the number of files."""

    all_bytes: int
    file_bytes: int
    files: int = MOST_FILES

    def take(self, entry: zipfile.ZipInfo) -> None:
        """Subtract the declared size of a file; no more than that is unpacked of it.

        Raises:
            NoRoomError: The size exceeds the limits.

        >>> limits, entry = ExtractionLimits(10, 8), zipfile.ZipInfo("rows.csv")
        >>> entry.file_size = 6
        >>> limits.take(entry), limits.all_bytes, limits.files
        (None, 4, 999)
        """
        self.all_bytes, self.files = self.all_bytes - entry.file_size, self.files - 1
        if entry.file_size > self.file_bytes or min(self.all_bytes, self.files) < 0:
            raise TooLargeArchiveError


def limits_in(folder: Path, settings: JobSettings) -> ExtractionLimits:
    """Return the limits for a submitted project: each file as large as a single upload, without filling the disk."""
    free = shutil.disk_usage(folder).free - settings.free_bytes
    return ExtractionLimits(min(settings.user_bytes, max(free, 0)), settings.upload_bytes)


def extract(archive: zipfile.ZipFile, name: str, target: Path, limits: ExtractionLimits | None) -> None:
    """Write a file of an archive, within the remaining limits if there are any.

    Raises:
        NoRoomError: The file is larger.
    """
    entry = archive.getinfo(name)
    if limits is not None:
        limits.take(entry)
    with archive.open(entry) as source, target.open("wb") as sink:
        shutil.copyfileobj(source, sink, BLOCK_BYTES)


FOLDER = "projects"
ENDING = ".sealed"
CHUNK_BYTES = 1 << 20
TAG_BYTES = 16
RECORD = "project.json"
# The record is read as a whole.
MOST_RECORD_BYTES = 20_000_000


class EncryptedProjects:
    """The encrypted projects of a server, by the keys of browsers.

    The content of a file is a ZIP archive of the project's folder with its metadata in `project.json`. The file is a
    sequence of chunks, each encrypted and authenticated (AES-256-GCM). The nonce is the index of the chunk, and the
    associated data says whether it is the last one, so that chunks cannot be changed, exchanged, repeated or omitted.

    Attributes:
        kept_seconds: How long an unopened project is kept before it is erased.
    """

    def __init__(self, root: Path, kept_seconds: float) -> None:
        self._root, self.kept_seconds = root / FOLDER, kept_seconds
        self._deadlines = Deadlines()

    def path(self, key: str) -> Path:
        """Return the path of the project of a key; the name does not reveal the key."""
        return self._root / (sha256(b"name:" + key.encode()).hexdigest()[:40] + ENDING)

    def seal(self, key: str, files: Mapping[str, Path], record: Mapping[str, Any]) -> None:
        """Encrypt a project's files and record, written to the final name only when complete."""
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = self.path(key)
        partial = target.with_suffix(f".{uuid4().hex}.part")
        with TemporaryFile(dir=self._root) as plain:  # it has no name, and is deleted when closed
            pack(plain, files, record)
            plain.seek(0)
            with partial.open("wb") as stream:
                os.chmod(partial, 0o600)  # noqa: PTH101
                for chunk in _encrypted(_cipher(key), plain):
                    stream.write(chunk)
        partial.replace(target)

    def open(self, key: str, folder: Path) -> dict[str, Any] | None:
        """Decrypt the project of a key into a folder; return its record, or None if the key opens no project."""
        from cryptography.exceptions import InvalidTag

        path = self.path(key)
        if not path.exists():
            return None
        try:
            with TemporaryFile(dir=self._root) as plain, path.open("rb") as stream:
                for chunk in _decrypted(_cipher(key), stream):
                    plain.write(chunk)
                plain.seek(0)
                return unpack(plain, folder)
        except (InvalidTag, *UNREADABLE, ValueError, KeyError):
            return None

    def erase(self, key: str) -> None:
        """Erase the project of a key."""
        self.path(key).unlink(missing_ok=True)

    def erase_old(self) -> None:
        """Erase projects that were not opened for too long."""
        moment, ages = time.time(), {}
        for path in self._root.glob(f"*{ENDING}"):
            ages[path.name] = bounded(self.kept_seconds - (moment - path.stat().st_mtime), self.kept_seconds)
        for name in self._deadlines.over(ages):
            (self._root / name).unlink(missing_ok=True)


def pack(stream: IO[bytes], files: Mapping[str, Path], record: Mapping[str, Any]) -> None:
    """Write a project as an archive: its record, and its files by name."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(RECORD, json.dumps(record, ensure_ascii=False))
        for name, path in files.items():
            if name != RECORD:
                archive.write(path, name)


def unpack(stream: IO[bytes], folder: Path, limits: ExtractionLimits | None = None) -> dict[str, Any]:
    """Extract an archive into a folder and return its record; names that are no plain file names are refused.

    Args:
        limits: Limits for unpacking, if the archive may come from anyone.

    Raises:
        ValueError, RecursionError: The archive is not a project.
        NoRoomError: The archive is too large.
    """
    with zipfile.ZipFile(stream) as archive:
        names = [name for name in archive.namelist() if name != RECORD]
        if RECORD not in archive.namelist() or not all(map(_is_plain, names)):
            raise ValueError("no project")
        if limits is not None and archive.getinfo(RECORD).file_size > MOST_RECORD_BYTES:
            raise TooLargeArchiveError
        for name in [RECORD, *names]:
            extract(archive, name, folder / name, limits)
    record = json.loads((folder / RECORD).read_bytes())
    (folder / RECORD).unlink()
    if not isinstance(record, dict) or not isinstance(record.get("plan"), dict):
        raise ValueError("no project")
    return record


def _is_plain(name: str) -> bool:
    """Return whether a file of this name is in the folder itself.

    >>> _is_plain("rows.csv"), _is_plain("../rows.csv"), _is_plain(".."), _is_plain("runs/")
    (True, False, False, False)
    """
    return Path(name).name == name != ".."


def _cipher(key: str) -> Any:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(sha256(b"seal:" + key.encode()).digest())


def _encrypted(cipher: Any, plain: IO[bytes]) -> Iterator[bytes]:
    salt = os.urandom(8)
    yield salt
    chunk, place = plain.read(CHUNK_BYTES), 0
    while True:
        following = plain.read(CHUNK_BYTES)
        last = b"\1" if not following else b"\0"
        yield cipher.encrypt(salt + place.to_bytes(4), chunk, last)
        if not following:
            return
        chunk, place = following, place + 1


def _decrypted(cipher: Any, stream: IO[bytes]) -> Iterator[bytes]:
    size = CHUNK_BYTES + TAG_BYTES
    salt = stream.read(8)
    chunk, place = stream.read(size), 0
    while True:
        following = stream.read(size)
        yield cipher.decrypt(salt + place.to_bytes(4), chunk, b"\0" if following else b"\1")
        if not following:
            return
        chunk, place = following, place + 1


RUNS = "runs"
RESULT = "result"
REPORT = "report.json"


class RunRecord(TypedDict):
    """The record of a run in addition to its files: its number and its plan."""

    number: int
    plan: dict[str, Any]


def run_archives(places: Mapping[int, Path]) -> dict[str, Path]:
    """Return the archives of runs, by their names in the archive of the project.

    Args:
        places: The result folder of each run by its number; its archive is next to it.
    """
    found = {_run_archive(number): place / f"{RESULT}.zip" for number, place in places.items()}
    return {name: path for name, path in found.items() if path.exists()}


def unpacked_runs(
    folder: Path, records: Sequence[Any], limits: ExtractionLimits | None = None
) -> Iterator[tuple[int, dict[str, Any], Path]]:
    """Yield the runs whose archives are in the folder of a project: number, plan, and result folder.

    An archive that is no result is skipped, because a project is more than its runs.

    Args:
        limits: Limits for unpacking, if the archive may come from anyone.

    Raises:
        NoRoomError: A run is too large.
    """
    for record in records:
        number, plan = (record.get("number"), record.get("plan")) if isinstance(record, dict) else (None, None)
        if not isinstance(number, int) or not isinstance(plan, dict) or not (folder / _run_archive(number)).exists():
            continue
        place = folder / RUNS / str(number)
        place.mkdir(parents=True, exist_ok=True)
        archive = (folder / _run_archive(number)).replace(place / f"{RESULT}.zip")
        if _unpack_run(archive, place / RESULT, limits):
            yield number, plan, place / RESULT


def _run_archive(number: int) -> str:
    return f"run-{number}.zip"


def _unpack_run(archive: Path, target: Path, limits: ExtractionLimits | None) -> bool:
    """Extract the files of a result into a folder; return whether it is a result."""
    try:
        with zipfile.ZipFile(archive) as opened:
            names = [entry.filename for entry in opened.infolist() if not entry.is_dir()]
            if any(name.startswith("/") or ".." in Path(name).parts for name in names):
                return False
            for name in names:
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                extract(opened, name, target / name, limits)
        return isinstance(json.loads((target / REPORT).read_text(encoding="utf-8")), dict)
    except (*UNREADABLE, OSError, ValueError):
        return False
