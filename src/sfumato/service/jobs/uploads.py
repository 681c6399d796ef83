"""Files of a form, written once: without a name in the folder of jobs; the name is given when the job is accepted.

A file without a name vanishes with the process that wrote it. If the file system does not support this, files are
copied.
"""

import os
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO, cast

from starlette.formparsers import MultiPartParser

NAMELESS = getattr(os, "O_TMPFILE", None)


def new_file(folder: Path) -> IO[bytes]:
    """Create a file without a name, which can get one later if the system supports it."""
    if NAMELESS is not None:
        with suppress(OSError):
            return os.fdopen(os.open(folder, NAMELESS | os.O_RDWR, 0o600), "w+b")
    return TemporaryFile(dir=folder)


def give_name(file: BinaryIO, target: Path) -> bool:
    """Give a file without a name a path, and return whether that was possible."""
    try:
        if os.fstat(file.fileno()).st_nlink:
            return False  # it has a name already, whose owner may change it
        file.flush()
        number = file.fileno()  # passed as a folder only because the call follows links for folders only
        os.link(f"/proc/self/fd/{number}", target, src_dir_fd=number, follow_symlinks=True)
    except (OSError, AttributeError, ValueError):
        return False
    return True


class UploadParser(MultiPartParser):
    """Parses a form; its files are written directly to a folder."""

    def __init__(self, *arguments: Any, folder: Path, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._folder = folder

    def on_headers_finished(self) -> None:
        super().on_headers_finished()
        upload = self._current_part.file
        if upload is not None:
            upload.file.close()
            upload.file = cast("BinaryIO", new_file(self._folder))
            self._files_to_close_on_error.append(upload.file)  # type: ignore[arg-type]
