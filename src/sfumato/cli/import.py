# ruff: noqa: N999  the module of a command has its name
"""`sfumato import`: rows of an SPSS, Stata or SAS file as CSV, with the labels of their values beside them."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import AsJson
from sfumato.cli.progress import show


def command(
    data: Annotated[Path, typer.Argument(help="The file: .sav, .zsav, .por, .dta, .sas7bdat or .xpt.")],
    *,
    out: Annotated[Path, typer.Option(help="The CSV file to write; labels go to a file beside it.")],
    labels: Annotated[bool, typer.Option("--labels", help="Write labels in place of the values.")] = False,
    catalog: Annotated[Path | None, typer.Option(help="The catalog in which SAS keeps labels.")] = None,
    json: AsJson = False,
) -> None:
    """Read a survey as people have it."""
    from sfumato.pipelines.surveys import import_survey

    found = import_survey(data, out, labels=labels, catalog=catalog)
    show(found.text(), asdict(found), json)
    sys.stderr.write(f"Wrote {out}.\n")
