"""Attack a release in a worker process that does not load the page library."""

from pathlib import Path
from typing import Any

from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.attacks.attack import attack
from sfumato.pipelines.attacks.saved_report import add_to_folder
from sfumato.pipelines.release_folder import ProgressCallback
from sfumato.schema.files import load
from sfumato.service.jobs.worker import pack

Figures = dict[str, Any]


def attacked(folder: Path, raw: Path, control: Path | None, tell: ProgressCallback | None = None) -> Figures:
    """Attack the release in a folder, add the results to its reports, and return them."""
    plan = read_plan(load(folder / "plan.yaml"), raw.parent)  # its files are next to the data
    report = attack(folder, raw, control=control, plan=plan, progress=tell)
    add_to_folder(folder, report)
    pack(folder, folder.with_suffix(".zip"))
    return report.to_dict()
