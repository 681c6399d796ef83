"""Published labels that reveal rare values: sets and intervals made from the rows instead of a hierarchy.

A class of k rows published as `[1010–1223]` reveals that one row has exactly 1010. The elements or ends of every
published label that is not in a hierarchy are therefore compared with the values of the rows.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from sfumato.hierarchies.label_bounds import bounds_of, ends_of
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.models.equivalence_classes import Counts
from sfumato.microdata.models.persons import PERSONS
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.range_grid import range_ends, set_members
from sfumato.microdata.recoding.recoding import Recoding

# A value with fewer rows is rare, whatever k is requested.
FEWEST = 2


def rare_values_named(plan: Plan, table: FrequencyTable, recoding: Recoding) -> Iterator[dict[str, Any]]:
    """Yield the columns with published labels that reveal values of fewer than k rows, or persons, and their number."""
    k = max(FEWEST, plan.minimum_class_size)
    for place, name in enumerate(table.columns):
        values, ladder = _values_of(table, place), table.ladders[place]
        rare = {_key(text) for text, rows in zip(ladder.values, values.tolist(), strict=True) if text and 0 < rows < k}
        by_rule = {text for texts in ladder.labels[1:] for text in texts}
        shown = np.unique(recoding.classes[~recoding.suppressed, place]) if rare else ()
        labels = {recoding.labels[place][code] for code in shown} - by_rule
        named = ((label,) if label in ladder.places else values_named(label) for label in labels if label is not None)
        number = sum(not rare.isdisjoint(map(_key, values)) for values in named)
        if number and plan.columns[name].perturbation is None:
            yield {"column": name, "labels": number, "fewer_than": k}


def values_named(label: str) -> tuple[str, ...]:
    """Return the values that a label shows: elements of a set, ends of an interval, or itself.

    >>> values_named("{72021, 72023}"), values_named("[1010–1223]"), values_named("30-39"), values_named("red")
    (('72021', '72023'), ('1010', '1223'), ('30', '39'), ('red',))
    """
    ends = set_members(label) or range_ends(label) or tuple(end for end in ends_of(label) if end is not None)
    return ends or (label,)


def _key(text: str) -> str | float:
    """Return a key that is the same for all spellings of a number."""
    low, high = bounds_of(text)
    return text if low is None or low != high else low


def _values_of(table: FrequencyTable, place: int) -> Counts:
    """How many rows have each value of a column, or persons where these are counted."""
    members = table.persons.get(PERSONS)
    if members is None:
        return table.marginal(place)
    size = table.ladders[place].size
    codes = table.codes[members.owners, place].astype(np.int64)
    added_up = members.values < 1
    persons = np.bincount(codes[added_up], weights=members.counts[added_up], minlength=size)
    alone = np.unique(np.column_stack([codes[~added_up], members.values[~added_up]]), axis=0)
    return (persons + np.bincount(alone[:, 0], minlength=size)).astype(np.int64)
