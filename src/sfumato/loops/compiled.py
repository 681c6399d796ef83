"""Dispatch of compiled loops: the native build of the package, or else numba on first call."""

import hashlib
import importlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from sfumato.loops.caches import cache_folder, numba_folder

Loop = TypeVar("Loop", bound=Callable[..., Any])
ROOT = Path(__file__).parent.parent
# The Python source of every loop that is compiled.
SOURCES: dict[Any, Callable[..., Any]] = {}
# How loops run: "numba" for just-in-time compilation, "python" uncompiled; if unset, the native build.
_WAY = "SFUMATO_LOOPS"
NATIVE = "sfumato.loops.native"


def compiled(function: Loop) -> Loop:
    """Compile a loop; all loops release the interpreter lock."""
    loop = _compiled(function)
    if loop is not function:
        SOURCES[loop] = function
    return loop


def _compiled(function: Loop) -> Loop:
    native = built()
    if native is not None:
        # A loop without types in its signature is only called by other loops, whose code contains it.
        return getattr(native, public_name(function.__module__, function.__name__), function)
    return function if way() == "python" else _numba()(function)


def way() -> str:
    """Return how loops run here: "native", "numba" or "python"."""
    asked = os.environ.get(_WAY, "")
    return asked if asked in ("python", "numba") else "native" if built() is not None else "numba"


@cache
def built() -> ModuleType | None:
    """Return the extension module with all loops, if it exists and matches the sources."""
    if os.environ.get(_WAY, "") in ("python", "numba"):
        return None
    for load in (_beside, _cached):
        native = load()
        # Installed sources always match the module that came with them.
        if native is not None and (not _is_source_tree() or stamp() == native.STAMP):
            return native
    return None


def public_name(module: str, name: str) -> str:
    """Return the name of a loop in the extension module."""
    return f"{module.removeprefix('sfumato.').replace('.', '_')}_{name}"


def sources() -> list[Path]:
    """Return the modules of loops, those with their constants, and the translator."""
    kernels = [
        path for wing in ("engines", "microdata", "tables") for path in sorted((ROOT / wing).rglob("*kernels.py"))
    ]
    own = [path for path in sorted((ROOT / "loops").rglob("*")) if path.suffix in (".py", ".h")]
    return [*kernels, ROOT / "microdata" / "methods" / "k_optimize" / "layout.py", *own]


def stamp() -> str:
    """Return a checksum of all sources."""
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
    """Return the module made by `sfumato compile` for an installation that is not writable."""
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


@cache
def _numba() -> Any:
    os.environ.setdefault("NUMBA_CACHE_DIR", numba_folder(ROOT))
    if not os.environ["NUMBA_CACHE_DIR"]:
        del os.environ["NUMBA_CACHE_DIR"]
    from numba import njit

    return njit(cache=True, nogil=True)
