"""Lists of cells without a header, as τ-ARGUS writes them: code-value, and structural business statistics (SBS).

A code-value line has the codes, the value (`x` if suppressed, `-` if empty) and, if requested, the status from 1 to 14.
An SBS line has the codes, the value, the number of respondents, a flag (A, B, C, D for suppressed cells, V for
published ones) and, from τ-ARGUS itself, a last field about dominance. An intermediate line contains everything that is
known of a cell.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sfumato.delimited.dialect import Dialect
from sfumato.delimited.records import read_lines
from sfumato.localization.messages import Message
from sfumato.tables.argus.file_errors import number_in, wrong
from sfumato.tables.argus.statuses import ArgusStatus, masked_of, status_in
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.published_tables.parse_cells import MASKS

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
        raise wrong(name, line, start + 2, "status.this_is_no_status_3", hint=do)
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
