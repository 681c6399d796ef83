"""Read and write a priori files (`.hst`): one code for each spanning variable of a cell, then an action.

`s` safe (2), `u` unsafe (9), `p` protected (10), `m` secondary by hand (12), `ml` secondary (11), `c x` or `w x` cost,
`pl lower upper` protection levels. Allowed: s for 1 to 10, u for 1 to 9, p, m and ml for 1 and 2, pl for 3 to 9.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sfumato.errors import DataError
from sfumato.localization.messages import Message
from sfumato.tables.argus.file_errors import fields_in, lines_of, number_in, office_field, wrong
from sfumato.tables.argus.office_table import ArgusStatus, ArgusTable, masked_of, secondary_of
from sfumato.tables.cells.constraints import Key
from sfumato.tables.formats.solver_file import plain
from sfumato.values import Value

# The status that an action sets, and from which statuses it is allowed.
ACTIONS: dict[str, tuple[ArgusStatus, range]] = {
    "s": (ArgusStatus.SAFE_MANUAL, range(1, 11)),
    "u": (ArgusStatus.UNSAFE_MANUAL, range(1, 10)),
    "p": (ArgusStatus.PROTECTED, range(1, 3)),
    "m": (ArgusStatus.SECONDARY_MANUAL, range(1, 3)),
    "ml": (ArgusStatus.SECONDARY, range(1, 3)),
}
COSTS = ("c", "w")
LEVELS = "pl"
REJECTED = "ab"
# Number of amounts after an action; 0 for the others.
AMOUNTS = {**dict.fromkeys(COSTS, 1), LEVELS: 2}


class Applied(Value):
    """A table after an a priori file, and the lines that were skipped."""

    table: ArgusTable
    passed_over: tuple[str, ...]


class _Columns:
    """The columns of a table that an a priori file may change."""

    def __init__(self, table: ArgusTable) -> None:
        self.statuses = table.statuses.copy()
        self.costs = (np.abs(table.values) if table.costs is None else table.costs).copy()
        self.lower = (np.zeros(len(table)) if table.lower is None else table.lower).copy()
        self.upper = (np.zeros(len(table)) if table.upper is None else table.upper).copy()


def apply_apriori(
    path: Path,
    table: ArgusTable,
    separator: str = ",",
    ignore_errors: bool = False,
    expand_trivial: bool = False,
    encoding: str | None = None,
) -> Applied:
    """Apply an a priori file to a table.

    Args:
        separator: The field separator.
        ignore_errors: Whether invalid lines are skipped.
        expand_trivial: Whether a line for a cell also applies to totals of which it is the only part, and vice
            versa.
        encoding: Encoding of the file; detected if None.

    Raises:
        DataError: A line is invalid, and errors are not ignored.
    """
    places = {key: place for place, key in enumerate(table.keys)}
    columns = _Columns(table)
    twins = _twins(table) if expand_trivial else {}
    passed_over = []
    for number, line in enumerate(lines_of(path, encoding), start=1):
        if not line.strip():
            continue
        try:
            cell, action = _cell(line, number, path.name, table, places, separator)
            for one in twins.get(cell, (cell,)):
                _act(columns, one, action, path.name, number)
        except DataError as error:
            if not ignore_errors:
                raise
            passed_over.append(error.message)
    changed = table.with_columns(
        statuses=columns.statuses, costs=columns.costs, lower=columns.lower, upper=columns.upper
    )
    return Applied(changed, tuple(passed_over))


def _cell(
    line: str, number: int, name: str, table: ArgusTable, places: dict[Key, int], separator: str
) -> tuple[int, list[tuple[str, int]]]:
    fields = fields_in(line, separator)
    size = len(table.trees)
    if len(fields) < size + 1:
        do = Message("hint.codes_and_action", count=size, separator=separator)
        raise wrong(name, number, len(line) + 1, "length.the_line_ends_before_its_action", hint=do)
    key = tuple((text,) for text, _ in fields[:size])
    for (text, column), tree in zip(fields[:size], table.trees, strict=True):
        if (text,) != tree.root and (text,) not in tree.parents:
            do = Message("error.part.correct_code_of_total")
            raise wrong(name, number, column, "unknown-code.no_such_code", hint=do, name=tree.name)
    if key not in places:
        raise wrong(name, number, 1, "unknown-code.the_table_has_no_such_cell")
    return places[key], fields[size:]


def _act(columns: _Columns, cell: int, action: Sequence[tuple[str, int]], name: str, number: int) -> None:
    word, column = action[0][0].lower(), action[0][1]
    size = AMOUNTS.get(word, 0)
    # A separator at the end of a line is ignored.
    more = [column for text, column in action[size + 1 :] if text]
    if word in (*ACTIONS, *AMOUNTS) and more:
        raise wrong(name, number, more[0], "length.fields", count=len(more), name=word)
    status = int(columns.statuses[cell])
    if word in ACTIONS:
        new, allowed = ACTIONS[word]
        if status not in allowed:
            raise wrong(name, number, column, "status.is_not_allowed_for_status", name=word, status=status)
        columns.statuses[cell] = int(new)
    elif word in COSTS:
        columns.costs[cell] = _amount(action, 1, name, number) or 1.0
    elif word == LEVELS:
        if not ArgusStatus.UNSAFE <= status <= ArgusStatus.UNSAFE_MANUAL:
            raise wrong(name, number, column, "status.levels", status=status)
        columns.lower[cell], columns.upper[cell] = (_amount(action, place, name, number) for place in (1, 2))
    else:
        _check_blank(word, column, name, number)
        raise wrong(name, number, column, "action.bounds" if word == REJECTED else "action.unknown")


def _check_blank(word: str, column: int, name: str, number: int) -> None:
    """Report a blank after an action where the separator belongs."""
    first, *rest = word.split() or [""]
    if rest and first in (*ACTIONS, *AMOUNTS):
        raise wrong(name, number, column + len(first), "action.blank_for_separator", name=first)


def _amount(action: Sequence[tuple[str, int]], place: int, name: str, number: int) -> float:
    if len(action) <= place:
        last = action[-1][1] + len(action[-1][0])
        raise wrong(name, number, last, "length.missing_amount")
    amount = number_in(action[place][0], name, number, action[place][1])
    if amount < 0:
        raise wrong(name, number, action[place][1], "format.the_amount_is_negative")
    return amount


def _twins(table: ArgusTable) -> dict[int, tuple[int, ...]]:
    """Return the groups of cells that are equal because a total has a single part."""
    relations = table.relations()
    groups: dict[int, set[int]] = {}
    for place in range(len(relations)):
        cells, _ = relations.row(place)
        if len(cells) == 2:
            together = set().union(*(groups.get(int(cell), {int(cell)}) for cell in cells))
            groups |= dict.fromkeys(together, together)
    return {cell: tuple(sorted(group)) for cell, group in groups.items()}


def apriori_text(table: ArgusTable) -> str:
    """Return the suppression pattern of a table as an a priori file for the next run."""
    lines = []
    for cell in np.flatnonzero(masked_of(table.statuses)):
        action = "ml" if secondary_of(table.statuses[[cell]])[0] else "u"
        codes = [office_field(code, ",", table.value) for code in table.codes(int(cell))]
        lines.append(",".join([*codes, action]))
        if action == "u" and table.lower is not None and table.upper is not None:
            levels = [plain(table.lower[cell]), plain(table.upper[cell])]
            lines.append(",".join([*codes, "pl", *levels]))
    return "".join(line + "\n" for line in lines)
