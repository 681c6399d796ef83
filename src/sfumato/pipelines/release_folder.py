"""The release folder: written beside its place under a temporary name, recounted, and renamed when it is whole."""

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from sfumato.errors import InternalError
from sfumato.folders import link, staged, write_text
from sfumato.microdata.recoding.recoding_file import to_dict
from sfumato.pipelines.sealing import figures_of, seals

PRIVATE = 0o700


def save(release: Any, folder: Path) -> Path:
    """Write a release to a folder that must not exist yet.

    Raises:
        PlanError: The folder exists.
        EngineError: The folder cannot be written.
    """
    from sfumato.microdata.methods.full_domain.alternatives import alternatives
    from sfumato.microdata.plan.write import plan_text
    from sfumato.report.before_after import gather
    from sfumato.report.dossier import Dossier
    from sfumato.report.release import files

    with staged(folder) as stage:
        _write_data(release, stage)
        write_text(stage / "plan.yaml", plan_text(release.plan, folder))
        write_text(stage / "recoding.json", json.dumps(_recoding(release, folder), indent=1, ensure_ascii=False) + "\n")
        table = release.table
        evidence = gather(release.plan, table, release.recoding) if table is not None else None
        others = alternatives(release.plan, table, release.recoding) if table is not None else ()
        dossier = Dossier(release.report, release.plan, evidence, others, seals(stage), date.today())
        for name, text in files(dossier).items():
            write_text(stage / name, text)
        if release.report.method == "exhaustive":
            write_text(stage / "nodes.csv", _nodes(release.report))
    return folder


def _recoding(release: Any, folder: Path) -> dict[str, Any]:
    """What recoding.json holds: the recoding, the plan, and what promises compare the published rows with."""
    from sfumato.microdata.plan.write import plan_dict
    from sfumato.microdata.recoding.reference import reference_dict

    reference = reference_dict(release.plan, release.table, release.recoding) | figures_of(release.report)
    # Where the rows lay is of no use for other rows, and the same release has the same recoding wherever it was made.
    plan = replace(release.plan, data=replace(release.plan.data, source=None, temp_folder=None))
    return to_dict(release.recoding) | {"plan": plan_dict(plan, folder), "reference": reference}


def _write_data(release: Any, stage: Path) -> None:
    """Put the published rows into the folder; a frame is written to a file, and the file is recounted."""
    name = f"data.{release.plan.output.format}"
    if isinstance(release.published.data(), Path):
        link(release.published.data(), stage / name)
        return
    from sfumato.engines.duckdb.writing import write_frame

    engine = write_frame(release.published, stage / name, release.plan.data.separator or ",")
    try:
        prediction = release.prediction
        from sfumato.engines.engine import Reading

        wrong = prediction.difference(engine.count((*prediction.columns, *prediction.sensitive), Reading()))
    finally:
        engine.close()
    if wrong:
        raise InternalError(f"what was written is not what was meant: {wrong}.", code="recount")


def _nodes(report: Any) -> str:
    """The table of all nodes, as CSV: the classes of all rows, the k they reach, and what suppression would leave."""
    head = [*report.levels, "loss", "classes", "k", "largest", "suppressed_rows", "kept_classes", "kept_k", "holds"]
    lines = [";".join('"' + name.replace('"', '""') + '"' for name in head)]
    for node in report.candidates:
        before, kept = node.before, (node.suppressed_rows, node.classes, node.smallest)
        figures = (f"{node.loss:.10g}", before.classes, before.smallest, before.largest, *kept)
        lines.append(";".join(map(str, (*node.node, *figures, str(node.holds).lower()))))
    return "\n".join(lines) + "\n"
