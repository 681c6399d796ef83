"""Warm-up: a small search that loads all compiled loops before the time is measured."""

from dataclasses import replace

import numpy as np

from sfumato.errors import SfumatoError
from sfumato.loops.compiled import way
from sfumato.microdata.counts.frequencies import FrequencyTable
from sfumato.microdata.counts.sample import weighted_view
from sfumato.microdata.methods.search import find_recoding
from sfumato.microdata.models.classes import Histogram
from sfumato.microdata.plan.model import Plan

# Size and time limit of the warm-up.
COMBINATIONS = 24
SECONDS = 0.2
_rehearsed: set[tuple[str, ...]] = set()


def rehearse(plan: Plan, table: FrequencyTable) -> None:
    """Search a few combinations, so that all compiled loops are loaded before the search time is measured."""
    method = replace(plan.method, time_limit=SECONDS)
    names = (str(method), *sorted({model.name for model in plan.privacy}))
    # Native loops are already loaded.
    if names in _rehearsed or way() == "native":
        return
    try:
        find_recoding(replace(plan, method=method), _part(weighted_view(table.holding(plan.promise_columns))), None)
    except SfumatoError:
        # So few rows may violate the models; the aim was to load the loops.
        return
    _rehearsed.add(names)


def _part(table: FrequencyTable) -> FrequencyTable:
    """Return some combinations of a table."""
    chosen = np.arange(min(COMBINATIONS, len(table.counts)))
    sensitive = {name: _first(rows, len(chosen)) for name, rows in table.sensitive.items()}
    return replace(table, codes=table.codes[chosen], counts=table.counts[chosen], sensitive=sensitive, persons={})


def _first(histogram: Histogram, number: int) -> Histogram:
    starts = histogram.starts[: number + 1]
    values, counts = histogram.values[: starts[-1]], histogram.counts[: starts[-1]]
    return Histogram(starts, values, counts, histogram.size, histogram.texts)
