"""The search: from a plan and a frequency table to a recoding, whichever the method."""

from dataclasses import replace
from importlib import import_module

from sfumato.microdata.counts.frequencies import FrequencyTable
from sfumato.microdata.methods.result import Progress, Result
from sfumato.microdata.methods.top_classes import with_top_classes
from sfumato.microdata.plan.model import Plan

# Methods that do not choose one level a column; each has a folder of its own, whose loops are loaded when it is used.
FOLDERS = {"mondrian": "mondrian", "local": "local", "k-optimize": "k_optimize"}


def search(plan: Plan, table: FrequencyTable, progress: Progress | None = None) -> Result:
    """Find the recoding that a plan asks for; what is only measured must not steer it."""
    steering = table.holding(plan.promise_columns)
    folder = FOLDERS.get(plan.method.name, "full_domain")
    method = import_module(f"sfumato.microdata.methods.{folder}.search")
    result: Result = method.search(plan, plan.method, steering, progress)
    return replace(result, recoding=with_top_classes(plan, steering, result.recoding))
