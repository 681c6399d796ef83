"""`sfumato dataset`: write one of the example datasets and its plan to files."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.atomic_folders import check_free
from sfumato.cli.files import make_folder, write_text
from sfumato.errors import PlanError, did_you_mean

if TYPE_CHECKING:
    from sfumato.datasets.generated import Dataset

_SIZED = ("patients", "census", "visits", "households", "register")


def command(
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
