"""Compute the privacy models that a policy requires for given data, in a worker process without the web UI library."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.write import plan_dict
from sfumato.pipelines.plan_suggestion.progress import ProgressCallback, ProgressReporter
from sfumato.pipelines.policy_completion import with_policy


def asked_promises(
    path: Path, read: DataPlan, plan: dict[str, Any], tell: ProgressCallback | None = None
) -> list[dict[str, Any]]:
    """Return the models that the policy of a plan requires; those in the plan are ignored. `tell` receives progress."""
    looking = ProgressReporter(tell)
    looking.at("count")
    open_plan = read_plan({key: value for key, value in plan.items() if key != "privacy"}, path.parent)
    with closing(DuckDBEngine(path, replace(read, codes=open_plan.source_data.codes))) as engine:
        asked: list[dict[str, Any]] = plan_dict(with_policy(open_plan, engine, looking))["privacy"]
        return asked
