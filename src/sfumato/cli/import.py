# ruff: noqa: N999  the module of a command has its name
"""`sfumato import`: convert SPSS, Stata and SAS files to CSV with labels, and projects of other tools to plans."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sfumato.atomic_folders import check_free
from sfumato.cli.options import AsJson
from sfumato.cli.progress import show

PROJECTS = (".deid", ".r")


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
    from sfumato.pipelines.migration.project import import_survey

    found = import_survey(data, out, labels=labels, catalog=catalog)
    show(found.text(), asdict(found), json)
    sys.stderr.write(f"Wrote {out}.\n")


def is_project(file: Path) -> bool:
    """Return whether a file is a project of another tool, not rows."""
    return file.suffix.lower() in PROJECTS


def import_project(file: Path, out: Path, as_json: bool) -> None:
    """Write the plan and its files to a new folder, and list what could not be imported."""
    from sfumato.pipelines.migration.arx_project import read_arx
    from sfumato.pipelines.migration.sdcmicro_script import read_script

    check_free(out)
    project = read_arx(file) if file.suffix.lower() == ".deid" else read_script(file)
    plan = project.save(out)
    left_out = "".join(f"  left out: {line}\n" for line in project.left_out)
    told = {"plan": str(out / "plan.yaml"), "left_out": list(project.left_out)}
    show(f"{plan}\n\nWrote {out / 'plan.yaml'}.\n{left_out}", told, as_json)
