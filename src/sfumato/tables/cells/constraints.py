"""Linear constraints, derived from dimensions and checked against the values; the precision of values."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.errors import DataError
from sfumato.localization.messages import Message, first_names
from sfumato.tables.cells.dimensions import Code, CodeTree
from sfumato.tables.cells.system import BoolArray, Bounds, LinearConstraints, Numbers, Places, make_constraints
from sfumato.values import Value

# Further decimals are rounding errors of sums, not the precision of a table.
MOST_DECIMALS = 6
# The number of decimals if none fits.
FALLBACK_DECIMALS = 4
# Tolerance for a number of units to be an integer: floating-point errors, which grow with the number.
NOISE = 1e-3
SMALL_NOISE, NOISE_SHARE = 1e-8, 1e-12
# Multipliers of programs over sums are fractions with small denominators.
DENOMINATOR = 720
# Significant digits of a computed number; further ones are rounding errors.
DIGITS = 12
# Integers are exact in floating point up to this.
WHOLE = 2.0**52


def precision_of(values: Numbers) -> float:
    """Return the precision of a table: 1 for integers, otherwise one unit of the last decimal.

    The precision decides whether two values are the same: an interval narrower than the precision discloses the value.
    Values are integer multiples of it, so that sums and bounds are exact, however large the numbers are.

    >>> precision_of(np.array([3.0, 17.0])), precision_of(np.array([3.0, 17.25])), precision_of(np.array([np.nan, 4.0]))
    (1.0, 0.01, 1.0)
    """
    finite = values[np.isfinite(values)]
    slack = 1e-9 + 1e-13 * np.abs(finite)
    for decimals in range(MOST_DECIMALS + 1):
        if (np.abs(finite - np.round(finite, decimals)) <= slack).all():
            return float(10.0**-decimals)
    return float(10.0**-FALLBACK_DECIMALS)


class ValueUnit(Value):
    """Conversion between values and units of a table's precision."""

    precision: float = 1.0

    def steps(self, values: Numbers) -> Numbers:
        """Return values in units, rounded to integers within the tolerance.

        A value with more decimals than the precision is not moved to a nearby integer; moved, it would violate the
        constraints that contain it.

        >>> ValueUnit(0.01).steps(np.array([90000813.03, 0.005, 0.0200001, np.inf])).tolist()
        [9000081303.0, 0.5, 2.00001, inf]
        """
        # 0.1 has no exact binary form: dividing by it is less exact than multiplying by 10.
        numbers = values * round(1 / self.precision) if self.precision < 1 else values / self.precision
        whole = np.round(numbers)
        with np.errstate(invalid="ignore"):
            near = np.abs(numbers - whole) <= np.minimum(SMALL_NOISE + NOISE_SHARE * np.abs(numbers), NOISE)
        return np.where(near, whole, numbers)

    def value(self, steps: float) -> float:
        """Return a number of units as a value."""
        return float(steps / round(1 / self.precision) if self.precision < 1 else steps * self.precision)

    def clean(self, values: Sequence[float]) -> list[float]:
        """Return values without floating-point errors.

        >>> ValueUnit(0.1).clean([0.1 + 0.2])
        [0.3]
        """
        return [self.value(float(steps)) for steps in self.steps(np.array(values, np.float64))]

    def bounds(self, bounds: Bounds) -> Bounds:
        """Return bounds in units."""
        return Bounds(self.steps(bounds.low), self.steps(bounds.high))


def tidied(values: Numbers) -> Numbers:
    """Return computed numbers, which have no precision of their own, without floating-point errors.

    >>> tidied(np.array([0.1 + 0.2, 310.0])).tolist()
    [0.3, 310.0]
    """
    return np.array([float(f"{value:.{DIGITS}g}") for value in values], np.float64)


def proved_bound(matrix: Any, sides: Bounds, bounds: Bounds, place: int, direction: float, multipliers: Numbers) -> Any:
    """Return the bound that multipliers of constraints prove in exact arithmetic: the minimum of direction ·
    y.

    The result is a valid bound for any multipliers, and the optimum for optimal ones; minus infinity if they prove
    nothing.
    """
    whole = np.round(multipliers)
    if (np.abs(multipliers - whole) < 1e-7).all():
        return _whole_bound(matrix, sides, bounds, place, direction, whole)
    rows = {
        int(row): Fraction(float(multipliers[row])).limit_denominator(DENOMINATOR)
        for row in np.flatnonzero(multipliers)
    }
    rest: dict[int, Fraction] = {place: Fraction(direction)}
    total = Fraction(0)
    for row, factor in rows.items():
        side = sides.low[row] if factor > 0 else sides.high[row]
        if not np.isfinite(side):
            return -np.inf
        total += factor * Fraction(float(side))
        span = slice(matrix.indptr[row], matrix.indptr[row + 1])
        for cell, coef in zip(matrix.indices[span].tolist(), matrix.data[span].tolist(), strict=True):
            rest[cell] = rest.get(cell, Fraction(0)) - factor * Fraction(coef)
    for cell, cost in rest.items():
        end = bounds.low[cell] if cost > 0 else bounds.high[cell]
        if cost and not np.isfinite(end):
            return -np.inf
        total += cost * Fraction(float(end)) if cost else 0
    return total


def _whole_bound(
    matrix: Any, sides: Bounds, bounds: Bounds, place: int, direction: float, multipliers: Numbers
) -> float | Fraction:
    """Return the same bound for integer multipliers: integer products and sums are exact in floating point."""
    rest = -(matrix.T @ multipliers)
    rest[place] += direction
    side = np.where(multipliers > 0, sides.low, sides.high)[multipliers != 0] * multipliers[multipliers != 0]
    end = np.where(rest > 0, bounds.low, bounds.high)[rest != 0] * rest[rest != 0]
    terms = np.concatenate([side, end])
    if not np.isfinite(terms).all():
        return -np.inf
    if np.abs(terms).sum() < WHOLE and (terms == np.round(terms)).all():
        return float(terms.sum())
    return sum((Fraction(float(term)) for term in terms), Fraction(0))


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
    return ", ".join(named) or Message("totals.grand")


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
            message=Message("error.data.totals.off", named=first_names(named, 5, "semicolons")),
            hint=_remedy(relations, numbers, missing, wrong),
        ).about(
            values=[f"{missing[place] * step:g}" for place in wrong],
            rows=[int(relations.row(int(place))[0][0]) + 1 for place in wrong],
        )


def _remedy(relations: LinearConstraints, numbers: Numbers, missing: Numbers, wrong: Places) -> Message:
    """Return the hint: if the parts sum to twice their total, subtotals are among them."""
    totals = np.array([abs(numbers[relations.row(int(place))[0][0]]) for place in wrong])
    if ((totals > 0) & (np.abs(totals - missing[wrong]) <= 0.5)).any():
        return Message("error.part.subtotals_beside")
    return Message("error.part.tolerance")


def _missing(relations: LinearConstraints, place: int, difference: float) -> Message:
    name = relations.names[place] if relations.names else Message("totals.relation", number=place + 1)
    return Message("totals.off", name=name, difference=float(difference))


NOWHERE = -1
# Positions must fit into 64-bit integers.
MOST_PLACES = 1 << 62


class Coordinates(Value):
    """The codes of cells as numbers.

    Attributes:
        codes: Cells by dimensions; NOWHERE for cells that are in no table.
        above: For each dimension the number of every code's parent; -1 for the total.
    """

    codes: Places
    above: tuple[Places, ...]

    def rows(self, cells: Places) -> "Coordinates":
        """Return the coordinates of some cells."""
        return Coordinates(self.codes[cells], self.above)

    def padded(self, size: int) -> "Coordinates":
        """Return the coordinates extended to `size` cells; the further ones are in no table."""
        more = np.full((size - len(self.codes), self.codes.shape[1]), NOWHERE)
        return Coordinates(np.concatenate([self.codes, more]), self.above)


def coordinates_of(trees: Sequence[CodeTree], keys: Sequence[Key]) -> Coordinates | None:
    """Return the coordinates of cells; None if the table has no dimensions, or too many positions."""
    return joint_coordinates([(trees, keys, np.arange(len(keys)))], len(keys)) if trees else None


def joint_coordinates(
    tables: Sequence[tuple[Sequence[CodeTree], Sequence[Key], Places]], size: int
) -> Coordinates | None:
    """Return the coordinates of the cells of several tables in all their dimensions; totals in those of other
    tables.

    Args:
        tables: For each table its dimensions, the codes of its rows, and the cells of these rows.
    """
    axes = list(dict.fromkeys(_axis(tree) for trees, _, _ in tables for tree in trees))
    if math.prod(len(axis.codes) for axis in axes) > MOST_PLACES:
        return None
    codes = np.full((size, len(axes)), NOWHERE)
    for trees, keys, cells in reversed(tables):
        codes[cells] = 0
        for place, tree in enumerate(trees):
            axis = _axis(tree)
            numbers = {code: number for number, code in enumerate(axis.codes)}
            codes[cells, axes.index(axis)] = [numbers[key[place]] for key in keys]
    return Coordinates(codes, tuple(np.array(axis.above) for axis in axes))


class _Axis(Value):
    """A dimension: its codes, the total first, and the number of each one's parent."""

    name: str
    codes: tuple[Code, ...]
    above: tuple[int, ...]


def _axis(tree: CodeTree) -> _Axis:
    codes = tuple(dict.fromkeys([tree.root, *tree.parents]))
    numbers = {code: number for number, code in enumerate(codes)}
    above = (numbers[tree.parents[code]] if code in tree.parents else NOWHERE for code in codes)
    return _Axis(tree.name, codes, tuple(above))
