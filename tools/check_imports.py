"""Check the direction of imports, including lazy and type-only ones: no cycles, no import from a higher layer.

The layers are those of the layers contract in pyproject.toml, from the top down; packages of one layer that are
separated by `|` there must not import each other.
"""

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
Graph = dict[str, set[str]]


def modules() -> dict[str, Path]:
    """Return every module of the package by its dotted name."""
    files = sorted((SOURCE / "sfumato").rglob("*.py"))
    return {".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path for path in files}


def imports(known: dict[str, Path], path: Path) -> Iterator[str]:
    """Yield the modules that a file imports, anywhere in the file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in known else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Constant) and str(node.value).startswith("sfumato.") and node.value in known:
            yield str(node.value)  # a module that is loaded by its name


def graph() -> Graph:
    """Return the import graph, without the package's own `__init__`, which re-exports names."""
    known = modules()
    return {
        name: {target for target in imports(known, path) if target in known and target != name}
        for name, path in known.items()
        if name != "sfumato"
    }


def circles(arrows: Graph) -> list[list[str]]:
    """Return import cycles: the strongly connected components of more than one module (Tarjan)."""
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    rings: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = lowest[name] = len(index)
        stack.append(name)
        for target in sorted(arrows.get(name, ())):
            if target not in index:
                visit(target)
                lowest[name] = min(lowest[name], lowest[target])
            elif target in stack:
                lowest[name] = min(lowest[name], index[target])
        if lowest[name] == index[name]:
            ring = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(ring) > 1:
                rings.append(sorted(ring))

    for name in sorted(arrows):
        if name not in index:
            visit(name)
    return rings


def floors() -> list[list[str]]:
    """Return the packages of each layer, the highest first."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    contract = next(entry for entry in tools["importlinter"]["contracts"] if entry["type"] == "layers")
    return [[room.strip() for room in floor.split("|")] for floor in contract["layers"]]


def upward(arrows: Graph) -> list[str]:
    """Return imports from a higher layer, from a separated package of the same layer, or from the package itself."""
    place = {f"sfumato.{room}": floor for floor, rooms in enumerate(floors()) for room in rooms}

    def room_of(name: str) -> str:
        return next((room for room in place if name == room or name.startswith(room + ".")), "")

    wrong = []
    for name, targets in arrows.items():
        for target in sorted(targets):
            here, there = room_of(name), room_of(target)
            if target == "sfumato" and name != "sfumato.__main__":
                wrong.append(f"{name} -> the package's face")
            elif here and there and here != there and place[there] <= place[here]:
                wrong.append(f"{name} -> {target}")
    return wrong


def homeless(arrows: Graph) -> list[str]:
    """Return modules in no layer."""
    rooms = [f"sfumato.{room}" for floor in floors() for room in floor]
    named = (name for name in arrows if name != "sfumato.__main__")
    return [name for name in named if not any(name == room or name.startswith(room + ".") for room in rooms)]


def main() -> int:
    arrows = graph()
    faults = [f"circle: {', '.join(ring)}" for ring in circles(arrows)]
    faults += [f"upward: {arrow}" for arrow in upward(arrows)]
    faults += [f"on no floor: {name}" for name in homeless(arrows)]
    print("\n".join(faults) or f"{len(arrows)} modules: no circle, no arrow up.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
