"""The part of `sfumato import` that converts ARX projects and sdcMicro scripts to plans."""

from pathlib import Path

from sfumato.atomic_folders import check_free
from sfumato.cli.progress import show

PROJECTS = (".deid", ".r")


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
