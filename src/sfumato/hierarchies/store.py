"""Ladders on disk: one row a value, one column a level, read again by the hierarchy `file`."""

from pathlib import Path

from sfumato.errors import EngineError
from sfumato.hierarchies.ladder import Ladder


def save(ladder: Ladder, path: Path, separator: str = ";") -> None:
    """Write a ladder as a hierarchy file; the missing value has no place in one and is left out.

    Raises:
        EngineError: The file cannot be written.
    """
    try:
        path.write_text(to_text(ladder, separator), encoding="utf-8", newline="")
    except OSError as error:
        what = f"the hierarchy file {path.name} cannot be written: {error.strerror}."
        raise EngineError(what, "Check the folder and its rights.", "unwritable") from None


def to_text(ladder: Ladder, separator: str = ";") -> str:
    """The text of a hierarchy file.

    >>> from sfumato.hierarchies.ladder import make_ladder
    >>> to_text(make_ladder(["a;b", "c"], []))
    '"a;b";*\\nc;*\\n'
    """
    rows = (row for row in ladder.rows() if row[0] is not None)
    return "".join(separator.join(_quoted(cell or "", separator) for cell in row) + "\n" for row in rows)


def _quoted(cell: str, separator: str) -> str:
    """The cell, in quotes where a reader or an editor of the file could take it for something else."""
    if cell and cell == cell.strip() and not any(sign in cell for sign in (separator, '"', "\r", "\n", "\ufeff")):
        return cell
    return '"' + cell.replace('"', '""') + '"'
