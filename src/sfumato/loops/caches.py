"""Cache folder of compiled loops that were not installed with the package."""

import os
import stat
import tempfile
from pathlib import Path

# Environment variable with the folder; the user's cache if unset.
_CACHE = "SFUMATO_CACHE"


def cache_folder() -> Path:
    """Return the cache folder of this user, which may not exist."""
    named = os.environ.get(_CACHE)
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path(os.path.expanduser("~"), ".cache")) / "sfumato"  # noqa: PTH111  no home: "~"


def numba_folder(package: Path) -> str:
    """Return where numba stores compiled code: next to the sources ("") if writable, else in a cache."""
    if os.access(package, os.W_OK):
        return ""
    for folder in (cache_folder() / "numba", Path(tempfile.gettempdir(), f"sfumato-{_user()}")):
        if is_own(folder):
            return str(folder)
    return tempfile.mkdtemp(prefix="sfumato-")


def is_own(folder: Path) -> bool:
    """Return whether a folder is (or can be) writable for this user only, because its content is executed."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = folder.lstat()
    except OSError:
        return False
    closed = not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(found.st_mode) and closed and found.st_uid == _user() and os.access(folder, os.W_OK)


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
