"""The folder of a release of several files: written whole or not at all, and verified as it lies there."""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import FrameHolder
from sfumato.folders import link, staged, write_text
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.plan.write import plan_dict, plan_text
from sfumato.pipelines.pseudonym_keys import write_private
from sfumato.pipelines.relations.judging import JoinedVerdict, judge_joined
from sfumato.report.files import html

if TYPE_CHECKING:
    from sfumato.pipelines.relations.release import FilesRelease

# What each key is published as: stays in the house.
KEYS_FILE = "keys.json"


def save(release: "FilesRelease", folder: Path) -> Path:
    """Write the folder of a release.

    Raises:
        PlanError: The folder exists.
        EngineError: It cannot be written.
    """
    with staged(folder) as stage:
        for name, rows in release.published.items():
            _write(rows, stage / f"{name}.{release.plan.output.format}", release.plan)
        write_text(stage / "plan.yaml", plan_text(release.plan, folder))
        write_text(stage / "report.json", json.dumps(release.figures, indent=2, ensure_ascii=False) + "\n")
        write_text(stage / "report.html", html(release.plan, release.figures))
        write_private(stage / "recoding.json", json.dumps(_recoding(release, folder), indent=1) + "\n")
        write_private(stage / KEYS_FILE, json.dumps(release.keys, indent=1, ensure_ascii=False) + "\n")
    return folder


def _write(rows: Any, target: Path, plan: Plan) -> None:
    data = rows.data()
    if isinstance(data, Path):
        link(data, target)
        return
    cast("FrameHolder", rows).write(target, plan.data.separator or ",").close()


def _recoding(release: "FilesRelease", folder: Path) -> dict[str, Any]:
    secret = {"secret": release.plan.secret} if release.plan.seed is None else {}
    return {"kind": "files", "levels": release.figures["levels"], "plan": plan_dict(release.plan, folder)} | secret


def verify_files(folder: Path, plan: Plan) -> JoinedVerdict:
    """Whether the files of a release folder keep their promises together."""
    with ExitStack() as stack:
        published: dict[str, DuckDBEngine] = {}
        for name in plan.files:
            path = folder / f"{name}.{plan.output.format}"
            published[name] = engine = DuckDBEngine(path, _as_written(plan), ())
            stack.callback(engine.close)
        return judge_joined(plan, published)


def _as_written(plan: Plan) -> Any:
    """How the files of a release are read, whatever the raw ones were."""
    from sfumato.microdata.data_plan import DataPlan

    return DataPlan(separator=plan.data.separator or ",", missing=plan.data.missing)


def promises(plan: Plan, verdict: JoinedVerdict) -> list[Mapping[str, Any]]:
    """The promises of a plan with what published files reach."""
    return [
        {"model": model.name, "asked": model.asked, "reached": reached}
        for model, reached in zip(plan.privacy, verdict.reached, strict=True)
    ]
