"""Checksums that detect replaced files in a release folder.

The report has the SHA-256 of the published rows, of the plan, of the recoding and of the reports for publication. They
detect accidents and careless edits; consistent edits of all files are not detected.
"""

import json
from collections.abc import Mapping
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from sfumato.engines.join_keys import PERSONS_FILE
from sfumato.errors import DataError, PlanError
from sfumato.formats import PUBLISHED
from sfumato.localization.messages import Message, read_message
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.plan.read import released_plan
from sfumato.microdata.release_report import EXTERNAL_CHECKSUMS, Report
from sfumato.microdata.verdict import Verdict

# Keys in the report and the files whose SHA-256 they hold; that of the rows is one of PUBLISHED.
OTHERS = {"plan_sha256": "plan.yaml", "recoding_sha256": "recoding.json"}
# Only present with a person column.
PERSONS_SEAL = {"persons_sha256": PERSONS_FILE}
REPORT = "report.json"
# Metrics repeated in the recoding, so that neither file can be edited alone.
FIGURES = ("rows", "suppressed_rows", "published_rows", "classes", "levels")
NO_REFERENCE = "recoding.json is missing or no recoding: what the promises compare with is not known."


def check_single(folder: Path) -> None:
    """Refuse a release folder of several files if a single file is expected."""
    if (folder / "plan.yaml").exists():
        refuse_several(folder, released_plan(folder))


def refuse_several(folder: Path, plan: Plan) -> None:
    """Refuse the release of several files, by its plan."""
    if plan.files:
        names = [f"{name}.{plan.output.format}" for name in plan.files]
        raise PlanError("files.not_for_several_files", name=folder.name, names=", ".join(names), other=names[0])


def remark_on_siblings(file: Any) -> str:
    """Return a note if a file was released together with others, else an empty text."""
    # A link is resolved to its target.
    path = Path(file).resolve() if isinstance(file, str | Path) else None
    if path is None or not path.is_file() or not (path.parent / "plan.yaml").exists():
        return ""
    try:
        plan = released_plan(path.parent)
    except PlanError:
        return ""
    if path.stem not in plan.files:
        return ""
    others = ", ".join(f"{name}.{plan.output.format}" for name in plan.files if name != path.stem)
    return Message("note.siblings", others=others)


def data_of(folder: Path) -> Path:
    """Return the path of the published rows in a release folder.

    Raises:
        DataError: There are none.
        PlanError: There are several files.
    """
    for name in PUBLISHED:
        if (folder / name).exists():
            return folder / name
    check_single(folder)
    raise DataError("no-file.no_data_in_folder", name=folder.name)


def checksums(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of the files of a release folder, by their keys in the report."""
    others = OTHERS | (PERSONS_SEAL if (folder / PERSONS_FILE).exists() else {})
    return {"output_sha256": digest(data_of(folder))} | {key: digest(folder / name) for key, name in others.items()}


def digest(path: Path) -> str:
    """Return the SHA-256 of a file; for a folder, that of the sorted names and hashes of its files."""
    if path.is_dir():
        names = sorted(entry.relative_to(path).as_posix() for entry in path.rglob("*") if entry.is_file())
        lines = "".join(f"{digest(path / name)}  {name}\n" for name in names)
        return sha256(lines.encode()).hexdigest()
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def integrity_issues(folder: Path, plan: Plan | None, verdict: Verdict) -> tuple[str, ...]:
    """Return the inconsistencies between the files of a release folder, if any.

    Args:
        plan: The plan of the folder, or None if another was requested.
        verdict: The verdict on the published rows.
    """
    report, recoding = read_mapping(folder / REPORT), read_mapping(folder / "recoding.json")
    if report is None:
        return (f"{REPORT} is missing or no report: nothing says what was released.",)
    persons = PERSONS_SEAL if "persons_sha256" in report or (plan is not None and plan.person) else {}
    # Recipients may not have the reports for publication.
    outside = {key: name for key, name in EXTERNAL_CHECKSUMS.items() if key in report and (folder / name).exists()}
    changed = [
        f"{name} is not the file that was released: its SHA-256 is another than {REPORT} says."
        for key, name in {"output_sha256": data_of(folder).name, **OTHERS, **persons, **outside}.items()
        if not (folder / name).exists() or report.get(key) != digest(folder / name)
    ]
    changed += [
        f"{name} is no file of this release."
        for name in PUBLISHED
        if (folder / name).exists() and name != data_of(folder).name
    ]
    kept = recoding.get("reference") if recoding is not None else None
    figures = _figures(report, kept, verdict) if isinstance(kept, dict) else [NO_REFERENCE]
    return (*changed, *figures, *(() if plan is None else (*_asked(report, plan), *_inferred(report, verdict))))


def figures_of(report: Report) -> dict[str, Any]:
    """Return the metrics of a report that the recoding repeats."""
    figures = report.to_dict()
    return {name: figures[name] for name in FIGURES}


def read_mapping(path: Path) -> Mapping[str, Any] | None:
    """Return the mapping in a JSON file, or None if there is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def _figures(report: Mapping[str, Any], reference: Mapping[str, Any], verdict: Verdict) -> list[str]:
    """Return contradictions between report and recoding, and a note if rows are missing or added."""
    figures = {name: report.get(name) for name in FIGURES}
    faults = []
    if reference.get("published_rows") != verdict.rows:
        faults.append(f"The rows are not those that were released: there are {verdict.rows:,}.")
    if figures != {name: reference.get(name) for name in FIGURES}:
        faults.append(f"{REPORT} and recoding.json tell of different releases.")
    return faults


def _inferred(report: Mapping[str, Any], verdict: Verdict) -> list[str]:
    """Return inferences by rules that the raw rows confirmed when the release was made."""
    check = report.get("release_check")
    sentences = check.get("sentences") if isinstance(check, dict) else None
    told = sentences if isinstance(sentences, list) else []
    return [sentence for one in told if (sentence := str(read_message(one))) not in verdict.faults]


def _asked(report: Mapping[str, Any], plan: Plan) -> list[str]:
    """Return a sentence if the models of the report are not those of the plan."""
    models = report.get("models")
    listed = models if isinstance(models, list) else []
    said = [
        (entry.get("model"), entry.get("column"), entry.get("requested")) for entry in listed if isinstance(entry, dict)
    ]
    meant = [(model.name, model.subject, model.requested) for model in plan.guarantees]
    return [] if said == meant else [f"plan.yaml asks for other promises than {REPORT} tells of."]
