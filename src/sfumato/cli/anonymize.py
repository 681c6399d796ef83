"""`sfumato anonymize`: releases microdata as a plan says, or applies the recoding of a release to new rows."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.talk import show, talking
from sfumato.errors import PlanError


def command(
    plan: Annotated[Path, typer.Argument(help="The plan (YAML or JSON); with --apply, the new rows.")],
    *,
    out: Annotated[Path, typer.Option(help="Folder for the release; it must not exist yet.")],
    data: Annotated[Path | None, typer.Option(help="The data, instead of the plan's source.")] = None,
    engine: Annotated[str | None, typer.Option(help="duckdb (default), frames or spark.")] = None,
    apply: Annotated[Path | None, typer.Option(help="A release's recoding.json, to be applied to new rows.")] = None,
    drop_failing: Annotated[
        bool, typer.Option(help="With --apply: drop new rows whose class fails a promise.")
    ] = False,
    quiet: Annotated[bool, typer.Option(help="Say nothing but results and errors.")] = False,
    json: Annotated[bool, typer.Option(help="Print the report as JSON.")] = False,
) -> None:
    """Release microdata: k-anonymity and its relatives, with evidence."""
    if engine not in (None, "duckdb", "frames", "spark"):
        raise PlanError(f'"{engine}" is no engine.', "Use duckdb, frames or spark.", "engine")
    if out.exists():
        raise PlanError(f"the folder {out.name} exists.", "Name a new one: nothing is overwritten.", "output-exists")
    with talking(quiet, compiled=apply is None) as talk:
        if apply is not None:
            from sfumato.microdata.reapply import reapply

            outcome = reapply(apply, plan, out, drop_failing=drop_failing)
            show(outcome.text(), outcome.to_dict(), json)
            return
        from sfumato.microdata.folder import workspace_for
        from sfumato.microdata.release import anonymize
        from sfumato.report.release import text

        with workspace_for(out) as workspace:
            release = anonymize(data, plan, engine=engine, workspace=workspace, progress=talk)  # type: ignore[arg-type]
            try:
                release.save(out)
            finally:
                release.close()
        talk.close()
        show(text(release.report), release.report.to_dict(), json)
        talk.say(f"Release: {out}   report: {out / 'report.html'}")
