"""The user's cache for compiled loops that did not come with the package."""

import os
import stat
from pathlib import Path

# Names the folder; the user's cache where unset.
_CACHE = "SFUMATO_CACHE"


def cache_folder() -> Path:
    """The folder of this user, which may not be there."""
    named = os.environ.get(_CACHE)
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path(os.path.expanduser("~"), ".cache")) / "sfumato"  # noqa: PTH111  no home: "~"


def is_own(folder: Path) -> bool:
    """Whether a folder is there, or can be made, and this user alone writes to it: what lies in it is run."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = folder.lstat()
    except OSError:
        return False
    closed = not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(found.st_mode) and closed and found.st_uid == _user() and os.access(folder, os.W_OK)


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
