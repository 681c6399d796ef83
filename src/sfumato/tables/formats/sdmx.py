"""SDMX-CSV: one row per cell, with `OBS_VALUE`, `OBS_STATUS` and `CONF_STATUS`.

`CONF_STATUS` is F for a free cell, A for few respondents, G for dominance, M for other primary reasons, D for secondary
ones; `OBS_STATUS` is A for a value and Q for a suppressed one. Hierarchies are separate files, `.hrc` or code lists.
"""

from pathlib import Path

import numpy as np

from sfumato.delimited.dialect import Dialect
from sfumato.delimited.records import Line, delimited_text, read_lines
from sfumato.tables.argus.argus_table import ArgusTable, check_codes
from sfumato.tables.argus.file_errors import number_in, wrong
from sfumato.tables.argus.statuses import OF_FLAG, ArgusStatus, masked_of, status_in
from sfumato.tables.cells.dimensions import CodeTree
from sfumato.tables.formats.solver_file import plain

VALUE, STATUS, CONFIDENTIAL = "OBS_VALUE", "OBS_STATUS", "CONF_STATUS"
# Internal columns: the status from 1 to 14, and the number of respondents.
HOUSE, RESPONDENTS = "STATUS", "RESPONDENTS"
OF_STATUS = {
    ArgusStatus.UNSAFE: "G",
    ArgusStatus.UNSAFE_REQUEST: "M",
    ArgusStatus.UNSAFE_FREQUENCY: "A",
    ArgusStatus.UNSAFE_ZERO: "M",
    ArgusStatus.UNSAFE_SINGLETON: "A",
    ArgusStatus.UNSAFE_SINGLETON_MANUAL: "A",
    ArgusStatus.UNSAFE_MANUAL: "M",
    ArgusStatus.SECONDARY: "D",
    ArgusStatus.SECONDARY_MANUAL: "D",
}
# Codes of OBS_STATUS (CL_OBS_STATUS of the SDMX content-oriented guidelines); empty for a normal value.
OBSERVATIONS = frozenset(("", *"ABDEFGHIJKLMNOPQSUVW"))


def sdmx_text(table: ArgusTable, flow: str = "SFUMATO:TABLE(1.0)", house: bool = False) -> str:
    """Return a table as SDMX-CSV.

    Args:
        house: Whether suppressed values, statuses from 1 to 14, and respondents are written too.
    """
    hidden = masked_of(table.statuses)
    names = [tree.name for tree in table.trees]
    respondents = [RESPONDENTS] if house and table.frequency is not None else []
    rows: list[list[str]] = [
        ["DATAFLOW", *names, VALUE, STATUS, CONFIDENTIAL, *([HOUSE] if house else []), *respondents]
    ]
    for cell in range(len(table)):
        withheld = bool(hidden[cell])
        status = ArgusStatus(int(table.statuses[cell]))
        value = "" if withheld and not house else plain(table.values[cell])
        flags = ["Q" if withheld else "A", OF_STATUS.get(status, "F")]
        frequency = [] if table.frequency is None or not respondents else [plain(table.frequency[cell])]
        rows.append([flow, *table.codes(cell), value, *flags, *([str(int(status))] if house else []), *frequency])
    return delimited_text(rows, formulas="keep")


def read_sdmx(path: Path, trees: tuple[CodeTree, ...]) -> ArgusTable:
    """Read the table of an SDMX-CSV file; suppressed values are NaN.

    Args:
        trees: The hierarchies of its dimensions, named like their columns.

    Raises:
        DataError: A column is missing, a code or flag is unknown, or a value is not a number.
    """
    lines = read_lines(path, Dialect(","))
    if len(lines) < 2:
        raise wrong(path.name, 1, 1, "truncated.there_is_no_observation")
    header = lines[0].fields
    for name in (*(tree.name for tree in trees), VALUE):
        if name not in header:
            raise wrong(path.name, 1, 1, "length.column_is_missing", column=name)
        if header.count(name) > 1:
            place = header.index(name, header.index(name) + 1) + 1
            raise wrong(path.name, 1, place, "duplicate-columns.column_stands_twice", column=name)
    cells = [_cell(line, header, trees, path.name) for line in lines[1:]]
    return ArgusTable(
        value=VALUE,
        trees=trees,
        keys=tuple(key for key, _, _ in cells),
        values=np.array([value for _, value, _ in cells]),
        statuses=np.array([status for _, _, status in cells], np.int64),
    )


def _cell(
    line: Line, header: list[str], trees: tuple[CodeTree, ...], name: str
) -> tuple[tuple[tuple[str], ...], float, int]:
    key = []
    for tree in trees:
        place = header.index(tree.name)
        check_codes(tree, (line.fields[place],), name, line.number, place + 1)
        key.append((line.fields[place],))
    place = header.index(VALUE)
    text = line.fields[place].strip()
    value = number_in(text, name, line.number, place + 1, VALUE) if text else np.nan
    return tuple(key), value, int(_status(line, header, name, not text))


def _status(line: Line, header: list[str], name: str, withheld: bool) -> ArgusStatus:
    if HOUSE in header and line.fields[header.index(HOUSE)].strip():
        place = header.index(HOUSE)
        return check_status(line.fields[place], name, line.number, place + 1)
    if STATUS in header:
        place = header.index(STATUS)
        check_flag(STATUS, line.fields[place], name, line.number, place + 1)
    if CONFIDENTIAL not in header:
        return ArgusStatus.UNSAFE if withheld else ArgusStatus.SAFE
    place = header.index(CONFIDENTIAL)
    flag = check_flag(CONFIDENTIAL, line.fields[place], name, line.number, place + 1)
    return ArgusStatus.UNSAFE if withheld and flag in ("F", "") else OF_FLAG[flag]


def check_status(text: str, name: str, line: int, place: int) -> ArgusStatus:
    """Parse a status from 1 to 14."""
    status = status_in(text.strip(), {})
    if status is None:
        raise wrong(name, line, place, "status.this_is_no_status_2")
    return status


def check_flag(column: str, text: str, name: str, line: int, place: int) -> str:
    """Parse a flag of `CONF_STATUS` or `OBS_STATUS`, returned in capitals."""
    flag, known = text.strip().upper(), OF_FLAG if column == CONFIDENTIAL else OBSERVATIONS
    if flag not in known:
        code = "status.flag" if column == CONFIDENTIAL else "status.observation"
        raise wrong(name, line, place, code, names=", ".join(sorted(one for one in known if one)))
    return flag
