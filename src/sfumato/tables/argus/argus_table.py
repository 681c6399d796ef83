"""A table in an office format: codes, values, respondents, statuses, protection levels, hierarchies."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.localization.messages import Message
from sfumato.tables.argus.file_errors import wrong
from sfumato.tables.argus.statuses import ArgusStatus, choices_of
from sfumato.tables.cells.constraints import Key, derive, describe, precision_of
from sfumato.tables.cells.dimensions import Code, CodeTree, unknown_code
from sfumato.tables.cells.system import CellStatus, LinearConstraints, Numbers, Places, make_constraints, public_floor
from sfumato.tables.linked.records import Chain

Labels = Mapping[str, Mapping[str, str]]
# Tabulates by unions of record codes: for each variable, the codes that become one, named by their position.
Finer = Callable[[Mapping[str, Sequence[frozenset[str]]]], "ArgusTable"]
# The holdings in a cell, and their contributions.
Holders = tuple[tuple[str, float], ...]
_OPTIONAL = ("frequency", "holdings", "lower", "upper", "costs", "low", "high")


@dataclass(frozen=True)
class ArgusTable:
    """One table.

    Attributes:
        trees: The spanning variables, each with its total at the root; empty if constraints are given.
        statuses: The statuses, 1 to 14.
        frequency: The number of respondents, if known.
        largest: The largest contributions, in descending order.
        holders: The largest holdings of each cell, with their contributions; empty if holdings are not named.
        lower, upper: The protection levels of sensitive cells; 0 if none is given.
        costs: The cost of suppressing each cell.
        low, high: The a priori bounds of each cell.
        given: The constraints of a table without spanning variables.
        labels: The labels of codes, by variable.
        decimals: Number of decimals of written values.
        cell_keys: The key of each cell, if records have keys.
        lines: The line of each cell in its file.
        origins: For each recoded variable, the record codes that each new code covers.
        chains: The dependent variables in the records, with the combinations of their codes.
        cell_names: Names of the cells of a table without spanning variables.
        finer: Tabulates the records by other codes, with statuses by the table's rules.
    """

    value: str
    trees: tuple[CodeTree, ...]
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
    given: LinearConstraints | None = None
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

    def relations(self) -> LinearConstraints:
        """Return the additive constraints.

        Raises:
            DataError: A cell's total is missing, or a cell is duplicate.
        """
        if self.given is not None:
            return self.given
        return derive(self.trees, self.keys) if self.trees else make_constraints([])

    def names(self) -> tuple[str, ...]:
        """Return a name for each cell."""
        if not self.trees:
            return self.cell_names or tuple(f"cell {place}" for place in range(len(self)))
        return tuple(describe(self.trees, key) for key in self.keys)

    def codes(self, cell: int) -> list[str]:
        """Return the code of a cell in each variable."""
        return [code[-1] if len(code) == 1 else "/".join(code) for code in self.keys[cell]]

    def with_columns(self, **columns: object) -> "ArgusTable":
        """Return the same table with some columns replaced."""
        return replace(self, **columns)  # type: ignore[arg-type]

    def rows(self, cells: Places) -> "ArgusTable":
        """Return the table with some of its cells, or with all in another order; for tables with spanning variables."""
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


def floor_of(table: ArgusTable) -> Numbers:
    """Return the lower bound of each cell inferred from what will be published, for files that give none."""
    hidden = choices_of(table.statuses) != CellStatus.PUBLISH
    return public_floor(table.values, hidden, precision_of(table.values))


def check_codes(tree: CodeTree, code: Code, name: str, line: int, column: int) -> None:
    """Refuse a code that a hierarchy does not have."""
    if code != tree.root and code not in tree.parents:
        hint = unknown_code(code[0], tree.parents, Message("error.part.add_it_to_the_hierarchy_or"))
        error = wrong(name, line, column, "unknown-code.hierarchy", hint=hint, column=tree.name)
        raise error.about(values=[code[0]], rows=[line])


def plain_table(value: str, trees: tuple[CodeTree, ...], keys: tuple[Key, ...], values: Numbers) -> ArgusTable:
    """Return a table with values only."""
    return ArgusTable(value, trees, keys, values, np.full(len(values), int(ArgusStatus.SAFE), np.int64))
