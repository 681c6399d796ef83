"""`sfumato import`: turns a project of ARX, or a script of sdcMicro, into a plan with its files."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import AsJson, NewFolder, Quiet
from sfumato.cli.progress import show
from sfumato.errors import PlanError
from sfumato.folders import check_free


def command(
    file: Annotated[Path, typer.Argument(help="A project of ARX (.deid), or a script of sdcMicro (.R).")],
    *,
    out: NewFolder,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Turn another tool's project into a plan with its files, and list what could not be carried over."""
    from sfumato.pipelines.moving.arx_project import read_arx
    from sfumato.pipelines.moving.sdcmicro_script import read_script

    readers = {".deid": read_arx, ".r": read_script}
    if file.suffix.lower() not in readers:
        raise PlanError(f"{file.name} is neither a .deid nor a .R file.", "Name a project or a script.", "format")
    check_free(out)
    project = readers[file.suffix.lower()](file)
    plan = project.save(out)
    if not quiet:
        left_out = "".join(f"  left out: {line}\n" for line in project.left_out)
        told = {"plan": str(out / "plan.yaml"), "left_out": list(project.left_out)}
        show(f"{plan}\n\nWrote {out / 'plan.yaml'}.\n{left_out}", told, json)
