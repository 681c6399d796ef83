"""Sfumato: publish data about people without betraying anyone.

The names below load what they need when they are first used, so that importing the package stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato.version import __version__

if TYPE_CHECKING:
    from sfumato.errors import (
        DataError,
        EngineError,
        InternalError,
        PlanError,
        PromiseError,
        SfumatoError,
        UnattainableError,
    )
    from sfumato.microdata.plan.model import Plan
    from sfumato.microdata.plan.read import read_plan
    from sfumato.pipelines.attributes import anonymize_attributes
    from sfumato.pipelines.compare import Comparison, compare
    from sfumato.pipelines.release import anonymize
    from sfumato.pipelines.release_folder import Release
    from sfumato.pipelines.risk import risk
    from sfumato.pipelines.tables.audit import audit
    from sfumato.pipelines.tables.protect import protect
    from sfumato.pipelines.tables.suppress import suppress
    from sfumato.pipelines.tables.tabulate import tabulate
    from sfumato.pipelines.verify import verify
    from sfumato.service.client import Client

# Public name -> the module in which it lives.
_HOMES = {
    "DataError": "sfumato.errors",
    "EngineError": "sfumato.errors",
    "InternalError": "sfumato.errors",
    "Plan": "sfumato.microdata.plan.model",
    "PlanError": "sfumato.errors",
    "PromiseError": "sfumato.errors",
    "Release": "sfumato.pipelines.release_folder",
    "SfumatoError": "sfumato.errors",
    "UnattainableError": "sfumato.errors",
    "anonymize": "sfumato.pipelines.release",
    "anonymize_attributes": "sfumato.pipelines.attributes",
    "audit": "sfumato.pipelines.tables.audit",
    "Client": "sfumato.service.client",
    "Comparison": "sfumato.pipelines.compare",
    "compare": "sfumato.pipelines.compare",
    "protect": "sfumato.pipelines.tables.protect",
    "read_plan": "sfumato.microdata.plan.read",
    "risk": "sfumato.pipelines.risk",
    "suppress": "sfumato.pipelines.tables.suppress",
    "tabulate": "sfumato.pipelines.tables.tabulate",
    "verify": "sfumato.pipelines.verify",
}

__all__ = [
    "Client",
    "Comparison",
    "DataError",
    "EngineError",
    "InternalError",
    "Plan",
    "PlanError",
    "PromiseError",
    "Release",
    "SfumatoError",
    "UnattainableError",
    "__version__",
    "anonymize",
    "anonymize_attributes",
    "audit",
    "compare",
    "protect",
    "read_plan",
    "risk",
    "suppress",
    "tabulate",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
