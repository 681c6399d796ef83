"""Load compiled loops from the extension module; without it, loops run as Python, a hundred times as slowly."""

import hashlib
import importlib
import os
import stat
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

# Environment variable with the cache folder; if it is unset, the user's cache is used.
_CACHE = "SFUMATO_CACHE"


def cache_folder() -> Path:
    """Return the cache folder of this user, which need not exist."""
    named = os.environ.get(_CACHE)
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path(os.path.expanduser("~"), ".cache")) / "sfumato"  # noqa: PTH111  no home: "~"


def is_own(folder: Path) -> bool:
    """Return whether a folder exists or can be created, and only this user can write to it, as its modules are run."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = folder.lstat()
    except OSError:
        return False
    closed = not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(found.st_mode) and closed and found.st_uid == _user() and os.access(folder, os.W_OK)


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


Loop = TypeVar("Loop", bound=Callable[..., Any])
ROOT = Path(__file__).parent.parent
# The Python source of each compiled loop, for the tests that compare both.
SOURCES: dict[Any, Callable[..., Any]] = {}
# Environment variable: "python" runs the Python sources of the loops; if it is unset, the extension module runs.
_WAY = "SFUMATO_LOOPS"
NATIVE = "sfumato.native.native"


def compiled(function: Loop) -> Loop:
    """Return the compiled form of a loop, which releases the interpreter's lock."""
    # A loop without types in its signature is called only by other loops, whose machine code contains it.
    loop = getattr(native_module(), public_name(function.__module__, function.__name__), function)
    if loop is not function:
        SOURCES[loop] = function
    return cast(Loop, loop)


def way() -> str:
    """Return how loops run in this process: "native" or "python"."""
    return "python" if native_module() is None else "native"


@cache
def native_module() -> ModuleType | None:
    """Return the extension module if it was built from the current sources; otherwise warn and return None."""
    if os.environ.get(_WAY) == "python":
        return None
    native = find_native()
    if native is None:
        warnings.warn(
            "Compiled loops are missing or outdated, so that everything takes a hundred times longer: "
            "run `sfumato compile`.",
            RuntimeWarning,
            stacklevel=2,
        )
    return native


def find_native() -> ModuleType | None:
    """Return the extension module next to the sources or in the cache; None if it is missing or outdated."""
    for load in (_beside, _cached):
        native = load()
        # Installed sources do not change after installation, so their module is not outdated.
        if native is not None and (not _is_source_tree() or stamp() == native.STAMP):
            return native
    return None


def public_name(module: str, name: str) -> str:
    """Return the name of a loop in the extension module."""
    return f"{module.removeprefix('sfumato.').replace('.', '_')}_{name}"


def sources() -> list[Path]:
    """Return the source files of loops, of the constants that they use, and of the translator."""
    kernels = [
        path for wing in ("engines", "microdata", "tables") for path in sorted((ROOT / wing).rglob("*kernels.py"))
    ]
    own = [path for path in sorted((ROOT / "native").rglob("*")) if path.suffix in (".py", ".h")]
    return [*kernels, ROOT / "microdata" / "methods" / "k_optimize" / "problem_arrays.py", *own]


def stamp() -> str:
    """Return a hash of all sources."""
    whole = hashlib.blake2b(digest_size=16)
    for path in sources():
        whole.update(path.read_bytes())
    return whole.hexdigest()


def _is_source_tree() -> bool:
    return (ROOT.parent.parent / "pyproject.toml").exists()


def _beside() -> ModuleType | None:
    try:
        return importlib.import_module(NATIVE)
    except ImportError:
        return None


def _cached() -> ModuleType | None:
    """Return the module that `sfumato compile` built for a read-only installation, or None."""
    from importlib.util import module_from_spec, spec_from_file_location

    for path in sorted(cache_folder().glob(f"{stamp()}/native.*")):
        spec = spec_from_file_location(NATIVE, path)
        if spec and spec.loader:
            try:
                native = module_from_spec(spec)
                spec.loader.exec_module(native)
            except ImportError:
                continue
            return native
    return None
