"""A table in an office format: codes, values, respondents, statuses, protection levels, hierarchies."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import DataError
from sfumato.tables.cells.cells import Numbers, Places, Relations, Status, make_relations
from sfumato.tables.cells.dimensions import Code, Tree
from sfumato.tables.cells.hrc_lines import unknown_code
from sfumato.tables.cells.precision import step_of
from sfumato.tables.cells.public_floor import public_floor
from sfumato.tables.cells.relations import Key, derive, describe
from sfumato.tables.nesting.chain import Chain
from sfumato.tables.office.statuses import CellStatus, choices_of

Labels = Mapping[str, Mapping[str, str]]
# For each variable the codes of the records that become one; in the table these are called by their places.
Finer = Callable[[Mapping[str, Sequence[frozenset[str]]]], "OfficeTable"]
# Columns that a table need not have.
# The holdings in a cell, and how much of it is theirs.
Holders = tuple[tuple[str, float], ...]
_OPTIONAL = ("frequency", "holdings", "lower", "upper", "costs", "low", "high")


@dataclass(frozen=True)
class OfficeTable:
    """One table.

    Attributes:
        value: The name of what the cells hold.
        trees: The spanning variables, each with its total at the root; none where relations are given.
        keys: The codes of each cell.
        values: What each cell holds.
        statuses: Its status, 1 to 14.
        frequency: The number of respondents, where it is told.
        largest: The largest contributions, largest first.
        holdings: The number of holdings.
        holders: The holdings that contribute most to each cell, with how much; empty where nobody is named.
        lower, upper: How far below and above its value the range of an unsafe cell must reach; 0 where nothing is said.
        costs: What masking a cell costs.
        low, high: Between which values anyone knows a cell to lie.
        given: The relations of a table without spanning variables.
        labels: What codes stand for, by variable.
        decimals: How many decimals values are written with.
        cell_keys: The key of each cell, where records have some.
        lines: The line of each cell in the file that it was read from.
        origins: For each variable that was recoded, which codes of the records each new code stands for.
        chains: The variables that hang together in the records, with the combinations of their codes.
        cell_names: What cells of a table without spanning variables are called.
        finer: Counts the records of the table by other codes, and judges the cells by the table's rules.
    """

    value: str
    trees: tuple[Tree, ...]
    keys: tuple[Key, ...]
    values: Numbers
    statuses: Places
    frequency: Numbers | None = None
    largest: tuple[Numbers, ...] = ()
    holdings: Numbers | None = None
    holders: tuple[Holders, ...] = ()
    lower: Numbers | None = None
    upper: Numbers | None = None
    costs: Numbers | None = None
    low: Numbers | None = None
    high: Numbers | None = None
    given: Relations | None = None
    labels: Labels = field(default_factory=dict)
    decimals: int = 0
    cell_keys: tuple[int, ...] = ()
    lines: tuple[int, ...] = ()
    origins: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)
    chains: tuple[Chain, ...] = ()
    cell_names: tuple[str, ...] = ()
    finer: "Finer | None" = None

    def __len__(self) -> int:
        return len(self.values)

    def relations(self) -> Relations:
        """The additive relations.

        Raises:
            DataError: A cell's total is not in the table, or a cell stands twice.
        """
        if self.given is not None:
            return self.given
        return derive(self.trees, self.keys) if self.trees else make_relations([])

    def names(self) -> tuple[str, ...]:
        """A name for each cell."""
        if not self.trees:
            return self.cell_names or tuple(f"cell {place}" for place in range(len(self)))
        return tuple(describe(self.trees, key) for key in self.keys)

    def codes(self, cell: int) -> list[str]:
        """The code of a cell in each variable."""
        return [code[-1] if len(code) == 1 else "/".join(code) for code in self.keys[cell]]

    def with_columns(self, **columns: object) -> "OfficeTable":
        """The same table with some columns replaced."""
        return replace(self, **columns)  # type: ignore[arg-type]

    def rows(self, cells: Places) -> "OfficeTable":
        """The table with some of its cells, or with all in another order; for tables with spanning variables."""
        optional = {name: getattr(self, name) for name in _OPTIONAL}
        return self.with_columns(
            keys=tuple(self.keys[cell] for cell in cells),
            values=self.values[cells],
            statuses=self.statuses[cells],
            largest=tuple(column[cells] for column in self.largest),
            cell_keys=tuple(self.cell_keys[cell] for cell in cells) if self.cell_keys else (),
            lines=tuple(self.lines[cell] for cell in cells) if self.lines else (),
            holders=tuple(self.holders[cell] for cell in cells) if self.holders else (),
            **{name: column[cells] for name, column in optional.items() if column is not None},
        )


def floor_of(table: OfficeTable) -> Numbers:
    """The least possible value of each cell, where its file names none: by what will be published."""
    hidden = choices_of(table.statuses) != Status.PUBLISH
    return public_floor(table.values, hidden, step_of(table.values))


def check_codes(tree: Tree, code: Code, name: str, line: int, column: int) -> None:
    """Refuse a code that a hierarchy does not have.

    Raises:
        DataError: It has not.
    """
    if code != tree.root and code not in tree.parents:
        raise DataError(
            f"{name}, line {line}, column {column}: the hierarchy of {tree.name} does not have this code.",
            unknown_code(code[0], tree.parents, "Add it to the hierarchy, or correct the line."),
            "unknown-code",
            values=[code[0]],
            rows=[line],
        )


def plain_table(value: str, trees: tuple[Tree, ...], keys: tuple[Key, ...], values: Numbers) -> OfficeTable:
    """A table of which nothing but the values is known."""
    return OfficeTable(value, trees, keys, values, np.full(len(values), int(CellStatus.SAFE), np.int64))
