"""Unpack untrusted archives within limits (decompression bombs)."""

import shutil
import zipfile
import zlib
from pathlib import Path

from sfumato.dataclass import dataclass
from sfumato.service.settings import JobSettings

MOST_FILES = 1_000
BLOCK_BYTES = 1 << 20
# Errors of damaged, password-protected and other archives.
UNREADABLE = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError)


class NoRoomError(Exception):
    """The content of an archive exceeds the limits."""


@dataclass
class ExtractionLimits:
    """The remaining limits: bytes of all files and of each, and the number of files."""

    all_bytes: int
    file_bytes: int
    files: int = MOST_FILES

    def take(self, entry: zipfile.ZipInfo) -> None:
        """Subtract the declared size of a file; no more than that is unpacked of it.

        Raises:
            NoRoomError: The size exceeds the limits.

        >>> room, entry = ExtractionLimits(10, 8), zipfile.ZipInfo("rows.csv")
        >>> entry.file_size = 6
        >>> room.take(entry), room.all_bytes, room.files
        (None, 4, 999)
        """
        self.all_bytes, self.files = self.all_bytes - entry.file_size, self.files - 1
        if entry.file_size > self.file_bytes or min(self.all_bytes, self.files) < 0:
            raise NoRoomError


def room_in(folder: Path, settings: JobSettings) -> ExtractionLimits:
    """Return the limits for a submitted project: each file as large as a single upload, without filling the disk."""
    free = shutil.disk_usage(folder).free - settings.free_bytes
    return ExtractionLimits(min(settings.user_bytes, max(free, 0)), settings.upload_bytes)


def extract(archive: zipfile.ZipFile, name: str, target: Path, room: ExtractionLimits | None) -> None:
    """Write a file of an archive, within the remaining limits if there are any.

    Raises:
        NoRoomError: The file is larger.
    """
    entry = archive.getinfo(name)
    if room is not None:
        room.take(entry)
    with archive.open(entry) as source, target.open("wb") as sink:
        shutil.copyfileobj(source, sink, BLOCK_BYTES)
