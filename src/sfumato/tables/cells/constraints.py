"""Additive relations, derived from the dimensions of a table and checked against its values."""

from collections.abc import Sequence

import numpy as np

from sfumato.errors import DataError
from sfumato.localization.messages import Message
from sfumato.tables.cells.cells import BoolArray, LinearConstraints, Numbers, Places, make_constraints
from sfumato.tables.cells.dimensions import Code, CodeTree
from sfumato.tables.cells.precision import ValueUnit

Key = tuple[Code, ...]


def derive(trees: Sequence[CodeTree], keys: Sequence[Key]) -> LinearConstraints:
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
    return make_constraints(rows, names)


def _places(keys: Sequence[Key]) -> dict[Key, int]:
    places: dict[Key, int] = {}
    for place, key in enumerate(keys):
        if key in places:
            raise DataError("duplicate-cell.same_cell", first=places[key] + 1, second=place + 1).about(
                rows=[places[key] + 1, place + 1]
            )
        places[key] = place
    return places


def _parts(dimension: int, tree: CodeTree, keys: Sequence[Key], places: dict[Key, int]) -> dict[int, list[int]]:
    """Return the parts of each cell that is a total in one dimension."""
    parts: dict[int, list[int]] = {}
    for place, key in enumerate(keys):
        code = key[dimension]
        if code == tree.root:
            continue
        above = (*key[:dimension], tree.parents[code], *key[dimension + 1 :])
        if above not in places:
            raise DataError(
                "missing-parent.no_parent",
                number=place + 1,
                sums=tree.describe(tree.parents[code]),
                name=tree.name,
                other=tree.root[0],
            ).about(rows=[place + 1])
        parts.setdefault(places[above], []).append(place)
    return parts


def describe(trees: Sequence[CodeTree], key: Key) -> str:
    """Describe a cell in words: level and unit of each dimension, without totals."""
    named = [tree.describe(code) for tree, code in zip(trees, key, strict=True) if code != tree.root]
    return ", ".join(named) or "the grand total"


def finest_of(relations: LinearConstraints, size: int) -> BoolArray:
    """Return the cells that are a total in no constraint."""
    finest = np.ones(size, bool)
    finest[relations.cells[relations.coefs < 0]] = False
    return finest


def check(relations: LinearConstraints, values: Numbers, tolerance: float = 0.0, step: float = 1.0) -> None:
    """Refuse a table whose totals do not add up within its precision; the tolerance is for rounded sums.

    Raises:
        DataError: A total differs from the sum of its parts; the message names the cell and the difference.
    """
    numbers = ValueUnit(step).steps(values)
    missing = np.abs(relations.residuals(numbers))
    gross = abs(relations.matrix(len(values))) @ np.abs(numbers)
    wrong = np.flatnonzero(missing > tolerance / step + 0.5 + 1e-14 * gross)
    if len(wrong):
        named = [_missing(relations, int(place), ValueUnit(step).value(missing[place])) for place in wrong]
        raise DataError(
            "totals",
            message="totals do not add up: "
            + "; ".join(named[:5])
            + (f" and {len(named) - 5} more." if len(named) > 5 else "."),
            hint=_remedy(relations, numbers, missing, wrong),
        ).about(
            values=[f"{missing[place] * step:g}" for place in wrong],
            rows=[int(relations.row(int(place))[0][0]) + 1 for place in wrong],
        )


def _remedy(relations: LinearConstraints, numbers: Numbers, missing: Numbers, wrong: Places) -> str:
    """Return the hint: if the parts sum to twice their total, subtotals are among them."""
    totals = np.array([abs(numbers[relations.row(int(place))[0][0]]) for place in wrong])
    if ((totals > 0) & (np.abs(totals - missing[wrong]) <= 0.5)).any():
        return Message("error.part.subtotals_beside")
    return Message("error.part.tolerance")


def _missing(relations: LinearConstraints, place: int, difference: float) -> str:
    name = relations.names[place] if relations.names else f"relation {place + 1}"
    return f"{name} (by {difference:.12g})"
