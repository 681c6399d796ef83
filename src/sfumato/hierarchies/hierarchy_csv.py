"""Write a hierarchy as CSV, one row per value and one column per level, as the hierarchy `file` reads it."""

from sfumato.hierarchies.hierarchy import Hierarchy


def hierarchy_csv(ladder: Hierarchy, separator: str = ";") -> str:
    """Return a hierarchy as the text of a hierarchy file, without the missing value.

    >>> from sfumato.hierarchies.hierarchy import make_hierarchy
    >>> hierarchy_csv(make_hierarchy(["a;b", "c"], []))
    '"a;b";*\\nc;*\\n'
    """
    rows = (row for row in ladder.rows() if row[0] is not None)
    return "".join(separator.join(_quoted(cell or "", separator) for cell in row) + "\n" for row in rows)


def _quoted(cell: str, separator: str) -> str:
    """Return a field, quoted if a reader or an editor of the file could misinterpret it."""
    if cell and cell == cell.strip() and not any(sign in cell for sign in (separator, '"', "\r", "\n", "\ufeff")):
        return cell
    return '"' + cell.replace('"', '""') + '"'
