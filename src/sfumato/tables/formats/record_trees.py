"""Hierarchies of the variables of records."""

from pathlib import Path

from sfumato.errors import DataError
from sfumato.tables.cells.dimensions import CodeTree
from sfumato.tables.formats.cells_file import tree_of
from sfumato.tables.formats.metadata import Variable
from sfumato.tables.formats.records_file import Records


def record_tree(records: Records, one: Variable, folder: Path, encoding: str | None) -> CodeTree:
    """Return the hierarchy of a variable.

    Raises:
        DataError: A record has a code that does not fit it; the message names line and column.
    """
    try:
        return tree_of(one, list(records.text(one.name)), folder, encoding)
    except DataError as error:
        if not error.rows or error.code != "data.unknown-code":
            raise
        raise records.fault(one, error.rows[0] - 1, error.message.rstrip("."), error.hint, "unknown-code") from None
