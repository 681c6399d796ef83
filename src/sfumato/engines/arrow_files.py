"""Read and write Arrow files (IPC, also called Feather): as rows of DuckDB, and as plain records."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sfumato.confinement import check_open
from sfumato.delimited.dialect import Dialect, damaged
from sfumato.engines.duckdb.sources import Source, loaded
from sfumato.engines.files import files_in, other_columns
from sfumato.errors import extra_part
from sfumato.formats import ARROW
from sfumato.microdata.data_plan import DataPlan

_BATCH_ROWS = 1 << 16


def read_arrow(connection: Any, path: Path, _data: DataPlan, _names: Sequence[str], _scratch: Path) -> Source:
    """Read Arrow files into DuckDB, and return the source.

    Raises:
        DataError: A file is damaged, or has other columns than the first one.
    """
    with extra_part("pyarrow", "frames"):
        import pyarrow as pa
    files = files_in(path, ARROW)
    tables = [_table(file) for file in files]
    for file, table in zip(files, tables, strict=True):
        if table.schema != tables[0].schema:
            raise other_columns(file, files[0])
    return loaded(connection, pa.concat_tables(tables))


def _table(file: Path) -> Any:
    """Return the rows of a file or stream of Arrow; dictionary-encoded texts are decoded."""
    import pyarrow as pa
    from pyarrow import ipc

    check_open(file)
    with _opened(file) as content:
        try:
            table = ipc.open_file(content).read_all()
        except pa.ArrowInvalid:
            content.seek(0)
            table = ipc.open_stream(content).read_all()
    numbered = {name for name, kind in zip(table.schema.names, table.schema.types, strict=True) if _is_numbered(kind)}
    columns = [
        column.cast(column.type.value_type) if name in numbered else column
        for name, column in zip(table.schema.names, table.columns, strict=True)
    ]
    return pa.table(columns, names=table.schema.names)


def _is_numbered(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_dictionary(kind))


@contextmanager
def _opened(file: Path) -> Iterator[Any]:
    import pyarrow as pa

    try:
        with file.open("rb") as stream:
            yield pa.PythonFile(stream, "r")
    except pa.ArrowException:
        raise damaged(file) from None


def write_arrow(parquet: Path, target: Path) -> None:
    """Write the rows of a Parquet file as an Arrow file."""
    with extra_part("pyarrow", "frames"):
        from pyarrow import ipc
        from pyarrow.parquet import ParquetFile
    with ParquetFile(parquet) as rows, ipc.new_file(str(target), rows.schema_arrow) as written:
        for batch in rows.iter_batches(_BATCH_ROWS):
            written.write_batch(batch)


def read_records(path: Path, _dialect: Dialect) -> list[dict[str, Any]]:
    """Return the records of an Arrow file."""
    with extra_part("pyarrow", "frames"):
        records: list[dict[str, Any]] = _table(path).to_pylist()
    return records


def write_records(records: Sequence[Mapping[str, Any]], path: Path, _named: Path) -> None:
    """Write records as an Arrow file."""
    with extra_part("pyarrow", "frames"):
        from pyarrow import Table, ipc
    table = Table.from_pylist([dict(record) for record in records])
    with ipc.new_file(str(path), table.schema) as written:
        written.write_table(table)
