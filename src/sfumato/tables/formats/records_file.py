"""`.asc` files: microdata of fixed or free format, read by their metadata."""

from collections.abc import Sequence
from pathlib import Path

from sfumato.tables.cells.columns import Columns
from sfumato.tables.formats.metadata import Metadata, Variable, as_free
from sfumato.tables.office.faults import fields_in, lines_of, number_in, wrong


def read_records(path: Path, metadata: Metadata) -> Columns:
    """The records of a file, every value as text.

    Raises:
        DataError: A line is shorter than its variables, or has another number of fields.
    """
    lines = [(number, line) for number, line in enumerate(lines_of(path), start=1) if line.strip()]
    if not lines:
        raise wrong(path.name, 1, 1, "there is no record", "The file is empty or cut off.", "truncated")
    known = as_free(metadata)
    rows = [_record(line, number, known, path.name) for number, line in lines]
    _check_numbers(rows, [number for number, _ in lines], known, path.name)
    names = [one.name for one in known.variables]
    return Columns(dict(zip(names, zip(*rows, strict=True), strict=True)))


def _check_numbers(rows: Sequence[Sequence[str]], lines: Sequence[int], metadata: Metadata, name: str) -> None:
    """Refuse what is no number in a numeric variable, unless it stands for a missing value."""
    for place, one in enumerate(metadata.variables):
        for row, line in zip(rows, lines, strict=True) if one.has("NUMERIC") else ():
            if row[place] not in one.missing and row[place]:
                number_in(row[place], name, line, one.position or place + 1, f"a number for {one.name}")


def _record(line: str, number: int, metadata: Metadata, name: str) -> list[str]:
    if metadata.separator is None:
        return [_fixed(line, number, one, name) for one in metadata.variables]
    fields = [text for text, _ in fields_in(line, metadata.separator)]
    if len(fields) != len(metadata.variables):
        what = f"a record has {len(metadata.variables)} fields, this line has {len(fields)}"
        raise wrong(name, number, 1, what, "Correct the line, or the metadata.", "length")
    for place, (text, one) in enumerate(zip(fields, metadata.variables, strict=True), start=1):
        if one.length and len(text) > one.length and not one.has("NUMERIC") and not one.has("RECORDKEY"):
            what = f"field {place} ({one.name}) is longer than {one.length} signs"
            raise wrong(name, number, _start(line, metadata.separator, place), what, "Correct the line.", "length")
    return fields


def _start(line: str, separator: str, place: int) -> int:
    return fields_in(line, separator)[place - 1][1]


def _fixed(line: str, number: int, one: Variable, name: str) -> str:
    end = one.position + one.length - 1
    if one.position < 1 or one.length < 1:
        raise wrong(name, number, 1, f"{one.name} has no position", "Give position and length in the .rda.", "metadata")
    if len(line) < one.position or (len(line) < end and one.has("RECODEABLE")):
        what = f"the line ends before {one.name}, which goes to column {end}"
        raise wrong(
            name, number, len(line) + 1, what, "The line is cut off, or the metadata are of another file.", "length"
        )
    return line[one.position - 1 : end].strip()


def records_text(columns: Columns, metadata: Metadata) -> str:
    """Records as lines of fixed or free format."""
    rows: Sequence[tuple[str, ...]] = list(zip(*(columns.text(one.name) for one in metadata.variables), strict=True))
    if metadata.separator is not None:
        return "".join(metadata.separator.join(row) + "\n" for row in rows)
    return "".join(_fixed_line(row, metadata) + "\n" for row in rows)


def _fixed_line(row: tuple[str, ...], metadata: Metadata) -> str:
    line = ""
    for text, one in zip(row, metadata.variables, strict=True):
        line = line.ljust(one.position - 1)[: one.position - 1] + text.rjust(one.length)
    return line
