"""Sfumato: publish data about people without betraying anyone.

The names below load what they need when they are first used, so that importing the package stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato.version import __version__

if TYPE_CHECKING:
    from sfumato.errors import DataError as DataError
    from sfumato.errors import EngineError as EngineError
    from sfumato.errors import InternalError as InternalError
    from sfumato.errors import PlanError as PlanError
    from sfumato.errors import PromiseError as PromiseError
    from sfumato.errors import SfumatoError as SfumatoError
    from sfumato.errors import UnattainableError as UnattainableError
    from sfumato.microdata.plan.model import Plan as Plan
    from sfumato.microdata.plan.read import read_plan as read_plan
    from sfumato.pipelines.attributes import anonymize_attributes as anonymize_attributes
    from sfumato.pipelines.compare import Comparison as Comparison
    from sfumato.pipelines.compare import compare as compare
    from sfumato.pipelines.release import anonymize as anonymize
    from sfumato.pipelines.release_folder import Release as Release
    from sfumato.pipelines.risk import risk as risk
    from sfumato.pipelines.tables.audit import audit as audit
    from sfumato.pipelines.tables.protect import protect as protect
    from sfumato.pipelines.tables.suppress import suppress as suppress
    from sfumato.pipelines.tables.tabulate import tabulate as tabulate
    from sfumato.pipelines.verify import verify as verify
    from sfumato.service.client import Client as Client

# Module -> the public names that live there.
_HOMES = {
    "sfumato.errors": (
        *("DataError", "EngineError", "InternalError", "PlanError", "PromiseError", "SfumatoError"),
        "UnattainableError",
    ),
    "sfumato.microdata.plan.model": ("Plan",),
    "sfumato.microdata.plan.read": ("read_plan",),
    "sfumato.pipelines.attributes": ("anonymize_attributes",),
    "sfumato.pipelines.compare": ("Comparison", "compare"),
    "sfumato.pipelines.release": ("anonymize",),
    "sfumato.pipelines.release_folder": ("Release",),
    "sfumato.pipelines.risk": ("risk",),
    "sfumato.pipelines.tables.audit": ("audit",),
    "sfumato.pipelines.tables.protect": ("protect",),
    "sfumato.pipelines.tables.suppress": ("suppress",),
    "sfumato.pipelines.tables.tabulate": ("tabulate",),
    "sfumato.pipelines.verify": ("verify",),
    "sfumato.service.client": ("Client",),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}
__all__ = ["__version__", *_MODULES]  # noqa: PLE0604  (the names are texts)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
