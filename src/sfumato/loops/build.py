"""Build the native extension module: translate all loops to C and compile them with the C compiler of the machine."""

import importlib
import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from types import FunctionType

import numpy as np

from sfumato.loops.compiled import ROOT, public_name, sources, stamp
from sfumato.loops.translation.program import Program, signatures
from sfumato.loops.translation.wrappers import Entry, get, give, module, wrapper

HEADERS = ROOT / "loops"
# No fused or reordered arithmetic, for the same numbers on every machine; integers wrap as in NumPy.
_FLAGS = ["-O3", "-std=gnu11", "-fPIC", "-shared", "-fwrapv", "-ffp-contract=off", "-fno-math-errno", "-w"]
_UNDEFINED = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []


class BuildError(Exception):
    """There is no compiler, or it failed."""


def build(folder: Path, functions: dict[str, FunctionType]) -> Path:
    """Build the extension module of some loops, by name, into a folder; return its file."""
    made = folder / f"native{sysconfig.get_config_var('EXT_SUFFIX')}"
    with tempfile.TemporaryDirectory() as room:
        source, fresh = Path(room, "native.c"), Path(room, made.name)
        source.write_text(program(functions), encoding="utf-8")
        _compile(source, fresh)
        folder.mkdir(parents=True, exist_ok=True)
        beside = made.with_name(f"{made.name}.{os.getpid()}")
        beside.write_bytes(fresh.read_bytes())
        beside.replace(made)
    return made


def program(functions: dict[str, FunctionType]) -> str:
    """Return loops as the C source of a Python module."""
    text = Program()
    entries = {name: _entries(text, function) for name, function in functions.items()}
    used = {kind for name in entries for entry in entries[name] for kind in (*entry.kinds, entry.result)}
    ordered = sorted(used, key=lambda kind: kind.tag)
    parts = ['#include "interpreter.h"', '#include "prelude.h"', '#include "wrapping.h"', text.text()]
    parts += [part for kind in ordered for part in (get(kind), give(kind)) if part]
    parts += [wrapper(name, entries[name]) for name in entries]
    return "\n".join([*parts, module(entries, stamp()), ""])


def loops() -> dict[str, FunctionType]:
    """Return the public loops by their names in the extension module, as plain Python."""
    os.environ["SFUMATO_LOOPS"] = "python"
    functions = {}
    for path in sources():
        if path.name.endswith("kernels.py"):
            name = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
            for item in vars(importlib.import_module(name)).values():
                if isinstance(item, FunctionType) and item.__module__ == name and signatures(item) is not None:
                    functions[public_name(name, item.__name__)] = item
    return functions


def _entries(text: Program, function: FunctionType) -> list[Entry]:
    entries = []
    for kinds in signatures(function) or ():
        name, result, written = text.specialize(function, kinds)
        entries.append(Entry(name, kinds, result, written))
    return entries


def _compile(source: Path, made: Path) -> None:
    compiler = shlex.split(os.environ.get("CC") or "cc")
    includes = [f"-I{place}" for place in (sysconfig.get_paths()["include"], np.get_include(), HEADERS)]
    command = [*compiler, *_FLAGS, *_UNDEFINED, *includes, str(source), "-o", str(made), "-lm"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise BuildError(f"no C compiler: {error}") from error
    if run.returncode:
        raise BuildError(run.stderr[-4000:])


def main() -> int:
    """Build next to the sources, or into the first argument; does nothing if the result is current."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HEADERS
    from sfumato.loops.compiled import built

    if folder == HEADERS and built() is not None:
        return 0
    try:
        build(folder, loops())
    except BuildError as error:
        sys.stderr.write(f"The loops are not built: {error}\nnumba compiles them when they are first called.\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
