"""Options that several commands share, and their checks."""

from pathlib import Path
from typing import Annotated, get_args

import typer

from sfumato.errors import PlanError

PlanFile = Annotated[Path, typer.Argument(help="The plan (YAML or JSON).")]
NewFolder = Annotated[Path, typer.Option(help="Folder for what is written; it must not exist yet.")]
Engine = Annotated[str | None, typer.Option(help="duckdb (default), frames or spark.")]


def separator_sign(text: str | None) -> str | None:
    """Return the field separator for a typed text: a tab has a name.

    >>> separator_sign("tab"), separator_sign(";")
    ('\\t', ';')
    """
    return "\t" if text in ("tab", r"\t") else text


Separator = Annotated[
    str | None,
    typer.Option(help="Separator of a CSV file, detected by default; for tabs, write tab.", callback=separator_sign),
]
Decimal = Annotated[str | None, typer.Option(help="The decimal mark of a CSV file: a point (default) or a comma.")]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether a CSV file has a header; detected by default."),
]
Encoding = Annotated[str | None, typer.Option(help="Encoding of a CSV file, such as latin-1; UTF-8 by default.")]
Table = Annotated[
    str | None, typer.Option(help="The table of a database, or the sheet of a workbook: the first by default.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only results and errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def check_engine(engine: str | None) -> None:
    """Refuse an unknown engine name."""
    from sfumato.engines.opening import EngineName

    if engine is not None and engine not in get_args(EngineName):
        raise PlanError("engine.no_engine", engine=engine)


def names(text: str | None) -> list[str] | None:
    """Split column names separated by commas; a comma within a name is doubled.

    >>> names("zip,last,, first")
    ['zip', 'last, first']
    """
    return None if text is None else [name.replace("\0", ",") for name in text.replace(",,", "\0").split(",")]
