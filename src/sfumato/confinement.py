"""Confinement: a worker process that handles users' plans and files can open the files of its job and no others.

It covers files opened by Python and DuckDB, and by other libraries through `check_open`. It does not stop foreign code
in the process; only the operating system could.
"""

import os
import sys
import sysconfig
from collections.abc import Iterable
from errno import EACCES
from functools import cache
from pathlib import Path
from typing import Any

# Files that programs read from the system: shared data, processor count, memory use, random numbers.
SYSTEM = ("/usr", "/lib", "/lib64", "/sys", "/proc/cpuinfo", "/proc/meminfo", "/dev/null", "/dev/urandom")
OWN_PROCESS = ("statm", "stat", "status", "maps", "cgroup", "mountinfo")
# Audit events of the interpreter whose first argument is a path.
EVENTS = frozenset({"open", "os.listdir", "os.scandir", "os.link", "os.symlink", "os.rename", "sqlite3.connect"})

_folders: tuple[str, ...] | None = None


def confine(folders: Iterable[Path]) -> None:
    """Confine this process to opening files in these folders, or these files; this cannot be undone.

    Files of the interpreter, its libraries and the system stay accessible.
    """
    global _folders  # noqa: PLW0603  (a process is confined as a whole)
    _program()
    _folders = tuple(os.path.realpath(folder) for folder in folders)
    sys.addaudithook(_audit)


def allowed() -> tuple[str, ...] | None:
    """Return the folders and files that this process is confined to; None if it is not confined."""
    return _folders


def check_open(path: str | bytes | os.PathLike[Any]) -> None:
    """Refuse a file outside of the job, by its resolved path, for libraries that open files themselves."""
    if _folders is None:
        return
    real = os.path.realpath(os.fsdecode(path))
    if not any(_lies_in(real, folder) for folder in (*_folders, *_program())):
        raise PermissionError(EACCES, "the file is outside of the job")


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event in EVENTS and isinstance(arguments[0], str | bytes | os.PathLike):
        check_open(arguments[0])


def _lies_in(real: str, folder: str) -> bool:
    return real == folder or real.startswith(folder.rstrip("/") + "/")


@cache
def _program() -> tuple[str, ...]:
    """Return the folders of the interpreter, its packages and shared system files."""
    own = {*sys.path, sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), *SYSTEM}
    process = (f"/proc/{os.getpid()}/{name}" for name in OWN_PROCESS)
    return (*(os.path.realpath(path) for path in own if path.startswith("/")), *process)
