"""File formats of statistical offices, one object each; other modules use these objects instead of file suffixes."""

from pathlib import Path
from typing import Any

from sfumato.values import Value


class OfficeFormat(Value, kw_only=True):
    """A file format of tables, or of files that belong to tables.

    Attributes:
        name: The name of the format in messages and in `output.files` of a plan.
        suffix: The suffix by which a file is recognized; empty if its content decides.
        content: The content of the file if it is not a table; empty for tables.
        first_line: The first line that may hold a cell, in files with one line per cell; 0 for other layouts.
        written: The name of the file that a release writes; empty if a release writes none, or several.
        internal: Whether that file contains true values, or shows which suppressed cells are sensitive.
        patterns: Whether the format describes suppression, so that it cannot hold a perturbed table.
    """

    name: str
    suffix: str = ""
    content: str = ""
    first_line: int = 0
    written: str = ""
    internal: bool = False
    patterns: bool = False


PX = OfficeFormat(name="px", suffix=".px", written="table.px")
JJ = OfficeFormat(name="jj", suffix=".jj", first_line=3, written="table.jj", internal=True, patterns=True)
TAB = OfficeFormat(name="tab", suffix=".tab", first_line=1, internal=True, patterns=True)
METADATA = OfficeFormat(name="rda", suffix=".rda", content="metadata")
FORMATS = (
    PX,
    JJ,
    TAB,
    METADATA,
    OfficeFormat(name="sdmx", written="table-sdmx.csv"),
    OfficeFormat(name="xlsx", written="table.xlsx"),
    OfficeFormat(name="pivot", written="table-pivot.csv"),
    OfficeFormat(name="code-value", written="table-code-value.txt", internal=True),
    OfficeFormat(name="sbs", written="table-sbs.txt", internal=True),
    OfficeFormat(
        name="hst", suffix=".hst", content="an a priori file", written="table.hst", internal=True, patterns=True
    ),
    OfficeFormat(name="hrc", suffix=".hrc", content="a hierarchy"),
    OfficeFormat(name="cdl", suffix=".cdl", content="a list of labels"),
    OfficeFormat(name="grc", suffix=".grc", content="a recoding"),
    OfficeFormat(name="arb", suffix=".arb", content="a batch file"),
)
BY_NAME = {one.name: one for one in FORMATS}
_BY_SUFFIX = {one.suffix: one for one in FORMATS if one.suffix}


def format_of(table: Any) -> OfficeFormat | None:
    """Return the format of a file by its suffix; None for other files, and for frames."""
    return _BY_SUFFIX.get(Path(table).suffix.lower()) if isinstance(table, str | Path) else None
