"""Sfumato: publish data about people without betraying anyone.

The names below load what they need when they are first used, so that importing the package stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from sfumato.attributes.library import anonymize_attributes
    from sfumato.errors import (
        DataError,
        EngineError,
        InternalError,
        PlanError,
        PromiseError,
        SfumatoError,
        UnattainableError,
    )
    from sfumato.microdata.compare import Comparison, compare
    from sfumato.microdata.measures.survey import risk
    from sfumato.microdata.release import Release, anonymize
    from sfumato.microdata.verification import verify
    from sfumato.plan.model import Plan
    from sfumato.plan.read import read_plan
    from sfumato.tables.policies import suppress
    from sfumato.tables.protect import protect
    from sfumato.tables.review import audit
    from sfumato.tables.tabulate import tabulate

# Public name -> the module in which it lives.
_HOMES = {
    "DataError": "sfumato.errors",
    "EngineError": "sfumato.errors",
    "InternalError": "sfumato.errors",
    "Plan": "sfumato.plan.model",
    "PlanError": "sfumato.errors",
    "PromiseError": "sfumato.errors",
    "Release": "sfumato.microdata.release",
    "SfumatoError": "sfumato.errors",
    "UnattainableError": "sfumato.errors",
    "anonymize": "sfumato.microdata.release",
    "anonymize_attributes": "sfumato.attributes.library",
    "audit": "sfumato.tables.review",
    "Comparison": "sfumato.microdata.compare",
    "compare": "sfumato.microdata.compare",
    "protect": "sfumato.tables.protect",
    "read_plan": "sfumato.plan.read",
    "risk": "sfumato.microdata.measures.survey",
    "suppress": "sfumato.tables.policies",
    "tabulate": "sfumato.tables.tabulate",
    "verify": "sfumato.microdata.verification",
}

__all__ = [
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
