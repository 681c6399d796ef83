"""The temporary folder of a server without a configured one: erased at the end, or by the next server."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "sfumato-serve-"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Create a private folder for the lifetime of the server."""
    root = Path(tempfile.gettempdir()).resolve()
    erase_abandoned(root)
    folder = Path(tempfile.mkdtemp(prefix=".sfumato-new-", dir=root))
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)  # held until this process ends, however it ends
        folder = folder.rename(root / f"{PREFIX}{folder.name.rsplit('-', 1)[1]}")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def erase_abandoned(root: Path) -> None:
    """Delete the folders of servers that are gone, whose locks are free."""
    for path in root.glob(PREFIX + "*"):
        with suppress(OSError):
            if path.is_symlink() or path.stat().st_uid != os.getuid():
                continue
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)
