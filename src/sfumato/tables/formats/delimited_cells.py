"""Read and write delimited lists of cells: with a header, without one as in τ-ARGUS, and SDMX-CSV."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sfumato.delimited.dialect import Dialect, thousands_mark, without_gaps
from sfumato.delimited.records import Line, delimited_text, read_lines
from sfumato.errors import DataError
from sfumato.localization.messages import Message
from sfumato.tables.argus.file_errors import number_in, wrong
from sfumato.tables.argus.office_table import OF_FLAG, ArgusStatus, ArgusTable, check_codes, masked_of, status_in
from sfumato.tables.cell_labels import MASKS
from sfumato.tables.cells.columns import TextColumns, read_columns
from sfumato.tables.cells.dimensions import CodeTree
from sfumato.tables.formats.solver_file import plain
from sfumato.tables.plan.sections import TableSource

# Mark of an empty cell: it has no records, which is public.
EMPTY = "-"
FLAGS = {
    "A": ArgusStatus.UNSAFE_FREQUENCY,
    "B": ArgusStatus.UNSAFE,
    "C": ArgusStatus.UNSAFE_MANUAL,
    "D": ArgusStatus.SECONDARY,
    "V": ArgusStatus.SAFE,
}
# The fields after the codes, by their number.
_FIELDS = {1: ("value",), 2: ("value", "status"), 3: ("value", "count", "flag"), 4: ("value", "count", "flag", "more")}


def cells_without_header(
    path: Path, names: Sequence[str], value: str, dialect: Dialect | None = None
) -> TextColumns | None:
    """Return the columns of a headerless τ-ARGUS file; None if it has a header or another layout.

    There are three layouts. A code-value line has the codes, the value (`x` if suppressed, `-` if empty) and, if
    requested, the status from 1 to 14. An SBS line has the codes, the value, the number of respondents, a flag (A, B,
    C, D for suppressed cells, V for published ones) and, from τ-ARGUS itself, a last field about dominance. An
    intermediate line contains everything that is known of a cell.

    Args:
        value: Name for the column with the values.

    Raises:
        DataError: A status or flag is invalid; the message names the line.
    """
    lines = [(line.number, [text.strip() for text in line.fields]) for line in read_lines(path, dialect)]
    if lines and (place := _intermediate(lines, len(names))) is not None:
        return _intermediate_cells(lines, names, value, place, path.name)
    fields = _FIELDS.get(len(lines[0][1]) - len(names), ()) if lines else ()
    if not fields or not _is_cell(lines[0][1], len(names), fields):
        return None
    columns = list(zip(*(texts for _, texts in lines), strict=True))
    codes = dict(zip(names, columns, strict=False))
    further = dict(zip(fields, columns[len(names) :], strict=True))
    statuses = [_status(texts, len(names), fields, path.name, number) for number, texts in lines]
    texts = TextColumns({**codes, value: further["value"], "Status": tuple(statuses)})
    return TextColumns({**texts.texts, "Freq": further["count"]}) if "count" in further else texts


def _intermediate(lines: Sequence[tuple[int, list[str]]], start: int) -> int | None:
    """Return the position of the status in intermediate lines, counted from the end; None for other lines.

    Such a line has the codes, value, respondents, largest contributions, status, both protection levels and, if
    requested, both ends of the feasibility interval.
    """
    for place, min_fields in ((-3, 5), (-5, 7)):
        texts = [fields[place] if len(fields) >= start + min_fields else "" for _, fields in lines]
        if all(status_in(text, {}) is not None and text.isdigit() for text in texts):
            return place
    return None


def _intermediate_cells(
    lines: Sequence[tuple[int, list[str]]], names: Sequence[str], value: str, place: int, name: str
) -> TextColumns:
    start, columns = len(names), list(zip(*(texts for _, texts in lines), strict=True))
    for number, fields in lines:
        for column in (start, *range(start + 2, len(fields) + place)):
            number_in(fields[column], name, number, column + 1)
    largest = columns[start + 2 : place]
    texts: dict[str, tuple[str, ...]] = dict(zip(names, columns, strict=False))
    texts |= {value: columns[start], "Status": columns[place]}
    if all(columns[start + 1]):
        texts["Freq"] = columns[start + 1]
    return TextColumns(texts | {f"Top{rank}": column for rank, column in enumerate(largest, start=1)})


def _is_cell(texts: Sequence[str], start: int, fields: Sequence[str]) -> bool:
    """Return whether the first line is a cell: its value a number or a suppression mark, its flag a valid one."""
    value, *further = texts[start:]
    entry = dict(zip(fields[1:], further, strict=True))
    number = value in MASKS or value in (EMPTY, "") or value.replace(".", "", 1).lstrip("-").isdigit()
    flagged = "flag" not in entry or entry["flag"].upper() in FLAGS
    return number and flagged and ("status" not in entry or status_in(entry["status"], {}) is not None)


def _status(texts: Sequence[str], start: int, fields: Sequence[str], name: str, line: int) -> str:
    entry = dict(zip(fields, texts[start:], strict=True))
    if "flag" in entry:
        status = FLAGS.get(entry["flag"].upper())
    elif "status" in entry:
        status = status_in(entry["status"], {})
    else:
        status = ArgusStatus.SECONDARY if entry["value"] in MASKS else ArgusStatus.SAFE
    if status is None:
        do = Message("error.part.write_one_of_a_b_c") if "flag" in entry else Message("error.part.write_1_to_14")
        raise wrong(name, line, start + 2, "status.unknown_sign", hint=do)
    return str(int(status))


def with_statuses(columns: TextColumns, value: str, published: bool) -> TextColumns:
    """Apply statuses to the values: an empty cell is 0, and a suppressed value is not published.

    Args:
        columns: Columns with `Status`, 1 to 14; others are returned unchanged.
        published: Whether a column with the published values is added next to the true ones.
    """
    if "Status" not in columns or value not in columns or f"{value}_published" in columns:
        return columns
    statuses = [status_in(text, {}) for text in columns.text("Status")]
    if None in statuses:
        return columns
    texts = tuple("0" if text == EMPTY else text for text in columns.text(value))
    hidden = masked_of(np.array([status or 0 for status in statuses], np.int64))
    shown = tuple("*" if mask else text for mask, text in zip(hidden, texts, strict=True))
    complete = not any(text in MASKS or text == "" for text in texts)
    if complete and hidden.any() and published:
        return TextColumns({**columns.texts, value: texts, f"{value}_published": shown})
    return TextColumns({**columns.texts, value: texts if complete else shown})


def read_delimited_cells(path: Path, table: TableSource) -> TextColumns:
    """Read the columns of a file with cells.

    Raises:
        DataError: The file cannot be read, or its counts are ambiguous and the plan does not declare the decimal
            mark.
    """
    columns = _without_gaps(read_columns(path, table.dialect), table)
    if table.decimal is None:
        _refuse_doubt(columns, table)
    elif table.decimal == ".":
        return _without_commas(columns, table)
    return columns


def _refuse_doubt(columns: TextColumns, table: TableSource) -> None:
    """Refuse counts that may be thousands or fractions: `1.204` is 1204 persons in Germany."""
    counts = _numbers(columns, table) if table.counts else [table.frequency]
    texts = [text for name in counts for text in columns.texts.get(name or "", ())]
    # Counts are not fractions, so not all of them need to be written alike.
    mark = thousands_mark(texts)
    if mark is not None:
        example = next(text for text in texts if mark in text)
        whole = example.replace(mark, "")
        raise DataError("thousands", example=example, whole=whole, one="." if mark == "," else ",", other=mark).about(
            values=[example]
        )


def _without_gaps(columns: TextColumns, table: TableSource) -> TextColumns:
    """Remove blanks and apostrophes between thousands from numbers."""
    plain = {name: tuple(map(without_gaps, columns.texts[name])) for name in _numbers(columns, table)}
    return TextColumns({**columns.texts, **plain})


def _without_commas(columns: TextColumns, table: TableSource) -> TextColumns:
    """Remove commas between thousands from numbers whose decimal mark is declared as a point."""
    plain = {
        name: tuple(text.replace(",", "") for text in columns.texts[name])
        for name in _numbers(columns, table)
        if thousands_mark(columns.texts[name]) == ","
    }
    return TextColumns({**columns.texts, **plain})


def _numbers(columns: TextColumns, table: TableSource) -> list[str]:
    """Return the columns with numbers; in a crosstab, all but the first."""
    names = [table.value, table.frequency, table.shadow, table.holdings, *table.contributions, *table.respondents]
    return [name for name in names if name and name in columns] if table.value in columns else list(columns.texts)[1:]


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
# The data flow that written files name.
DATAFLOW = "SFUMATO:TABLE(1.0)"
# Codes of OBS_STATUS (CL_OBS_STATUS of the SDMX content-oriented guidelines); empty for a normal value.
OBSERVATIONS = frozenset(("", *"ABDEFGHIJKLMNOPQSUVW"))


def sdmx_text(table: ArgusTable, house: bool = False) -> str:
    """Return a table as SDMX-CSV.

    The column `CONF_STATUS` is F for a published cell, A for few respondents, G for dominance, M for other primary
    suppression, and D for secondary suppression. `OBS_STATUS` is A for a value and Q for a suppressed one. Hierarchies
    are separate files, `.hrc` or code lists.

    Args:
        house: Whether the text is internal, with suppressed values, statuses from 1 to 14, and respondents.
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
        rows.append([DATAFLOW, *table.codes(cell), value, *flags, *([str(int(status))] if house else []), *frequency])
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
    return tuple(key), value, int(_sdmx_status(line, header, name, not text))


def _sdmx_status(line: Line, header: list[str], name: str, withheld: bool) -> ArgusStatus:
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
        raise wrong(name, line, place, "status.not_1_to_14")
    return status


def check_flag(column: str, text: str, name: str, line: int, place: int) -> str:
    """Parse a flag of `CONF_STATUS` or `OBS_STATUS`, returned in capitals."""
    flag, known = text.strip().upper(), OF_FLAG if column == CONFIDENTIAL else OBSERVATIONS
    if flag not in known:
        code = "status.flag" if column == CONFIDENTIAL else "status.observation"
        raise wrong(name, line, place, code, names=", ".join(sorted(one for one in known if one)))
    return flag
