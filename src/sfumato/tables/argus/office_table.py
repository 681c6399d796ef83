"""The τ-ARGUS model of a table: codes, values, respondents, cell statuses, protection levels, hierarchies."""

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum

import numpy as np

from sfumato.localization.messages import Message
from sfumato.tables.argus.file_errors import wrong
from sfumato.tables.cells.constraints import Key, derive, describe, precision_of
from sfumato.tables.cells.dimensions import Code, CodeTree, unknown_code
from sfumato.tables.cells.system import (
    BoolArray,
    CellStatus,
    LinearConstraints,
    Numbers,
    Places,
    Statuses,
    make_constraints,
    public_floor,
)
from sfumato.tables.linked.records import Chain
from sfumato.values import Value, field, replace


class ArgusStatus(IntEnum):
    """The status of a cell, 1 to 14."""

    SAFE = 1
    SAFE_MANUAL = 2
    UNSAFE = 3
    UNSAFE_REQUEST = 4
    UNSAFE_FREQUENCY = 5
    UNSAFE_ZERO = 6
    UNSAFE_SINGLETON = 7
    UNSAFE_SINGLETON_MANUAL = 8
    UNSAFE_MANUAL = 9
    PROTECTED = 10
    SECONDARY = 11
    SECONDARY_MANUAL = 12
    EMPTY_NON_STRUCTURAL = 13
    EMPTY = 14


# Letters for statuses, unless a file defines others; τ-ARGUS itself writes all of these.
LETTERS = {
    "s": ArgusStatus.SAFE,
    "u": ArgusStatus.UNSAFE,
    "p": ArgusStatus.PROTECTED,
    "m": ArgusStatus.SECONDARY,
    "e": ArgusStatus.EMPTY,
}
# The status letters of sdcTable and of solver files.
MARKS = {
    "s": ArgusStatus.SAFE,
    "u": ArgusStatus.UNSAFE,
    "x": ArgusStatus.SECONDARY,
    "m": ArgusStatus.SECONDARY,
    "z": ArgusStatus.PROTECTED,
}
# The flags of CONF_STATUS (CL_CONF_STATUS of the SDMX content-oriented guidelines).
OF_FLAG = {
    **{"F": ArgusStatus.SAFE, "": ArgusStatus.SAFE, "A": ArgusStatus.UNSAFE_FREQUENCY, "G": ArgusStatus.UNSAFE},
    **{"O": ArgusStatus.UNSAFE, "T": ArgusStatus.UNSAFE, "E": ArgusStatus.UNSAFE, "M": ArgusStatus.UNSAFE_MANUAL},
    **{"C": ArgusStatus.UNSAFE_MANUAL, "N": ArgusStatus.UNSAFE_MANUAL, "P": ArgusStatus.UNSAFE_MANUAL},
    **{"D": ArgusStatus.SECONDARY, "S": ArgusStatus.SECONDARY},
}


def unsafe_of(statuses: Places) -> BoolArray:
    """Return the sensitive cells: statuses 3 to 9."""
    return np.asarray((statuses >= ArgusStatus.UNSAFE) & (statuses <= ArgusStatus.UNSAFE_MANUAL))


def secondary_of(statuses: Places) -> BoolArray:
    """Return the secondary cells: statuses 11 and 12."""
    return np.isin(statuses, (ArgusStatus.SECONDARY, ArgusStatus.SECONDARY_MANUAL))


def masked_of(statuses: Places) -> BoolArray:
    """Return the cells that are not published.

    >>> masked_of(np.array([1, 3, 10, 11, 14])).tolist()
    [False, True, False, True, False]
    """
    return unsafe_of(statuses) | secondary_of(statuses)


def choices_of(statuses: Places) -> Statuses:
    """Return what may happen to each cell: 10 and 14 must be published, 3 to 9 suppressed, others either way."""
    fixed = np.isin(statuses, (ArgusStatus.PROTECTED, ArgusStatus.EMPTY))
    free = np.where(fixed, CellStatus.PUBLISH, CellStatus.SAFE)
    return np.where(unsafe_of(statuses), CellStatus.SENSITIVE, free).astype(np.int8)


def status_in(text: str, letters: dict[str, ArgusStatus]) -> ArgusStatus | None:
    """Parse a status: a number from 1 to 14, or a letter; None if it is invalid."""
    if text.isascii() and text.isdigit() and 1 <= int(text) <= 14:
        return ArgusStatus(int(text))
    return letters.get(text) or letters.get(text.lower())


def flag_of(status: int) -> str:
    """Return the flag of a cell in structural business statistics: V published, A few respondents, B dominance, C other
    reasons, D secondary.

    >>> [flag_of(status) for status in (1, 5, 11)]
    ['V', 'A', 'D']
    """
    if status in (ArgusStatus.SECONDARY, ArgusStatus.SECONDARY_MANUAL):
        return "D"
    if not ArgusStatus.UNSAFE <= status <= ArgusStatus.UNSAFE_MANUAL:
        return "V"
    if status in (ArgusStatus.UNSAFE_FREQUENCY, ArgusStatus.UNSAFE_SINGLETON, ArgusStatus.UNSAFE_SINGLETON_MANUAL):
        return "A"
    return "B" if status == ArgusStatus.UNSAFE else "C"


Labels = Mapping[str, Mapping[str, str]]
# Tabulates by unions of record codes: for each variable, the codes that become one, named by their position.
Finer = Callable[[Mapping[str, Sequence[frozenset[str]]]], "ArgusTable"]
# The holdings in a cell, and their contributions.
Holders = tuple[tuple[str, float], ...]
_OPTIONAL = ("frequency", "holdings", "lower", "upper", "costs", "low", "high")


class ArgusTable(Value):
    """A table with τ-ARGUS statuses, protection levels and hierarchies.

    Attributes:
        trees: The spanning variables, each with its total at the root; empty if constraints are given.
        statuses: The statuses, 1 to 14.
        frequency: The number of respondents, if known.
        largest: The largest contributions, in descending order.
        holders: The largest holdings of each cell, with their contributions; empty if holdings are not named.
        lower: The lower protection level of each sensitive cell; 0 if none is given.
        upper: The upper protection level of each sensitive cell; 0 if none is given.
        costs: The cost of suppressing each cell.
        low: The lower a priori bound of each cell.
        high: The upper a priori bound of each cell.
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
        """Return the linear constraints.

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
        return replace(self, **columns)

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
        hint = unknown_code(code[0], tree.parents, Message("error.part.add_to_hierarchy"))
        error = wrong(name, line, column, "unknown-code.hierarchy", hint=hint, column=tree.name)
        raise error.about(values=[code[0]], rows=[line])


def plain_table(value: str, trees: tuple[CodeTree, ...], keys: tuple[Key, ...], values: Numbers) -> ArgusTable:
    """Return a table with values only."""
    return ArgusTable(value, trees, keys, values, np.full(len(values), int(ArgusStatus.SAFE), np.int64))
