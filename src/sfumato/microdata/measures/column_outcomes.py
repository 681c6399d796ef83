"""Outcome of each column (removed, generalized, unchanged, ...), determined from the published labels."""

from collections.abc import Collection
from typing import Literal

import numpy as np

from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.measures.recoded_view import Pieces, label_pairs, pieces_of
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.recoding import Recoding, tells_something

# Removed: the plan publishes nothing of it; fully generalized: every row has `*`; generalized: some or all rows
# are generalized; changed: coded or perturbed; kept: every published row has its original value.
Fate = Literal["removed", "fully_generalized", "generalized", "changed", "kept"]


def column_fates(
    plan: Plan, table: FrequencyTable, recoding: Recoding, unchanged: Collection[str] = ()
) -> dict[str, Fate]:
    """Return the outcome of each column of a plan.

    Args:
        unchanged: Perturbed columns in which no row changed.
    """
    pieces = pieces_of(table, recoding)
    published = pieces.kept(~recoding.suppressed[pieces.classes] & (pieces.rows > 0))
    fates: dict[str, Fate] = {}
    for name, column in plan.columns.items():
        if name in plan.removed_columns:
            fates[name] = "removed"
        elif column.publish is not None:
            fates[name] = "kept" if name in unchanged else "changed"
        else:
            fates[name] = (
                _of_labels(table, recoding, table.columns.index(name), published) if name in table.columns else "kept"
            )
    return fates


def _of_labels(table: FrequencyTable, recoding: Recoding, place: int, published: Pieces) -> Fate:
    """Return the outcome of a quasi-identifier from the labels in published rows."""
    labels, values = recoding.labels[place], table.ladders[place].values
    places = {value: code for code, value in enumerate(values)}
    as_values = np.array([places.get(label, -1) for label in labels], np.int64)
    codes, shown, _ = label_pairs(table, recoding, published, place)
    if np.array_equal(as_values[shown], codes):
        return "kept"
    return (
        "generalized"
        if any(tells_something(labels[code]) for code in np.unique(shown).tolist())
        else "fully_generalized"
    )
