"""What forces generalization: for each column, the rows that would violate a model if it stayed one level finer.

Only for recodings by levels; a class recoding generalizes each class separately. Columns at the `min_level` of the
plan, and columns in which no row would violate a model, are not reported.
"""

from typing import Any

import numpy as np

from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.grouping import Grouper, Node
from sfumato.microdata.models.model import is_global
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.population import with_persons
from sfumato.microdata.recoding.recoding import LevelRecoding, Recoding


def forcing(plan: Plan, table: FrequencyTable, recoding: Recoding, work: int) -> dict[str, Any]:
    """Return for each generalized column the level below and the rows that would violate a model there.

    Args:
        work: Limit of the work on the frequency table; beyond it, nothing is returned.
    """
    if not isinstance(recoding, LevelRecoding) or plan.data.on_missing == "any":
        return {}
    if len(table.columns) * len(table.counts) > work:
        return {}
    grouper = Grouper(table)
    population = None if table.population is None else Grouper(table.population)
    entries = {}
    for column, (name, level) in enumerate(zip(table.columns, recoding.node, strict=True)):
        if level <= plan.columns[name].min_level:
            continue
        node = (*recoding.node[:column], level - 1, *recoding.node[column + 1 :])
        rows = _failing_rows(plan, table, grouper, population, node)
        if rows:
            entries[name] = {"level": level - 1, "rows": rows}
    return entries


def _failing_rows(plan: Plan, table: FrequencyTable, grouper: Grouper, population: Grouper | None, node: Node) -> int:
    """Return the rows in classes of a node that would violate a model."""
    grouped = grouper.rolled(grouper.base, node)
    classes = grouped.classes if population is None else with_persons(grouped, population.at(node))
    failing = np.zeros(len(classes.sizes), bool)
    for model in plan.privacy:
        if is_global(model):
            failing |= model.classes_to_suppress(classes)
        else:
            failing |= model.violating(classes, table.whole)
    return int(classes.sizes[failing].sum())
