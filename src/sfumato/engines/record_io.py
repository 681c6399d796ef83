"""Convert frames to columns of plain values and back; read and write files of records."""

import csv
import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.delimited.dialect import Dialect, check_decimal, empty
from sfumato.delimited.header import SAMPLED_RECORDS, header_of
from sfumato.delimited.records import read_lines
from sfumato.errors import DataError, extra_part
from sfumato.formats import JSON, format_named
from sfumato.localization.messages import Message

Columns = dict[str, list[Any]]


def columns_of(frame: Any) -> tuple[Columns, int]:
    """Return the columns of a frame as lists of plain values, None if missing, and the number of rows.

    Raises:
        DataError: The object is no frame.
    """
    from sfumato.engines.dataframes.sources import eager

    known = eager(frame)
    return {name: _plain(values) for name, values in known.to_dict(as_series=False).items()}, len(known)


def frame_like(frame: Any, columns: Mapping[str, list[Any]]) -> Any:
    """Return a frame of the same kind with other columns; a lazy frame becomes an eager one."""
    import narwhals as nw

    from sfumato.engines.dataframes.sources import eager, frame_of

    known = eager(frame)
    made = frame_of(columns, known.implementation)
    index = nw.maybe_get_index(known)
    return made if index is None else made.set_axis(index, axis=0)


def _plain(values: Sequence[Any]) -> list[Any]:
    return [None if _is_missing(value) else value for value in values]


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or NaT; NA of pandas cannot be compared and is identified by its type."""
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    return value is None or (isinstance(value, float) and math.isnan(value))


def read_records(
    path: Path,
    separator: str | None = None,
    decimal: str = ".",
    header: bool | None = None,
    encoding: str = "utf-8",
) -> list[dict[str, Any]]:
    """Read the records of a CSV, JSON, JSON Lines or Parquet file; an empty CSV field is a missing value.

    Args:
        separator: The separator of a CSV file; detected by default.
        decimal: The decimal mark of a CSV file.
        header: Whether a CSV file has a header; without one, attributes are called c1, c2, ….
        encoding: The encoding of a CSV file.

    Raises:
        PlanError: The separator is invalid, or the first line looks like data.
        DataError: The file cannot be read or does not match its extension.
    """
    dialect = Dialect(separator, header=header, decimal=check_decimal(decimal, separator), encoding=encoding)
    try:
        return _read(path, dialect)
    except OSError as error:
        raise DataError("unreadable.cannot_read", name=path.name, problem=error.strerror) from None
    except (ValueError, RecursionError):
        raise DataError("format.invalid", name=path.name, kind=path.suffix[1:]) from None


def _read(path: Path, dialect: Dialect) -> list[dict[str, Any]]:
    form = format_named(path)
    read = None if form is None else form.reader("records")
    if read is None:
        raise DataError("format.ending", name=path.name)
    records: list[dict[str, Any]] = read(path, dialect)
    return records


def read_json(path: Path, _dialect: Dialect) -> list[dict[str, Any]]:
    """Read a list of records, the list `data` of an object, or a record in each line."""
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix.lower() in JSON.lines:
        return _checked([json.loads(line) for line in text.split("\n") if line.strip()], path)
    content = json.loads(text)
    return _checked(content.get("data") if isinstance(content, dict) else content, path)


def read_csv(path: Path, dialect: Dialect) -> list[dict[str, Any]]:
    lines = read_lines(path, dialect)
    if not lines:
        raise empty(path.name)
    sample = [line.fields for line in lines[1:SAMPLED_RECORDS]]
    head, _ = header_of(lines[0].fields, sample, dialect)
    records = lines if dialect.header is False else lines[1:]
    return [{name: value or None for name, value in zip(head, line.fields, strict=True)} for line in records]


def _checked(records: Any, path: Path) -> list[dict[str, Any]]:
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise DataError("records", name=path.name)
    return records


def read_parquet(path: Path, _dialect: Dialect) -> list[dict[str, Any]]:
    with extra_part("pyarrow", "frames"):
        from pyarrow import ArrowException
        from pyarrow.parquet import read_table
    try:
        with path.open("rb") as stream:
            rows: list[dict[str, Any]] = read_table(stream).to_pylist()
    except ArrowException:
        raise ValueError(Message("error.value.not_parquet")) from None
    return rows


def write_records(records: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write records atomically, in the format of the file's extension.

    Raises:
        DataError: The extension is unknown, or the file cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        _write(records, temporary, path)
        temporary.replace(path)
    except OSError as error:
        raise DataError("unwritable.cannot_be_written", name=path.name, problem=error.strerror) from None
    finally:
        temporary.unlink(missing_ok=True)


def _write(records: Sequence[Mapping[str, Any]], path: Path, named: Path) -> None:
    form = format_named(named)
    write = None if form is None else form.writer("records")
    if write is None:
        raise DataError("format.unknown_output_ending")
    write(records, path, named)


def write_json(records: Sequence[Mapping[str, Any]], path: Path, named: Path) -> None:
    if named.suffix.lower() in JSON.lines:
        text = "".join(json.dumps(record, ensure_ascii=False, default=_iso) + "\n" for record in records)
    else:
        text = json.dumps(records, ensure_ascii=False, indent=1, default=_iso) + "\n"
    path.write_text(text, encoding="utf-8")


def write_csv(records: Sequence[Mapping[str, Any]], path: Path, _named: Path) -> None:
    """Write records as CSV; ranges are written as JSON, missing values as empty fields."""
    head = list(dict.fromkeys(name for record in records for name in record))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows([_field(record.get(name)) for name in head] for record in records)


def _field(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False, default=_iso) if isinstance(value, dict | list) else value


def _iso(value: Any) -> str:
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def write_parquet(records: Sequence[Mapping[str, Any]], path: Path, _named: Path) -> None:
    with extra_part("pyarrow", "frames"):
        from pyarrow import Table
        from pyarrow.parquet import write_table
    write_table(Table.from_pylist([dict(record) for record in records]), path)
