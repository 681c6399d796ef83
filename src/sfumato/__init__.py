"""Sfumato: publish data about people without betraying anyone.

The public names are those of `__init__.pyi`, which type checkers and editors read, too. Each is loaded on first use, so
that importing the package is fast.
"""

from functools import cache

from sfumato.version import __version__ as __version__


@cache
def _modules() -> dict[str, str]:
    """Return the module of each public name, from the lines `from MODULE import NAME as NAME` of the stub."""
    with open(f"{__file__}i", encoding="utf-8") as stub:  # noqa: PTH123  (pathlib would double the time of the import)
        return {line.split()[3]: line.split()[1] for line in stub if line.startswith("from ")}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "__all__":
        return __dir__()
    if name not in _modules():
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
    if _modules()[name] == "sfumato":
        return import_module(f"sfumato.{name}")
    return getattr(import_module(_modules()[name]), name)


def __dir__() -> list[str]:
    return sorted(_modules())
