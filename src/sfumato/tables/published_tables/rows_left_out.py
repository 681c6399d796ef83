"""Combinations of categories for which a published file has no row: anyone takes them to be empty."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.tables.build import dimensions_of, grouped
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import Key, describe
from sfumato.tables.cells.dimensions import CodeTree
from sfumato.tables.cells.system import Numbers
from sfumato.tables.plan.rules import GroupDisclosure
from sfumato.tables.plan.sections import Dimension
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.published_tables.parse_cells import ParsedTable


def rows_left_out(trees: Sequence[CodeTree], keys: Sequence[Key], exact: Numbers | None = None) -> list[Key]:
    """Return the combinations of categories of a file that have no row, though all totals that they are part of have.

    Args:
        keys: The combinations that have a row.
        exact: The published values, not a number where suppressed: those that are empty by these are left out. All by
            default.
    """
    places = {key: place for place, key in enumerate(keys)}
    found: Counter[Key] = Counter()
    for dimension, tree in enumerate(trees):
        seen = {key[dimension] for key in keys}
        below = {code: [part for part in parts if part in seen] for code, parts in tree.children().items()}
        for key in keys:
            parts = [(*key[:dimension], code, *key[dimension + 1 :]) for code in below.get(key[dimension], ())]
            missing = [part for part in parts if part not in places]
            if missing and len(missing) < len(parts) and (exact is None or _is_open(exact, places, (key, *parts))):
                found.update(missing)
    return [key for key, count in found.items() if count == _totals(trees, key)]


def _is_open(exact: Numbers, places: dict[Key, int], cells: Sequence[Key]) -> bool:
    """Whether some cell of a total and its parts is suppressed; of a total of 0, nothing is open."""
    shown = [exact[places[cell]] for cell in cells if cell in places]
    return bool(np.isnan(shown).any() and shown[0] != 0)


def _totals(trees: Sequence[CodeTree], key: Key) -> int:
    return sum(code != tree.root for tree, code in zip(trees, key, strict=True))


def unlisted_cells(
    columns: TextColumns, plan: TablePlan, reading: ParsedTable, dimensions: Mapping[str, Dimension]
) -> tuple[str, ...]:
    """Return the names of combinations without a row of which no published number says that they are empty."""
    if reading.valued or plan.perturbation is not None or not dimensions or not np.isnan(reading.exact).any():
        return ()
    trees, keys = dimensions_of(dimensions, columns, plan.folder)
    names = (
        describe(trees, key)
        for _, rows in grouped(plan, columns)
        for key in rows_left_out(trees, [keys[row] for row in rows], reading.exact[rows])
    )
    return tuple(dict.fromkeys(names))


def with_rows_left_out(
    columns: TextColumns, plan: TablePlan, reading: ParsedTable, dimensions: Mapping[str, Dimension]
) -> tuple[TextColumns, ParsedTable]:
    """Return a file with a row of 0 for each combination that it leaves out, where rules look at what a group has in
    common: that nobody of a group is anywhere else is shown by a row of 0 and by none alike."""
    ruled = any(isinstance(rule, GroupDisclosure) for rule in plan.primary)
    if reading.valued or plan.perturbation is not None or not ruled:
        return columns, reading
    trees, keys = dimensions_of(dimensions, columns, plan.folder)
    added: list[dict[str, str]] = []
    for group, rows in grouped(plan, columns):
        for key in rows_left_out(trees, [keys[row] for row in rows]):
            texts = dict(zip(plan.table.group_by, group, strict=True))
            for own, code in zip(dimensions.values(), key, strict=True):
                texts |= zip(own.levels or (own.column or "",), code, strict=True)
            added.append(texts)
    whole = {name: (*own, *(row.get(name, "") for row in added)) for name, own in columns.texts.items()}
    return TextColumns(whole), reading.with_cells(np.zeros(len(added)))
