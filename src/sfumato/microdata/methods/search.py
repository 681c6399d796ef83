"""The search: from a plan and a frequency table to a recoding, whichever the method."""

from dataclasses import replace
from importlib import import_module

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.microdata.counts.frequencies import FrequencyTable
from sfumato.microdata.counts.persons import person_view
from sfumato.microdata.methods.result import Progress, Result
from sfumato.microdata.methods.top_classes import with_top_classes
from sfumato.microdata.models.readers_view import without_skew
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.prediction import classes_of, veils
from sfumato.microdata.recoding.recoding import Recoding

# Methods that do not choose one level a column; each has a folder of its own, whose loops are loaded when it is used.
FOLDERS = {"mondrian": "mondrian", "local": "local", "k-optimize": "k_optimize"}


def search(plan: Plan, table: FrequencyTable, progress: Progress | None = None) -> Result:
    """Find the recoding that a plan asks for; what is only measured must not steer it."""
    plan, steering = person_view(plan, table.holding(plan.promise_columns))
    folder = FOLDERS.get(plan.method.name, "full_domain")
    method = import_module(f"sfumato.microdata.methods.{folder}.search")
    result: Result = method.search(plan, plan.method, steering, progress)
    recoding = with_top_classes(plan, steering, result.recoding)
    if recoding is not result.recoding:
        _check_readers_view(plan, steering, recoding)
    result = replace(result, recoding=recoding)
    return with_persons_kept(plan, steering, result) if table.persons else result


def with_persons_kept(plan: Plan, table: FrequencyTable, result: Result) -> Result:
    """The result with classes withheld that have rows enough but too few persons.

    K-Optimize looks for classes by their rows; all other methods have judged persons themselves.

    Raises:
        UnattainableError: No class is left.
    """
    recoding = result.recoding
    classes = classes_of(table, recoding)
    failing = np.zeros(len(recoding.sizes), bool)
    for model in plan.privacy:
        failing |= model.failing(classes, table.whole)
    failing &= ~recoding.suppressed & (recoding.sizes > 0)
    if not failing.any():
        return result
    hidden = recoding.suppressed | failing
    if hidden.all():
        raise UnattainableError("no class has persons enough.", "Ask for less, or use another method.", "persons")
    rows = int(recoding.sizes[failing].sum())
    remark = f"{rows} rows more are withheld: their classes have rows enough, but too few persons."
    return replace(
        result,
        recoding=replace(recoding, suppressed=hidden),
        proved_optimal=False,
        remarks=(*result.remarks, remark),
    )


def _check_readers_view(plan: Plan, table: FrequencyTable, recoding: Recoding) -> None:
    """Refuse a recoding whose classes, once some are shown as `*`, break a promise against the rows that are left."""
    if not veils(table, recoding, plan):
        return
    suppressed = without_skew(classes_of(table, recoding), table.whole, plan.privacy, recoding.suppressed)
    if (suppressed != recoding.suppressed).any():
        raise UnattainableError(
            "Against the rows that are shown the promises do not hold.",
            "Drop suppressed rows instead of showing them as *, or promise against: raw.",
            "reader",
        )
