"""Commands on releases: `anonymize`, `apply`, `verify`, `erase`."""

from contextlib import closing
from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.atomic_folders import check_free, workspace_for
from sfumato.cli.options import (
    AsJson,
    Decimal,
    Engine,
    Header,
    NewFolder,
    ProgressBar,
    Quiet,
    Separator,
    Table,
    check_engine,
    names,
    progress_shown,
    show,
)
from sfumato.delimited.dialect import check_decimal
from sfumato.errors import STATUS, PlanError
from sfumato.values import replace

if TYPE_CHECKING:
    from sfumato.microdata.plan.model import RequestedPlan
    from sfumato.microdata.release_report import Report
    from sfumato.pipelines.release_folder import Release
    from sfumato.pipelines.remedies import Advice


def anonymize_command(
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
    remedies: Annotated[
        bool, typer.Option(help="Also try changes of the plan that lose less, and the plan without each model.")
    ] = False,
    apply: Annotated[
        int | None, typer.Option(min=1, help="Release with the change of this number, as --remedies lists them.")
    ] = None,
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
        if apply is not None:
            limited = _changed(limited, data, engine, apply, progress)
        if limited.files:
            _release_files(limited, data, engine, out, to_table, json, attack)
            progress.say(f"Release: {out}   report: {out / 'report.html'}")
            handed_out = [f"{name}.{limited.output.format}" for name in limited.files]
            progress.say(f"For publication: {', '.join(handed_out)}")
            staying = sorted(path.name for path in out.iterdir() if path.name not in handed_out)
            progress.say(f"Internal: {', '.join(staying)}")
        else:
            report = _release(limited, data, engine, out, to_table, progress, attack, remedies)
            _print_parts(report, out, progress, json)


def _print_parts(report: "Report", out: Path, progress: ProgressBar, json: bool) -> None:
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
    from sfumato.pipelines.persons.linked_release import anonymize_files
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
    remedies: bool,
) -> "Report":
    """Release, attack the release and try remedies if requested, save it, and write the requested table."""
    from sfumato.pipelines.release import anonymize

    progress.proves = plan.method.name == "k-optimize"
    advice = None if not remedies else _advice(plan, data, engine, progress)
    with (
        workspace_for(out) as workspace,
        closing(anonymize(data, plan, engine=engine, workspace=workspace, progress=progress)) as release,
    ):
        if advice is not None:
            details = {**release.report.details, "advice": advice.to_dict()}
            release = replace(release, report=replace(release.report, details=details))  # noqa: PLW2901
        (_attacked(release, data, progress) if attack else release).save(out)
        if to_table is not None:
            from sfumato.engines.databases import write_table

            write_table(release, to_table)
    progress.close()
    return release.report


def _advice(plan: "RequestedPlan", data: str | None, engine: Any, progress: ProgressBar) -> "Advice":
    """Try changes of a plan; if the plan itself cannot be released, print them before it fails."""
    from sfumato.localization.messages import words_in
    from sfumato.pipelines.remedies import advise
    from sfumato.report.release.findings import advice_sentences

    advice = advise(data, plan, engine=engine, progress=progress)
    if advice.fails:
        progress.close()
        typer.echo("\n".join(advice_sentences(words_in(), advice.to_dict())))
    return advice


def _changed(
    plan: "RequestedPlan", data: str | None, engine: Any, number: int, progress: ProgressBar
) -> "RequestedPlan":
    """Return the plan with the remedy of a number."""
    from sfumato.pipelines.remedies import advise

    chosen = advise(data, plan, engine=engine, progress=progress).chosen(number)
    progress.say(f"Changed: {'; '.join(chosen.change)}")
    return chosen.plan


def _attacked(release: "Release", data: str | None, progress: ProgressBar) -> "Release":
    from sfumato.pipelines.report_folder import attacked

    progress("attack", 0, 1)
    return attacked(release, data)


def _limited(
    path: Path, memory_limit: str | None, temp_folder: Path | None, header: bool | None, decimal: str | None
) -> "RequestedPlan":
    """Return the plan of a file, with limits and reading settings of the command line instead of its own."""
    from sfumato.microdata.plan.read import read_plan
    from sfumato.values import replace

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


def apply_command(
    recoding: Annotated[Path, typer.Argument(help="The recoding.json of a release.")],
    rows: Annotated[Path, typer.Argument(help="The new rows.")],
    *,
    out: NewFolder,
    drop_violating: Annotated[
        bool, typer.Option(help="Drop new rows whose equivalence class violates a privacy model.")
    ] = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Publish new rows with the labels of an earlier release."""
    from sfumato.pipelines.apply import apply

    check_free(out)
    with progress_shown(quiet):
        application = apply(recoding, rows, out, drop_violating=drop_violating)
    show(application.text(), application.to_dict(), json)


def verify_command(
    releases: Annotated[
        list[Path], typer.Argument(help="A release folder or file; or several folders, to verify them jointly.")
    ],
    plan: Annotated[Path | None, typer.Option(help="The plan whose privacy models are verified.")] = None,
    k: Annotated[int | None, typer.Option(min=1, help="Check k-anonymity without a plan.")] = None,
    quasi_identifiers: Annotated[str | None, typer.Option(help="With --k: the columns, separated by commas.")] = None,
    separator: Separator = None,
    table: Table = None,
    persons: Annotated[
        Path | None, typer.Option(help="The keys of the rows' persons (persons.parquet), where promises count persons.")
    ] = None,
    quiet: Quiet = False,
    json: AsJson = False,
) -> int:
    """Check that a released file satisfies its privacy models, independently of the code that made it."""
    del quiet  # there is no progress, and results are always printed
    if len(releases) > 1:
        return _together(releases, (plan, k, quasi_identifiers, separator, table, persons), json)
    from sfumato.pipelines.verify import verify
    from sfumato.report.checks import verdict_text

    release = releases[0]

    columns = [name.strip() for name in names(quasi_identifiers) or ()] or None
    verdict = verify(release, plan, k=k, quasi_identifiers=columns, separator=separator, persons=persons, table=table)
    show(verdict_text(verdict), verdict.to_dict(), json)
    return 0 if verdict.satisfied else STATUS["promise"].exit


def _together(releases: list[Path], others: tuple[object, ...], json: bool) -> int:
    """Verify several release folders jointly, each with its own plan."""
    if any(other is not None for other in others):
        raise PlanError("options.several_folders")
    from sfumato.pipelines.persons.match_persons import verify_together

    verdict = verify_together(releases)
    show(verdict.text(), verdict.to_dict(), json)
    return 0 if verdict.satisfied else STATUS["promise"].exit


def erase_command(
    folders: Annotated[list[Path], typer.Argument(help="Release folders with an internal person record.")],
    person: Annotated[str, typer.Option(help="The person, as identified in the original data.")],
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Erase a person from the internal records of releases; published rows are unchanged."""
    from sfumato.pipelines.persons.pseudonyms import erase

    erasure = erase(person, folders)
    if not quiet:
        show(erasure.text(), erasure.to_dict(), json)
