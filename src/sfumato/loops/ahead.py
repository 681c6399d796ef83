"""Compile all loops before their first call: with a C compiler or, if there is none, with numba."""

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, get_type_hints

from sfumato.loops.caches import cache_folder, is_own
from sfumato.loops.compiled import ROOT, SOURCES, built, sources, stamp, way
from sfumato.loops.translation.kinds import Array, Kind, Record, Row, Scalar, kinds_of
from sfumato.loops.translation.program import signatures

Tell = Callable[[str], None]


def compile_ahead(tell: Tell) -> str:
    """Compile all loops; return how they run from now on.

    Args:
        tell: Called before every long step.
    """
    if way() == "native":
        return "native"
    if way() == "numba" and _build(tell):
        return "native"
    _compile_all(tell)
    return way()


def _build(tell: Tell) -> bool:
    """Build the extension module, next to the sources or in the user's cache."""
    folder = ROOT / "loops" if os.access(ROOT / "loops", os.W_OK) else cache_folder() / stamp()
    if folder.parent != ROOT and not is_own(folder.parent):
        return False
    tell(f"Building the loops in {folder} …")
    # In a separate process, because the loops of this one may be compiled already.
    command = [sys.executable, "-m", "sfumato.loops.build", str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        tell("There is no C compiler that builds them: numba compiles them, which takes some minutes.")
    built.cache_clear()
    return run.returncode == 0


def _compile_all(tell: Tell) -> None:
    """Compile every loop with numba for the types in its signature."""
    for path in sources():
        if path.name.endswith("kernels.py"):
            name = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
            tell(f"Compiling {name} …")
            for loop in vars(importlib.import_module(name)).values():
                for signature in _signatures(loop):
                    loop.compile(signature)


def _signatures(loop: Any) -> Iterator[tuple[Any, ...]]:
    function = next((source for one, source in SOURCES.items() if one is loop), None)
    if not isinstance(function, FunctionType) or not hasattr(loop, "compile"):
        return
    for kinds in signatures(function) or ():
        hints = list(get_type_hints(function, include_extras=True).values())
        yield tuple(_numba_type(kind, hint) for kind, hint in zip(kinds, hints, strict=False))


def _numba_type(kind: Kind, hint: Any) -> Any:
    from numba import types

    scalars = {"i1": types.int8, "i2": types.int16, "i4": types.int32, "i8": types.int64, "u1": types.uint8,
               "u4": types.uint32, "u8": types.uint64, "f8": types.float64, "b1": types.boolean}  # fmt: skip
    if isinstance(kind, Scalar):
        return scalars[kind.kind]
    if isinstance(kind, Array):
        return types.Array(scalars[kind.kind], kind.dimensions, "C")
    if isinstance(kind, Record):
        fields = get_type_hints(hint, include_extras=True)
        return types.NamedTuple([_numba_type(kinds_of(fields[name])[0], None) for name, _ in kind.fields], hint)
    if isinstance(kind, Row):
        return types.Tuple([_numba_type(item, None) for item in kind.items])
    return types.none
