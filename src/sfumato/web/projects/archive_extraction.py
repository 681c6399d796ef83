"""Unpack untrusted archives within limits (decompression bombs)."""

import shutil
import zipfile
import zlib
from pathlib import Path

from sfumato.dataclass import dataclass
from sfumato.service.settings import JobSettings

MOST_FILES = 1_000
BLOCK_BYTES = 1 << 20
# What a damaged archive, one with a password, or one of another kind ends in.
UNREADABLE = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError)


class NoRoomError(Exception):
    """There is no room for what an archive holds."""


@dataclass
class Room:
    """The room that is left: bytes of all files and of each, and how many there may be."""

    all_bytes: int
    file_bytes: int
    files: int = MOST_FILES

    def take(self, entry: zipfile.ZipInfo) -> None:
        """Take the room that a file says it needs; no more is unpacked of it.

        Raises:
            NoRoomError: There is less.

        >>> room, entry = Room(10, 8), zipfile.ZipInfo("rows.csv")
        >>> entry.file_size = 6
        >>> room.take(entry), room.all_bytes, room.files
        (None, 4, 999)
        """
        self.all_bytes, self.files = self.all_bytes - entry.file_size, self.files - 1
        if entry.file_size > self.file_bytes or min(self.all_bytes, self.files) < 0:
            raise NoRoomError


def room_in(folder: Path, settings: JobSettings) -> Room:
    """The room for a project that somebody sends: each file as large as one sent by itself, the disk not filled."""
    free = shutil.disk_usage(folder).free - settings.free_bytes
    return Room(min(settings.user_bytes, max(free, 0)), settings.upload_bytes)


def extract(archive: zipfile.ZipFile, name: str, target: Path, room: Room | None) -> None:
    """Write a file of an archive, within the room that is left where that is limited.

    Raises:
        NoRoomError: It is larger.
    """
    entry = archive.getinfo(name)
    if room is not None:
        room.take(entry)
    with archive.open(entry) as source, target.open("wb") as sink:
        shutil.copyfileobj(source, sink, BLOCK_BYTES)
