"""Build the extension module: translate all loops to C, compile them, and install the module."""

import importlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType

import numpy as np

from sfumato.errors import EngineError
from sfumato.native.c_codegen.program import CProgram, Entry, get, give, module, signatures, wrapper
from sfumato.native.dispatch import ROOT, cache_folder, find_native, is_own, public_name, sources, stamp

HEADERS = ROOT / "native"
# No fused or reordered arithmetic, so that results are identical on every machine; integers wrap as in NumPy.
_FLAGS = ["-O3", "-std=gnu11", "-fPIC", "-shared", "-fwrapv", "-ffp-contract=off", "-fno-math-errno", "-w"]
_UNDEFINED = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
# One module for every Python from 3.11 on (PEP 384); free-threaded Python has no limited API and needs a separate one.
IS_LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")
FILE = "native.abi3.so" if IS_LIMITED else f"native{sysconfig.get_config_var('EXT_SUFFIX')}"
# The oldest system on which a module built by ziglang runs; without a target it would run on this processor only.
_ZIG_SYSTEMS = {"linux": "linux-gnu.2.17", "darwin": "macos.11.0"}


class BuildError(Exception):
    """The C compiler is missing or failed."""


def build(folder: Path, functions: dict[str, FunctionType]) -> Path:
    """Build the extension module of loops, given by their names in it, in a folder, and return its file."""
    made = folder / FILE
    with tempfile.TemporaryDirectory() as room:
        source, fresh = Path(room, "native.c"), Path(room, made.name)
        source.write_text(program(functions), encoding="utf-8")
        _compile(source, fresh)
        folder.mkdir(parents=True, exist_ok=True)
        beside = made.with_name(f"{made.name}.{os.getpid()}")
        beside.write_bytes(fresh.read_bytes())
        beside.replace(made)
    for other in folder.glob("native.*.so"):
        if other != made:
            other.unlink()  # Python prefers a module for its own version, even if it is outdated.
    return made


def program(functions: dict[str, FunctionType]) -> str:
    """Return the C source of a Python module with the loops."""
    text = CProgram()
    entries = {name: _entries(text, function) for name, function in functions.items()}
    used = {kind for name in entries for entry in entries[name] for kind in (*entry.kinds, entry.result)}
    ordered = sorted(used, key=lambda kind: kind.tag)
    parts = ['#include "interpreter.h"', '#include "prelude.h"', '#include "wrapping.h"', text.text()]
    parts += [part for kind in ordered for part in (get(kind), give(kind)) if part]
    parts += [wrapper(name, entries[name]) for name in entries]
    return "\n".join([*parts, module(entries, stamp()), ""])


def loops() -> dict[str, FunctionType]:
    """Return the public loops as Python functions, by their names in the extension module."""
    os.environ["SFUMATO_LOOPS"] = "python"
    functions = {}
    for path in sources():
        if path.name.endswith("kernels.py"):
            name = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
            for item in vars(importlib.import_module(name)).values():
                if isinstance(item, FunctionType) and item.__module__ == name and signatures(item) is not None:
                    functions[public_name(name, item.__name__)] = item
    return functions


def _entries(text: CProgram, function: FunctionType) -> list[Entry]:
    entries = []
    for kinds in signatures(function) or ():
        name, result, written = text.specialize(function, kinds)
        entries.append(Entry(name, kinds, result, written))
    return entries


def _compile(source: Path, made: Path) -> None:
    limited = ["-DPy_LIMITED_API=0x030B0000"] if IS_LIMITED else []
    includes = [f"-I{place}" for place in (sysconfig.get_paths()["include"], np.get_include(), HEADERS)]
    command = [*_compiler(), *_FLAGS, *limited, *_UNDEFINED, *includes, str(source), "-o", str(made), "-lm"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise BuildError(run.stderr[-4000:])


def has_compiler() -> bool:
    """Return whether the system has a C compiler."""
    return shutil.which(_system_compiler()[0]) is not None


def _system_compiler() -> list[str]:
    return shlex.split(os.environ.get("CC") or "cc")


def _compiler() -> list[str]:
    if has_compiler():
        return _system_compiler()
    if sys.platform not in _ZIG_SYSTEMS or find_spec("ziglang") is None:
        raise BuildError("no C compiler; install gcc or clang, or: pip install ziglang")
    machine = {"arm64": "aarch64"}.get(platform.machine(), platform.machine())
    return [sys.executable, "-m", "ziglang", "cc", "-s", "-target", f"{machine}-{_ZIG_SYSTEMS[sys.platform]}"]


def main() -> int:
    """Build next to the sources if outdated, or always in the folder of the first argument; return the exit code."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HEADERS
    if folder == HEADERS and find_native() is not None:
        return 0
    try:
        build(folder, loops())
    except BuildError as error:
        sys.stderr.write(f"The loops are not built: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())


ProgressCallback = Callable[[str], None]


def build_ahead(tell: ProgressCallback) -> None:
    """Build the extension module if it is missing or outdated.

    Args:
        tell: Called with a line before the build, which takes about ten seconds.
    """
    if find_native() is not None:
        return
    folder = ROOT / "native" if os.access(ROOT / "native", os.W_OK) else cache_folder() / stamp()
    if folder.parent != ROOT and not is_own(folder.parent):
        raise EngineError("loops.folder", name=folder.parent)
    tell(f"Building the loops in {folder} …")
    # In another process, because this one may have loaded the sources of the loops already.
    command = [sys.executable, "-m", "sfumato.native.build", str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise EngineError("loops.compiler")
