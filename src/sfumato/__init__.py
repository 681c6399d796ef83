"""Sfumato: publish data about people without betraying anyone.

The names below load what they need when they are first used, so that importing the package stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from sfumato.errors import DataError, EngineError, InternalError, PlanError, SfumatoError, UnattainableError

# Public name -> the module in which it lives.
_HOMES = {
    "SfumatoError": "sfumato.errors",
    "PlanError": "sfumato.errors",
    "DataError": "sfumato.errors",
    "UnattainableError": "sfumato.errors",
    "EngineError": "sfumato.errors",
    "InternalError": "sfumato.errors",
    "PromiseError": "sfumato.errors",
}

__all__ = [
    "DataError",
    "EngineError",
    "InternalError",
    "PlanError",
    "SfumatoError",
    "UnattainableError",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
