"""Commands for getting started: `suggest`, `hierarchy`, `dataset`, `demo`."""

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.atomic_folders import check_free
from sfumato.cli.options import (
    Decimal,
    Encoding,
    Header,
    NewFolder,
    PlanFile,
    Quiet,
    Separator,
    Table,
    make_folder,
    progress_shown,
    separator_sign,
    show,
    write_text,
)
from sfumato.errors import PlanError, did_you_mean
from sfumato.values import replace

if TYPE_CHECKING:
    from sfumato.datasets.generated import Dataset
    from sfumato.hierarchies.hierarchy import Hierarchy
    from sfumato.microdata.plan.model import Plan, RequestedPlan


def suggest_command(
    file: Annotated[Path, typer.Argument(help="The data.")],
    separator: Separator = None,
    decimal: Decimal = None,
    header: Header = None,
    encoding: Encoding = None,
    table: Table = None,
    questions: Annotated[
        list[str] | None, typer.Option("--for", help="A question for the release: deny ~ pirat + afam. Repeatable.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the plan to this file, paths relative to it.")] = None,
) -> None:
    """Propose a plan for a file, with a reason for each column."""
    import os

    from sfumato.microdata.questions.question import questions_of
    from sfumato.pipelines.suggest import suggest_for_file

    if out is not None:
        check_free(out)
    suggested = suggest_for_file(file, separator, encoding, header, decimal, table, questions_of(questions or ()))
    folder = _folder_of_output() if out is None else out.parent
    if out is not None or (folder is not None and not file.is_absolute()):
        suggested.plan["data"]["source"] = Path(os.path.relpath(file, folder)).as_posix()
    for note in suggested.notes:
        sys.stderr.write(f"Warning: {note}\n")
    if out is None:
        sys.stdout.write(suggested.to_yaml())
    else:
        write_text(out, suggested.to_yaml())


def _folder_of_output() -> Path | None:
    """Return the folder of the file that output is redirected to, if known; paths in the plan are relative to it."""
    try:
        target = Path(f"/dev/fd/{sys.stdout.fileno()}").resolve(strict=True)
    except (OSError, ValueError):
        return None
    return target.parent if target.is_file() else None


def hierarchy_command(
    plan: PlanFile,
    column: Annotated[str, typer.Argument(help="A quasi-identifier of the plan.")],
    out: Annotated[Path | None, typer.Option(help="Save to this file instead of printing.")] = None,
    data: Annotated[Path | None, typer.Option(help="Other data than the plan names.")] = None,
    separator: Annotated[str, typer.Option(help="Separator between the levels.", callback=separator_sign)] = ";",
) -> None:
    """Print the hierarchy of a column: one row per value, one column per level."""
    from sfumato.hierarchies.hierarchy import hierarchy_csv
    from sfumato.microdata.plan.read import read_plan

    if len(separator) != 1:
        raise PlanError("separator.one_character")
    if out is not None:
        check_free(out)
    hierarchy = _hierarchy(read_plan(plan), column, data)
    if out is None:
        sys.stdout.write(hierarchy_csv(hierarchy, separator))
        return
    write_text(out, hierarchy_csv(hierarchy, separator))
    sys.stderr.write(f"Wrote {hierarchy.size:,} values with {hierarchy.height} levels to {out}.\n")


def _hierarchy(plan: "RequestedPlan", column: str, data: Path | None) -> "Hierarchy":
    """Return the hierarchy of a column for the values in the data."""
    from sfumato.engines.opening import open_engine
    from sfumato.pipelines.release_stages.counting import frequency_table

    if column not in plan.quasi_identifiers:
        hint = did_you_mean(column, plan.quasi_identifiers)
        raise PlanError("column.no_quasi_identifier", hint=hint, column=column)
    with closing(open_engine(data, plan)) as source:
        return frequency_table(_alone(plan.with_others(source.columns), column), source).ladders[0]


def _alone(plan: "RequestedPlan", column: str) -> "Plan":
    """Return the plan with this column as its only quasi-identifier, so that only it is counted and checked."""
    from sfumato.microdata.plan.model import REMOVED_ROLES
    from sfumato.microdata.plan.resolve import for_measuring

    columns = {
        name: entry
        if name == column or entry.role in REMOVED_ROLES
        else replace(entry, role="insensitive", hierarchy=None)
        for name, entry in plan.columns.items()
    }
    return for_measuring(plan, columns)


_SIZED = ("patients", "census", "visits", "households", "register")


def dataset_command(
    name: Annotated[str, typer.Argument(help="patients, four-rows, eight-rows, stroke, census, visits or register.")],
    *,
    out: Annotated[Path, typer.Option(help="The file (.csv or .parquet), or a folder for a CSV file.")],
    rows: Annotated[int | None, typer.Option(min=1, help="How many rows (patients, census and visits).")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Another seed, other rows (patients, census and visits).")
    ] = None,
    plan: Annotated[Path | None, typer.Option(help="Write a plan for it to this file (.yaml or .json), too.")] = None,
    k: Annotated[int, typer.Option(min=1, help="The k of the plan.")] = 5,
    month: Annotated[int | None, typer.Option(min=0, help="After so many months (register).")] = None,
) -> None:
    """Write an example dataset."""
    dataset = _make(name, rows, seed, month)
    target = out if out.suffix else out / f"{name}.csv"
    for path in (target, *([plan] if plan else [])):
        check_free(path)
    make_folder(target.parent)
    dataset.write(target)
    if plan:
        _write_plan(dataset.plan(_source(target, plan), k), plan)
    sys.stderr.write(f"Wrote {dataset.rows:,} rows to {target}{f', a plan to {plan}' if plan else ''}.\n")


def _make(name: str, rows: int | None, seed: int | None, month: int | None = None) -> "Dataset":
    from sfumato.datasets import DATASETS

    if name not in DATASETS:
        raise PlanError("dataset.there_no_dataset", hint=did_you_mean(name, DATASETS), name=name)
    options = {key: value for key, value in (("rows", rows), ("seed", seed)) if value is not None}
    if options and name not in _SIZED:
        raise PlanError("dataset.dataset_as", name=name)
    if month is not None and name != "register":
        raise PlanError("dataset.dataset_does_not_change", name=name)
    options |= {} if month is None else {"month": month}
    return DATASETS[name](**options)


def _source(target: Path, plan: Path) -> str:
    """Return the dataset's path for the plan: relative to the plan's folder if it is below."""
    folder, file = plan.resolve().parent, target.resolve()
    return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.as_posix()


def _write_plan(plan: dict[str, Any], path: Path) -> None:
    import json

    import yaml

    if path.suffix == ".json":
        text = json.dumps(plan, indent=2, ensure_ascii=False) + "\n"
    else:
        text = yaml.safe_dump(plan, sort_keys=False, allow_unicode=True, width=100)
    make_folder(path.parent)
    write_text(path, text)


def demo_command(
    out: NewFolder = Path("demo-release"),
    quiet: Quiet = False,
) -> None:
    """Release 300 made-up patients with k = 5, and print the paths of release and report."""
    check_free(out)
    with progress_shown(quiet) as progress:
        from sfumato.datasets import patients
        from sfumato.pipelines.release import anonymize
        from sfumato.report.release.report import text

        dataset = patients()
        source, plan = out.parent / "demo-patients.csv", out.parent / "demo-plan.yaml"
        _write_demo({source: _demo_rows(dataset), plan: _demo_plan(dataset, source.name)})
        with closing(anonymize(None, plan, progress=progress)) as release:
            release.save(out)
        progress.say(f"{dataset.rows} made-up patients (name, date of birth, sex, ZIP code, illness): {source}")
        show(text(release.report), release.report.to_dict(), False)
        typer.echo(f"\nRelease: {out.resolve() / 'data.csv'}\nReport:  {out.resolve() / 'report.html'}")


def _write_demo(files: dict[Path, bytes]) -> None:
    """Write the example files; a file of an earlier demo is not replaced."""
    for path, content in files.items():
        if path.exists() and path.read_bytes() != content:
            raise PlanError("exists", name=path.name)
    for path, content in files.items():
        make_folder(path.parent)
        path.write_bytes(content)


def _demo_rows(dataset: "Dataset") -> bytes:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        dataset.write(path)
        return path.read_bytes()


def _demo_plan(dataset: "Dataset", source: str) -> bytes:
    import yaml

    plan = dataset.plan(source, 5)
    plan["method"] = {"name": "local", "suppression": 0.02}
    plan["output"] = {"class_column": "class", "order": "shuffle"}
    return str(yaml.safe_dump(plan, sort_keys=False, allow_unicode=True)).encode()
