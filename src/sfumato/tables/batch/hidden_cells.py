"""Cells that no table shows but that link tables with different codes: the parts of which all codes are unions.

If one table has a, b and another ab, then ab is the sum of a and b. If one has ab and c, another a and bc, then b is a
cell that neither shows, and that a reader of both can compute.
"""

from collections.abc import Iterable, Sequence
from dataclasses import field
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import UnattainableError
from sfumato.tables.argus.argus_table import ArgusTable
from sfumato.tables.argus.statuses import unsafe_of
from sfumato.tables.batch.code_coverage import Cover, Coverage, Identity, variable_of
from sfumato.tables.cells.constraints import Key
from sfumato.tables.cells.system import BoolArray, Bounds, LinearConstraints, Numbers
from sfumato.tables.linear_programs import LinearProgram

# Limits of the number of implicit cells that are created, and of shown cells that are considered.
MOST, MOST_SHOWN = 50_000, 1_000_000
# Seconds to find values for them, and the share of these for integers; any feasible values suffice.
SECONDS, WHOLE = 20.0, 0.2
# Name prefix of parts, followed by their position.
PART = "part "
# Name of an implicit cell in messages.
UNSHOWN = "a cell that no table shows"
Row = tuple[list[int], list[float]]


@dataclass
class Ties:
    """Constraints that link tables with different codes.

    Attributes:
        coverage: What codes cover.
        places: The number of each cell; cells that no table shows are added.
        judged: For cells that no table shows but records determine: a counted table, and the position in it.
        grows: Whether cells are added that no table shows; otherwise constraints with such cells are left out.
        nested: Variables that need no links, because the codes of one table are among those of the other.
    """

    coverage: Coverage
    tables: Sequence[ArgusTable]
    places: dict[Identity, int]
    rows: list[Row] = field(default_factory=list)
    judged: dict[int, tuple[ArgusTable, int]] = field(default_factory=dict)
    grows: bool = True
    nested: frozenset[str] = frozenset()

    @property
    def shown(self) -> int:
        """Number of cells that tables show."""
        return self._shown

    def __post_init__(self) -> None:
        self._shown = len(self.places)

    def tie(self, numbers: Sequence[int]) -> None:
        """Link some of the tables, for every set of variables that two of them share.

        Raises:
            UnattainableError: There would be too many cells.
        """
        names = {number: frozenset(map(variable_of, self.tables[number].trees)) for number in numbers}
        for shared in sorted({names[one] & names[two] for one, two in combinations(numbers, 2)}, key=sorted):
            own = [number for number in numbers if shared <= names[number] and self._is_whole(number, shared)]
            blocks = {name: self.coverage.blocks(name, own) for name in sorted(shared)}
            if own and any(self._differ(name, blocks[name], own) for name in blocks.keys() - self.nested):
                self._tie_by(blocks, own)

    def _is_whole(self, number: int, shared: Iterable[str]) -> bool:
        """Return whether the totals of a table in its other variables cover everything."""
        others = ((variable_of(tree), tree.root) for tree in self.tables[number].trees)
        covers, everything = self.coverage.covers[number], self.coverage.everything
        return all(covers[name][root] == everything[name] for name, root in others if name not in shared)

    def _differ(self, name: str, blocks: Sequence[Cover], numbers: Sequence[int]) -> bool:
        return any(not self.coverage.leaves[number][name] <= set(blocks) for number in numbers)

    def _tie_by(self, blocks: dict[str, list[Cover]], numbers: Sequence[int]) -> None:
        if prod(len(own) + 1 for own in blocks.values()) > (MOST if self.grows else MOST_SHOWN):
            raise UnattainableError("joint-size.the_codes_of_tables")
        empty = self._empty(blocks, numbers)
        wide = {name: [self.coverage.everything[name], *own] for name, own in blocks.items()}
        for covers in product(*wide.values()):
            self._add(dict(zip(wide, covers, strict=True)), blocks, empty)
        for number in numbers:
            for covers in product(*(sorted(self.coverage.leaves[number][name], key=sorted) for name in blocks)):
                self._divide(dict(zip(blocks, covers, strict=True)), blocks, empty)
        for number in numbers:
            self._judge(self.tables[number], blocks)

    def _judge(self, table: ArgusTable, blocks: dict[str, list[Cover]]) -> None:
        """Count from the records what cells hold that no table shows, and evaluate the rules for them."""
        if table.finer is None or all(place < self.shown for place in self.places.values()):
            return
        counted = table.finer(blocks)
        unsafe = unsafe_of(counted.statuses)
        for cell, key in enumerate(counted.keys):
            place = self.places.get(self._of_parts(counted, key, blocks), -1)
            if place >= self.shown and (place not in self.judged or unsafe[cell]):
                self.judged[place] = counted, cell

    def _of_parts(self, counted: ArgusTable, key: Key, blocks: dict[str, list[Cover]]) -> Identity:
        named = zip(map(variable_of, counted.trees), (tree.root for tree in counted.trees), key, strict=True)
        covers = [(name, code == root or not code[0].startswith(PART), code[0]) for name, root, code in named]
        everything = self.coverage.everything
        return self.coverage.of(
            (name, everything[name] if whole else blocks[name][int(code.removeprefix(PART))])
            for name, whole, code in covers
        )

    def _empty(self, blocks: dict[str, list[Cover]], numbers: Sequence[int]) -> set[Identity]:
        """Return the parts that a table of exactly these parts omits; they are publicly empty."""
        empty: set[Identity] = set()
        for number in numbers:
            parts = [[own for own in blocks[name] if own in self.coverage.leaves[number][name]] for name in blocks]
            there = (self.coverage.of(zip(blocks, covers, strict=True)) for covers in product(*parts))
            empty |= {identity for identity in there if identity not in self.places}
        return empty

    def _add(self, covers: dict[str, Cover], blocks: dict[str, list[Cover]], empty: set[Identity]) -> None:
        """Add the constraints that a total over a variable is the sum of its parts."""
        for name, own in blocks.items():
            if covers[name] == self.coverage.everything[name] and own != [covers[name]]:
                self._relate(self.coverage.of(covers.items()), [{**covers, name: block} for block in own], empty)

    def _divide(self, covers: dict[str, Cover], blocks: dict[str, list[Cover]], empty: set[Identity]) -> None:
        """Add the constraint that a cell is the sum of the parts of its codes."""
        inside = [[block for block in own if block <= covers[name]] for name, own in blocks.items()]
        total = self.coverage.of(covers.items())
        if prod(map(len, inside)) > 1 and total in self.places:
            self._relate(total, [dict(zip(blocks, parts, strict=True)) for parts in product(*inside)], empty)

    def _relate(self, total: Identity, parts: Sequence[dict[str, Cover]], empty: set[Identity]) -> None:
        named = [self.coverage.of(part.items()) for part in parts]
        if not self.grows and any(one not in self.places and one not in empty for one in (total, *named)):
            return
        cells = [self._place(one) for one in (total, *(one for one in named if one not in empty))]
        self.rows.append((cells, [-1.0, *([1.0] * (len(cells) - 1))]))

    def _place(self, identity: Identity) -> int:
        return self.places.setdefault(identity, len(self.places))


def possible_values(
    values: Numbers,
    known: BoolArray,
    relations: LinearConstraints,
    step: float,
    tolerance: float,
    seconds: float = SECONDS,
) -> Numbers:
    """Return the cell values, with feasible values for cells that no table shows.

    Raises:
        UnattainableError: There are no feasible values, or the time is over.
    """
    if known.all():
        return values
    matrix = relations.matrix(len(values)).tocsc()
    sides = -(matrix[:, np.flatnonzero(known)] @ values[known]) / step
    rows = np.flatnonzero(np.diff(matrix[:, np.flatnonzero(~known)].tocsr().indptr))
    low = np.full(int((~known).sum()), -np.inf if (values[known] < 0).any() else 0.0)
    slack = tolerance / step + 1e-6 * max(1.0, float(np.abs(sides).max(initial=0.0)) * 1e-6)
    limits = Bounds(np.round(sides[rows], 6) - slack, np.round(sides[rows], 6) + slack)
    point = _point(matrix[rows][:, np.flatnonzero(~known)], low, limits, min(seconds, SECONDS))
    if point is None:
        raise UnattainableError("joint-size.no_numbers_were_found")
    filled = values.copy()
    filled[~known] = point * step
    return filled


def _point(matrix: Any, low: Numbers, limits: Bounds, seconds: float) -> Numbers | None:
    """Return values within the limits, integers if found quickly; None if there are none."""
    bounds, nothing = Bounds(low, np.full(len(low), np.inf)), np.zeros(len(low))
    whole, _ = LinearProgram(matrix, bounds, limits, integer=True).least(nothing, seconds * WHOLE)
    if whole is not None:
        return np.round(whole)
    point, _ = LinearProgram(matrix, bounds, limits).least(nothing, seconds * (1 - WHOLE))
    return None if point is None else np.maximum(point, low)
