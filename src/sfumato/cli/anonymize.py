"""`sfumato anonymize`: release microdata as a plan says."""

from contextlib import closing
from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.atomic_folders import check_free, workspace_for
from sfumato.cli.options import AsJson, Decimal, Engine, Header, NewFolder, Quiet, check_engine
from sfumato.cli.progress import ProgressBar, progress_shown, show
from sfumato.delimited.dialect import check_decimal
from sfumato.errors import PlanError

if TYPE_CHECKING:
    from sfumato.microdata.plan.model import RequestedPlan
    from sfumato.microdata.release_report import Report
    from sfumato.pipelines.release_folder import Release


def command(
    plan: Annotated[Path, typer.Argument(help="The plan (YAML or JSON).")],
    *,
    out: NewFolder,
    data: Annotated[
        str | None, typer.Option(help="The data, instead of the plan's source: a path or a table's address.")
    ] = None,
    engine: Engine = None,
    header: Header = None,
    decimal: Decimal = None,
    memory_limit: Annotated[str | None, typer.Option(help="Memory limit of the engine, e.g. 2GB.")] = None,
    temp_folder: Annotated[Path | None, typer.Option(help="Folder for data that does not fit in memory.")] = None,
    to_table: Annotated[
        str | None, typer.Option(help="Also write the rows to a new table: postgresql://user@host/base?table=name.")
    ] = None,
    attack: Annotated[
        bool, typer.Option(help="Run the attacks before saving and add the results to the reports.")
    ] = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Release microdata: k-anonymity and other privacy models, with evidence."""
    check_engine(engine)
    check_free(out)
    if to_table is not None:
        from sfumato.engines.databases import check_new_table

        check_new_table(to_table)
    with progress_shown(quiet) as progress:
        limited = _limited(plan, memory_limit, temp_folder, header, decimal)
        if limited.files:
            _release_files(limited, data, engine, out, to_table, json, attack)
            progress.say(f"Release: {out}   report: {out / 'report.html'}")
            handed_out = [f"{name}.{limited.output.format}" for name in limited.files]
            progress.say(f"For publication: {', '.join(handed_out)}")
            staying = sorted(path.name for path in out.iterdir() if path.name not in handed_out)
            progress.say(f"Internal: {', '.join(staying)}")
        else:
            _tell(_release(limited, data, engine, out, to_table, progress, attack), out, progress, json)


def _tell(report: "Report", out: Path, progress: ProgressBar, json: bool) -> None:
    """Show the report, and list the files for publication and the internal ones."""
    from sfumato.pipelines.release_folder import parts_of
    from sfumato.report.release.report import text

    show(text(report), loads((out / "report.json").read_text(encoding="utf-8")), json)
    handed_out, staying = parts_of(out)
    progress.say(f"Release: {out}   report: {out / 'report.html'}")
    progress.say(f"For publication: {', '.join(handed_out)}")
    progress.say(f"Internal: {', '.join(staying)}")


def _release_files(
    plan: "RequestedPlan", data: str | None, engine: Any, out: Path, to_table: str | None, json: bool, attack: bool
) -> None:
    """Release several files together."""
    from sfumato.pipelines.linked_files.release import anonymize_files
    from sfumato.report.files import text

    if attack:
        raise PlanError("options.attack_goes_one_file")
    if data is not None or to_table is not None:
        raise PlanError("options.data_table_go_one")
    with (
        workspace_for(out) as workspace,
        closing(anonymize_files(None, plan, engine=engine, workspace=workspace)) as release,
    ):
        release.save(out)
        show(text(release.figures), dict(release.figures), json)


def _release(
    plan: "RequestedPlan",
    data: str | None,
    engine: Any,
    out: Path,
    to_table: str | None,
    progress: ProgressBar,
    attack: bool,
) -> "Report":
    """Release, attack the release if requested, save it, and write the requested table."""
    from sfumato.pipelines.release import anonymize

    progress.proves = plan.method.name == "k-optimize"
    with (
        workspace_for(out) as workspace,
        closing(anonymize(data, plan, engine=engine, workspace=workspace, progress=progress)) as release,
    ):
        (_attacked(release, data, progress) if attack else release).save(out)
        if to_table is not None:
            from sfumato.engines.databases import write_table

            write_table(release, to_table)
    progress.close()
    return release.report


def _attacked(release: "Release", data: str | None, progress: ProgressBar) -> "Release":
    from sfumato.pipelines.attacks.saved_report import attacked

    progress("attack", 0, 1)
    return attacked(release, data)


def _limited(
    path: Path, memory_limit: str | None, temp_folder: Path | None, header: bool | None, decimal: str | None
) -> "RequestedPlan":
    """Return the plan of a file, with limits and reading settings of the command line instead of its own."""
    from dataclasses import replace

    from sfumato.microdata.plan.read import read_plan

    plan = read_plan(path)
    limits: dict[str, Any] = {} if header is None else {"header": header}
    if decimal is not None:
        limits["decimal"] = check_decimal(decimal, plan.data.separator)
    if memory_limit is not None:
        limits["memory_limit"] = memory_limit
    if temp_folder is not None:
        limits["temp_folder"] = str(temp_folder.absolute())
    try:
        return replace(plan, data=replace(plan.data, **limits))
    except PlanError as error:
        raise PlanError("memory-limit", message=error.issues[0].message) from None
