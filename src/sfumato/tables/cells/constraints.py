"""Additive relations, derived from the dimensions of a table and checked against its values."""

from collections.abc import Sequence

import numpy as np

from sfumato.errors import DataError
from sfumato.tables.cells.cells import Mask, Numbers, Places, Relations, make_relations
from sfumato.tables.cells.dimensions import Code, Tree
from sfumato.tables.cells.precision import Scale

Key = tuple[Code, ...]


def derive(trees: Sequence[Tree], keys: Sequence[Key]) -> Relations:
    """Derive the constraints: a cell of a code with children is the sum over these, other dimensions fixed.

    Raises:
        DataError: Two cells have the same codes, or a cell's parent is not in the table.
    """
    places = _places(keys)
    rows: list[tuple[list[int], list[float]]] = []
    names: list[str] = []
    for dimension, tree in enumerate(trees):
        parts = _parts(dimension, tree, keys, places)
        for parent, children in parts.items():
            rows.append(([parent, *children], [-1.0] + [1.0] * len(children)))
            names.append(describe(trees, keys[parent]))
    return make_relations(rows, names)


def _places(keys: Sequence[Key]) -> dict[Key, int]:
    places: dict[Key, int] = {}
    for place, key in enumerate(keys):
        if key in places:
            raise DataError(
                f"rows {places[key] + 1} and {place + 1} are the same cell.",
                "Each cell may occur once; is a grouping column missing in group_by?",
                "duplicate-cell",
                rows=[places[key] + 1, place + 1],
            )
        places[key] = place
    return places


def _parts(dimension: int, tree: Tree, keys: Sequence[Key], places: dict[Key, int]) -> dict[int, list[int]]:
    """Return the parts of each cell that is a total in one dimension."""
    parts: dict[int, list[int]] = {}
    for place, key in enumerate(keys):
        code = key[dimension]
        if code == tree.root:
            continue
        above = (*key[:dimension], tree.parents[code], *key[dimension + 1 :])
        if above not in places:
            raise DataError(
                f"the parent of row {place + 1} ({tree.describe(tree.parents[code])}) is missing.",
                f"Add the totals, or compute the table with sf.tabulate. The code of the total of {tree.name} is taken "
                f'to be "{tree.root[0]}": where it is another, name it as total of the dimension.',
                "missing-parent",
                rows=[place + 1],
            )
        parts.setdefault(places[above], []).append(place)
    return parts


def describe(trees: Sequence[Tree], key: Key) -> str:
    """Describe a cell in words: level and unit of each dimension, without totals."""
    named = [tree.describe(code) for tree, code in zip(trees, key, strict=True) if code != tree.root]
    return ", ".join(named) or "the grand total"


def finest_of(relations: Relations, size: int) -> Mask:
    """Return the cells that are a total in no constraint."""
    finest = np.ones(size, bool)
    finest[relations.cells[relations.coefs < 0]] = False
    return finest


def check(relations: Relations, values: Numbers, tolerance: float = 0.0, step: float = 1.0) -> None:
    """Refuse a table whose totals do not add up within its precision; the tolerance is for rounded sums.

    Raises:
        DataError: A total differs from the sum of its parts; the message names the cell and the difference.
    """
    numbers = Scale(step).steps(values)
    missing = np.abs(relations.residuals(numbers))
    gross = abs(relations.matrix(len(values))) @ np.abs(numbers)
    wrong = np.flatnonzero(missing > tolerance / step + 0.5 + 1e-14 * gross)
    if len(wrong):
        named = [_missing(relations, int(place), Scale(step).value(missing[place])) for place in wrong]
        raise DataError(
            "totals do not add up: "
            + "; ".join(named[:5])
            + (f" and {len(named) - 5} more." if len(named) > 5 else "."),
            _remedy(relations, numbers, missing, wrong),
            "totals",
            rows=[int(relations.row(int(place))[0][0]) + 1 for place in wrong],
            values=[f"{missing[place] * step:g}" for place in wrong],
        )


def _remedy(relations: Relations, numbers: Numbers, missing: Numbers, wrong: Places) -> str:
    """Return the hint: if the parts sum to twice their total, subtotals are among them."""
    totals = np.array([abs(numbers[relations.row(int(place))[0][0]]) for place in wrong])
    if ((totals > 0) & (np.abs(totals - missing[wrong]) <= 0.5)).any():
        return "The dimension seems to contain totals of its other codes: give it a hierarchy, or levels."
    return "Correct the table, or allow for rounding with table.tolerance."


def _missing(relations: Relations, place: int, difference: float) -> str:
    name = relations.names[place] if relations.names else f"relation {place + 1}"
    return f"{name} (by {difference:.12g})"
