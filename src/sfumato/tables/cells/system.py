"""The cells of a table as one sparse system, with bounds, protection levels, and attacker knowledge."""

from collections.abc import Iterable, Sequence
from enum import IntEnum, StrEnum
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sfumato.localization.messages import Message
from sfumato.values import Value, replace

Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Statuses = npt.NDArray[np.int8]


class CellStatus(IntEnum):
    """Whether a cell may be suppressed (SAFE), must be suppressed (SENSITIVE), or must be published."""

    SAFE = 0
    SENSITIVE = 1
    PUBLISH = 2


class LinearConstraints(Value):
    """Linear constraints M·a = 0 in compressed rows: constraint r has the cells `cells[starts[r]:starts[r +
    1]]`.

    Attributes:
        starts: Start of each constraint; one more entry than constraints.
        coefs: Their coefficients: -1 for a total, 1 for its parts.
        names: The name of each constraint, for messages.
    """

    starts: Places
    cells: Places
    coefs: Numbers
    names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.starts) - 1

    def row(self, relation: int) -> tuple[Places, Numbers]:
        """Return the cells of a constraint and their coefficients."""
        part = slice(self.starts[relation], self.starts[relation + 1])
        return self.cells[part], self.coefs[part]

    def matrix(self, cells: int) -> Any:
        """Return the constraints as a sparse matrix, constraints by cells."""
        from scipy.sparse import csr_matrix

        # A copy: the library may sort entries in place, but totals must be first in their constraints.
        return csr_matrix((self.coefs, self.cells, self.starts), shape=(len(self), cells), copy=True)

    def residuals(self, values: Numbers) -> Numbers:
        """Return the residual of each constraint."""
        sums = np.concatenate([[0.0], np.cumsum(self.coefs * values[self.cells])])
        if len(self.cells) and np.abs(sums).max() > 1e12:
            return np.array([self.coefs[a:b] @ values[self.cells[a:b]] for a, b in self._spans()])
        return np.asarray(sums[self.starts[1:]] - sums[self.starts[:-1]])

    def without(self, cells: BoolArray) -> "LinearConstraints":
        """Return the constraints that contain none of the given cells."""
        kept = [place for place in range(len(self)) if not cells[self.row(place)[0]].any()]
        rows = [self.row(place) for place in kept]
        return make_constraints([(own.tolist(), coefs.tolist()) for own, coefs in rows], self._names_of(kept))

    def with_rows(self, rows: Sequence[tuple[Sequence[int], Sequence[float]]], name: str) -> "LinearConstraints":
        """Return these constraints and further ones that share one name."""
        more = make_constraints(rows)
        return LinearConstraints(
            np.concatenate([self.starts, more.starts[1:] + self.starts[-1]]),
            np.concatenate([self.cells, more.cells]),
            np.concatenate([self.coefs, more.coefs]),
            (*self.names, *([name] * len(more))) if self.names else (),
        )

    def _names_of(self, relations: Sequence[int]) -> list[str]:
        return [self.names[place] for place in relations] if self.names else []

    def _spans(self) -> Iterable[tuple[int, int]]:
        return zip(self.starts[:-1], self.starts[1:], strict=True)


def make_constraints(
    rows: Iterable[tuple[Sequence[int], Sequence[float]]], names: Sequence[str] = ()
) -> LinearConstraints:
    """Build constraints from one pair (cells, coefficients) each.

    >>> len(make_constraints([([0, 1, 2], [-1, 1, 1])]))
    1
    """
    listed = list(rows)
    starts = np.concatenate([[0], np.cumsum([len(cells) for cells, _ in listed])]).astype(np.int64)
    cells = np.array([cell for row, _ in listed for cell in row], np.int64)
    coefs = np.array([coef for _, row in listed for coef in row], np.float64)
    return LinearConstraints(starts, cells, coefs, tuple(names))


class Bounds(Value):
    """Lower and upper bounds of each cell; infinite or NaN if there is none."""

    low: Numbers
    high: Numbers

    def __len__(self) -> int:
        return len(self.low)

    def rows(self, places: Places | BoolArray) -> "Bounds":
        """Return the bounds of some cells."""
        return Bounds(self.low[places], self.high[places])

    def only(self, cells: BoolArray) -> "Bounds":
        """Return the bounds of some cells, and NaN for the others."""
        return Bounds(np.where(cells, self.low, np.nan), np.where(cells, self.high, np.nan))

    def followed_by(self, other: "Bounds") -> "Bounds":
        """Return the bounds of these cells and, after them, of others."""
        return Bounds(np.append(self.low, other.low), np.append(self.high, other.high))

    def within(self, other: "Bounds") -> "Bounds":
        """Return the intersection of both."""
        return Bounds(np.fmax(self.low, other.low), np.fmin(self.high, other.high))

    def equals(self, other: "Bounds") -> bool:
        """Return whether both are equal."""
        return np.array_equal(self.low, other.low) and np.array_equal(self.high, other.high)


def no_bounds(size: int) -> Bounds:
    """Return bounds that restrict no cell.

    >>> no_bounds(2).low.tolist()
    [nan, nan]
    """
    return Bounds(np.full(size, np.nan), np.full(size, np.nan))


class ProtectionLevels(Value):
    """Protection levels: how far the feasibility interval of a sensitive cell must extend below and above its value."""

    lower: Numbers
    upper: Numbers

    def rows(self, places: Places | BoolArray) -> "ProtectionLevels":
        """Return the levels of some cells."""
        return ProtectionLevels(self.lower[places], self.upper[places])

    def at(self, cells: BoolArray) -> "ProtectionLevels":
        """Return the levels of some cells, and 0 for the others."""
        return ProtectionLevels(np.where(cells, self.lower, 0.0), np.where(cells, self.upper, 0.0))


class Table(Value):
    """One table: everything a method or an attacker needs to know about its cells.

    Attributes:
        values: The true values.
        status: A `CellStatus` for each cell.
        costs: The cost of suppressing each cell.
        bounds: The a priori bounds of the attacker for each cell.
        protection_levels: The protection levels.
        constraints: The additive constraints.
        names: A name for each cell, for messages and certificates.
    """

    values: Numbers
    status: Statuses
    costs: Numbers
    bounds: Bounds
    protection_levels: ProtectionLevels
    constraints: LinearConstraints
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        columns = (self.values, self.status, self.costs, self.bounds, self.protection_levels.lower, self.names)
        if len({len(column) for column in columns}) != 1:
            raise ValueError(Message("error.value.every_column_table_needs"))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def sensitive(self) -> BoolArray:
        """Which cells must be suppressed."""
        return np.asarray(self.status == CellStatus.SENSITIVE)

    @property
    def protection_interval(self) -> Bounds:
        """The protection intervals of the sensitive cells; NaN for others."""
        return Bounds(self.values - self.protection_levels.lower, self.values + self.protection_levels.upper).only(
            self.sensitive
        )

    def with_columns(self, **columns: Any) -> Self:
        """Return the same table with some columns replaced."""
        return replace(self, **columns)

    def rows(self, cells: Places, constraints: LinearConstraints | None = None) -> "Table":
        """Return the table with some of its cells, or all in another order; without constraints by default."""
        return Table(
            self.values[cells],
            self.status[cells],
            self.costs[cells],
            self.bounds.rows(cells),
            self.protection_levels.rows(cells),
            make_constraints([]) if constraints is None else constraints,
            tuple(self.names[cell] for cell in cells),
        )


def make_table(values: Sequence[float] | Numbers, relations: LinearConstraints, **columns: Any) -> Table:
    """Build a table with defaults: every cell safe, its cost its value, lower bound 0, no protection levels.

    >>> make_table([5, 2, 3], make_constraints([([0, 1, 2], [-1, 1, 1])])).costs.tolist()
    [5.0, 2.0, 3.0]
    """
    numbers = np.asarray(values, np.float64)
    size = len(numbers)
    defaults: dict[str, Any] = {
        "status": np.zeros(size, np.int8),
        "costs": np.abs(numbers),
        "bounds": Bounds(np.full(size, 0.0 if (numbers >= 0).all() else -np.inf), np.full(size, np.inf)),
        "protection_levels": ProtectionLevels(np.zeros(size), np.zeros(size)),
        "names": tuple(str(place) for place in range(size)),
    }
    return Table(values=numbers, constraints=relations, **(defaults | columns))


class AlternativeTable(Value):
    """Deviations of some cells, claimed to satisfy every constraint, by which a cell has a different value.

    Attributes:
        cells: The cells that deviate, including that one.
        amounts: The deviations.
    """

    cell: int
    cells: Places
    amounts: Numbers


def public_floor(
    values: Numbers, hidden: BoolArray, step: float, least: float | None = None, announced: bool = False
) -> Numbers:
    """Return the least possible value of each cell, by what the published table shows.

    Values are nonnegative unless one is negative. If all cells of value 0 are published, a suppressed cell is not 0,
    whichever rule suppressed it. Sums with decimals may be 0 without an empty cell.

    Args:
        values: The values; NaN where unknown.
        hidden: The cells that are suppressed, or that may be.
        least: The least value that the plan names.
        announced: Whether the plan announces that empty cells may be suppressed.

    >>> public_floor(np.array([5.0, 2.0, 3.0, 0.0]), np.array([False, True, True, False]), 1.0).tolist()
    [1.0, 1.0, 1.0, 0.0]
    >>> public_floor(np.array([5.0, 2.0, 3.0, 0.0]), np.array([False, True, True, True]), 1.0).tolist()
    [0.0, 0.0, 0.0, 0.0]
    """
    floor = least if least is not None else (-np.inf if (values < 0).any() else 0.0)
    low = np.full(len(values), floor)
    zeros = values <= 0
    if floor >= 0 and not announced and not (hidden & zeros).any() and (zeros.any() or step >= 1):
        low[~zeros] = max(floor, step)
    return low


class AttackerKind(StrEnum):
    """The kind of attacker; a plan excludes attackers by these names."""

    OUTSIDER = "outsider"
    RESPONDENT = "respondents"
    HOLDING = "holdings"
    PERSON = "persons"
    COALITION = "coalition"


class Insider(Value, eq=False):
    """An insider: one contributor to some cells, or a coalition of contributors who share their knowledge.

    Attributes:
        name: Name for messages.
        kind: The kind of insider.
        cells: The cells with an own contribution.
        bounds: The known bounds of each of these cells; a single value if there is no other contributor.
        reach: The protection levels of these cells against the insider: only for the contributions of others.
    """

    name: Message
    kind: AttackerKind
    cells: Places
    bounds: Bounds
    reach: ProtectionLevels


class AttackerKnowledge(Value):
    """What attackers know in addition to the cells and their bounds.

    Attributes:
        integer: Whether all values are known to be integers.
        rounding: How far totals may differ from the sum of their parts, if published ones do.
        attackers: The insiders, in addition to the outsider.
    """

    integer: bool = False
    rounding: float = 0.0
    precision: float = 1.0
    attackers: tuple[Insider, ...] = ()


class CellOrder(Value):
    """An order of cells: `cells` are the positions of the first cell, the second, and so on."""

    cells: Places

    def back(self, numbers: Numbers | BoolArray) -> Numbers:
        """Return numbers in this order in the original order.

        >>> CellOrder(np.array([2, 0, 1])).back(np.array([1.0, 2.0, 3.0])).tolist()
        [2.0, 3.0, 1.0]
        """
        came = np.empty(len(numbers), np.float64)
        came[self.cells] = numbers
        return came

    def table(self, table: Table) -> Table:
        """Return the table with its cells and constraints in this order."""
        return table.rows(self.cells, self.relations(table.constraints))

    def relations(self, relations: LinearConstraints) -> LinearConstraints:
        """Return the constraints between cells in this order, sorted; the total is first in each."""
        places = np.empty(len(self.cells), np.int64)
        places[self.cells] = np.arange(len(self.cells))
        rows = []
        for place in range(len(relations)):
            cells, coefs = relations.row(place)
            rows.append(sorted(zip(coefs.tolist(), places[cells].tolist(), strict=True)))
        return make_constraints([([cell for _, cell in row], [coef for coef, _ in row]) for row in sorted(rows)])


def order_of(table: Table) -> CellOrder:
    """Order the cells of a table by name, and by value among equal names."""
    keys = list(zip(table.names, table.values.tolist(), strict=True))
    return CellOrder(np.array(sorted(range(len(table)), key=keys.__getitem__), np.int64))
