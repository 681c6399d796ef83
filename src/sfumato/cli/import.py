# ruff: noqa: N999  the module of a command has its name
"""`sfumato import`: convert SPSS, Stata and SAS files to CSV with labels, and projects of other tools to plans."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.import_project import import_project, is_project
from sfumato.cli.options import AsJson
from sfumato.cli.progress import show


def command(
    data: Annotated[
        Path, typer.Argument(help="Rows (.sav, .zsav, .por, .dta, .sas7bdat, .xpt), or a project (.deid, .R).")
    ],
    *,
    out: Annotated[Path, typer.Option(help="The CSV file to write, labels beside it; for a project, a new folder.")],
    labels: Annotated[bool, typer.Option("--labels", help="Write labels in place of the values.")] = False,
    catalog: Annotated[Path | None, typer.Option(help="The catalog in which SAS keeps labels.")] = None,
    json: AsJson = False,
) -> None:
    """Convert a survey file to CSV, or an ARX project or sdcMicro script to a plan."""
    if is_project(data):
        import_project(data, out, json)
        return
    from sfumato.pipelines.survey_files import import_survey

    found = import_survey(data, out, labels=labels, catalog=catalog)
    show(found.text(), asdict(found), json)
    sys.stderr.write(f"Wrote {out}.\n")
