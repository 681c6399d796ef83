"""The worker process of a job: run the pipeline of the command line, and pack the result completely or not at all."""

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.localization.messages import to_json
from sfumato.service.settings import temporary_folder

if TYPE_CHECKING:
    from sfumato.pipelines.release_folder import Release

ProgressCallback = Callable[[str, int, int], None]
REHEARSED_ROWS = "zip;sex\n12345;a\n12346;b\n"
REHEARSED_PLAN: dict[str, Any] = {
    "version": 1,
    "data": {"source": "rows.csv", "separator": ";"},
    "columns": {
        "zip": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 5}},
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "method": {"name": "optimal"},
}


def warm_up_kernels() -> None:
    """Run a minimal job to load what jobs need; the next server deletes its folder if this one is killed."""
    with temporary_folder() as folder:
        (folder / "rows.csv").write_text(REHEARSED_ROWS, encoding="utf-8")
        (folder / "plan.yaml").write_text(json.dumps(REHEARSED_PLAN), encoding="utf-8")
        _anonymize(folder / "plan.yaml", folder / "result", {}, lambda *_: None)


def run_job(folder: Path, attempt: int, spark: str | None, tell: ProgressCallback) -> None:
    """Run the job in a folder; the result of the attempt appears when it is complete."""
    if spark is not None:
        os.environ["MASTER"] = spark
    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    draft = folder / f"draft-{attempt}"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    WORK[request["kind"]](folder / "input" / "plan.yaml", draft / "result", request["parameters"], tell)
    tell("pack", 0, 1)
    pack(draft / "result", draft / "result.zip")
    draft.rename(folder / f"output-{attempt}")


def pack(folder: Path, target: Path) -> None:
    """Write the files of a result to one archive."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            archive.write(path, path.relative_to(folder).as_posix())


def _anonymize(plan: Path, result: Path, parameters: dict[str, Any], tell: ProgressCallback) -> None:
    from sfumato.pipelines.release import anonymize

    # Paths in the plan are relative to the files sent with it, next to which the result will be unpacked.
    engine, attacks = parameters.get("engine"), parameters.get("attack", False)
    with closing(anonymize(None, plan, engine=engine, workspace=result.parent, progress=tell)) as release:
        (_attacked(release, tell) if attacks else release).save(result, plan.parent)


def _attacked(release: "Release", tell: ProgressCallback) -> "Release":
    from sfumato.pipelines.report_folder import attacked

    tell("attack", 0, 1)
    return attacked(release)


def _protect(plan: Path, result: Path, _: dict[str, Any], tell: ProgressCallback) -> None:
    from sfumato.pipelines.tables.protect import run_plan
    from sfumato.tables.plan.table_plan import read_table_plan

    table_plan = read_table_plan(plan)
    tell("count", 0, 1)
    run_plan(table_plan, lambda _text: tell("search", 0, 0)).save(result, plan.parent)


def _risk(plan: Path, result: Path, parameters: dict[str, Any], tell: ProgressCallback) -> None:
    from sfumato.atomic_folders import staged, write_text
    from sfumato.pipelines.risk import risk
    from sfumato.report.risk import page_of

    tell("count", 0, 1)
    report = risk(None, plan=plan, **parameters)
    with staged(result) as stage:
        write_text(stage / "report.html", page_of(report, report.language))
        write_text(stage / "report.json", to_json(report.to_dict()) + "\n")


def _compare(plan: Path, result: Path, parameters: dict[str, Any], tell: ProgressCallback) -> None:
    from sfumato.pipelines.compare import compare

    compare(None, plan, **parameters, progress=tell).save(result)


def _compare_tables(plan: Path, result: Path, parameters: dict[str, Any], tell: ProgressCallback) -> None:
    from sfumato.pipelines.tables.compare_tables import METHODS, compare_tables

    done, methods = count(), len(parameters.get("methods", METHODS))
    compare_tables(plan, progress=lambda _: tell("search", next(done), methods), **parameters).save(result)


WORK: dict[str, Callable[[Path, Path, dict[str, Any], ProgressCallback], None]] = {
    "anonymize": _anonymize,
    "protect": _protect,
    "risk": _risk,
    "compare": _compare,
    "compare-tables": _compare_tables,
}
