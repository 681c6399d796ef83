"""Verify a release folder of several files."""

from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.postprocessing.formulas import open_published
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.verdict import Guarantee, Verdict
from sfumato.pipelines.linked_files.joint_evaluation import LinkedFilesVerdict, judge_joined
from sfumato.pipelines.release_stages.checksums import read_mapping


def verify_files(folder: Path, plan: Plan) -> Verdict:
    """Verify that the files of a release folder jointly satisfy their models for persons with all their rows."""
    joined = _joined(folder, plan)
    broken = {fault.split(":")[0] for fault in joined.faults}
    promises = tuple(
        Guarantee(model.name, model.requested, reached, model.name not in broken, model.column)
        for model, reached in zip(plan.privacy, joined.reached, strict=True)
    )
    rows = sum(joined.rows.values())
    faults = (*joined.faults, *joined.checked.faults, *_broken_checksums(folder, plan))
    judged = (*promises, *joined.checked.columns)
    return Verdict(rows, 0, joined.groups, joined.smallest, joined.largest, judged, faults)


def _broken_checksums(folder: Path, plan: Plan) -> list[str]:
    """Return sentences on files that differ from those in the report."""
    report = read_mapping(folder / "report.json") or {}
    checksums = report.get("sha256", {})
    names = [f"{name}.{plan.output.format}" for name in plan.files]
    return [
        f"{name} is not the file that the report was written for."
        for name, path in zip(names, map(folder.joinpath, names), strict=True)
        if checksums.get(path.stem) != sha256(path.read_bytes()).hexdigest()
    ]


def _joined(folder: Path, plan: Plan) -> LinkedFilesVerdict:
    with ExitStack() as stack:
        published: dict[str, DuckDBEngine] = {}
        for name in plan.files:
            path = folder / f"{name}.{plan.output.format}"
            published[name] = engine = open_published(path, _as_written(plan), plan.output.quotes_formulas)
            stack.callback(engine.close)
        return judge_joined(plan, published)


def _as_written(plan: Plan) -> DataPlan:
    """Return how to read the files of a release; its separator is used, whatever the raw files were."""
    return DataPlan(separator=plan.data.separator, header=True, missing=plan.data.missing)
