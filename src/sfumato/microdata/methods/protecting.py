"""Protected quasi-identifiers in recodings by classes: publish `*` where other columns would disclose their value.

Full-domain searches evaluate protections at each node and need no further step. Other methods make classes one by one,
and only all of them together show which groups disclose a label. The column is published as `*` there; such a class
looks like one that had to cover several values.
"""

from dataclasses import replace

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.methods.class_assessment import assess
from sfumato.microdata.methods.search_result import Result
from sfumato.microdata.models.equivalence_classes import BoolArray, EquivalenceClasses
from sfumato.microdata.models.protection import Protection, holding_groups
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.expected_counts import classes_of
from sfumato.microdata.recoding.mapping import STAR, ClassRecoding

REMARK = "{column}: {rows} rows are published as * in it, since their other quasi-identifiers would disclose it."


def with_protections(plan: Plan, table: FrequencyTable, result: Result) -> Result:
    """Return the result without labels that the other quasi-identifiers disclose.

    Raises:
        UnattainableError: Classes that look alike then do not satisfy the privacy models.
    """
    while True:
        before = result
        for protection in plan.protections:
            if isinstance(result.recoding, ClassRecoding):
                result = _with_protection(plan, table, result, result.recoding, protection)
        # A new `*` changes the groups that the other classes are compared with.
        if result is before:
            return result


def _with_protection(
    plan: Plan, table: FrequencyTable, result: Result, recoding: ClassRecoding, protection: Protection
) -> Result:
    kept = np.flatnonzero(~recoding.suppressed & (recoding.sizes > 0))
    classes = holding_groups(
        EquivalenceClasses(recoding.sizes[kept]), (protection,), table.columns, recoding.classes[kept], recoding.labels
    )
    disclosed = kept[protection.classes_to_suppress(classes)]
    if not len(disclosed):
        return result
    column = protection.subject or ""
    rows = int(recoding.sizes[disclosed].sum())
    changed = _starred(recoding, table.columns.index(column), disclosed)
    hidden: BoolArray = changed.suppressed
    whole = classes_of(table, changed)
    if assess(whole.kept(~hidden), table.whole, plan.privacy).violating.any():
        raise UnattainableError("protect", column=column)
    lost = min(1.0, result.per_column.get(column, 0.0) + rows / max(table.rows, 1))
    return replace(
        result,
        recoding=changed,
        per_column={**result.per_column, column: lost},
        proved_optimal=False,
        notes=(*result.notes, Message("note.protected_rows", column=column, rows=rows)),
    )


def _starred(recoding: ClassRecoding, place: int, disclosed: np.ndarray) -> ClassRecoding:
    """Return the recoding with `*` in one column of some classes; classes that are then identical are merged."""
    labels = list(recoding.labels)
    if STAR not in labels[place]:
        labels[place] = (*labels[place], STAR)
    codes = recoding.classes.copy()
    codes[disclosed, place] = labels[place].index(STAR)
    keys = np.column_stack([codes, recoding.suppressed, recoding.sizes > 0])
    unique, first, owners = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    owners = owners.reshape(-1)
    division = recoding.division
    return replace(
        recoding,
        owners=owners[recoding.owners].astype(np.int32),
        labels=tuple(labels),
        classes=np.ascontiguousarray(codes[first]),
        suppressed=recoding.suppressed[first],
        sizes=np.bincount(owners, weights=recoding.sizes, minlength=len(unique)).astype(np.int64),
        division=None if division is None else replace(division, classes=owners[division.classes]),
    )
